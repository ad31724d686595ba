import type { Layout } from '../../backup/tables.ts'
import type { FileRow } from '../../backup/copy-blobs.ts'
import { dropDamagedFiles, findContextIn } from '../../backup/context-rows.ts'
import { Conflict, InvalidInput } from '../../base/errors.ts'
import type { Settings } from '../../config/settings.ts'
import { findContext, isContextEmpty } from '../../content/contexts.ts'
import { findEntry, findEntryHead, isIdFree } from '../../content/entry-records.ts'
import { membersBelow } from '../../content/list-records.ts'
import { print, type Program } from '../../core/command.ts'
import { count, printDamaged } from '../../core/copied.ts'
import { statusOf } from '../../core/operator-command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { BaseAddress } from '../../http/base-address.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import { type EntryHead, isList, isSameAcl } from '../../model/entry.ts'
import type { Queries } from '../../stores/database.ts'
import { createArchives } from '../archives/archives.ts'
import { requireOrdinary } from '../archives/export.ts'
import { recreateContext } from '../archives/recreate-context.ts'
import { restoreQuotas } from '../quotas/restored-quotas.ts'
import type { OpenedBackup } from './backup-place.ts'
import { withContextStore } from './context-of-backup.ts'

/** A context, or one entry of it, that is to be restored. */
export interface RestoreSelection {
  /** Id or name. */
  readonly context: string
  readonly entry: string | undefined
  /** Whether it may take the place of what is there. */
  readonly replaces: boolean
}

/** Brings a context, or one entry of it, back from a backup into a store that may be in use. Resolves to the exit status. */
export async function restoreContext(
  { layout, withStore }: Program,
  settings: Settings,
  backup: OpenedBackup,
  wanted: RestoreSelection,
): Promise<number> {
  let damaged: readonly FileRow[] = []
  const status = await statusOf('restore', () =>
    withStore(settings, async store => {
      damaged = await restoreInto(store, layout, backup, wanted)
    }),
  )
  printDamaged(damaged, 'backup')
  return damaged.length > 0 ? 1 : status
}

/** Resolves to the files that did not come back, because they are damaged in the backup. */
async function restoreInto(
  store: OperatorStore,
  layout: Layout,
  { source, created }: OpenedBackup,
  wanted: RestoreSelection,
): Promise<readonly FileRow[]> {
  const context = await findContextIn(source, wanted.context)
  if (context === undefined) throw absent(`context "${wanted.context}"`, created)
  requireOrdinary(context)
  const { settings } = store
  return await withContextStore({ settings, layout }, source, context, async copy => {
    const { database, caller, exports } = copy
    const { entryRestore, imports } = createArchives(store)
    // Export and import use the same address, so the address itself does not matter.
    const form = new BaseAddress(settings['service.baseurl.folder'] ?? 'http://127.0.0.1/')
    const archive = async (only?: ReadonlySet<string>) => {
      const { open } = await exports.export(caller, context, { metadataOnly: false, form, only })
      return { declaredSize: undefined, open, signal: new AbortController().signal }
    }
    if (wanted.entry !== undefined) {
      const id = wanted.entry
      const only = await entriesToRestore(store, database, { context, id, created })
      await requireFree(store, { context, id }, wanted.replaces)
      const damaged = await dropDamagedFiles(source, database, only)
      const present = await findEntryHead(store.database, { context, id })
      if (present) requireIntact(damaged.filter(({ entry }) => entry === id))
      const replaced = { id, replaces: wanted.replaces, form }
      const entries = await entryRestore.restore(store.caller, context, await archive(only), replaced)
      const access = present ? tellAccess(present, await findEntryHead(store.database, present)) : ''
      print(`${context}/${id} is as it was on ${created}: ${count(entries, 'entry', 'entries')}.${access}`)
      return damaged
    }
    const isNew = (await findContext(store.database, context)) === undefined
    // A command that was killed may have left it.
    const isEmpty = isNew || (await isContextEmpty(store.database, context))
    if (!isEmpty && !wanted.replaces) {
      const detail = `There is a context "${context}". With --replace its whole content is replaced by that of the backup.`
      throw new Conflict('id-taken', detail)
    }
    const damaged = await dropDamagedFiles(source, database, undefined)
    if (!isEmpty) requireIntact(damaged)
    if (isNew) await recreateContext(store, store.caller, context, database)
    let undoQuotas = async (): Promise<void> => {}
    try {
      if (isEmpty) undoQuotas = await restoreQuotas(store, copy, context)
      // Its users can already use it.
      const requireReplaceable = wanted.replaces ? undefined : (tx: Queries) => requireEmpty(tx, context)
      const options = { form, isSameStore: true, groups: new Map<string, string>(), requireReplaceable }
      const { entries, files, bytes } = await imports.import(store.caller, context, await archive(), options)
      print(
        `The context ${context} is as it was on ${created}: ${count(entries, 'entry', 'entries')}, ${count(files, 'file')} with ${count(bytes, 'byte')}.`,
      )
      return damaged
    } catch (error) {
      if (!isNew || (await deleteIfEmpty(store, context))) await undoQuotas()
      throw error
    }
  })
}

