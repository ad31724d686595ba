import { Forbidden, type ServiceError, Unauthenticated } from '../base/errors.ts'
import { type Caller, isGuest } from './caller.ts'
import { hasScope, opensContext } from './token-scopes.ts'
import { ADMIN, ADMINS } from './users.ts'

/** True for admin and the members of the admin group, whatever access token they use. */
export const isAdministrator = ({ user, groups }: Pick<Caller, 'user' | 'groups'>): boolean =>
  user.id === ADMIN || groups.has(ADMINS)

/** True for administrators, who may do everything (W4.2, rule 1); with an access token only if it has the scope `admin` (D24.4). */
export const isAdmin = (caller: Caller): boolean => isAdministrator(caller) && hasScope(caller, 'admin')

/** Administrators set quotas; with an access token if it has the scope `quota` and opens the context (D24.4). */
export const mayManageQuota = (caller: Caller, context: string): boolean =>
  isAdministrator(caller) && hasScope(caller, 'quota') && opensContext(caller, context)

/** @throws {Unauthenticated | Forbidden} unless the caller may set the quota of the context. */
export function requireQuotaManager(caller: Caller, context: string): void {
  if (!mayManageQuota(caller, context)) throw denied(caller, 'set a quota')
}

/** @throws {Forbidden} for an access token: what would outlive it, or could take its owner's account, needs a session (D24.5). */
export function requireNoToken(caller: Caller, what: string): void {
  if (caller.grant) throw new Forbidden('access-token-scope', `An access token cannot ${what}. Sign in instead.`)
}

/** The last proof of who the caller is must be recent (D28.6). @throws {Forbidden} `fresh-sign-in-required` */
export type RequireFresh = (caller: Caller) => void

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
  if (caller.user.id !== ADMIN || !isAdmin(caller)) throw denied(caller, what)
}

/** @throws {Unauthenticated} for a guest. */
export function requireSignedIn(caller: Caller, what: string): void {
  if (isGuest(caller)) throw denied(caller, what)
}
