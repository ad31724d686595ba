import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { StartupError } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import { holdBlobs } from '../files/garbage.ts'
import { abortable, BlobMissing, type BlobStore, hashed, newBlobKey } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { addKeys, isMissing, readPrivate } from '../stores/key-file.ts'
import { schemaVersion } from '../stores/migrations.ts'
import type { Cipher } from './cipher.ts'
import { writeTables } from './backup.ts'
import { type FileRow, inParallel } from './copy-blobs.ts'
import {
  type BackupTarget,
  type Generation,
  type IndexRow,
  indexOf,
  isIntact,
  listGenerations,
  partsOf,
  type StoredPart,
  timeOf,
} from './generations.ts'
import { superfluous } from './keep.ts'
import { readRows, writeRows } from './row-files.ts'
import { tablesAt } from './tables.ts'

interface GenerationOf {
  readonly database: Database
  readonly blobs: BlobStore
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
  readonly signal: AbortSignal
}

/** Few, because the service reads and writes files meanwhile. */
const AT_ONCE = 2
/** What no generation needs and is younger may belong to a backup that is being made. */
const REMAINS_TTL: Milliseconds = 86_400_000

/**
 * Makes a generation of a snapshot of the store, while others work on it. Each part is read again after it was written. Files that the target
 * has already are read and compared, but not copied.
 * @throws the reason of `signal`, or any error: the target has no new generation then
 */
export async function makeGeneration(from: GenerationOf, target: BackupTarget): Promise<Generation> {
  const { database, system, spool, recipients, signal } = from
  const [damage] = await database.findDamage()
  if (damage !== undefined) throw new StartupError(`The database is damaged: ${damage}. Run \`stowage fsck\`.`)
  // Comes first, so that bytes deleted after the snapshot stay until they have been copied.
  const hold = await holdBlobs(database, system)
  try {
    await rm(spool, { recursive: true, force: true })
    await mkdir(spool, { recursive: true, mode: 0o700 })
    const schema = await schemaVersion(database)
    const written = await database.snapshot(at => writeTables(at, spool, tablesAt(schema)))
    signal.throwIfAborted()
    const keyText = await keysOf(from)
    const { files, damaged } = await copyFiles(from, target)
    await hold.require()
    const store = new Parts(target, from)
    const tables = []
    for (const table of written) tables.push({ ...table, stored: await store.add(pathIn(spool, table.name)) })
    const generation: Generation = {
      format: 'stowage-generation',
      version: 1,
      created: new Date(from.created).toISOString(),
      program: from.program,
      service: from.service,
      schema,
      recipients,
      tables,
      index: await store.add(pathIn(spool, INDEX), { isPlain: true }),
      keys: keyText === undefined ? undefined : await store.add(join(spool, KEYS)),
      files,
      damaged,
    }
    const text = Buffer.from(`${JSON.stringify(generation, undefined, 2)}\n`)
    await target.manifests.write(
      newBlobKey(n => system.randomBytes(n)),
      chunksOf(text),
      signal,
    )
    return generation
  } finally {
    await rm(spool, { recursive: true, force: true })
    await hold.release()
  }
}

const INDEX = 'index'
const KEYS = 'second-factors.key'
const pathIn = (spool: string, name: string): string => join(spool, `${name}.ndjson`)

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** After the rows: a secret in them is sealed by a key that is there already. */
async function keysOf({ keyFile, spool }: GenerationOf): Promise<string | undefined> {
  if (keyFile === undefined || (await isMissing(keyFile))) return undefined
  const text = await readPrivate(keyFile)
  await addKeys(text, join(spool, KEYS))
  return text
}

/** Stores parts under new keys, and reads each again. */
class Parts {
  readonly #target: BackupTarget
  readonly #from: GenerationOf

  constructor(target: BackupTarget, from: GenerationOf) {
    this.#target = target
    this.#from = from
  }

  async add(path: string, { isPlain = false } = {}): Promise<StoredPart> {
    const bytes = createReadStream(path)
    return await this.store(isPlain ? bytes : await this.#from.encrypt(bytes))
  }

  async store(bytes: AsyncIterable<Uint8Array>): Promise<StoredPart> {
    const { blobs, place } = this.#target
    const { system, signal } = this.#from
    const blob = newBlobKey(count => system.randomBytes(count))
    const part = { blob, ...(await blobs.write(blob, bytes, signal)) }
    if (await isIntact(blobs, part)) return part
    throw new StartupError(`What was written to ${place} is not what was read from it. Check this disk or bucket.`)
  }
}

/** Copies the files that the target lacks, and writes the index. */
async function copyFiles(from: GenerationOf, target: BackupTarget): Promise<Pick<Generation, 'files' | 'damaged'>> {
  const { spool, signal } = from
  const parts = new Parts(target, from)
  const known = await knownFiles(target, from.recipients)
  const index: IndexRow[] = []
  const files = { count: 0, bytes: 0 }
  const damaged: string[] = []
  await inParallel(readRows(spool, { name: 'files' }), AT_ONCE, async row => {
    signal.throwIfAborted()
    const file = row as unknown as FileRow
    const before = known.get(file.blob)
    const stored = before && (await isIntact(target.blobs, before)) ? before : await copy(file, from, parts)
    if (!stored) return void damaged.push(file.blob)
    files.count++
    files.bytes += file.size
    const { blob, size, sha256 } = stored
    index.push({ file: file.blob, blob, size, sha256 })
  })
  await writeRows(spool, { name: INDEX }, Readable.from(index))
  return { files, damaged }
}

/** Returns `undefined` when the store itself has lost the bytes, or has other ones. */
async function copy(
  file: FileRow,
  { blobs, encrypt, signal }: GenerationOf,
  parts: Parts,
): Promise<StoredPart | undefined> {
  const hash = createHash('sha256')
  try {
    const stored = await parts.store(await encrypt(hashed(abortable(await blobs.read(file.blob), signal), hash)))
    return hash.digest('hex') === file.sha256 ? stored : undefined
  } catch (error) {
    if (error instanceof BlobMissing) return undefined
    throw error
  }
}

/** What earlier generations for the same recipients have stored, by the key of the file. */
async function knownFiles(target: BackupTarget, recipients: readonly string[]): Promise<ReadonlyMap<string, IndexRow>> {
  const known = new Map<string, IndexRow>()
  const { generations } = await listGenerations(target)
  const wanted = [...recipients].sort().join()
  const newest = generations.find(({ generation }) => [...generation.recipients].sort().join() === wanted)
  // What it lacks was not in the store.
  if (newest && (await isIntact(target.blobs, newest.generation.index)))
    for await (const row of indexOf(target, newest.generation)) known.set(row.file, row)
  return known
}

/**
 * Removes the generations of this service that the rule does not keep, and then what no generation needs. Nothing is removed while the target
 * has generations that this version cannot read.
 */
export async function prune(
  target: BackupTarget,
  { service, keep, now }: { readonly service: string; readonly keep: string; readonly now: Milliseconds },
): Promise<void> {
  const { generations, unreadable } = await listGenerations(target)
  if (unreadable > 0) return
  const own = generations.filter(({ generation }) => generation.service === service)
  const old = new Set(superfluous(own.map(timeOf), keep))
  const needed = new Set<string>()
  for (const one of generations) {
    if (own.includes(one) && old.has(timeOf(one))) await target.manifests.delete(one.key)
    else for await (const key of partsOf(target, one.generation)) needed.add(key)
  }
  for await (const { key, modified } of target.blobs.list())
    if (!needed.has(key) && modified < now - REMAINS_TTL) await target.blobs.delete(key)
}
