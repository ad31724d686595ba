import type { Client, Session } from './sessions.ts'
import type { Queries } from '../stores/database.ts'
import { networkOf } from './network.ts'
import type { TokenGrant } from './token-scopes.ts'
import { GUEST, systemNames, type User } from './users.ts'

/** The user who makes a request, or the guest. Created once for each request and never changed. */
export interface Caller {
  readonly user: User
  /** Ids of the groups the user is a stored member of. */
  readonly groups: ReadonlySet<string>
  readonly client: Client
  /** The session that authenticated the request; absent without a session cookie. */
  readonly session?: Session
  /** Whether the session or access token of the request is still valid; absent for requests without either. Called within a transaction. */
  readonly isStillValid?: (queries: Queries) => Promise<boolean>
  /** Absent unless an access token authenticated the request. It narrows the user's rights, and never widens them. */
  readonly grant?: TokenGrant
  /**
   * Ids of the users and groups whose names the caller may read; absent: all. Members of these groups count as well. Users and groups that
   * an access list gives to the caller in person are not in the set.
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

/** The key that rate limits count a request under: the user, or for guests the network they come from. */
export const rateLimitKey = (caller: Caller): string =>
  isGuest(caller) ? networkOf(caller.client.address) : caller.user.id
