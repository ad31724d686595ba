import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Audit } from '../../accounts/audit.ts'
import { fillFromContext } from '../../backup/context-rows.ts'
import type { Source } from '../../backup/store-copy.ts'
import type { Layout } from '../../backup/tables.ts'
import { createLog } from '../../base/log.ts'
import { realSystem } from '../../base/system.ts'
import { UNLIMITED } from '../../base/units.ts'
import type { Settings } from '../../config/settings.ts'
import { ContextExport } from '../archives/export.ts'
import { Files } from '../../files/files.ts'
import { Garbage } from '../../files/garbage.ts'
import type { BlobStore } from '../../stores/blob-store.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import { openSqliteDatabase } from '../../stores/sqlite/sqlite-database.ts'
import { operatorOf } from '../../core/operator-users.ts'
import { Ledger } from '../../files/quota-ledger.ts'
import { quotaOptions } from '../quotas/limits.ts'

export type ContextStore = Awaited<ReturnType<typeof openContextStore>>

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** One context of a backup as a small store, from which it can be exported. */
export async function withContextStore<T>(
  { settings, layout }: { readonly settings: Settings; readonly layout: Layout },
  source: Source,
  context: string,
  work: (store: ContextStore) => Promise<T>,
): Promise<T> {
  // For this user only: it holds the hashes of all passwords.
  const folder = await mkdtemp(join(tmpdir(), 'stowage-restore-'))
  const removeNow = (): void => rmSync(folder, { recursive: true, force: true })
  const interrupted = (): never => process.exit(130)
  process.once('exit', removeNow)
  for (const signal of signals) process.once(signal, interrupted)
  try {
    const database = await openSqliteDatabase(join(folder, 'context.sqlite'))
    try {
      await withDiskErrorsAt(folder, fillFromContext(source, database, { layout, context }))
      return await work(await openContextStore(settings, source, database))
    } finally {
      await database.close()
    }
  } finally {
    process.off('exit', removeNow)
    for (const signal of signals) process.off(signal, interrupted)
    await rm(folder, { recursive: true, force: true })
  }
}

async function openContextStore(
  settings: Settings,
  source: Source,
  database: Awaited<ReturnType<typeof openSqliteDatabase>>,
) {
  const machine = { system: realSystem, log: createLog('silent') }
  // Only reads; each file is compared with its digest.
  const read = async (key: string): Promise<Readable> =>
    Readable.from(await source.blobs.read(key), { objectMode: false })
  const blobs = { read } satisfies Partial<BlobStore> as unknown as BlobStore
  const ledger = new Ledger(database, realSystem, quotaOptions(settings))
  const garbage = new Garbage(database, blobs, ledger, realSystem)
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, {
    maxFileSize: UNLIMITED,
    verifyOnRead: true,
  })
  const audit = new Audit(database, machine)
  return {
    database,
    ledger,
    caller: await operatorOf(database),
    exports: new ContextExport({ ...machine, database, files, audit }),
  }
}
