import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../accounts/caller.ts'
import { type Graph, graphOf, type Statement, statementsOf, type Term } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { findEntry } from './entry-records.ts'
import { lookUp, metadataIn } from './lookup.ts'

export const MAX_DEPTH = 10
const MAX_ENTRIES = 1000
/** Limits lookups: links may point to nothing, or to entries that the caller may not read. */
const MAX_LOOK_UPS = 5000
/** Limit for all statements together; the traversal ends there. */
const MAX_STATEMENTS = 100_000
const MAX_CHARACTERS = 16 * 1024 * 1024
const BATCH = 20

export interface LinkTraversal {
  /** The links that are followed. */
  readonly predicates: ReadonlySet<string>
  /** The maximum number of links from the first entry to any other, at most {@link MAX_DEPTH}. */
  readonly depth: number
  /** Whether entries of other contexts are left out. */
  readonly withinContext: boolean
}

/**
 * The metadata of an entry together with those of the entries it links to, if the caller may read them (W3.5). A
 * traversal that would take too long ends early; the result then contains the nearest entries.
 */
export async function linkedMetadata(
  queries: Queries,
  caller: Caller,
  start: EntryAddress,
  walk: LinkTraversal,
): Promise<Graph> {
  const gathered = new Gathered()
  const known = new Set([keyOf(start)])
  const asked = new Set<string>()
  const context = walk.withinContext ? start.context : undefined
  /** Reads in the same step as the lookup that checked the right. */
  const visit = async (address: EntryAddress, links: Set<string>): Promise<boolean> => {
    const entry = await findEntry(queries, address)
    const graph = (entry && (await metadataIn(queries, caller, entry, 'all'))) ?? {}
    for (const link of linksIn(graph, walk.predicates)) links.add(link)
    return gathered.add(graph)
  }
  let links = new Set<string>()
  let hasRoom = await visit(start, links)
  for (let depth = 0; depth < walk.depth && links.size > 0; depth++) {
    const next = new Set<string>()
    for (const uri of links) {
      if (!hasRoom || known.size >= MAX_ENTRIES || asked.size >= MAX_LOOK_UPS) return gathered.graph()
      if (asked.has(uri)) continue
      asked.add(uri)
      if (asked.size % BATCH === 0) await setImmediate()
      const wanted = { uri, scope: 'all', ...(context === undefined ? {} : { context }) } as const
      const found = await lookUp(queries, caller, wanted)
      if (!found || known.has(keyOf(found))) continue
      known.add(keyOf(found))
      hasRoom = await visit(found, next)
    }
    links = next
  }
  return gathered.graph()
}

const keyOf = ({ context, id }: EntryAddress): string => `${context}/${id}`

function* linksIn(graph: Graph, predicates: ReadonlySet<string>): Generator<string> {
  for (const { predicate, object } of statementsOf(graph)) {
    if (object.type === 'uri' && predicates.has(predicate)) yield object.value
  }
}

/** Collects the statements of several graphs, whose blank nodes stay separate even if they have the same label. */
class Gathered {
  readonly #statements: Statement[] = []
  #characters = 0
  #graphs = 0

  /** Returns false when the limit is reached. */
  add(graph: Graph): boolean {
    const label = String(this.#graphs++)
    const renamed = (value: string): string => (value.startsWith('_:') ? `_:e${label}-${value.slice(2)}` : value)
    for (const { subject, predicate, object } of statementsOf(graph)) {
      this.#characters += subject.length + predicate.length + object.value.length
      if (this.#statements.length >= MAX_STATEMENTS || this.#characters > MAX_CHARACTERS) return false
      const term: Term = object.type === 'bnode' ? { ...object, value: renamed(object.value) } : object
      this.#statements.push({ subject: renamed(subject), predicate, object: term })
    }
    return true
  }

  graph(): Graph {
    return graphOf(this.#statements)
  }
}
