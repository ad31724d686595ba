/** The user that a request without credentials acts as. */
export const GUEST = '_guest'
/** The super user. */
export const ADMIN = '_admin'
/** The group whose members have the same rights as admin. */
export const ADMINS = '_admins'
/** The group of all signed-in users; its members are computed, never stored. */
export const USERS = '_users'

/**
 * Stands in access lists for those whom the context gives access. It is no user and no group: ids of both that begin with `_` are reserved.
 */
export const OF_CONTEXT = '_context'

/** Names of the users and groups above (W1.6). */
export const systemNames = { [GUEST]: 'guest', [ADMIN]: 'admin', [ADMINS]: 'admins', [USERS]: 'users' } as const
