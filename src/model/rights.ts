import { type Caller, denied, hasScope, isAdmin, isGuest, opensContext } from '../accounts/caller.ts'
import { ADMINS, GUEST, USERS } from '../accounts/users.ts'
import { type AclSlot, addsToContext, type Entry, type EntryHead, isOwnAcl } from './entry.ts'
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

/** Whether a list that names everybody lets the caller read about a user or group (D18.20). */
function isAcquainted(caller: Caller, { context, id, groups = [] }: EntryHead): boolean {
  const known = caller.acquaintances
  if (context !== PRINCIPALS || known === undefined || id.startsWith('_')) return true
  return known.has(id) || caller.groups.has(id) || groups.some(group => known.has(group))
}

/** W4.1: whether a slot of the entry names the caller. The slot `admin` comes before all others ({@link may}). */
function has(caller: Caller, entry: EntryHead, slot: AclSlot): boolean {
  const list = entry.acl[slot]
  return names(list, GUEST) || (names(list, USERS) && !isGuest(caller)) || namesCaller(list, caller)
}

/** The same for a right to read, which a list for everybody does not give on a user or group that is hidden from the caller. */
const letsRead = (caller: Caller, entry: EntryHead, slot: AclSlot): boolean =>
  isAcquainted(caller, entry) ? has(caller, entry, slot) : namesCaller(entry.acl[slot], caller)

const isOwnUserEntry = (caller: Caller, entry: EntryHead): boolean =>
  entry.context === PRINCIPALS && entry.id === caller.user.id && entry.entryType === 'Local'

const readRights: readonly Right[] = ['readmetadata', 'readresource']

/**
 * Whether the access list of the entry decides about users and groups: who may create, change and delete them, and so who can become an
 * administrator.
 */
export const decidesAboutAccounts = ({ context, id }: EntryAddress): boolean =>
  context === PRINCIPALS || (context === CONTEXTS && (id === PRINCIPALS || id === CONTEXTS))

/** An access token narrows the user's rights to its scopes and contexts (D24.4). The entry of a context belongs to it. */
function tokenAllows(caller: Caller, right: Right, { context, id }: EntryHead): boolean {
  const isRead = readRights.includes(right)
  // CreateResourceInput someone an administrator would outlive the token (D24.5).
  if (!isRead && context === PRINCIPALS && id === ADMINS) return false
  return hasScope(caller, isRead ? 'read' : 'write') && opensContext(caller, context === CONTEXTS ? id : context)
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
    if (!addsToContext(entry.acl)) return false
  }
  const slots = readRights.includes(right) ? slotsFor.readresource : slotsFor.writeresource
  return slots.some(slot => has(caller, contextEntry, slot))
}

/** Whether the caller has any right on an entry: each includes a right to read. Without one they may not read its info either (D18.11). */
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

/** What a caller may do with an entry: decided once, then used for everything that is shown of it. */
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
