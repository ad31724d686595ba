import { denied, isAdmin } from '../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../accounts/caller.ts'
import { hasScope, opensContext } from '../accounts/token-scopes.ts'
import { ADMINS, GUEST, USERS } from '../accounts/users.ts'
import {
  type Acl,
  type AclSlot,
  addsToContext,
  addsToFolder,
  type Entry,
  type EntryHead,
  followsFolder,
  isOwnAcl,
} from './entry.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS, principalUri } from './addresses.ts'

export type Right = 'administer' | 'writemetadata' | 'writeresource' | 'readmetadata' | 'readresource'

/** The input of an access decision: an entry, together with the entry of its context. */
export interface AccessTarget {
  readonly entry: EntryHead
  readonly contextEntry: EntryHead
}

/** A complete entry, and the entry of its context. */
export interface EntryInContext extends AccessTarget {
  readonly entry: Entry
}

/** The slots that grant a right; one is enough. Write includes read of the same half (metadata or resource). */
const slotsFor: Readonly<Record<Exclude<Right, 'administer'>, readonly AclSlot[]>> = {
  writemetadata: ['mwrite'],
  writeresource: ['rwrite'],
  readmetadata: ['mread', 'mwrite'],
  readresource: ['rread', 'rwrite'],
}

const names = (list: readonly string[] | undefined, id: string): boolean => list?.includes(principalUri(id)) ?? false

/** True if the list names the caller, or a group that stores them as a member. */
const namesCaller = (list: readonly string[] | undefined, caller: Caller): boolean =>
  names(list, caller.user.id) || [...caller.groups].some(group => names(list, group))

/**
 * Whether an access list that names everybody lets the caller read this entry. False only for a user or group that is hidden from the
 * caller (D18.20).
 */
function isAcquainted(caller: Caller, { context, id, groups = [] }: EntryHead): boolean {
  const known = caller.acquaintances
  if (context !== PRINCIPALS || known === undefined || id.startsWith('_')) return true
  return known.has(id) || caller.groups.has(id) || groups.some(group => known.has(group))
}

/** W4.1: whether a slot names the caller. The slot `admin` comes before all others ({@link may}). */
function has(caller: Caller, { acl }: { readonly acl: Acl }, slot: AclSlot): boolean {
  const list = acl[slot]
  return names(list, GUEST) || (names(list, USERS) && !isGuest(caller)) || namesCaller(list, caller)
}

/** The same for a right to read, which a list for everybody does not give on a user or group that is hidden from the caller. */
const letsRead = (caller: Caller, entry: EntryHead, slot: AclSlot): boolean =>
  isAcquainted(caller, entry) ? has(caller, entry, slot) : namesCaller(entry.acl[slot], caller)

const isOwnUserEntry = (caller: Caller, entry: EntryHead): boolean =>
  entry.context === PRINCIPALS && entry.id === caller.user.id && entry.entryType === 'Local'

const readRights: readonly Right[] = ['readmetadata', 'readresource']

/**
 * Whether the access list of the entry decides who may create, change and delete users and groups, and so who can become an administrator.
 */
export const decidesAboutAccounts = ({ context, id }: EntryAddress): boolean =>
  context === PRINCIPALS || (context === CONTEXTS && (id === PRINCIPALS || id === CONTEXTS))

/** An access token narrows the user's rights to its scopes and contexts (D24.4). The entry of a context belongs to it. */
function tokenAllows(caller: Caller, right: Right, { context, id }: EntryHead): boolean {
  const isRead = readRights.includes(right)
  // A new administrator would keep the right after the token has ended, so a token never changes the admin group (D24.5).
  if (!isRead && context === PRINCIPALS && id === ADMINS) return false
  return hasScope(caller, isRead ? 'read' : 'write') && opensContext(caller, context === CONTEXTS ? id : context)
}

/**
 * The decision of the folders above the entry about a right, from the nearest folder on (D11.7): one of them gives the right, or the last
 * of them leaves the decision to the context, or the right is refused.
 */
