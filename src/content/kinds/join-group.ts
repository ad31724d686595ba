import type { RequireFresh } from '../../accounts/caller.ts'
import { findGroup, membersOf, setMembers } from '../../accounts/groups.ts'
import { USERS } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import { PRINCIPALS } from '../../model/addresses.ts'
import { requireRight } from '../../model/rights.ts'
import { membersChange } from '../access-changes.ts'
import type { EntryWriter } from '../changes.ts'
import { findEntryHead } from '../entry-records.ts'
import type { CreateResourceInput } from '../resource-kind.ts'
import { requireMayAppoint } from './account-guards.ts'

/** Adding a member requires the same right as any other change of the members (W3.8). */
export async function joinGroup(
  writer: EntryWriter,
  { maker, entry: user, place: { contextEntry } }: CreateResourceInput,
  groupUri: string,
  requireFresh: RequireFresh,
): Promise<void> {
  const { tx } = writer
  const group = /^\.\/_principals\/(?:entry|resource)\/([A-Za-z0-9_-]+)$/.exec(groupUri)?.[1]
  const entry = group === undefined ? undefined : await findEntryHead(tx, { context: PRINCIPALS, id: group })
  if (group === undefined || group === USERS || !entry || !(await findGroup(tx, group))) {
    throw new InvalidInput('invalid-member', '`groupURI` does not denote a group that can be joined.')
  }
  requireRight(maker, 'writeresource', { entry, contextEntry }, 'change the members of this group')
  await requireMayAppoint(tx, maker, group, requireFresh)
  const members = await membersOf(tx, group)
  writer.record(membersChange(group, members, [...members, user.id]))
  await setMembers(tx, group, [...members, user.id])
}
