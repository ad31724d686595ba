import { networkOf } from '../base/network.ts'
import { Forbidden, type ServiceError, Unauthenticated } from '../base/errors.ts'
import { ADMIN, ADMINS, GUEST, systemNames } from './principals.ts'
import type { Client, Session } from './sessions.ts'
import type { User } from './users.ts'

/** The user who makes a request, or the guest. Created once for each request and never changed. */
export interface Caller {
  readonly user: User
  /** Ids of the groups the user is a stored member of. */
  readonly groups: ReadonlySet<string>
  readonly client: Client
  /** The session that authenticated the request; absent without a session cookie. */
  readonly session?: Session
}

const guestUser: User = {
  id: GUEST,
  name: systemNames[GUEST],
  password: undefined,
  epoch: 1,
  keptSessionDigest: undefined,
  disabled: false,
  unlocks: 0,
  language: undefined,
  homeContext: undefined,
  customProperties: {},
}

/** The caller of a request without credentials. */
export const guestFrom = (client: Client): Caller => ({ user: guestUser, groups: new Set(), client })

export const isGuest = (caller: Pick<Caller, 'user'>): boolean => caller.user.id === GUEST

/** True for admin and the members of the admin group. They may do everything (W4.2, rule 1). */
export const isAdmin = (caller: Caller): boolean => caller.user.id === ADMIN || caller.groups.has(ADMINS)

/** The error for a missing right (D1.5): guests are asked to sign in, signed-in users get "forbidden". */
export const denied = (caller: Caller, what: string): ServiceError =>
  isGuest(caller)
    ? new Unauthenticated('not-signed-in', `Sign in to ${what}.`)
    : new Forbidden('not-allowed', `You may not ${what}.`)

/** @throws {Unauthenticated | Forbidden} unless the caller is an administrator. */
export function requireAdmin(caller: Caller, what: string): void {
  if (!isAdmin(caller)) throw denied(caller, what)
}

/** @throws {Unauthenticated | Forbidden} unless the caller is the user `_admin` itself (W4.4). */
export function requireSuperUser(caller: Caller, what: string): void {
  if (caller.user.id !== ADMIN) throw denied(caller, what)
}

/** @throws {Unauthenticated} for a guest. */
export function requireSignedIn(caller: Caller, what: string): void {
  if (isGuest(caller)) throw denied(caller, what)
}

/** The key that rate limits count a request under: the user, or for guests the network they come from. */
export const shareOf = (caller: Caller): string => (isGuest(caller) ? networkOf(caller.client.address) : caller.user.id)
