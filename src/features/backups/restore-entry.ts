import type { FileRow } from '../../backup/copy-blobs.ts'
import { Conflict, InvalidInput } from '../../base/errors.ts'
import { findEntry, findEntryHead, isIdFree } from '../../content/entry-records.ts'
import { membersBelow } from '../../content/list-records.ts'
import { print } from '../../core/command.ts'
import { count } from '../../core/copied.ts'
import { type EntryHead, isList, isSameAcl } from '../../model/entry.ts'
import { createArchives } from '../archives/archives.ts'
import { ACCESS_COMES_BACK } from './lost-files.ts'
import { type RestoredPart, requireIntact } from './restored-part.ts'

/** Brings one entry of a context back that the store has. Resolves to the files that did not come back. @throws {Conflict} @throws {InvalidInput} */
export async function restoreEntry(part: RestoredPart, id: string): Promise<readonly FileRow[]> {
  const { store, context, created, replaces, form } = part
  const only = await entriesToRestore(part, id)
  const present = await requireFree(part, id)
  const damaged = await part.dropDamaged(only)
  if (present) requireIntact(damaged.filter(({ entry }) => entry === id))
  const { entryRestore } = createArchives(store)
  const replaced = { id, replaces, form }
  const entries = await entryRestore.restore(store.caller, context, await part.archive(only), replaced)
  const access = present ? tellAccess(present, await findEntryHead(store.database, present)) : ''
  print(`${context}/${id} is as it was on ${created}: ${count(entries, 'entry', 'entries')}.${access}`)
  return damaged
}

/** Warns if rights that were revoked since are back. */
function tellAccess(before: EntryHead, after: EntryHead | undefined): string {
  if (!after || isSameAcl(before.acl, after.acl)) return ` ${ACCESS_COMES_BACK}`
  return (
    ` ${ACCESS_COMES_BACK} The access list has changed: \`stowage audit export --event access-changed\` prints what it was and is. ` +
    'Revoke again what was revoked since the backup.'
  )
}

/** The entry, and the entries that were inside it and no longer exist in the store. @throws {InvalidInput} */
async function entriesToRestore(
  { store, copy, context, created }: RestoredPart,
  id: string,
): Promise<ReadonlySet<string>> {
  const entry = await findEntry(copy.database, { context, id })
  if (!entry)
    throw new InvalidInput('invalid-id', `There is no entry "${id}" in context ${context} in the backup of ${created}.`)
  const only = new Set([id])
  const below = isList(entry) ? await membersBelow(copy.database, entry, 'all') : []
  for (const member of below) if (await isIdFree(store.database, member)) only.add(member.id)
  return only
}

/** The present entry that is to be replaced, if any. Before anything is read from the backup. @throws {Conflict} */
async function requireFree(
  { store: { database }, context, replaces }: RestoredPart,
  id: string,
): Promise<EntryHead | undefined> {
  const present = await findEntryHead(database, { context, id })
  if (present && replaces) return present
  if (present) {
    const detail = `There is an entry "${id}" in context ${context}. With --replace it gets the old content.`
    throw new Conflict('id-taken', detail)
  }
  if (await isIdFree(database, { context, id })) return undefined
  const detail = `The entry "${id}" is in the trash of context ${context}: restore it there. With --replace it then gets the old content.`
  throw new Conflict('id-taken', detail)
}
