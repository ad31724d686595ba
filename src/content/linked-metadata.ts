import type { Caller } from '../accounts/caller.ts'
import { emptyGraph, type Graph, graphOf, type Statement, statementsOf, type Term } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { addressIn, CONTEXTS, type EntryAddress } from './addresses.ts'
import { findCachedMetadata, hasExternalMetadata, mergeGraphs } from './cached-metadata.ts'
import type { Entry } from './entry.ts'
import { findEntry } from './entry-records.ts'
import { may, type Placed } from './rights.ts'

/** How far links are followed. */
export interface Walk {
  /** The predicates whose objects lead on, in their inside form. */
  readonly predicates: ReadonlySet<string>
  /** How many links from the first entry to the last. */
  readonly depth: number
  /** Whether entries of other contexts are left out. */
  readonly withinContext: boolean
}

export const MOST_DEPTH = 10
const MOST_ENTRIES = 1000
/** Graphs can be large: what lies beyond is left out, as beyond so many entries. */
const MOST_STATEMENTS = 100_000

const keyOf = ({ context, id }: EntryAddress): string => `${context}/${id}`

/**
 * The metadata of an entry and of those that it leads to, in one graph (wire facts 3.5). Entries whose metadata the caller
 * may not read are left out with all that only they lead to; the right to the first one is judged by whoever asks.
 */
export async function linkedMetadata(queries: Queries, caller: Caller, from: Entry, walk: Walk): Promise<Graph> {
  const contextEntries = new Map<string, Entry | undefined>()
  const contextEntryOf = async (context: string): Promise<Entry | undefined> => {
    const known = contextEntries.get(context) ?? (await findEntry(queries, { context: CONTEXTS, id: context }))
    contextEntries.set(context, known)
    return known
  }
  const readable = async (address: EntryAddress): Promise<Entry | undefined> => {
    const entry = await findEntry(queries, address)
    const contextEntry = entry && (await contextEntryOf(address.context))
    const placed: Placed | undefined = entry && contextEntry && { entry, contextEntry }
    return placed && may(caller, 'readmetadata', placed) ? placed.entry : undefined
  }

  const seen = new Set([keyOf(from)])
  const statements: Statement[] = []
  let level: readonly Entry[] = [from]
  let count = 0
  for (let depth = 0; level.length > 0; depth++) {
    const next: Entry[] = []
    for (const entry of level) {
      const graph = await metadataOf(queries, caller, entry)
      for (const statement of apart(graph, count)) statements.push(statement)
      count++
      if (statements.length > MOST_STATEMENTS) return graphOf(statements)
      if (depth === walk.depth) continue
      for (const address of linksOf(graph, walk, from.context)) {
        if (seen.size >= MOST_ENTRIES) break
        if (seen.has(keyOf(address))) continue
        seen.add(keyOf(address))
        const linked = await readable(address)
        if (linked) next.push(linked)
      }
    }
    level = next
  }
  return graphOf(statements)
}

async function metadataOf(queries: Queries, caller: Caller, entry: Entry): Promise<Graph> {
  if (!hasExternalMetadata(entry)) return entry.metadata
  return mergeGraphs(entry.metadata, (await findCachedMetadata(queries, caller, entry))?.graph ?? emptyGraph)
}

function* linksOf(graph: Graph, { predicates, withinContext }: Walk, context: string): Generator<EntryAddress> {
  for (const { predicate, object } of statementsOf(graph)) {
    if (object.type !== 'uri' || !predicates.has(predicate)) continue
    const address = addressIn(object.value)
    if (address && (!withinContext || address.context === context)) yield address
  }
}

/** Blank nodes of one graph are none of another's. */
function* apart(graph: Graph, number: number): Generator<Statement> {
  const rename = (value: string): string => (value.startsWith('_:') ? `_:e${number}-${value.slice(2)}` : value)
  for (const { subject, predicate, object } of statementsOf(graph)) {
    const term: Term = object.type === 'bnode' ? { ...object, value: rename(object.value) } : object
    yield { subject: rename(subject), predicate, object: term }
  }
}
