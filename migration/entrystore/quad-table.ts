import type { Scratch, ScratchMap } from '../../src/stores/scratch.ts'
import type { ObjectTerm, Resource } from './formats/quads.ts'

/** A statement as the old store contains it. */
export type RawStatement = readonly [subject: Resource, predicate: string, object: ObjectTerm]

/** The two stores of an EntryStore installation. Their graphs are independent of each other. */
export type OldStore = 'main' | 'provenance'

export interface OldGraph {
  readonly store: OldStore
  readonly name: string
  /** The number of statements that were read for it, including duplicates. */
  readonly quads: number
}

/** The record of a graph. */
interface GraphNote {
  /** Part of the keys of its pieces. */
  readonly id: number
  readonly quads: number
  readonly isRead?: true
  readonly isIndexed?: true
}

/**
 * The number of statements that are buffered before they are written, because the statements of a graph may be spread over a
 * file. More of them need more memory, and do not make an import faster.
 */
const MAX_BUFFERED_STATEMENTS = 5000
const MAX_BUFFERED_CHARACTERS = 4 * 2 ** 20

/** Numbers as texts that sort like numbers. */
export const sortable = (number: number): string => String(number).padStart(16, '0')

/** All quads of the old stores, on disk, to be read graph by graph. */
export class QuadTable {
  readonly #notes: ScratchMap
  readonly #pieces: ScratchMap
  #buffer: Readonly<Record<OldStore, Map<string, RawStatement[]>>> = { main: new Map(), provenance: new Map() }
  #statements = 0
  #characters = 0
  /** The number of added quads. */
  count = 0
  readonly graphs = { main: 0, provenance: 0 }

  constructor(scratch: Scratch) {
    this.#notes = scratch.map()
    this.#pieces = scratch.map()
  }

  add(store: OldStore, graph: string, statement: RawStatement): void {
    this.count++
    const known = this.#buffer[store].get(graph)
    if (known) known.push(statement)
    else this.#buffer[store].set(graph, [statement])
    const [subject, predicate, object] = statement
    this.#characters += subject.length + predicate.length + (typeof object === 'string' ? object : object[0]).length
    this.#statements++
    if (this.#statements >= MAX_BUFFERED_STATEMENTS || this.#characters >= MAX_BUFFERED_CHARACTERS) this.flush()
  }

  /** Writes the buffered quads. Required once after the last `add`. */
  flush(): void {
    for (const store of ['main', 'provenance'] as const) {
      for (const [name, statements] of this.#buffer[store]) this.#write(store, name, statements)
      this.#buffer[store].clear()
    }
    this.#statements = 0
    this.#characters = 0
  }

  #write(store: OldStore, name: string, statements: readonly RawStatement[]): void {
    const known = this.#note(store, name)
    const note = known ?? { id: this.graphs.main + this.graphs.provenance, quads: 0 }
    if (!known) this.graphs[store]++
    // The number of statements before a piece distinguishes pieces, and keeps them in order.
    this.#pieces.set(`${sortable(note.id)}/${sortable(note.quads)}`, JSON.stringify(statements))
    this.#setNote({ store, name }, { ...note, quads: note.quads + statements.length })
  }

  find(store: OldStore, name: string): OldGraph | undefined {
    const note = this.#note(store, name)
    return note && { store, name, quads: note.quads }
  }

  /** The statements of a graph, in the order of the file. Marks the graph as read. */
  *read(graph: OldGraph | undefined): Generator<RawStatement> {
    const note = graph && this.#note(graph.store, graph.name)
    if (!note) return
    this.#setNote(graph, { ...note, isRead: true })
    yield* this.peek(graph)
  }

  /** The same without the mark, for callers that do not account for the statements. */
  *peek(graph: OldGraph): Generator<RawStatement> {
    const note = this.#note(graph.store, graph.name)
    if (!note) return
    for (const [, statements] of this.#pieces.under(`${sortable(note.id)}/`)) {
      yield* JSON.parse(statements) as RawStatement[]
    }
  }

  /** Graphs of the main store whose names begin with `prefix`, in the order of their names. */
  *graphsUnder(prefix: string): Generator<OldGraph> {
    for (const [key, value] of this.#notes.under(keyOf('main', prefix))) yield graphOf(key, value)
  }

  /** Graphs of both stores that have not been read. */
  *unread(): Generator<OldGraph> {
    for (const [key, value] of this.#notes.under('')) {
      if ((JSON.parse(value) as GraphNote).isRead !== true) yield graphOf(key, value)
    }
  }

  /** Records that the index of a context contains an entry. */
  markIndexed(entry: string): void {
    const note = this.#note('main', entry)
    if (note && note.isIndexed !== true) this.#setNote({ store: 'main', name: entry }, { ...note, isIndexed: true })
  }

  isIndexed({ store, name }: OldGraph): boolean {
    return this.#note(store, name)?.isIndexed === true
  }

  #note(store: OldStore, name: string): GraphNote | undefined {
    const value = this.#notes.get(keyOf(store, name))
    return value === undefined ? undefined : (JSON.parse(value) as GraphNote)
  }

  #setNote({ store, name }: Pick<OldGraph, 'store' | 'name'>, note: GraphNote): void {
    this.#notes.set(keyOf(store, name), JSON.stringify(note))
  }
}

const keyOf = (store: OldStore, name: string): string => `${store} ${name}`

function graphOf(key: string, value: string): OldGraph {
  const store = key.startsWith('main ') ? 'main' : 'provenance'
  return { store, name: key.slice(store.length + 1), quads: (JSON.parse(value) as GraphNote).quads }
}
