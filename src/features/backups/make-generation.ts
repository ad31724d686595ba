import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { StartupError } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { holdBlobs } from '../../files/garbage.ts'
import { abortable, BlobMissing, type BlobStore, hashed, newBlobKey } from '../../stores/blob-store.ts'
import type { Database } from '../../stores/database.ts'
import { addKeys, isMissing, readPrivate } from '../../stores/key-file.ts'
import { withDiskErrors, withDiskErrorsAt } from '../../stores/disk.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import { acceptedUntil, type OwnBackups } from './acceptance.ts'
import type { Cipher } from './cipher.ts'
import { writeTables } from './backup.ts'
import { absentBlobs } from '../../backup/absent-blobs.ts'
import { type FileRow, inParallel } from '../../backup/copy-blobs.ts'
import { readUntilDamage } from '../../backup/damage.ts'
import {
  type BackupTarget,
  type Generation,
  type IndexRow,
  indexOf,
  isIntact,
  listGenerations,
  type ManifestKey,
  lossesIn,
  type StoredObject,
  timeOf,
  writeManifest,
} from './generations.ts'
import { timeOfStore } from './loss.ts'
import { originOf } from './manifest-key.ts'
import { readRows, writeRows } from '../../backup/row-files.ts'
import { type Table, tablesAt } from '../../backup/tables.ts'

interface GenerationOf {
  readonly database: Database
  readonly blobs: BlobStore
  readonly tables: readonly Table[]
  readonly system: System
  readonly program: string
  readonly service: string
  readonly created: Milliseconds
  /** The file with the keys that seal the secrets of authenticator apps, if they are to be in the backup. */
  readonly keyFile?: string | undefined
  /** A folder for the rows of the tables until they are in the target. */
  readonly spool: string
  readonly recipients: readonly string[]
  readonly encrypt: Cipher
  readonly signing: ManifestKey
  readonly own: OwnBackups
  readonly signal: AbortSignal
  /**
   * Called for each file whose bytes in earlier backups are lost or damaged.
   * @param blob the key of these bytes in the target
   */
  readonly onDamaged?: (blob: string, outcome: Outcome) => void
  /** Called with the number of files that the store has lost, and the backup has. */
  readonly onLost?: (files: number) => void
}

/** Bytes of earlier backups were mended, are whole in the new backup only, or are lost, because the store has lost them, too. */
export type Outcome = 'mended' | 'replaced' | 'lost'

const REMOVAL_TIMEOUT: Milliseconds = 60_000
/** Few, because the service reads and writes files meanwhile. */
const AT_ONCE = 2

/**
 * Makes a generation of a snapshot of the store, while others work on it. Each object is read again after it was written. Files that the target
 * has already are read and compared, but not copied.
 * @throws the reason of `signal`, or any error: the target has no new generation then
 */
export async function makeGeneration(from: GenerationOf, target: BackupTarget): Promise<Generation> {
  const writer = new ObjectWriter(target, from)
  const generation = await writeObjects(from, target, writer).catch(async (error: unknown) => {
    await writer.removeAll()
    throw error
  })
  await writeManifest(target, generation, from)
  return generation
}

/** Writes everything but the manifest. */
async function writeObjects(from: GenerationOf, target: BackupTarget, writer: ObjectWriter): Promise<Generation> {
  const { database, system, spool, recipients, signal } = from
  const [damage] = await database.findDamage()
  if (damage !== undefined) throw new StartupError(`The database is damaged: ${damage}. Run \`stowage fsck\`.`)
  // Comes first, so that bytes deleted after the snapshot stay until they have been copied.
  const hold = await holdBlobs(database, system)
  try {
    await rm(spool, { recursive: true, force: true })
    await mkdir(spool, { recursive: true, mode: 0o700 })
    const schema = await schemaVersion(database)
    const [madeOn, written] = await database.snapshot(async at => [
      await timeOfStore(at),
      await withDiskErrors(writeTables(at, spool, tablesAt(from, schema))),
    ])
    signal.throwIfAborted()
    const keyText = await keysOf(from)
    const { files, damaged } = await copyFiles(from, target, writer)
    await hold.require()
    const tables = []
    for (const table of written) tables.push({ ...table, stored: await writer.add(pathIn(spool, table.name)) })
    const keys = keyText === undefined ? undefined : await writer.add(join(spool, KEYS))
    const index = await writer.add(pathIn(spool, INDEX), { isPlain: true })
    // Last, because an operator may accept a backup meanwhile.
    const { generations } = await listGenerations(target)
    return {
      format: 'stowage-generation',
      version: 1,
      created: new Date(from.created).toISOString(),
      program: from.program,
      service: from.service,
      store: madeOn,
      schema,
      recipients,
      tables,
      index,
      keys,
      files,
      damaged,
      accepted: acceptedUntil(
        generations.filter(listed => timeOf(listed) < from.created),
        from.own,
      ),
    }
  } finally {
    await rm(spool, { recursive: true, force: true })
    await hold.release()
  }
}

const INDEX = 'index'
const KEYS = 'second-factors.key'
const pathIn = (spool: string, name: string): string => join(spool, `${name}.ndjson`)

/** After the rows: a secret in them is sealed by a key that is there already. */
async function keysOf({ keyFile, spool }: GenerationOf): Promise<string | undefined> {
  if (keyFile === undefined || (await isMissing(keyFile))) return undefined
  const text = await readPrivate(keyFile)
  await addKeys(text, join(spool, KEYS))
  return text
}