/** Says what else than its bytes an entry has got from the backup: rights that were revoked since are back. */
function tellAccess(before: EntryHead, after: EntryHead | undefined): string {
  const replaced = ' Its metadata and access list are those of the backup, too.'
  if (!after || isSameAcl(before.acl, after.acl)) return replaced
  return (
    `${replaced} The access list has changed: \`stowage audit export --event access-changed\` prints what it was and is. ` +
    'Revoke again what was revoked since the backup.'
  )
}

/** @throws {Conflict} */
async function requireEmpty(tx: Queries, context: string): Promise<void> {
  if (await isContextEmpty(tx, context)) return
  throw new Conflict(
    'conflict',
    `Users have added entries to the context ${context} before its content was restored. Nothing was restored. ` +
      'Save what is needed of these entries, and run the command again with --replace, which deletes them.',
  )
}

/** Deletes a context that did not get its content back. */
async function deleteIfEmpty({ entries, caller }: OperatorStore, context: string): Promise<boolean> {
  try {
    await entries.delete(caller, { context: CONTEXTS, entry: context }, (_entry, tx) => requireEmpty(tx, context))
    return true
  } catch (error) {
    if (error instanceof Conflict) return false
    throw error
  }
}

/** Refuses to replace files that may be intact by damaged ones. @throws {Conflict} */
function requireIntact(damaged: readonly FileRow[]): void {
  if (damaged.length === 0) return
  const names = damaged.map(({ context, entry }) => `${context}/${entry}`).join(', ')
  throw new Conflict(
    'conflict',
    `Nothing was replaced, because this backup has no intact bytes of ${names}. Keep what the store has, or name an older backup with --at.`,
  )
}

const absent = (what: string, created: string): InvalidInput =>
  new InvalidInput('invalid-id', `There is no ${what} in the backup of ${created}.`)

/** The entry, and the entries that were inside it and no longer exist in the store. @throws {InvalidInput} */
async function entriesToRestore(
  store: OperatorStore,
  backup: OperatorStore['database'],
  { context, id, created }: { readonly context: string; readonly id: string; readonly created: string },
): Promise<ReadonlySet<string>> {
  const entry = await findEntry(backup, { context, id })
  if (!entry) throw absent(`entry "${id}" in context ${context}`, created)
  const only = new Set([id])
  const below = isList(entry) ? await membersBelow(backup, entry, 'all') : []
  for (const member of below) if (await isIdFree(store.database, member)) only.add(member.id)
  return only
}

/** Before anything is read from the backup. @throws {Conflict} */
async function requireFree(
  { database }: OperatorStore,
  address: { readonly context: string; readonly id: string },
  replaces: boolean,
): Promise<void> {
  const { context, id } = address
  if (!(await findContext(database, context))) {
    throw new Conflict('conflict', `There is no context ${context} in the store. Restore it first, with --context.`)
  }
  if (await findEntry(database, address)) {
    if (replaces) return
    throw new Conflict(
      'id-taken',
      `There is an entry "${id}" in context ${context}. With --replace it gets the old content.`,
    )
  }
  if (await isIdFree(database, address)) return
  const detail = `The entry "${id}" is in the trash of context ${context}: restore it there. With --replace it then gets the old content.`
  throw new Conflict('id-taken', detail)
}
