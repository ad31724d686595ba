// How long a backup, its check and a restore take: 100,000 entries, each with a file of 100 kB, 10 GB in all, with the commands of an
// operator; then the backups that the service makes. BENCH_FILE_SIZE is another size of a file in bytes. Disk: four times all files.
import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { putFile } from '../src/files/file-records.ts'
import { newEntry } from '../src/model/entry.ts'
import { newBlobKey } from '../src/stores/blob-store.ts'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../src/stores/sql.ts'
import { insertEntry } from './entries-in-store.mjs'
import { isQuick, startService } from './support.mjs'

const ENTRIES = isQuick ? 100 : 100_000
const SIZE = Number(process.env.BENCH_FILE_SIZE ?? 100_000)
const BATCH = 1000
const TITLE = 'http://purl.org/dc/terms/title'
const program = fileURLToPath(new URL('../bin/stowage.js', import.meta.url))

export async function measure(say) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-backup-'))
  const [data, backup, restored] = ['data', 'backup', 'restored'].map(name => join(folder, name))
  const rows = []
  const note = (what, seconds) => {
    say(`${what}: ${seconds.toFixed(1)} s`)
    rows.push({
      what: `${ENTRIES.toLocaleString('en')} entries, ${(ENTRIES * SIZE) / 1e9} GB: ${what}`,
      value: seconds,
      unit: 's',
    })
  }
  const at = path => ['--set', `service.data.folder=${path}`]
  try {
    await fill(data)
    say('the store is filled')
    note('backup', await timeOf('backup', backup, ...at(data)))
    note('backup again', await timeOf('backup', backup, ...at(data)))
    note('verify', await timeOf('backup', 'verify', backup))
    note('restore', await timeOf('restore', backup, ...at(restored)))
    await rm(restored, { recursive: true })
    await rm(backup, { recursive: true })
    note('backup by the service', await scheduled(data, join(folder, 'plain')))
    await rm(join(folder, 'plain'), { recursive: true })
    const recipient = await identityToRecipient(await generateX25519Identity())
    const encrypted = { 'service.backup.encrypt-to.1': recipient }
    note('backup by the service, encrypted', await scheduled(data, join(folder, 'encrypted'), encrypted))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return { title: 'Backup and restore', rows }
}

async function timeOf(...args) {
  const begun = performance.now()
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [status] = await once(child, 'exit')
  if (status !== 0) throw new Error(`${args[0]} ended with ${status}`)
  return (performance.now() - begun) / 1000
}

/** How long the first backup of a service took, by its own account. */
async function scheduled(data, target, more = {}) {
  const settings = {
    'service.backup.schedule': '0 0 29 2 *',
    'service.backup.target': target,
    'service.metrics.token': 'bench',
    ...more,
  }
  const service = await startService(settings, { folder: data })
  try {
    // The table of attempts is as it was after the last one: this one has ended when the other's time is gone.
    for (;;) {
      const metrics = await (
        await fetch(`${service.base}management/metrics`, { headers: { authorization: 'Bearer bench' } })
      ).text()
      const value = name => Number(new RegExp(`^stowage_${name} (\\S+)$`, 'm').exec(metrics)?.[1])
      if (value('backup_failed') === 1) throw new Error('the backup failed')
      if (Number.isFinite(value('backup_age_seconds'))) return value('backup_duration_seconds')
      await delay(500)
    }
  } finally {
    await service.stop()
    const database = await openSqliteDatabase(join(data, 'store.sqlite'))
    await database.run(sql`DELETE FROM backup_runs`)
    await database.close()
  }
}

/** A store of its own making; the files are written without a sync. */
async function fill(data) {
  await (await startService({}, { folder: data })).stop()
  const database = await openSqliteDatabase(join(data, 'store.sqlite'))
  await database.run(sql`INSERT INTO contexts (id) VALUES ('c')`)
  await database.run(sql`INSERT INTO quota_usage (kind, owner) VALUES ('context', 'c')`)
  const owner = newEntry({ context: '_contexts', id: 'c', graphType: 'Context', by: '_admin', now: 1 })
  await database.transaction(tx => insertEntry(tx, owner))
  const bytes = randomBytes(SIZE)
  for (let first = 0; first < ENTRIES; first += BATCH) {
    await database.transaction(async tx => {
      for (let n = first; n < Math.min(first + BATCH, ENTRIES); n++) {
        const made = newEntry({ context: 'c', id: String(n), graphType: 'None', by: '_admin', now: 1 })
        const metadata = JSON.stringify({
          [`./c/resource/${n}`]: { [TITLE]: [{ type: 'literal', value: `Entry ${n}` }] },
        })
        await insertEntry(tx, { ...made, metadata })
        bytes.writeUInt32BE(n)
        const blob = newBlobKey(randomBytes)
        mkdirSync(join(data, 'files', blob.slice(0, 2)), { recursive: true, mode: 0o700 })
        writeFileSync(join(data, 'files', blob.slice(0, 2), blob), bytes, { mode: 0o600 })
        const sha256 = createHash('sha256').update(bytes).digest('hex')
        await putFile(tx, { context: 'c', id: String(n), user: null }, { blob, size: SIZE, sha256 })
      }
    })
  }
  await database.close()
}
