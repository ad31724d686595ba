import { GUEST, USERS } from '../accounts/principals.ts'
import { principalUri } from './addresses.ts'

/** The five lists of principals an entry may carry (W2.4). */
export const aclSlots = ['admin', 'rread', 'rwrite', 'mread', 'mwrite'] as const
export type AclSlot = (typeof aclSlots)[number]

/** Resource IRIs of principals, stored exactly as given and unchecked. An absent slot is empty. */
export type Acl = Readonly<Partial<Record<AclSlot, readonly string[]>>>

/** An entry with its own ACL does not use the defaults of its context (W4.2, rule 4). */
export const isOwnAcl = (acl: Acl): boolean => aclSlots.some(slot => (acl[slot]?.length ?? 0) > 0)

export const everybody: readonly string[] = [principalUri(GUEST)]
const signedInUsers: readonly string[] = [principalUri(USERS)]

/** The ACL of a new user: they may manage themselves, and other users may see them (W3.2.1). */
export const userAcl = (id: string): Acl => ({
  rwrite: [principalUri(id)],
  mwrite: [principalUri(id)],
  mread: signedInUsers,
})

/** The ACL of a new group: its members and all signed-in users may see it. */
export const groupAcl = (id: string): Acl => ({ rread: [principalUri(id)], mread: signedInUsers })
