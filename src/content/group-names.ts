import { type Caller, isAdmin } from '../accounts/caller.ts'
import { normaliseName, requireName } from '../accounts/users.ts'

/**
 * The name of a group as this caller may give it. The names of users and groups are one name space, which administrators and
 * provisioning need. What others choose begins with their own name, so that it takes no name of that space, and a refusal does not
 * reveal which names are taken (D18.13).
 * @param present the name that the group has; it can be kept
 * @throws {InvalidInput} `invalid-name`
 */
export function groupNameFor(caller: Caller, raw: string, present?: string): string {
  const name = requireName(raw)
  if (isAdmin(caller) || name === present) return name
  const prefix = `${normaliseName(caller.user.name ?? caller.user.id)}: `
  return requireName(name.startsWith(prefix) ? name : prefix + name)
}
