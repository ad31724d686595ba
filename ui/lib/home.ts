import { accessIn } from './access.ts'
import { part } from './base.ts'
import { type Context, contextTitle, loadContext } from './contexts.ts'
import { escape, type Item, type ItemKind, search } from './files.ts'
import { labelsOf } from './labels.ts'
import { loadMyContexts } from './my-contexts.ts'
import { namesOf } from './principals.ts'
import type { Me } from './session.ts'
import { creatorOf, loadSharedEntries } from './shared.ts'

const MAX_RECENT = 6
const MAX_SHARED = 6
const WRITING = ['administer', 'writeresource']

/** A file and the title of the context that it is in. */
export interface RecentItem {
  readonly item: Item
  readonly place: string
}

/** The files that the user created or changed last. @throws {Problem} */
export async function loadRecent({ id, baseUri }: Me, signal: AbortSignal): Promise<readonly RecentItem[]> {
  const own = escape(`${baseUri}_principals/resource/${id}`)
  // An entry without a file is no work yet.
  const hasContent = '(size:* OR graphType:String OR entryType:Link OR entryType:LinkReference)'
  const query = `(graphType:None OR graphType:String) AND ${hasContent} AND (creator:${own} OR contributors:${own})`
  const { items } = await search(query, 'modified desc', 0, signal)
  const shown = items.slice(0, MAX_RECENT)
  const places = await labelsOf(
    shown.map(({ context }) => `_contexts/${context}`),
    signal,
  )
  return shown.map(item => ({ item, place: places.get(`_contexts/${item.context}`) ?? item.context }))
}

/** Something that others have shared with the user. */
export interface SharedThing {
  readonly key: string
  readonly name: string
  readonly to: string
  readonly kind: ItemKind
  readonly mediaType: string | undefined
  /** Names of the owners, or of who created it. */
  readonly by: readonly string[]
}

/** What others have shared with the user, and who: contexts that the user can only read, folders and files. @throws {Problem} */
export async function loadShared(me: Me, signal: AbortSignal): Promise<readonly SharedThing[]> {
  const [{ contexts }, { items: entries }] = await Promise.all([
    loadMyContexts('shared', 0, signal),
    loadSharedEntries(me, 0, signal),
  ])
  // Those that the user can write to are among their own spaces.
  const others = contexts.filter(({ rights = [] }) => !rights.some(right => WRITING.includes(right)))
  const full = await Promise.all(others.slice(0, MAX_SHARED).map(({ contextId }) => loadContext(contextId, signal)))
  const things = [...full.map(context => ofContext(context, me)), ...entries.map(item => ofItem(item, me))].slice(
    0,
    MAX_SHARED,
  )
  const names = await namesOf(
    things.flatMap(({ owners }) => owners),
    signal,
  )
  return things.map(({ owners, ...thing }) => ({ ...thing, by: owners.flatMap(owner => names.get(owner) ?? []) }))
}

type Unnamed = Omit<SharedThing, 'by'> & { readonly owners: readonly string[] }

/** Names of the owners of a context, as far as the person may know them. @throws {Problem} */
export async function loadOwners(id: string, me: Me, signal: AbortSignal): Promise<readonly string[]> {
  const owners = ownersOf(await loadContext(id, signal), me)
  const names = await namesOf(owners, signal)
  return owners.flatMap(owner => names.get(owner) ?? [])
}

const ownersOf = ({ contextId, info }: Context, { baseUri }: Me): readonly string[] =>
  accessIn(info, { base: baseUri, context: contextId })
    .filter(({ role }) => role === 'owner')
    .map(({ principal }) => principal)

function ofContext(context: Context, me: Me): Unnamed {
  const { contextId } = context
  return {
    key: contextId,
    name: contextTitle(context),
    to: `contexts/${part(contextId)}/files`,
    kind: 'folder',
    mediaType: undefined,
    owners: ownersOf(context, me),
  }
}

function ofItem(item: Item, me: Me): Unnamed {
  const { context, entryId, name, kind, isFolder, mediaType } = item
  const creator = creatorOf(item, me)
  const place = `contexts/${part(context)}/files`
  return {
    key: `${context}/${entryId}`,
    name,
    to: isFolder ? `${place}/${part(entryId)}` : `shared?item=${part(context)}/${part(entryId)}`,
    kind,
    mediaType,
    owners: creator === undefined ? [] : [creator],
  }
}
