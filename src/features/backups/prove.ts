import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError, StartupError, StorageFull, StorageReadOnly } from '../../base/errors.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { Row } from '../../backup/rows.ts'
import { fillStore } from '../../backup/store-copy.ts'
import type { Layout } from '../../backup/tables.ts'
import type { Database } from '../../stores/database.ts'
import { measureDisk } from '../../stores/disk.ts'
import { FolderBlobStore } from '../../stores/folder-blob-store.ts'
import { sql } from '../../stores/sql.ts'
import { openSqliteDatabase } from '../../stores/sqlite/sqlite-database.ts'
import {
  type BackupTarget,
  copiesIn,
  describeFile,
  type Generation,
  listGenerations,
  ofFuture,
  timeOf,
  verifyGeneration,
} from './generations.ts'
import { openGeneration } from './open-generation.ts'
import { doubtAbout, findPublicKey, originOf } from './manifest-key.ts'
import type { Pace } from './pace.ts'

/** What a proof has found. */
export interface Proof {
  /** What is wrong with the proven backup, and which earlier backups cannot be read, each a sentence. Empty: the backup can be restored. */
  readonly problems: readonly string[]
  /** Whether none of the problems is about the proven backup. */
  readonly isWhole: boolean
  /** How long the restore took; `null` when the backup was only read. */
  readonly restored: Milliseconds | null
  /** When the newest entry in the backup was changed; `null` when it was only read. */
  readonly newest: Milliseconds | null
  /** What was not checked and why; `null` when everything was checked. */
  readonly note: string | null
}

/** What is found in the proven backup alone. */
type Finding = Omit<Proof, 'isWhole'>

export interface ProofOf {
  readonly target: BackupTarget
  /** The time of the snapshot. */
  readonly created: Milliseconds
  readonly layout: Layout
  readonly now: Milliseconds
  /** The store, which requests change meanwhile. */
  readonly store: Database
  /** A folder for the restored store, which is removed. The folder above exists. */
  readonly scratch: string
  readonly pace: Pace
}

/** The part of the free space that the restored store may take. */
const SHARE_OF_SPACE = 0.5
/** Bytes of a database for one byte of rows in a backup, with its indexes. */
const GROWTH = 4
/** Entries that are compared with the store. */
const SAMPLE = 50

/**
 * Restores a backup as an operator would, into a scratch folder, and checks the restored store. If the backup is encrypted, or there is too
 * little space, the backup is only read and compared with its digests.
 */
export async function proveBackup(from: ProofOf): Promise<Proof> {
  const { pace } = from
  const target = { ...from.target, blobs: pace.blobs(from.target.blobs) }
  const { generations, unreadable } = await listGenerations(target)
  const created = new Date(from.created).toISOString()
  const found = generations.find(({ generation }) => generation.created === created)?.generation
  const problems: string[] = []
  // Problems of other backups than the proven one.
  const others = unreadable.map(key => `The manifest ${target.pathOf('generations', key)} is damaged.`)
  const nothing = { restored: null, newest: null, note: null }
  const own = await findPublicKey(from.store)
  const future = new Set(ofFuture(generations, from.now))
  for (const listed of generations) {
    const { generation } = listed
    const origin = originOf(generation, own)
    // Older backups may be of another store, or of an older version. So may one of the future, which `doctor` names.
    const mayBeOther = timeOf(listed) < from.created || (origin === 'other' && future.has(listed))
    const doubt = doubtAbout(target, listed, own)
    if (doubt !== undefined && (!mayBeOther || origin === 'wrong'))
      (generation === found ? problems : others).push(doubt)
  }
  for (const { key, generation } of copiesIn(generations))
    others.push(
      `The manifest ${target.pathOf('generations', key)} is not the only one of the backup of ${generation.created}: the others are copies.`,
    )
  const withOthers = ({ problems: inside, ...proof }: Finding): Proof => ({
    ...proof,
    problems: [...others, ...problems, ...inside],
    isWhole: problems.length + inside.length === 0,
  })
  if (!found) return withOthers({ ...nothing, problems: [`The backup of ${created} in ${target.place} is gone.`] })
  try {
    const reason = await whyNotRestored(from, found)
    return withOthers(
      reason === undefined ? await restore({ ...from, target }, found) : await read(target, found, reason),
    )
  } catch (error) {
    // They say nothing about the backup.
    if (error instanceof StorageFull || error instanceof StorageReadOnly) throw error
    // Damage that stops a restore.
    if (error instanceof StartupError || error instanceof ServiceError)
      return withOthers({ ...nothing, problems: [error.message] })
    throw error
  } finally {
    await rm(from.scratch, { recursive: true, force: true })
  }
}

