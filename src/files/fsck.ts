import { counter, type Progress, silent } from '../base/progress.ts'
import { BlobMissing, type BlobStore, measured, type StoredBlob } from '../stores/blob-store.ts'
import { isUnreadable } from '../stores/disk.ts'
import type { Database } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { lastingBlobs } from './lasting-uploads.ts'
import type { Amount, OwnerKind } from './quota-usage.ts'
import { compareUsage, missingUsage, recountUsage } from './recount.ts'
import { canReadAnother } from './verifications.ts'

/** One inconsistency. A `repairable` one can be repaired without losing anything. */
export interface Finding {
  readonly kind:
    | 'database-damaged'
    | 'fill-level'
    | 'reservation'
    | 'orphan-blob'
    | 'discarded-blob'
    | 'missing-blob'
    | 'damaged-blob'
  readonly repairable: boolean
  readonly message: string
  /** The blob concerned. */
  readonly blob?: string
}

export interface FsckReport {
  readonly files: number
  readonly bytes: number
  readonly findings: readonly Finding[]
  /** Most stored files are unknown to the database, which may have lost their rows; nothing was repaired. */
  readonly isDoubtful: boolean
}

/** More unknown files than this, and than this part of all files, are not the remains of crashes. */
const MAX_UNKNOWN = 20
const MAX_UNKNOWN_PART = 0.05

interface FsckStores {
  readonly database: Database
  readonly blobs: BlobStore
  /**
   * True if no other process uses the store, so that every upload in progress is the remains of a crash. Otherwise uploads
   * are left alone.
   */
  readonly isExclusive: boolean
  /** A blob that belongs to no file, but stays. */
  readonly kept?: string
}

/**
 * Checks that the database's own data structures are sound, that every context's fill level is the sum of its files, that the
 * bytes of every file have their recorded digest, and that no bytes are stored without a file (D7.5).
 * @param options `force` repairs also what is doubtful; `progress` shows the files whose bytes are read.
 * @throws the error of a disk that cannot read any file
 */
export async function fsck(
  stores: FsckStores,
  repair: boolean,
  { force = false, progress = silent }: { readonly force?: boolean; readonly progress?: Progress | undefined } = {},
): Promise<FsckReport> {
  // The tables of a damaged database are unreliable, and a repair could make it worse.
  const damage = await stores.database.findDamage()
  if (damage.length > 0) {
    const findings = damage.map(message => ({ kind: 'database-damaged' as const, repairable: false, message }))
    return { files: 0, bytes: 0, findings, isDoubtful: false }
  }
  const orphans = await checkOrphans(stores)
  const findings = [...(await checkBooks(stores)), ...(await checkMissingBooks(stores)), ...orphans.findings]
  const files = await checkFiles(stores, findings, progress)
  progress.end()
  const isDoubtful = !force && isLossLikely(orphans.unknown, files.files)
  if (repair && !isDoubtful) await repairStores(stores)
  return { ...files, findings, isDoubtful }
}

/** A database without any file, or without a considerable part of them, is more likely to be wrong than the files are. */
function isLossLikely(unknown: number, files: number): boolean {
  if (files === 0) return unknown > 0
  return unknown > MAX_UNKNOWN && unknown > MAX_UNKNOWN_PART * (files + unknown)
}

/** Compares usage and reservations with the rows that they are sums of. */
async function checkBooks({ database, isExclusive }: FsckStores): Promise<Finding[]> {
  const findings: Finding[] = []
  const ended = new Map(isExclusive ? await reservedByEnded(database) : [])
  for (const row of await compareUsage(database)) {
    const name = nameOf(row)
    if (row.used !== row.usedSum || row.files !== row.filesSum) {
      const sums = `${row.usedSum} bytes in ${row.filesSum} files`
      const message = `${name}: the fill level is ${row.used} bytes in ${row.files} files, the files add up to ${sums}`
      findings.push({ kind: 'fill-level', repairable: true, message })
    }
    const isEqual = row.reserved === row.reservedSum && row.reservedFiles === row.reservedFilesSum
    if (!isEqual || (row.kind === 'context' && ended.has(row.owner))) {
      const message = `${name}: ${row.reserved} bytes and ${row.reservedFiles} files are reserved for uploads that ended`
      findings.push({ kind: 'reservation', repairable: true, message })
    }
    if (row.kind === 'context') ended.delete(row.owner)
  }
  for (const [context, { bytes, files }] of ended) {
    const message = `context ${context}, which is gone: ${bytes} bytes and ${files} files are reserved for uploads that ended`
    findings.push({ kind: 'reservation', repairable: true, message })
  }
  return findings
}

/**
 * Reservations of ended uploads, by context. While no other process uses the store, all uploads have ended except uploads in several
 * requests.
 */
async function reservedByEnded(database: Database): Promise<ReadonlyArray<readonly [string, Amount]>> {
  const rows = await database.all<Amount & { readonly context: string }>(
    sql`SELECT context, SUM(reserved) AS bytes, SUM(reserved_files) AS files FROM uploads WHERE ${isEnded()}
      GROUP BY context ORDER BY context`,
  )
  return rows.map(({ context, ...amount }) => [context, amount])
}

const isEnded = (): Sql => sql`blob NOT IN (${lastingBlobs()})`

