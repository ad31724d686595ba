import { Conflict } from '../../base/errors.ts'
import { principalUri } from '../../model/addresses.ts'
import {
  type Acl,
  type AclSlot,
  adds,
  addsToContext,
  addsToFolder,
  aclSlots,
  decidesAlone,
  type EntryHead,
  givesAccess,
  givingAccess,
  isList,
  isOwnAcl,
  isPrincipal,
  mapAcl,
  ofFolderOnly,
} from '../../model/entry.ts'
import type { Share } from './operation.ts'

const slotsOf: Readonly<Record<Exclude<Share['role'], 'none'>, readonly AclSlot[]>> = {
  owner: ['admin'],
  writer: ['rwrite', 'mwrite'],
  reader: ['rread', 'mread'],
}

/**
 * The access list of an entry after one more user or group has a role, or none. Those who have access from above keep it, unless the list
 * decides alone; the list of a folder is for everything in it too.
 * @throws {Conflict} when nobody would be left in a list that decides alone: then all who have access above would have it
 */
export function sharedAcl(entry: EntryHead, { principal, role }: Share): Acl {
  const { acl } = entry
  const iri = principalUri(principal)
  if (role === 'none') return without(entry, iri)
  const base = decidesAlone(acl) || addsToContext(acl) || addsToFolder(acl) ? acl : ofFolderOnly
  const given = withPrincipal(base, slotsOf[role], iri)
  return isList(entry) && !givesAccess({ ...entry, acl: given }) ? givingAccess(given) : given
}

function without({ id, acl }: EntryHead, iri: string): Acl {
  const rest = mapAcl(acl, principals => principals.filter(one => one !== iri))
  const isEmpty = !aclSlots.some(slot => rest[slot]?.some(isPrincipal))
  if (!isEmpty || !isOwnAcl(acl) || addsToContext(rest)) return rest
  if (adds(acl)) return {}
  throw new Conflict(
    'conflict',
    `Nobody would be left in the access list of the entry "${id}", so it would be open to those who have access above. Name another owner first.`,
  )
}

const withPrincipal = (acl: Acl, slots: readonly AclSlot[], iri: string): Acl => ({
  ...acl,
  ...Object.fromEntries(slots.map(slot => [slot, [...new Set([...(acl[slot] ?? []), iri])]])),
})
