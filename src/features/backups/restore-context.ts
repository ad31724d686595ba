import type { FileRow } from '../../backup/copy-blobs.ts'
import { Conflict } from '../../base/errors.ts'
import { findContext } from '../../content/contexts.ts'
import { print } from '../../core/command.ts'
import { count } from '../../core/copied.ts'
import type { Queries } from '../../stores/database.ts'
import { createArchives } from '../archives/archives.ts'
import type { Imported } from '../archives/import.ts'
import { recreateContext } from '../archives/recreate-context.ts'
import { restoreQuotas } from '../quotas/restored-quotas.ts'
import { type RestoredPart, requireIntact } from './restored-part.ts'

/**
 * Makes a context that the store does not have, with its content and its quotas: everything in one transaction, so that users never find a
 * part of it, and a killed command leaves none. Resolves to the files that did not come back. @throws {Conflict} `id-taken`, `name-taken`
 */
export async function makeContext(part: RestoredPart): Promise<readonly FileRow[]> {
  const { store, copy, context, form } = part
  await requireFreeNames(store.database, copy.database, context)
  const damaged = await part.dropDamaged()
  const imported = await createArchives(store).imports.importDeleted(store.caller, context, await part.archive(), {
    form,
    make: async writer => {
      await recreateContext(store, writer, context, copy.database)
      await restoreQuotas(store, writer, copy, context)
    },
  })
  tellRestored(part, imported)
  return damaged
}

/** Gives a context of the store the content that it had; its access list, name and quotas stay. @throws {Conflict} `id-taken` */
export async function replaceContext(part: RestoredPart): Promise<readonly FileRow[]> {
  const { store, context, form } = part
  if (!part.replaces) {
    const detail = `There is a context "${context}". With --replace its whole content is replaced by that of the backup.`
    throw new Conflict('id-taken', detail)
  }
  requireIntact(await part.dropDamaged())
  const options = { form, isSameStore: true, groups: new Map<string, string>() }
  tellRestored(part, await createArchives(store).imports.import(store.caller, context, await part.archive(), options))
  return []
}

function tellRestored({ context, created }: RestoredPart, { entries, files, bytes }: Imported): void {
  print(
    `The context ${context} is as it was on ${created}: ${count(entries, 'entry', 'entries')}, ${count(files, 'file')} with ${count(bytes, 'byte')}.`,
  )
}

/** Before the files are read, which may take long. @throws {Conflict} `name-taken` */
async function requireFreeNames(store: Queries, backup: Queries, id: string): Promise<void> {
  const name = (await findContext(backup, id))?.name
  for (const each of name === undefined ? [id] : [id, name]) {
    const other = await findContext(store, each)
    if (!other) continue
    const detail = `Another context, ${other.id}, has the name or id "${each}". Rename it, and run the command again.`
    throw new Conflict('name-taken', detail)
  }
}
