import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../accounts/caller.ts'
import { type Graph, graphOf, type GraphText, parseGraph, statementsApart, statementsOf } from '../graph/graph.ts'
import type { Queries } from '../stores/database.ts'
import { CONTEXTS, type EntryAddress } from '../model/addresses.ts'
import { findAddress } from './contexts.ts'
import { type Entry, type EntryHead, hasExternalMetadata, resourceOf } from '../model/entry.ts'
import { findEntryHead, findEntryToShow, headsLinkingTo } from './entry-records.ts'
import { may } from '../model/rights.ts'
import type { Milliseconds } from '../base/units.ts'
import { ResponseBudget } from '../model/response-budget.ts'

/** Selects metadata: stored in this service, external, or both. */
export const lookupScopes = ['all', 'local', 'external'] as const
type LookupScope = (typeof lookupScopes)[number]

export interface Lookup {
  /** URI of the resource, in its relative form. */
  readonly uri: string
  readonly scope: LookupScope
  /** Limits the search to one context. */
  readonly context?: string
}

const BATCH = 20
/**
 * Any user can create any number of links to one URI, so the search for a readable link ends after this many.
 */
const MAX_LOOKED_AT = 1000

/**
 * The first entry about a resource that has the requested metadata and that the caller may read (W3.12): first the
 * entry whose own resource it is, then the links to it, oldest first within a context.
 */
export async function lookUp(queries: Queries, caller: Caller, wanted: Lookup): Promise<EntryAddress | undefined> {
  const contexts = new Map<string, EntryHead | undefined>()
  for await (const entry of entriesAbout(queries, wanted.uri, wanted.context)) {
    if (!has(entry, wanted.scope)) continue
    if (!contexts.has(entry.context)) {
      contexts.set(entry.context, await findEntryHead(queries, { context: CONTEXTS, id: entry.context }))
    }
    const contextEntry = contexts.get(entry.context)
    if (contextEntry && may(caller, 'readmetadata', { entry, contextEntry })) return entry
  }
  return undefined
}

/**
 * The metadata of an entry that the caller may read; `undefined` if the caller may not read the requested ones or they no
 * longer exist.
 */
export async function metadataIn(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  scope: LookupScope,
): Promise<Graph | undefined> {
  const isCached = scope !== 'local' && hasExternalMetadata(entry)
  const cached = isCached ? (await findCachedMetadata(queries, caller, entry))?.graph : undefined
  if (scope === 'external' || entry.entryType === 'Reference')
    return cached === undefined ? undefined : parseGraph(cached)
  return mergeGraphs(entry.metadata, cached)
}

async function* entriesAbout(queries: Queries, uri: string, context: string | undefined): AsyncGenerator<EntryHead> {
  const address = await findAddress(queries, uri)
  const own = address && (await findEntryHead(queries, address))
  const isHere = context === undefined || own?.context === context
  // The second form has the name of a context instead of its id.
  const isOwn = own && own.entryType === 'Local' && (resourceOf(own) === uri || uri.endsWith(`/resource/${own.id}`))
  if (isOwn && isHere) yield own
  for (let offset = 0; offset < MAX_LOOKED_AT; offset += BATCH) {
    const some = await headsLinkingTo(queries, uri, context, { offset, limit: BATCH })
    yield* some
    if (some.length < BATCH) return
    await setImmediate()
  }
}

function has(entry: EntryHead, scope: LookupScope): boolean {
  if (scope === 'local') return entry.entryType !== 'Reference'
  return scope === 'all' || hasExternalMetadata(entry)
}

/** Whether the external metadata are those of an entry of this service. Its present metadata are shown, not a copy (W3.6). */
export const hasLiveSource = ({ externalMetadata = '' }: Entry): boolean =>
  /^\.\/[^/?#]+\/metadata\/[A-Za-z0-9_-]+$/.test(externalMetadata)

interface CachedMetadata {
  readonly graph: GraphText
  /** Time of the last change. */
  readonly modified: Milliseconds
}

/**
 * The copy of external metadata, or the present metadata if they belong to an entry of this service; then this function also checks the
 * right to read that entry. `undefined` when the caller may not read the metadata or they no longer exist.
 */
export async function findCachedMetadata(
  queries: Queries,
  caller: Caller,
  entry: Entry,
  budget = ResponseBudget.forOne(),
): Promise<CachedMetadata | undefined> {
  if (!hasLiveSource(entry)) {
    return { graph: entry.cachedExternalMetadata ?? '{}', modified: entry.cached ?? entry.modified }
  }
  const source = await findAddress(queries, entry.externalMetadata ?? '')
  const contextEntry = source && (await findEntryHead(queries, { context: CONTEXTS, id: source.context }))
  const found = source && (await findEntryToShow(queries, source, budget))
  if (!contextEntry || !found || found.entryType === 'Reference') return undefined
  if (found.isAbridged || !may(caller, 'readmetadata', { entry: found, contextEntry })) return undefined
  return { graph: found.metadata, modified: found.modified }
}

/** Merges two graphs; blank nodes of the second stay separate from those of the first. */
export function mergeGraphs(first: GraphText, second: GraphText | undefined): Graph {
  if (second === undefined) return parseGraph(first)
  return graphOf([...statementsOf(parseGraph(first)), ...statementsApart(parseGraph(second), 'c')])
}
