import type { AuditEntry } from '../accounts/audit.ts'
import { type Acl, aclSlots, type EntryHead } from '../model/entry.ts'
import { PRINCIPALS, principalUri } from '../model/addresses.ts'

/** The record of a change of rights in the audit log: the old and the new value, limited in length. */

type Recorded = Pick<AuditEntry, 'event' | 'detail'>

/** Access lists and member lists can be long, so a row of the audit log contains only a part of them. */
const MAX_NAMED = 50
const MAX_CHARACTERS = 2000

const prefix = principalUri('')

/** The ids of principals of this service, and other IRIs unchanged, followed by the number of omitted ones. */
function shortened(principals: readonly string[]): string {
  const named = principals.slice(0, MAX_NAMED).map(iri => (iri.startsWith(prefix) ? iri.slice(prefix.length) : iri))
  const more = principals.length - named.length
  return more === 0 ? named.join(', ') : `${named.join(', ')} and ${more} more`
}

const bounded = (text: string): string =>
  text.length <= MAX_CHARACTERS ? text : `${text.slice(0, MAX_CHARACTERS)} … (${text.length} characters)`

/** For example `admin: 5, 7; mread: _users`; empty for an entry that uses the rights of its context. */
const describeAcl = (acl: Acl): string =>
  bounded(
    aclSlots
      .flatMap(slot => ((acl[slot]?.length ?? 0) === 0 ? [] : [`${slot}: ${shortened(acl[slot] ?? [])}`]))
      .join('; '),
  )

/** `undefined` when the access list is the same. */
export function accessChange(before: EntryHead, after: EntryHead): Recorded | undefined {
  if (before.acl === after.acl || fingerprint(before.acl) === fingerprint(after.acl)) return undefined
  return {
    event: 'access-changed',
    detail: { entry: `${after.context}/${after.id}`, before: describeAcl(before.acl), after: describeAcl(after.acl) },
  }
}

/** Equal for access lists that name the same principals in the same slots. */
const fingerprint = (acl: Acl): string => JSON.stringify(aclSlots.map(slot => [...(acl[slot] ?? [])].sort()))

/** `undefined` when the members are the same. @param before ids of users */
export function membersChange(
  groupId: string,
  before: readonly string[],
  after: readonly string[],
): Recorded | undefined {
  if (JSON.stringify([...before].sort()) === JSON.stringify([...after].sort())) return undefined
  return {
    event: 'members-changed',
    detail: {
      group: `${PRINCIPALS}/${groupId}`,
      before: bounded(shortened(before)),
      after: bounded(shortened(after)),
    },
  }
}
