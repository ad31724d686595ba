import { type RequireFresh, requireNoToken } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { groupsOf } from '../../accounts/groups.ts'
import { ADMINS } from '../../accounts/users.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../../model/addresses.ts'
import { addsToContext, type EntryHead, isOwnAcl } from '../../model/entry.ts'
import type { Queries } from '../../stores/database.ts'
import { findEntryHead } from '../entry-records.ts'

const prefix = principalUri('')

/** The principals that may change the resource of an entry, as access lists name them. */
function writersOf({ acl }: EntryHead, context: EntryHead): readonly string[] {
  const { admin = [], rwrite = [] } = acl
  const usesContext = !isOwnAcl(acl) || addsToContext(acl)
  return [...(context.acl.admin ?? []), ...admin, ...rwrite, ...(usesContext ? (context.acl.rwrite ?? []) : [])]
}

/**
 * Whether a user or group can make administrators: they may change the members of the admin group or the access lists that decide
 * about it, themselves or by way of a group whose members they may change.
 */
async function canMakeAdmins(queries: Queries, principals: readonly string[]): Promise<boolean> {
  if (principals.includes(ADMINS)) return true
  const contexts = await findEntryHead(queries, { context: CONTEXTS, id: CONTEXTS })
  const context = await findEntryHead(queries, { context: CONTEXTS, id: PRINCIPALS })
  const admins = await findEntryHead(queries, { context: PRINCIPALS, id: ADMINS })
  if (!contexts || !context || !admins) return false
  const found = new Set([...(contexts.acl.admin ?? []), ...writersOf(admins, context)])
  // The loop also visits what it adds.
  for (const iri of found) {
    if (!iri.startsWith(prefix)) continue
    const id = iri.slice(prefix.length)
    if (principals.includes(id)) return true
    const entry = await findEntryHead(queries, { context: PRINCIPALS, id })
    if (entry?.graphType === 'Group') for (const writer of writersOf(entry, context)) found.add(writer)
  }
  return false
}

/**
 * Checks a change of the members or the name of a group from which identity providers take memberships. Through such a group, an access
 * token or a stale session could create a lasting administrator.
 * @throws {Forbidden} `access-token-scope` (D24.5), `fresh-sign-in-required` (D28.6)
 */
export async function requireMayAppoint(
  queries: Queries,
  caller: Caller,
  group: string,
  requireFresh: RequireFresh,
): Promise<void> {
  if (!(await canMakeAdmins(queries, [group]))) return
  requireNoToken(caller, 'change a group whose members can make administrators')
  requireFresh(caller)
}

/** Enabling an administrator lasts longer than an access token. @throws {Forbidden} `access-token-scope` (D24.5) */
export async function requireMayEnable(queries: Queries, caller: Caller, userId: string): Promise<void> {
  if (!caller.grant || !(await canMakeAdmins(queries, [userId, ...(await groupsOf(queries, userId))]))) return
  requireNoToken(caller, 'enable a user who can make administrators')
}
