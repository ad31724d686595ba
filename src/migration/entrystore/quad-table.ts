import type { Scratch } from '../../stores/scratch.ts'
import { sql } from '../../stores/sql.ts'
import type { ObjectTerm, Resource } from './formats/quads.ts'

/** A statement as it stands in the old store. */
export type RawStatement = readonly [subject: Resource, predicate: string, object: ObjectTerm]

/** The two stores of an EntryStore installation. Their graphs have nothing to do with each other. */
export type OldStore = 'main' | 'provenance'

export interface OldGraph {
  readonly id: number
  readonly name: string
  /** How many statements were read for it, duplicates included. */
  readonly quads: number
}

/** So much is gathered before it is written; statements of one graph may stand anywhere in a file. */
const MAX_BUFFERED_STATEMENTS = 20_000
const MAX_BUFFERED_CHARACTERS = 4 * 2 ** 20
const PAGE = 200

/** All quads of the old stores, on the disk, to be read graph by graph. */
export class QuadTable {
  readonly #scratch: Scratch
  #buffer = new Map<string, RawStatement[]>()
  #statements = 0
  #characters = 0
  /** How many quads have been added. */
  count = 0

  constructor(scratch: Scratch) {
    this.#scratch = scratch
    scratch.run(sql`CREATE TABLE graphs (
      id INTEGER PRIMARY KEY, store TEXT NOT NULL, name TEXT NOT NULL, quads INTEGER NOT NULL,
      read INTEGER NOT NULL DEFAULT 0, indexed INTEGER NOT NULL DEFAULT 0, UNIQUE (store, name))`)
    scratch.run(sql`CREATE TABLE pieces (
      graph INTEGER NOT NULL, number INTEGER NOT NULL, statements TEXT NOT NULL, PRIMARY KEY (graph, number)) WITHOUT ROWID`)
  }

  add(store: OldStore, graph: string, statement: RawStatement): void {
    this.count++
    const key = store + graph
    const known = this.#buffer.get(key)
    if (known) known.push(statement)
    else this.#buffer.set(key, [statement])
    const [subject, predicate, object] = statement
    this.#characters += subject.length + predicate.length + (typeof object === 'string' ? object : object[0]).length
    this.#statements++
    if (this.#statements >= MAX_BUFFERED_STATEMENTS || this.#characters >= MAX_BUFFERED_CHARACTERS) this.flush()
  }

  /** Writes what is buffered. Needed once after the last `add`. */
  flush(): void {
    for (const [key, statements] of this.#buffer) {
      const store = key.startsWith('main') ? 'main' : 'provenance'
      const name = key.slice(store.length)
      const graph = this.#scratch.get<{ id: number; quads: number }>(sql`
        INSERT INTO graphs (store, name, quads) VALUES (${store}, ${name}, ${statements.length})
        ON CONFLICT (store, name) DO UPDATE SET quads = quads + excluded.quads RETURNING id, quads`)
      // The number of statements so far rises with each piece, so it tells pieces apart.
      this.#scratch.run(sql`INSERT INTO pieces (graph, number, statements)
        VALUES (${graph?.id ?? 0}, ${graph?.quads ?? 0}, ${JSON.stringify(statements)})`)
    }
    this.#buffer = new Map()
    this.#statements = 0
    this.#characters = 0
  }

  find(store: OldStore, name: string): OldGraph | undefined {
    return this.#scratch.get<OldGraph>(
      sql`SELECT id, name, quads FROM graphs WHERE store = ${store} AND name = ${name}`,
    )
  }

  /** The statements of a graph, in the order of the file. Marks the graph as read. */
  *read(graph: OldGraph | undefined): Generator<RawStatement> {
    if (!graph) return
    this.#scratch.run(sql`UPDATE graphs SET read = 1 WHERE id = ${graph.id}`)
    yield* this.peek(graph)
  }

  /** The same without the mark: who only peeks does not account for the statements. */
  *peek(graph: OldGraph): Generator<RawStatement> {
    for (let last = -1; ; ) {
      const row = this.#scratch.get<{ number: number; statements: string }>(sql`
        SELECT number, statements FROM pieces WHERE graph = ${graph.id} AND number > ${last} ORDER BY number LIMIT 1`)
      if (!row) return
      last = row.number
      yield* JSON.parse(row.statements) as RawStatement[]
    }
  }

  /** Graphs of the main store whose names begin with `prefix`, in the order of their names. */
  *graphsUnder(prefix: string): Generator<OldGraph> {
    for (let last = prefix; ; ) {
      const page = this.#scratch.all<OldGraph>(sql`SELECT id, name, quads FROM graphs
        WHERE store = 'main' AND name > ${last} AND name < ${`${prefix}\u{10ffff}`} ORDER BY name LIMIT ${PAGE}`)
      yield* page
      const next = page.at(-1)
      if (!next || page.length < PAGE) return
      last = next.name
    }
  }

  /** Graphs of both stores that have not been read. */
  *unread(): Generator<OldGraph & { readonly store: OldStore }> {
    for (let last = 0; ; ) {
      const page = this.#scratch.all<OldGraph & { store: OldStore }>(
        sql`SELECT id, store, name, quads FROM graphs WHERE read = 0 AND id > ${last} ORDER BY id LIMIT ${PAGE}`,
      )
      yield* page
      const next = page.at(-1)
      if (!next) return
      last = next.id
    }
  }

  /** Notes that the index of a context names an entry. */
  markIndexed(entry: string): void {
    this.#scratch.run(sql`UPDATE graphs SET indexed = 1 WHERE store = 'main' AND name = ${entry}`)
  }

  isIndexed(graph: OldGraph): boolean {
    return this.#scratch.get(sql`SELECT 1 AS found FROM graphs WHERE id = ${graph.id} AND indexed = 1`) !== undefined
  }

  /** Names of graphs of the main store that end like this. */
  namesEndingWith(end: string): string[] {
    const rows = this.#scratch.all<{ name: string }>(sql`SELECT name FROM graphs
      WHERE store = 'main' AND substr(name, ${-end.length}) = ${end} ORDER BY name LIMIT 10`)
    return rows.map(({ name }) => name)
  }

  countGraphs(store: OldStore): number {
    const row = this.#scratch.get<{ count: number }>(sql`SELECT count(*) AS count FROM graphs WHERE store = ${store}`)
    return row?.count ?? 0
  }
}
