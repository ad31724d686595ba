import type { Caller } from '../accounts/caller.ts'
import type { Milliseconds } from '../base/units.ts'
import {
  type Graph,
  graphOf,
  type GraphText,
  parseGraph,
  type Statement,
  statementsOf,
  type Term,
} from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { CONTEXTS, type EntryAddress } from '../model/addresses.ts'
import { findContext } from './contexts.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import { findEntryHead, findEntryToShow } from './entry-records.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import { may } from '../model/rights.ts'

/** True for entry types whose metadata, or a part of them, are stored elsewhere (W1.3). */
export const hasExternalMetadata = ({ entryType }: EntryHead): boolean =>
  entryType === 'Reference' || entryType === 'LinkReference'

/**
 * The entry of this service whose metadata URI is used as external metadata. Its present metadata are shown, not a copy
 * (W3.6).
 */
export function liveSourceOf({ externalMetadata }: Entry): EntryAddress | undefined {
  const [, context, id] = /^\.\/([^/?#]+)\/metadata\/([A-Za-z0-9_-]+)$/.exec(externalMetadata ?? '') ?? []
  return context === undefined || id === undefined ? undefined : { context, id }
}

interface CachedMetadata {
  readonly graph: GraphText
  /** Time of the last change. */
  readonly modified: Milliseconds
}

/**
 * The copy of external metadata, or the present metadata when they belong to an entry of this service; this function checks
 * the right to read those. Returns `undefined` when the caller may not read them or they no longer exist.
 */
export async function findCachedMetadata(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  budget = ResponseBudget.forOne(),
): Promise<CachedMetadata | undefined> {
  const source = liveSourceOf(entry)
  if (!source) return { graph: entry.cachedExternalMetadata ?? '{}', modified: entry.cached ?? entry.modified }
  const context = await findContext(queries, decodeSafely(source.context))
  const contextEntry = context && (await findEntryHead(queries, { context: CONTEXTS, id: context.id }))
  const found = context && (await findEntryToShow(queries, { context: context.id, id: source.id }, budget))
  if (!contextEntry || !found || found.entryType === 'Reference') return undefined
  if (found.isAbridged || !may(caller, 'readmetadata', { entry: found, contextEntry })) return undefined
  return { graph: found.metadata, modified: found.modified }
}

function decodeSafely(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Merges two graphs; blank nodes of the second stay separate from those of the first. */
export function mergeGraphs(first: GraphText, second: GraphText | undefined): Graph {
  if (second === undefined) return parseGraph(first)
  const apart = (value: string): string => (value.startsWith('_:') ? `_:c-${value.slice(2)}` : value)
  const object = (term: Term): Term => (term.type === 'bnode' ? { ...term, value: apart(term.value) } : term)
  const moved = [...statementsOf(parseGraph(second))].map(
    (statement): Statement => ({ ...statement, subject: apart(statement.subject), object: object(statement.object) }),
  )
  const own = [...statementsOf(parseGraph(first))]
  return graphOf([...own, ...moved])
}
