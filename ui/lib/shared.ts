import { type Access, accessIn } from './access.ts'
import { ask } from './api.ts'
import { part } from './base.ts'
import { type Graph, valuesOf } from './graph.ts'
import { escape, type Item, LISTED, search, type Window } from './files.ts'
import type { Me } from './session.ts'

const HAS_MEMBER = 'http://entrystore.org/terms/hasGroupMember'
/** Maximum number of groups in one query, because a search has a limit. */
const MAX_GROUPS = 40

/** Ids of the groups that a user belongs to. @throws {Problem} */
export async function groupIdsOf(user: string, signal: AbortSignal): Promise<readonly string[]> {
  const relations = await ask<Graph>(`_principals/relations/${part(user)}`, { signal })
  return Object.entries(relations)
    .filter(([, properties]) => properties[HAS_MEMBER])
    .map(([uri]) => uri.slice(uri.lastIndexOf('/') + 1))
}

const anyOf = (field: string, uris: readonly string[]): string =>
  uris.map(uri => `${field}:${escape(uri)}`).join(' OR ')

const principals = ({ baseUri }: Me, ids: readonly string[]): string[] =>
  ids.map(id => `${baseUri}_principals/resource/${id}`)

/**
 * Files and folders of others that are shared with the user or a group of theirs, and not what is in those folders: it has no list of its own.
 * @throws {Problem}
 */
export async function loadSharedEntries(me: Me, offset: number, signal: AbortSignal): Promise<Window> {
  const named = principals(me, [me.id, ...(await groupIdsOf(me.id, signal)).slice(0, MAX_GROUPS)])
  const readers = `${anyOf('acl.resource.r', named)} OR ${anyOf('acl.resource.rw', named)}`
  const [own = ''] = principals(me, [me.id])
  const query = `${LISTED} AND (${readers}) AND NOT creator:${escape(own)} AND NOT acl.admin:${escape(own)}`
  return await search(query, 'modified desc', offset, signal)
}

const CREATOR = 'http://purl.org/dc/terms/creator'

/** Id of the user who created an item; `undefined` if it names none. */
export function creatorOf({ info }: Item, { baseUri }: Pick<Me, 'baseUri'>): string | undefined {
  const start = `${baseUri}_principals/resource/`
  return valuesOf(info, CREATOR)
    .find(uri => uri.startsWith(start))
    ?.slice(start.length)
}

/** An item that others have access to. */
export interface SharedItem {
  readonly item: Item
  readonly isContext: boolean
  /** Users and groups in the item's own access list. */
  readonly access: readonly Access[]
}

/** A part of what the user shares. */
export interface SharedByMe {
  readonly items: readonly SharedItem[]
  /** Number of the files and folders shown, which the contexts on the first page do not count among. */
  readonly shown: number
  readonly results: number
}

/**
 * Contexts of the user, on the first page, and single files and folders that they own or created, if others are in their access list. @throws
 * {Problem}
 */
export async function loadSharedByMe(me: Me, offset: number, signal: AbortSignal): Promise<SharedByMe> {
  const [own = ''] = principals(me, [me.id])
  const mine = escape(own)
  // Of several owners the others are before or after the user in the order of their names.
  const others = `acl.admin:[* TO ${mine}} OR acl.admin:{${mine} TO *]`
  const isShared = `(acl.resource.r:* OR acl.resource.rw:* OR ${others})`
  const contexts = `graphType:Context AND acl.admin:${mine} AND ${isShared}`
  const entries = `${LISTED} AND (creator:${mine} OR acl.admin:${mine}) AND ${isShared}`
  const [ofContexts, ofEntries] = await Promise.all([
    offset === 0 ? search(contexts, 'title asc', 0, signal) : { items: [], results: 0 },
    search(entries, 'modified desc', offset, signal),
  ])
  const shared = (isContext: boolean) => (item: Item) => {
    const place = isContext
      ? { base: me.baseUri, context: item.entryId }
      : { base: me.baseUri, context: item.context, entry: item.entryId }
    const access = accessIn(item.info, place).filter(({ principal }) => principal !== me.id)
    return access.length === 0 ? [] : [{ item, isContext, access }]
  }
  const items = [...ofContexts.items.flatMap(shared(true)), ...ofEntries.items.flatMap(shared(false))]
  return { items, shown: ofEntries.items.length, results: ofEntries.results }
}

/** Contexts whose access list names the user, a group of theirs, or everyone. @throws {Problem} */
export async function loadContextsOf(
  user: string,
  { baseUri }: Pick<Me, 'baseUri'>,
  signal: AbortSignal,
): Promise<{ readonly contexts: readonly Item[]; readonly groups: readonly string[] }> {
  const groups = (await groupIdsOf(user, signal)).slice(0, MAX_GROUPS)
  const named = [user, ...groups].map(id => `${baseUri}_principals/resource/${id}`)
  const fields = ['acl.admin', 'acl.resource.r', 'acl.resource.rw'].map(field => anyOf(field, named))
  const found = await search(`graphType:Context AND (${fields.join(' OR ')})`, 'title asc', 0, signal)
  return { contexts: found.items, groups }
}
