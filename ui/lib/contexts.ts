import { ask, Problem } from './api.ts'
import { part } from './base.ts'
import { aboutThing, type Graph, shownStatement } from './graph.ts'
import { currentBaseUri } from './session.ts'

/** The quota object of a context; `quota` -1 means unlimited. */
export interface Quota {
  readonly quota: number
  readonly fillLevel: number
  readonly hasDefaultQuota: boolean
}

export interface ListedContext {
  readonly contextId: string
  readonly name?: string
  readonly metadata?: Graph
  readonly rights?: readonly string[]
  /** Absent if quotas are switched off. */
  readonly quota?: Quota
  /** Number of files, in the list for administrators. Absent if quotas are switched off. */
  readonly files?: number
}

export const titles = ['http://purl.org/dc/terms/title', 'http://purl.org/dc/elements/1.1/title']

/** The title of a thing by its metadata, in the language of the page if available. */
export const titleIn = (subject: string | undefined, metadata: Graph | undefined): string | undefined =>
  shownStatement(aboutThing(subject ?? '', metadata), titles)?.value

/** The name that is shown for a context: its title, otherwise its name, otherwise its id. */
export const contextTitle = ({ contextId, name, metadata }: ListedContext): string =>
  titleIn(currentBaseUri() + contextId, metadata) ?? name ?? contextId

/** Free bytes; `undefined` if unlimited. */
export const freeBytes = ({ quota, fillLevel }: Quota): number | undefined =>
  quota < 0 ? undefined : Math.max(0, quota - fillLevel)

/** A context as its entry describes it. */
export interface Context extends ListedContext {
  readonly canRead: boolean
  readonly canWrite: boolean
  readonly isOwner: boolean
  readonly info: Graph
}

interface ContextEntry extends Omit<ListedContext, 'contextId'> {
  readonly entryId: string
  readonly info: Graph
}

/** What the pages know of a context that the user may not read. */
const closedContext = (contextId: string): Context => ({
  contextId,
  rights: [],
  info: {},
  isOwner: false,
  canWrite: false,
  canRead: false,
})

/**
 * The context with what the user may do in it. Single files may be shared with people who may not read their context, so a context that
 * the user may not read is no error: it comes without a title, with no rights.
 * @param key id or name; the result has the id, unless the user may not read the context @throws {Problem} 404 if there is no such context
 */
export async function loadContext(key: string, signal?: AbortSignal): Promise<Context> {
  const options = signal ? { signal } : {}
  let found: ContextEntry
  try {
    found = await ask<ContextEntry>(`_contexts/entry/${part(key)}?includeAll`, options)
  } catch (error) {
    if (error instanceof Problem && error.status === 403) return closedContext(key)
    throw error
  }
  const { entryId, rights = [], ...context } = found
  const isOwner = rights.includes('administer')
  const canWrite = isOwner || rights.includes('writeresource')
  return {
    ...context,
    rights,
    contextId: entryId,
    isOwner,
    canWrite,
    canRead: canWrite || rights.includes('readresource'),
  }
}

/** The present quota and fill level of a context; `undefined` if quotas are switched off. @throws {Problem} */
export async function loadQuota(context: string): Promise<Quota | undefined> {
  return (await ask<{ readonly quota?: Quota }>(`_contexts/entry/${part(context)}`)).quota
}