function askFolders(caller: Caller, right: Right, { folders }: EntryHead): 'given' | 'of context' | 'refused' {
  for (const folder of folders) {
    if (has(caller, folder, 'admin')) return 'given'
    if (right !== 'administer' && slotsFor[right].some(slot => has(caller, folder, slot))) return 'given'
    if (addsToContext(folder.acl)) return 'of context'
    if (!followsFolder(folder.acl)) return 'refused'
  }
  return 'of context'
}

/** Whether readers of the context may read the content of these folders. */
export const letContextIn = (folders: EntryHead['folders']): boolean => {
  const last = folders.find(({ acl }) => !followsFolder(acl))
  return last === undefined || addsToContext(last.acl)
}

/**
 * Whether an entry may leave its folder. If the folder excludes readers of the context, more people may read the entry elsewhere, so only
 * users who administer the entry may move it (D11.8).
 * @throws {Unauthenticated | Forbidden}
 */
export function requireMayLeave(caller: Caller, target: AccessTarget): void {
  const { acl, folders, id } = target.entry
  if (followsFolder(acl) && !letContextIn(folders))
    requireRight(
      caller,
      'administer',
      target,
      `take the entry "${id}" out of the folder that says who has access to it`,
    )
}

/** W4.2: decides one right; the first rule that matches wins. */
export function may(caller: Caller, right: Right, { entry, contextEntry }: AccessTarget): boolean {
  if (caller.grant && !tokenAllows(caller, right, entry)) return false
  if (isAdmin(caller)) return true
  if (isOwnUserEntry(caller, entry) && readRights.includes(right)) return true
  if (has(caller, contextEntry, 'admin')) return true
  if (isOwnAcl(entry.acl)) {
    if (has(caller, entry, 'admin')) return true
    const gives = readRights.includes(right) ? letsRead : has
    if (right !== 'administer' && slotsFor[right].some(slot => gives(caller, entry, slot))) return true
    if (!addsToContext(entry.acl) && !addsToFolder(entry.acl)) return false
  }
  if (followsFolder(entry.acl)) {
    const answer = askFolders(caller, right, entry)
    if (answer !== 'of context') return answer === 'given'
  }
  const slots = readRights.includes(right) ? slotsFor.readresource : slotsFor.writeresource
  return slots.some(slot => has(caller, contextEntry, slot))
}

/**
 * Whether the caller has any right on an entry, which always includes a right to read. Without a right they may not read its info either
 * (D18.11).
 */
export const hasAnyRight = (caller: Caller, target: AccessTarget): boolean =>
  may(caller, 'readmetadata', target) || may(caller, 'readresource', target)

/** @throws {Unauthenticated | Forbidden} when the caller lacks the right. `what` completes "You may not …". */
export function requireRight(caller: Caller, right: Right, target: AccessTarget, what: string): void {
  if (!may(caller, right, target)) throw denied(caller, what)
}

/**
 * Checks whether the caller may perform the request, and throws otherwise. Runs before a body is read, and again inside the
 * change.
 */
export type AccessCheck = (caller: Caller, target: AccessTarget) => void

/** @param what completes "You may not …". */
export const requires =
  (right: Right, what: string): AccessCheck =>
  (caller, target) =>
    requireRight(caller, right, target, what)

/** The list of rights that clients see (W4.3): `administer` alone, or the strongest right of each half. */
export function rightsOf(caller: Caller, target: AccessTarget): Right[] {
  if (may(caller, 'administer', target)) return ['administer']
  const strongest = (write: Right, read: Right): Right[] =>
    may(caller, write, target) ? [write] : may(caller, read, target) ? [read] : []
  return [...strongest('writemetadata', 'readmetadata'), ...strongest('writeresource', 'readresource')]
}

/** The rights of a caller on an entry: decided once, then used for everything that is shown of the entry. */
export interface Access {
  /** As clients see them. Empty for a caller who may not even read the info (D18.11). */
  readonly rights: readonly Right[]
  readonly readsMetadata: boolean
  readonly readsResource: boolean
}

export function accessOf(caller: Caller, target: AccessTarget): Access {
  const rights = rightsOf(caller, target)
  const readsAll = rights.includes('administer')
  return {
    rights,
    readsMetadata: readsAll || rights.includes('writemetadata') || rights.includes('readmetadata'),
    readsResource: readsAll || rights.includes('writeresource') || rights.includes('readresource'),
  }
}