/** Stores objects under new keys, and reads each again. */
class ObjectWriter {
  readonly #target: BackupTarget
  readonly #from: GenerationOf
  readonly #written: string[] = []

  constructor(target: BackupTarget, from: GenerationOf) {
    this.#target = target
    this.#from = from
  }

  async add(path: string, { isPlain = false } = {}): Promise<StoredObject> {
    const bytes = createReadStream(path)
    return await this.store(isPlain ? bytes : await this.#from.encrypt(bytes))
  }

  async store(bytes: AsyncIterable<Uint8Array>): Promise<StoredObject> {
    const { blobs, place } = this.#target
    const { system, signal } = this.#from
    const blob = newBlobKey(count => system.randomBytes(count))
    this.#written.push(blob)
    const object = { blob, ...(await withDiskErrorsAt(place, blobs.write(blob, bytes, signal))) }
    if (await isIntact(blobs, object)) return object
    throw new StartupError(`What was written to ${place} is not what was read from it. Check this disk or bucket.`)
  }

  /**
   * Makes room again after a failure, because no manifest names these objects. Neither the report of the failure nor a stop of the service
   * waits long for it: later backups remove the rest (`prune.ts`).
   */
  async removeAll(): Promise<void> {
    const { signal, system } = this.#from
    const end = system.now() + REMOVAL_TIMEOUT
    for (const blob of this.#written) {
      if (signal.aborted || system.now() > end) return
      try {
        await this.#target.blobs.delete(blob)
      } catch {
        // The other deletions would fail as well, because the place cannot be reached or forbids them.
        return
      }
    }
  }
}

/** Copies the files that the target lacks, and writes the index. */
async function copyFiles(
  from: GenerationOf,
  target: BackupTarget,
  writer: ObjectWriter,
): Promise<Pick<Generation, 'files' | 'damaged'>> {
  const { spool, signal } = from
  const known = await knownFiles(target, from)
  const index: IndexRow[] = []
  const files = { count: 0, bytes: 0 }
  const damaged: string[] = []
  await inParallel(readRows(spool, { name: 'files' }), AT_ONCE, async row => {
    signal.throwIfAborted()
    const file = row as unknown as FileRow
    const before = known.get(file.blob)
    const isKept = before !== undefined && (await isIntact(target.blobs, before))
    let stored = isKept ? before : await copy(file, from, writer)
    if (before && !isKept) {
      const isMended = stored !== undefined && (await repair(before, stored, target, signal))
      from.onDamaged?.(before.blob, isMended ? 'mended' : stored ? 'replaced' : 'lost')
      if (isMended) stored = before
    }
    if (!stored) return void damaged.push(file.blob)
    files.count++
    files.bytes += file.size
    const { blob, size, sha256 } = stored
    index.push({ file: file.blob, blob, size, sha256 })
  })
  await writeRows(spool, { name: INDEX }, Readable.from(index))
  // Otherwise nobody notices that the store has lost files which an earlier backup has.
  const absent = await absentBlobs(readRows(spool, { name: 'files' }), from.blobs)
  from.onLost?.(index.filter(({ file }) => absent.has(file)).length)
  return { files, damaged }
}

/** Returns `undefined` when the store has lost the bytes of the file, or has wrong bytes for it. */
async function copy(
  file: FileRow,
  { blobs, encrypt, signal }: GenerationOf,
  writer: ObjectWriter,
): Promise<StoredObject | undefined> {
  const hash = createHash('sha256')
  try {
    const stored = await writer.store(
      await encrypt(hashed(abortable(await readUntilDamage(blobs, file.blob), signal), hash)),
    )
    return hash.digest('hex') === file.sha256 ? stored : undefined
  } catch (error) {
    if (error instanceof BlobMissing) return undefined
    throw error
  }
}

/**
 * Puts the new bytes in place of the damaged ones, which earlier generations name, too.
 * @returns false if they differ, as encrypted bytes always do, or if the damaged object cannot be replaced
 */
async function repair(
  damaged: StoredObject,
  stored: StoredObject,
  { blobs }: BackupTarget,
  signal: AbortSignal,
): Promise<boolean> {
  if (stored.sha256 !== damaged.sha256) return false
  try {
    // A blob in a bucket can have several parts.
    await blobs.delete(damaged.blob)
    await blobs.write(damaged.blob, await blobs.read(stored.blob), signal)
    if (!(await isIntact(blobs, damaged))) return false
    await blobs.delete(stored.blob)
    return true
  } catch {
    signal.throwIfAborted()
    return false
  }
}

/** Objects that earlier generations of this service have stored for the same recipients, by the key of the file. */
async function knownFiles(
  target: BackupTarget,
  { created, recipients, signing }: GenerationOf,
): Promise<ReadonlyMap<string, IndexRow>> {
  const known = new Map<string, IndexRow>()
  const wanted = [...recipients].sort().join()
  const generations = (await listGenerations(target)).generations.filter(
    ({ generation }) =>
      [...generation.recipients].sort().join() === wanted && originOf(generation, signing.name) === 'own',
  )
  const newest = generations[0]?.generation
  if (!newest) return known
  // One of the future may be newer, and lack the files of later backups.
  const [last = newest] = generations.filter(listed => timeOf(listed) < created).map(({ generation }) => generation)
  // The newest generation has all files that the store had. If it shows a loss, the store may be back in the state before the loss, so that
  // the generation before the loss counts as well.
  const { before = last } = lossesIn(generations).get(last) ?? {}
  for (const generation of new Set([newest, before, last]))
    if (await isIntact(target.blobs, generation.index))
      for await (const row of indexOf(target, generation)) known.set(row.file, row)
  return known
}
