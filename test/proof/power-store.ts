import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { SealedSecrets } from '../../src/accounts/sealed-secrets.ts'
import { factorKeys } from '../../src/core/sealing-keys.ts'
import { quotaOptions } from '../../src/features/quotas/limits.ts'
import { layout, openStores, schema } from '../../src/assembly/stores.ts'
import type { Stores } from '../../src/core/stores.ts'
import { openBackup, verifyBackup } from '../../src/features/backups/backup.ts'
import { keysIn, readManifest } from '../../src/features/backups/backup-folder.ts'
import { rowsOf } from '../../src/backup/rows.ts'
import { fillStore, requireCompleteStore } from '../../src/backup/store-copy.ts'
import { tablesAt } from '../../src/backup/tables.ts'
import { StartupError } from '../../src/base/errors.ts'
import { realSystem, type System } from '../../src/base/system.ts'
import { restoreKeys } from '../../src/core/factor-key-file.ts'
import { loadSettings } from '../../src/config/load.ts'
import type { Settings } from '../../src/config/settings.ts'
import { fsck } from '../../src/files/fsck.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { readPrivate } from '../../src/stores/key-file.ts'
import { sql } from '../../src/stores/sql.ts'

const NEWEST = schema.at(-1)?.id ?? 0
/** When a copy that the cut has interrupted no longer holds deleted files back. */
const later: System = { ...realSystem, now: () => Date.now() + 3_600_000 }

export interface Contents {
  /** The same for the same contents. */
  readonly text: string
  /** Keys of bytes that belong to no file. */
  readonly orphans: readonly string[]
}

/**
 * Opens the store in the folder `data`, the backup in `backup` and the store in `restored`, as far as they exist, by the modules of the
 * program, and does what a start does.
 * @throws {Error} when one cannot be opened, or `fsck` finds something else than orphans, or does not remove them
 */
export async function contentsIn(folder: string): Promise<Contents> {
  const names = await readdir(folder)
  const backup = join(folder, 'backup')
  const orphans: string[] = []
  const text = JSON.stringify({
    data: names.includes('data') ? await contentsOf(join(folder, 'data'), orphans) : undefined,
    backup: names.includes('backup') ? await backedUpIn(backup) : undefined,
    restored: names.includes('restored') ? await contentsOf(join(folder, 'restored'), orphans, backup) : undefined,
  })
  return { text, orphans }
}

/** @param backup of which this store is a copy; where it is incomplete, the copy is continued */
async function contentsOf(folder: string, orphans: string[], backup?: string) {
  const { settings } = loadSettings({ overrides: [`service.data.folder=${folder}`] })
  const stores = await openStores(settings, later, { bare: backup !== undefined })
  try {
    const isWhole = backup === undefined || (await isComplete(stores))
    if (!isWhole) await continueRestore(backup, stores, settings)
    return { isWhole, ...(await readStore(stores, settings, orphans)) }
  } finally {
    await stores.close()
  }
}

async function isComplete({ database }: Stores): Promise<boolean> {
  try {
    await requireCompleteStore(database)
    return (await database.get(sql`SELECT id FROM principals`)) !== undefined
  } catch {
    return false
  }
}

async function continueRestore(backup: string, stores: Stores, settings: Settings): Promise<void> {
  const { manifest, source } = await openBackup(backup, layout)
  const finish = async (): Promise<void> => {
    const keys = keysIn(backup, manifest.folder)
    if (manifest.keys === true) await restoreKeys(await readPrivate(keys), keys, settings)
  }
  await fillStore(source, stores, layout, { finish })
}

async function readStore(stores: Stores, settings: Settings, orphans: string[]) {
  const { database, blobs } = stores
  const garbage = new Garbage(database, blobs, new Ledger(database, later, quotaOptions(settings)), later)
  await garbage.recover(true)
  await garbage.collect()
  const books = { database, blobs, isExclusive: true }
  const found = await fsck(books, true, { force: true })
  orphans.push(
    ...found.findings
      .filter(({ kind }) => kind === 'orphan-blob')
      .map(({ message }) => /blob (\w+)/.exec(message)?.[1] ?? ''),
  )
  const others = [
    ...found.findings.filter(({ kind }) => kind !== 'orphan-blob'),
    ...(await fsck(books, false)).findings,
  ]
  if (others.length > 0) throw new Error(others.map(({ kind, message }) => `${kind}: ${message}`).join('; '))
  const rows: string[] = []
  // Events that change nothing, such as a sign-in, may be lost.
  for (const table of tablesAt(layout, NEWEST).filter(({ name }) => name !== 'audit'))
    for await (const row of rowsOf(database, table)) rows.push(`${table.name} ${JSON.stringify(row)}`)
  return { rows, secrets: await factorSecrets(stores, settings) }
}

/** The secrets of authenticator apps; `undefined` for one that cannot be opened. */
async function factorSecrets({ database }: Stores, settings: Settings): Promise<(string | undefined)[]> {
  const secrets = new SealedSecrets(() => factorKeys(settings, { system: later }, []), later, 'second factor')
  const rows = await database.all<{ user_id: string; secret: string }>(
    sql`SELECT user_id, secret FROM second_factors WHERE kind = 'totp' ORDER BY id`,
  )
  return await Promise.all(
    rows.map(async ({ user_id: user, secret }) =>
      Buffer.from((await secrets.open(secret, user)) ?? []).toString('hex'),
    ),
  )
}

/** `undefined` where there is no complete one, which the next backup replaces. */
async function backedUpIn(folder: string): Promise<string | undefined> {
  try {
    await readManifest(folder)
  } catch (error) {
    if (error instanceof StartupError) return undefined
    throw error
  }
  const { manifest, checked } = await verifyBackup(folder, layout)
  if (checked.damaged.length > 0) throw new Error(`the backup is damaged: ${JSON.stringify(checked.damaged)}`)
  return `${manifest.created}, ${checked.files} files`
}
