import type { AuditEntry } from '../accounts/audit.ts'
import { changedPredicates } from '../graph/changed-predicates.ts'
import { parseGraph } from '../graph/graph.ts'
import { dct } from '../graph/vocabulary.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../model/addresses.ts'
import { type Acl, aclSlots, type Entry, type EntryHead, isSameAcl } from '../model/entry.ts'
import { displayName } from './file-description.ts'

/** What the audit log says of changes of entries. */

/** The event without its actor, which the writer of the change adds. */
export type Recorded = Omit<AuditEntry, 'actorId' | 'address'>

/** A record of a change of rights contains the old and the new value. Access lists and member lists can be long, so it has a part of them. */
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
  if (isSameAcl(before.acl, after.acl)) return undefined
  return {
    event: 'access-changed',
    detail: { entry: `${after.context}/${after.id}`, before: describeAcl(before.acl), after: describeAcl(after.acl) },
  }
}

/** The name of an entry, as an event has it. Users, groups and contexts have names of their own. */
export const nameIn = (entry: Entry): { readonly name?: string } =>
  isPrincipalOrContext(entry) ? {} : { name: displayName(entry) }

const isPrincipalOrContext = ({ context }: EntryHead): boolean => context === CONTEXTS || context === PRINCIPALS

/** None when the name is the same. */
export function renaming(before: Entry, after: Entry): readonly Recorded[] {
  const [name, newName] = [displayName(before), displayName(after)]
  if (name === newName || isPrincipalOrContext(after)) return []
  return [{ event: 'entry-renamed', detail: { context: after.context, entry: after.id, name, newName } }]
}

/** What has happened to the name and to the metadata of an entry, without the values. None for the same metadata. */
export function metadataChange(before: Entry, after: Entry): readonly Recorded[] {
  if (before.metadata === after.metadata) return []
  const { context, id } = after
  const renamed = renaming(before, after)
  const changed = changedPredicates(parseGraph(before.metadata), parseGraph(after.metadata))
  const others = renamed.length === 0 ? changed : changed.filter(predicate => predicate !== dct.title)
  if (others.length === 0) return renamed
  const detail = { context, entry: id, ...nameIn(after), changed: bounded(shortened(others)) }
  return [...renamed, { event: 'metadata-changed', detail }]
}

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
