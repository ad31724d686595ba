import type { Layout } from '../../backup/tables.ts'
import type { FileRow } from '../../backup/copy-blobs.ts'
import { dropDamagedFiles, findContextIn } from '../../backup/context-rows.ts'
import { Conflict, InvalidInput } from '../../base/errors.ts'
import type { Settings } from '../../config/settings.ts'
import { findEntryHead } from '../../content/entry-records.ts'
import type { Program } from '../../core/command.ts'
import { printDamaged } from '../../core/copied.ts'
import { statusOf } from '../../core/operator-command.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { BaseAddress } from '../../http/base-address.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import type { Queries } from '../../stores/database.ts'
import { requireOrdinary } from '../archives/export.ts'
import type { OpenedBackup } from './backup-place.ts'
import { withContextStore } from './context-of-backup.ts'
import { makeContext, replaceContext } from './restore-context.ts'
import { restoreEntry } from './restore-entry.ts'

/** A context, or one entry of it, that is to be restored. */
export interface RestoreSelection {
  /** Id or name. */
  readonly context: string
  readonly entry: string | undefined
  /** Whether it may take the place of what is there. */
  readonly replaces: boolean
}

/** Brings a context, or one entry of it, back from a backup into a store that may be in use. Resolves to the exit status. */
export async function restorePart(
  { layout, withStore }: Program,
  settings: Settings,
  backup: OpenedBackup,
  wanted: RestoreSelection,
): Promise<number> {
  let damaged: readonly FileRow[] = []
  const status = await statusOf('restore', () =>
    withStore(settings, async store => {
      // Without a service, nothing else ends the import of a command that was killed.
      await store.garbage.recover(false)
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
  { context: idOrName, entry, replaces }: RestoreSelection,
): Promise<readonly FileRow[]> {
  const context = await findContextIn(source, idOrName)
  if (context === undefined)
    throw new InvalidInput('invalid-id', `There is no context "${idOrName}" in the backup of ${created}.`)
  requireOrdinary(context)
  const { settings } = store
  return await withContextStore({ settings, layout }, source, context, async copy => {
    const { database, caller, exports } = copy
    // Export and import use the same address, so the address itself does not matter.
    const form = new BaseAddress(settings['service.baseurl.folder'] ?? 'http://127.0.0.1/')
    const part = {
      store,
      copy,
      context,
      created,
      replaces,
      form,
      dropDamaged: (only?: ReadonlySet<string>) => dropDamagedFiles(source, database, only),
      archive: async (only?: ReadonlySet<string>) => {
        const { open } = await exports.export(caller, context, { metadataOnly: false, form, only })
        return { declaredSize: undefined, open, signal: new AbortController().signal }
      },
    }
    const isThere = await hasContext(store.database, database, context)
    if (entry !== undefined) {
      if (isThere) return await restoreEntry(part, entry)
      throw new Conflict('conflict', `There is no context ${context} in the store. Restore it first, with --context.`)
    }
    return isThere ? await replaceContext(part) : await makeContext(part)
  })
}

/**
 * Whether the store has this context of the backup. In a store that was restored from an older backup, or has another origin, its id may be
 * that of another context, whose users must not get its content. @throws {Conflict} `id-taken`
 */
async function hasContext(store: Queries, backup: Queries, id: string): Promise<boolean> {
  const address = { context: CONTEXTS, id }
  const [present, former] = [await findEntryHead(store, address), await findEntryHead(backup, address)]
  if (!present) return false
  if (present.created === former?.created) return true
  throw new Conflict(
    'id-taken',
    `The context "${id}" of the store is not the one in the backup, but another one with the same id. Nothing was restored. ` +
      'Restore the whole backup into a new store, export the context there, and import the archive into a new context of this store.',
  )
}