/** Why the backup is only read; `undefined` if it can be restored. */
async function whyNotRestored(
  { scratch }: ProofOf,
  { recipients, files, tables }: Generation,
): Promise<string | undefined> {
  if (recipients.length > 0) return 'it is encrypted, and the service has no key for it'
  const rows = tables.reduce((sum, { stored }) => sum + stored.size, 0)
  const needed: Bytes = files.bytes + rows * GROWTH
  const { free } = await measureDisk(join(scratch, '..'))
  const most = Math.floor(free * SHARE_OF_SPACE)
  return needed > most ? `a restore needs ${needed} bytes, and may take ${most} of the data folder's disk` : undefined
}

/** Compares the backup with its digests. */
async function read(target: BackupTarget, generation: Generation, reason: string): Promise<Finding> {
  const { damaged } = await verifyGeneration(target, generation)
  const { created } = generation
  return {
    problems: damaged.map(file => `In the backup of ${created}, ${describeFile(file)} are missing or damaged.`),
    restored: null,
    newest: null,
    note: `The backup was read and compared with its digests, not restored: ${reason}.`,
  }
}

async function restore({ target, layout, store, scratch, pace }: ProofOf, generation: Generation): Promise<Finding> {
  const { created, files, damaged } = generation
  const problems: string[] = []
  const problem = (text: string): void => void problems.push(`In the backup of ${created}, ${text}.`)
  await rm(scratch, { recursive: true, force: true })
  await mkdir(scratch, { mode: 0o700 })
  const before = pace.worked
  const source = await openGeneration(target, generation, { layout })
  await source.keys().catch((error: unknown) => {
    if (!(error instanceof StartupError)) throw error
    problems.push(error.message)
  })
  const database = await openSqliteDatabase(join(scratch, 'store.sqlite'))
  try {
    const blobs = pace.blobs(await FolderBlobStore.open(join(scratch, 'files')))
    const copied = await fillStore(source, { database, blobs }, layout)
    const restored = pace.worked - before
    const lost = copied.damaged.filter(({ blob }) => !damaged.includes(blob))
    for (const { context, entry, blob } of lost)
      problem(`the bytes of ${context}/${entry} (blob ${blob}) are missing or damaged`)
    const whole = copied.files - copied.damaged.length
    if (lost.length === 0 && whole !== files.count)
      problem(`there are ${whole} files, but the manifest says ${files.count}`)
    for (const entry of await differing(database, store)) problem(`${entry} is not as in the store`)
    const row = await database.get<{ newest: number | null }>(sql`SELECT max(modified) AS newest FROM entries`)
    return { problems, restored, newest: row?.newest ?? null, note: null }
  } finally {
    await database.close()
  }
}

/** Samples entries of the backup and names those that differ in the store although they have the same modification date. */
async function differing(backup: Database, store: Database): Promise<string[]> {
  const sample = await backup.all<Row>(sql`SELECT * FROM entries ORDER BY random() LIMIT ${SAMPLE}`)
  const found: string[] = []
  for (const row of sample) {
    const { context = null, id = null, modified = null } = row
    const present = await store.get<Row>(
      sql`SELECT * FROM entries WHERE context = ${context} AND id = ${id} AND modified = ${modified}`,
    )
    if (present && Object.keys(row).some(column => row[column] !== present[column])) found.push(`${context}/${id}`)
  }
  return found
}
