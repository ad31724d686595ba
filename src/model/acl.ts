import { GUEST, USERS } from '../accounts/principals.ts'
import { principalUri } from './addresses.ts'

/** The five lists of principals an entry may carry (wire facts 2.4). */
export const aclSlots = ['admin', 'rread', 'rwrite', 'mread', 'mwrite'] as const
export type AclSlot = (typeof aclSlots)[number]

/** Resource IRIs of principals, kept to the letter and unchecked. An absent slot is empty. */
export type Acl = Readonly<Partial<Record<AclSlot, readonly string[]>>>

/** With an ACL of its own an entry no longer takes its context's defaults (wire facts 4.2, rule 4). */
export const isOwnAcl = (acl: Acl): boolean => aclSlots.some(slot => (acl[slot]?.length ?? 0) > 0)

export const everybody: readonly string[] = [principalUri(GUEST)]
const signedInUsers: readonly string[] = [principalUri(USERS)]

/** What a new user gets: to manage himself and to be visible to other users (wire facts 3.2.1). */
export const userAcl = (id: string): Acl => ({
  rwrite: [principalUri(id)],
  mwrite: [principalUri(id)],
  mread: signedInUsers,
})

/** What a new group gets: to be visible to its members and to users. */
export const groupAcl = (id: string): Acl => ({ rread: [principalUri(id)], mread: signedInUsers })