/** Finds contexts and users that hold files but have no row of quota usage. */
async function checkMissingBooks({ database }: FsckStores): Promise<Finding[]> {
  const rows = await missingUsage(database)
  return rows.map(row => {
    const message = `${nameOf(row)}: no fill level is kept for ${row.used} bytes of files`
    return { kind: 'fill-level', repairable: true, message }
  })
}

function nameOf({ kind, owner }: { readonly kind: OwnerKind; readonly owner: string }): string {
  if (kind === 'store') return 'the store'
  return kind === 'group' ? `the group of contexts "${owner}"` : `${kind} ${owner}`
}

/** Blobs that no file refers to, and how many of them are unknown. */
async function checkOrphans(stores: FsckStores): Promise<{ findings: readonly Finding[]; unknown: number }> {
  const { database, blobs } = stores
  const unfinished = new Set(await blobs.unfinished())
  const findings: Finding[] = []
  // A blob can be listed under two names.
  const found = new Set<string>()
  let unknown = 0
  for await (const { key, size } of blobs.list()) {
    if (found.has(key) || (await isWanted(stores, key))) continue
    found.add(key)
    const discarded = await database.get(sql`SELECT 1 AS gone FROM discarded_blobs WHERE blob = ${key}`)
    const message = `blob ${key}: ${size} bytes that belong to no file`
    findings.push({ kind: discarded ? 'discarded-blob' : 'orphan-blob', repairable: true, message })
    if (!unfinished.has(key) && !(await isRemains(database, key))) unknown++
  }
  return { findings, unknown }
}

/** The database knows that these bytes are to go: the file was deleted, or its upload did not end. */
const isRemains = async (database: Database, blob: string): Promise<boolean> =>
  (await database.get(sql`SELECT 1 AS gone FROM discarded_blobs WHERE blob = ${blob}
    UNION ALL SELECT 1 FROM uploads WHERE blob = ${blob}`)) !== undefined

/** Uses one query, so that a blob that changes from an upload to a file at this moment is found as one of them. */
async function isWanted({ database, isExclusive, kept }: FsckStores, blob: string): Promise<boolean> {
  if (blob === kept) return true
  const others = isExclusive
    ? sql`UNION ALL SELECT 1 FROM (${lastingBlobs()}) AS lasting WHERE blob = ${blob}`
    : sql`UNION ALL SELECT 1 FROM uploads WHERE blob = ${blob} UNION ALL SELECT 1 FROM discarded_blobs WHERE blob = ${blob}`
  return (await database.get(sql`SELECT 1 AS used FROM files WHERE blob = ${blob} ${others}`)) !== undefined
}

/** Compares the bytes of every file with its size and digest. */
async function checkFiles(
  stores: FsckStores,
  findings: Finding[],
  progress: Progress,
): Promise<{ files: number; bytes: number }> {
  const totals = { files: 0, bytes: 0 }
  const rows = await stores.database.all<{
    context: string
    entry: string
    blob: string
    size: number
    sha256: string
  }>(sql`SELECT context, entry, blob, size, sha256 FROM files ORDER BY context, entry`)
  const onFile = counter(progress, 'Checking files', rows.length)
  for (const row of rows) {
    totals.files++
    totals.bytes += row.size
    const name = `file ${row.context}/${row.entry} (blob ${row.blob})`
    try {
      const { size, sha256 } = await digestOf(stores.blobs, row.blob)
      onFile()
      if (size === row.size && sha256 === row.sha256) continue
      if (await isReplaced(stores, row)) continue
      const message = `${name}: ${size} bytes with SHA-256 ${sha256}, recorded are ${row.size} with ${row.sha256}`
      findings.push({ kind: 'damaged-blob', repairable: false, message, blob: row.blob })
    } catch (error) {
      const isGone = error instanceof BlobMissing
      if (!isGone && !(isUnreadable(error) && (await canReadAnother(stores.database, stores.blobs, row.blob))))
        throw error
      if (await isReplaced(stores, row)) continue
      const [kind, problem] = isGone
        ? (['missing-blob', 'the bytes are gone'] as const)
        : (['damaged-blob', 'the disk cannot read the bytes. Look at the log of the system'] as const)
      findings.push({ kind, repairable: false, message: `${name}: ${problem}`, blob: row.blob })
    }
  }
  return totals
}

/** The file has been replaced or deleted since the row was read. */
const isReplaced = async ({ database }: FsckStores, { blob }: { readonly blob: string }): Promise<boolean> =>
  (await database.get(sql`SELECT 1 AS used FROM files WHERE blob = ${blob}`)) === undefined

/** @throws {BlobMissing} */
export const digestOf = async (
  blobs: { read(key: string): Promise<AsyncIterable<Uint8Array>> },
  key: string,
): Promise<StoredBlob> => await measured(await blobs.read(key))

/** Repairs what can be repaired without loss: quota usage, and bytes that belong to nothing. */
async function repairStores(stores: FsckStores): Promise<void> {
  const { database, blobs, isExclusive } = stores
  for await (const { key } of blobs.list()) {
    if (await isWanted(stores, key)) continue
    if (await isRemains(database, key)) await blobs.delete(key)
    else await blobs.setAside(key)
  }
  await database.transaction(async tx => {
    if (isExclusive) {
      await tx.run(sql`DELETE FROM uploads WHERE ${isEnded()}`)
      await tx.run(sql`DELETE FROM discarded_blobs`)
    }
    await recountUsage(tx)
  })
}
