import { isIPv6 } from 'node:net'
import { Forbidden, type ServiceError, Unauthenticated } from '../base/errors.ts'
import { ADMIN, ADMINS, GUEST, systemNames, findPrincipalNamed, normaliseName, type User, findUser } from './users.ts'
import type { Database, Queries } from '../stores/database.ts'
import { type Client, type Session, isCurrent } from './sessions.ts'
import type { Bytes } from '../base/units.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { groupsOf } from './groups.ts'
import { sql } from '../stores/sql.ts'

/** What an access token permits, from the weakest on. Each but `quota` includes those before it; `admin` includes all. */
export const tokenScopes = ['read', 'write', 'quota', 'admin'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** The limits of a request that an access token authenticated. */
export interface TokenGrant {
  readonly tokenId: string
  readonly scopes: readonly TokenScope[]
  /** Ids of the only contexts that the token opens; absent: all that the user has access to. */
  readonly contexts?: readonly string[]
}

/** The user who makes a request, or the guest. Created once for each request and never changed. */
export interface Caller {
  readonly user: User
  /** Ids of the groups the user is a stored member of. */
  readonly groups: ReadonlySet<string>
  readonly client: Client
  /** The session that authenticated the request; absent without a session cookie. */
  readonly session?: Session
  /** Whether the session or the access token of the request has not ended since; absent without one. Asked within a transaction. */
  readonly isStillValid?: (queries: Queries) => Promise<boolean>
  /** Absent unless an access token authenticated the request. It narrows the user's rights, and never widens them. */
  readonly grant?: TokenGrant
  /**
   * Ids of the users and groups whose names the caller may read, other than those that an access list gives to the caller in person; those
   * in a group among them count as well. Absent: all.
   */
  readonly acquaintances?: ReadonlySet<string>
  /** A person who runs a command on the machine of the store, with the rights of admin. No request has it. */
  readonly isOperator?: true
}

const guestUser: User = {
  id: GUEST,
  name: systemNames[GUEST],
  password: undefined,
  epoch: 1,
  keptSessionDigest: undefined,
  disabled: false,
  hasSecondFactor: false,
  hasTemporaryPassword: false,
  unlocks: 0,
  codeUnlocks: 0,
  language: undefined,
  homeContext: undefined,
  customProperties: {},
}

/** The caller of a request without credentials. */
export const guestFrom = (client: Client): Caller => ({ user: guestUser, groups: noGroups, client })

const noGroups: ReadonlySet<string> = new Set()

export const isGuest = (caller: Pick<Caller, 'user'>): boolean => caller.user.id === GUEST

const isAdministrator = ({ user, groups }: Pick<Caller, 'user' | 'groups'>): boolean =>
  user.id === ADMIN || groups.has(ADMINS)

/**
 * True for admin and the members of the admin group. They may do everything (W4.2, rule 1). With an access token only if it has
 * the scope `admin` (D24.4).
 */
export const isAdmin = (caller: Caller): boolean => isAdministrator(caller) && hasScope(caller, 'admin')

/** Whether the access token of the request, if any, has the scope. */
export function hasScope({ grant }: Pick<Caller, 'grant'>, scope: TokenScope): boolean {
  if (!grant || grant.scopes.includes('admin')) return true
  return grant.scopes.includes(scope) || (scope === 'read' && grant.scopes.includes('write'))
}

/** Whether the access token of the request, if any, opens this context. */
export const opensContext = ({ grant }: Pick<Caller, 'grant'>, context: string): boolean =>
  grant?.contexts?.includes(context) ?? true

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

/** The key that rate limits count a request under: the user, or for guests the network they come from. */
export const shareOf = (caller: Caller): string => (isGuest(caller) ? networkOf(caller.client.address) : caller.user.id)

/** The network that limits count an address under: an IPv4 address, or the /64 of an IPv6 address, which one customer has at least. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const parts = address.toLowerCase().replace(/%.*/, '').split('::')
  const [head = [], tail = []] = parts.map(part => part.split(':').filter(Boolean))
  // A dotted end counts as one group here: the zeros that this adds come after the first four.
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  const network = [...head, ...zeros, ...tail].slice(0, 4)
  return `${network.map(group => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}

/** Who must have a second factor. `off`: no user can add one, and those who have one are still asked for it. */
export type FactorRequirement = 'off' | 'optional' | 'admins' | 'all'

interface FactorPolicyOptions {
  readonly requirement: FactorRequirement
  /** Names of groups whose members must have a second factor, as written in the settings. */
  readonly groups: readonly string[]
}

/** Decides who must have a second factor (D28.9). */
export class FactorPolicy {
  readonly #database: Database
  readonly #requirement: FactorRequirement
  readonly #groups: readonly string[]

  constructor(database: Database, { requirement, groups }: FactorPolicyOptions) {
    this.#database = database
    this.#requirement = requirement
    this.#groups = groups.map(normaliseName)
  }

  /** Whether users can add second factors. */
  get isOffered(): boolean {
    return this.#requirement !== 'off'
  }

  /** Whether the caller must add a second factor before anything else. */
  async isMissing(caller: Pick<Caller, 'user' | 'groups' | 'session'>): Promise<boolean> {
    const { user, session } = caller
    // Not `hasSecondFactor` of the session: the user may have removed the factor since.
    if (isGuest(caller) || user.hasSecondFactor || session?.hasProviderFactor === true) return false
    return await this.#isRequired(caller)
  }

  /** @throws {Forbidden} `second-factor-missing` */
  async requirePresent(caller: Caller): Promise<void> {
    if (await this.isMissing(caller))
      throw new Forbidden('second-factor-missing', 'This account must have a second factor. Add one first.')
  }

  async #isRequired({ user, groups }: Pick<Caller, 'user' | 'groups'>): Promise<boolean> {
    if (this.#requirement === 'off') return false
    if (this.#requirement === 'all') return true
    if (this.#requirement === 'admins' && isAdministrator({ user, groups })) return true
    return await this.#isInNamedGroup(groups)
  }

  async #isInNamedGroup(groups: ReadonlySet<string>): Promise<boolean> {
    for (const name of this.#groups) {
      const id = await findPrincipalNamed(this.#database, name)
      if (id !== undefined && groups.has(id)) return true
    }
    return false
  }
}

/** A user with the groups that they are a stored member of, as each request needs them. */
export interface KnownUser {
  readonly user: User
  readonly groups: ReadonlySet<string>
}

/** Estimated size of a user with a few custom properties, or of a group. */
const USER_BYTES: Bytes = 2000
const GROUP_BYTES: Bytes = 100

/** Caches users. Each request checks the store's revision first, so a revoked right takes effect with the next request. */
export class UserCache {
  readonly #database: Database
  readonly #cache: DependencyCache

  constructor(database: Database, cache: DependencyCache) {
    this.#database = database
    this.#cache = cache
  }

  find(id: string): Promise<KnownUser | undefined> {
    return this.#cache.get(`user ${id}`, async () => {
      const user = await findUser(this.#database, id)
      if (!user) return undefined
      const groups = new Set(await groupsOf(this.#database, id))
      const bytes = USER_BYTES + 2 * JSON.stringify(user.customProperties).length + GROUP_BYTES * groups.size
      return { value: { user, groups }, subjects: [`_principals/${id}`], bytes }
    })
  }
}

/**
 * Loads the caller again with their current state and groups. For actions where much time passes between the head of the
 * request and its effect.
 * @throws {Unauthenticated} if the account, session or access token has ended, or the password has changed meanwhile. Not downgraded to
 * guest: the change would still be recorded under the user's name.
 */
export async function presentCaller(queries: Queries, caller: Caller): Promise<Caller> {
  // The operator could write the rows without a command, so nothing of theirs can have ended.
  if (isGuest(caller) || caller.isOperator) return caller
  const user = await findUser(queries, caller.user.id)
  const isGood = user && !user.disabled && (await isStill(queries, caller, user))
  if (!isGood) throw new Unauthenticated('not-signed-in', 'Your session has ended. Sign in again.')
  return { ...caller, user, groups: new Set(await groupsOf(queries, user.id)) }
}

/** Checks the caller's access token or session or, without them, the epoch under which their password was verified. */
async function isStill(queries: Queries, caller: Caller, user: User): Promise<boolean> {
  const { grant, session, user: before } = caller
  // A session that was ended by name has still the epoch of its user.
  if (caller.isStillValid && !(await caller.isStillValid(queries))) return false
  if (grant) return (await queries.get(sql`SELECT id FROM access_tokens WHERE id = ${grant.tokenId}`)) !== undefined
  return session ? isCurrent(session, user) : before.epoch === user.epoch && !user.hasSecondFactor
}
