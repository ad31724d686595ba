import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../../accounts/caller.ts'
import { findAddress } from '../../content/contexts.ts'
import { findEntry } from '../../content/entry-records.ts'
import { lookUp, metadataIn } from '../../content/lookup.ts'
import { entriesStating } from '../../content/relations.ts'
import { type Graph, graphOf, type Statement, statementsApart, statementsOf } from '../../graph/graph.ts'
import type { EntryAddress } from '../../model/addresses.ts'
import { type AccessTarget, may } from '../../model/rights.ts'
import type { Queries } from '../../stores/database.ts'
import type { Link } from './links.ts'

const BATCH = 20
/** Limits lookups: links may point to nothing, or to entries that the caller may not read. */
const MAX_LOOK_UPS = 5000
/** Maximum number of statements in all; the traversal ends there. */
const MAX_STATEMENTS = 100_000
const MAX_CHARACTERS = 16 * 1024 * 1024

export interface LinkTraversal {
  readonly links: readonly Link[]
  /** The maximum number of links from the first entry to any other. */
  readonly depth: number
  /** The maximum number of entries, with the first. */
  readonly limit: number
  /** Whether entries of other contexts are left out. */
  readonly withinContext: boolean
  /** Entries with one of these statements are left out; the object is an IRI in its relative form, or a text. */
  readonly stops: ReadonlyArray<{ readonly predicate: string; readonly object: string }>
}

interface Dependencies {
  readonly queries: Queries
  /** What rights on an entry depend on. */
  readonly target: (address: EntryAddress) => Promise<AccessTarget | undefined>
}

/**
 * The metadata of an entry together with those of the entries that links lead to, if the caller may read them (W3.5). A
 * traversal that would take too long ends early; the result then contains the nearest entries.
 */
export async function linkedMetadata(
  { queries, target }: Dependencies,
  caller: Caller,
  start: EntryAddress,
  { links, depth, limit, withinContext, stops }: LinkTraversal,
): Promise<Graph> {
  const forwards = new Set(links.filter(({ isInverse }) => !isInverse).map(({ predicate }) => predicate))
  const backwards = links.filter(({ isInverse }) => isInverse).map(({ predicate }) => predicate)
  const gathered = new Gathered()
  const known = new Set([keyOf(start)])
  let steps = 0
  const mayStep = async (): Promise<boolean> => {
    if (gathered.isFull || known.size >= limit || steps >= MAX_LOOK_UPS) return false
    if (++steps % BATCH === 0) await setImmediate()
    return true
  }
  /** Reads in the same step as the lookup that checked the right. @returns the linked entries; `undefined` when the entry is left out */
  const visit = async (address: EntryAddress): Promise<Set<string> | undefined> => {
    const entry = await findEntry(queries, address)
    const graph = (entry && (await metadataIn(queries, caller, entry, 'all'))) ?? {}
    const statements = [...statementsOf(graph)]
    const isStop = ({ predicate, object }: Statement): boolean =>
      stops.some(stop => stop.predicate === predicate && stop.object === object.value)
    if (statements.some(isStop)) return undefined
    gathered.add(graph)
    const found = statements.filter(({ predicate, object }) => object.type === 'uri' && forwards.has(predicate))
    return new Set(found.map(({ object }) => object.value))
  }
  /** Metadata may name a link by its address here, although its resource is elsewhere. */
  const findReadable = async (uri: string): Promise<EntryAddress | undefined> => {
    const address = await findAddress(queries, uri)
    if (!address || (withinContext && address.context !== start.context)) return undefined
    const found = await target(address)
    return found && may(caller, 'readmetadata', found) ? address : undefined
  }
  const asked = new Set<string>()
  let reached: Array<readonly [EntryAddress, ReadonlySet<string>]> = [[start, (await visit(start)) ?? new Set()]]
  for (let level = 0; level < depth && reached.length > 0; level++) {
    const next: typeof reached = []
    const take = async (address: EntryAddress): Promise<void> => {
      if (known.has(keyOf(address))) return
      const leadsTo = await visit(address)
      if (!leadsTo) return
      known.add(keyOf(address))
      next.push([address, leadsTo])
    }
    for (const [from, uris] of reached) {
      for (const uri of uris) {
        if (asked.has(uri)) continue
        asked.add(uri)
        if (!(await mayStep())) return gathered.graph()
        const wanted = { uri, scope: 'all', ...(withinContext ? { context: start.context } : {}) } as const
        const found = (await lookUp(queries, caller, wanted)) ?? (await findReadable(uri))
        if (found) await take(found)
      }
      if (backwards.length === 0) continue
      for (const source of await entriesStating(queries, from, backwards)) {
        if (withinContext && source.context !== start.context) continue
        if (!(await mayStep())) return gathered.graph()
        const found = await target(source)
        if (found && may(caller, 'readmetadata', found)) await take(source)
      }
    }
    reached = next
  }
  return gathered.graph()
}

const keyOf = ({ context, id }: EntryAddress): string => `${context}/${id}`

/** Collects the statements of several graphs, whose blank nodes stay separate even if they have the same label. */
class Gathered {
  readonly #statements: Statement[] = []
  #characters = 0
  #graphs = 0
  #isFull = false

  /** Whether the limit is reached. */
  get isFull(): boolean {
    return this.#isFull
  }

  add(graph: Graph): void {
    for (const statement of statementsApart(graph, `e${this.#graphs++}`)) {
      const { subject, predicate, object } = statement
      this.#characters += subject.length + predicate.length + object.value.length
      this.#isFull = this.#statements.length >= MAX_STATEMENTS || this.#characters > MAX_CHARACTERS
      if (this.#isFull) return
      this.#statements.push(statement)
    }
  }

  graph(): Graph {
    return graphOf(this.#statements)
  }
}
