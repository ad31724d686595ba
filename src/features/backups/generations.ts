import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { StartupError } from '../../base/errors.ts'
import { counter, type Progress, silent } from '../../base/progress.ts'
import type { System } from '../../base/system.ts'
import {
  BlobMissing,
  type BlobStore,
  isBlobKey,
  measured,
  newBlobKey,
  type StoredBlob,
} from '../../stores/blob-store.ts'
import type { Milliseconds } from '../../base/units.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import { readUntilDamage } from '../../backup/damage.ts'
import { RUN_TTL } from './backup-runs.ts'
import { type Extent, findLosses, type Loss } from './loss.ts'
import { intactRowsFrom, type RowFile, rowsFrom } from '../../backup/row-files.ts'

/**
 * A place for several backups, called generations. A file is stored once, whatever number of them contain it. A generation exists once its
 * manifest does, which is written last.
 */
export interface BackupTarget {
  /** The bytes of files, and the rows of tables. */
  readonly blobs: BlobStore
  /** The manifests. */
  readonly manifests: BlobStore
  /** Where it is, for people. */
  readonly place: string
  /** The path of a file, or the address of an object of a bucket, for people. */
  readonly pathOf: (part: 'blobs' | 'generations', key: string) => string
  close(): Promise<void>
}

/** Something as it is stored in a target: encrypted, if the generation is. */
export interface StoredObject extends StoredBlob {
  readonly blob: string
}

export interface StoredTable extends RowFile {
  readonly stored: StoredObject
}

/** The contents of a manifest. Only the objects that it names can be encrypted. */
export interface Generation extends Extent {
  readonly format: 'stowage-generation'
  readonly version: 1
  /** The version of the program that made it. */
  readonly program: string
  /** The base address of the service that made it. */
  readonly service: string
  /** The step of the schema. */
  readonly schema: number
  /** The public keys that the objects are encrypted to; none for a generation that is not encrypted. */
  readonly recipients: readonly string[]
  readonly tables: readonly StoredTable[]
  /** A file of rows that says under which key each file of the store is stored. It is never encrypted. */
  readonly index: StoredObject
  /** The keys that seal the secrets of authenticator apps. */
  readonly keys?: StoredObject | undefined
  readonly files: { readonly count: number; readonly bytes: number }
  /** Keys of blobs that were missing or damaged in the store itself. */
  readonly damaged: readonly string[]
  /** Absent in backups of older versions. */
  readonly signature?: ManifestSignature | undefined
}

/** The Ed25519 signature of a manifest. It covers the text of all other members. */
export interface ManifestSignature {
  /** The public key, in base64url. */
  readonly key: string
  /** In base64. */
  readonly value: string
}

/** Signs manifests. No backup contains it, so that only the service can use it. */
export interface ManifestKey {
  /** The public key, in base64url. */
  readonly name: string
  sign(generation: Generation): Generation
}

/** A row of the index. */
export interface IndexRow extends StoredBlob {
  /** The key of the file in the store. */
  readonly file: string
  /** Its key in the target. */
  readonly blob: string
}

export interface ListedGeneration {
  /** The key of its manifest. */
  readonly key: string
  readonly generation: Generation
}

export const timeOf = ({ generation }: ListedGeneration): Milliseconds => Date.parse(generation.created)

/**
 * Whether the time of the generation is in the future: the clock of this machine is wrong, or was wrong when the generation was made. The
 * clocks of nodes differ by less than the tolerance.
 */
const isOfFuture = (listed: ListedGeneration, now: Milliseconds): boolean => !(timeOf(listed) <= now + RUN_TTL)

export const notOfFuture = (generations: readonly ListedGeneration[], now: Milliseconds): readonly ListedGeneration[] =>
  generations.filter(listed => !isOfFuture(listed, now))

export const ofFuture = (generations: readonly ListedGeneration[], now: Milliseconds): readonly ListedGeneration[] =>
  generations.filter(listed => isOfFuture(listed, now))

/** The newest first, but those of the future last. */
export const futureLast = (
  generations: readonly ListedGeneration[],
  now: Milliseconds,
): readonly ListedGeneration[] => [...notOfFuture(generations, now), ...ofFuture(generations, now)]

/** For people. */
export const tellAllOfFuture = ({ place }: Pick<BackupTarget, 'place'>): string =>
  `All backups in ${place} are of the future: the clock of this machine was probably set back. Set it first.`

export interface ListedGenerations {
  /** Those that this version can read, the newest first. */
  readonly generations: readonly ListedGeneration[]
  /** The keys of manifests that this version cannot read, or that are damaged. */
  readonly unreadable: readonly string[]
}

export async function listGenerations(target: BackupTarget): Promise<ListedGenerations> {
  const generations: ListedGeneration[] = []
  const unreadable: string[] = []
  for await (const { key } of target.manifests.list()) {
    const generation = await readManifest(target, key)
    if (generation === 'unreadable') unreadable.push(key)
    else if (generation) generations.push({ key, generation })
  }
  return { generations: generations.sort((a, b) => timeOf(b) - timeOf(a)), unreadable }
}

/** The generations of a time that another manifest has, too: the service writes one manifest for each time. */
export const copiesIn = (generations: readonly ListedGeneration[]): readonly ListedGeneration[] =>
  generations.filter(one => generations.some(other => other !== one && timeOf(other) === timeOf(one)))

/** Returns `undefined` for a manifest that is being written, was never completed, or was removed meanwhile. */
async function readManifest({ manifests }: BackupTarget, key: string): Promise<Generation | 'unreadable' | undefined> {
  try {
    const value: unknown = JSON.parse((await buffer(await manifests.read(key))).toString())
    return isGeneration(value) ? value : 'unreadable'
  } catch (error) {
    if (error instanceof BlobMissing) return undefined
    if (error instanceof SyntaxError) return 'unreadable'
    throw error
  }
}

function isGeneration(value: unknown): value is Generation {
  const { format, version, created, tables, index, files, recipients, damaged } = (value ?? {}) as Partial<Generation>
  return (
    format === 'stowage-generation' &&
    version === 1 &&
    Number.isFinite(Date.parse(String(created))) &&
    [tables, recipients, damaged].every(Array.isArray) &&
    index !== undefined &&
    files !== undefined
  )
}

/** Adds a generation to the target, signed. */
export async function writeManifest(
  { manifests, place }: BackupTarget,
  generation: Generation,
  {
    system,
    signal,
    signing,
  }: { readonly system: Pick<System, 'randomBytes'>; readonly signal: AbortSignal; readonly signing: ManifestKey },
): Promise<void> {
  const key = newBlobKey(count => system.randomBytes(count))
  const text = Buffer.from(`${JSON.stringify(signing.sign(generation), undefined, 2)}\n`)
  await withDiskErrorsAt(place, manifests.write(key, Readable.from([text]), signal))
}

/** The loss before each generation that has one ({@link findLosses}). */
export const lossesIn = (generations: readonly ListedGeneration[]): ReadonlyMap<Generation, Loss<Generation>> =>
  findLosses(generations.map(({ generation }) => generation).reverse())

interface Choice {
  /** The time of the generation; by default the newest that is not of the future, or the newest if all are. */
  readonly at: string | undefined
  readonly now: Milliseconds
}

/**
 * The newest generation, or the one of this time, for a restore.
 * @throws {StartupError} also when no time is given and the newest generation cannot be read, is of the future, or has lost much: its store
 *   may have been lost
 */
export function pickGenerationToRestore(
  target: BackupTarget,
  listed: ListedGenerations,
  { at, now }: Choice,
): ListedGeneration {
  const picked = pickGeneration(target, listed, { at, now })
  const { generations, unreadable } = listed
  if (at !== undefined) return picked
  const found = picked.generation
  if (unreadable.length > 0)
    throw new StartupError(
      `A backup in ${target.place} may be newer than that of ${found.created}, because this version cannot read ` +
        `${pathsOf(target, unreadable)}. Name the one to restore: --at ${found.created}.`,
    )
  const name = ({ created, files }: Generation): string =>
    `--at ${created} (${files.count} ${files.count === 1 ? 'file' : 'files'})`
  if (notOfFuture(generations, now).length === 0)
    throw new StartupError(`${tellAllOfFuture(target)} Or restore the newest with ${name(found)}.`)
  const loss = lossesIn(generations).get(found)
  const [newest = picked] = generations
  if (newest !== picked) {
    const lost = loss ? `, which ${loss.text},` : ''
    throw new StartupError(
      `The newest backup, of ${newest.generation.created}, is of the future: the clock of this machine is wrong, or was wrong when the backup was made. ` +
        `Restore the newest that is not of the future with ${name(found)}${lost}, or the newest of all with ${name(newest.generation)}.`,
    )
  }
  if (!loss) return picked
  throw new StartupError(
    `The newest backup, of ${found.created}, ${loss.text}. ` +
      `Restore the last one before the loss with ${name(loss.before)}, or, if nothing was lost, the newest with ${name(found)}.`,
  )
}

/** The generation of this time. @throws {StartupError} when there is none */
export function pickGeneration(
  target: BackupTarget,
  { generations, unreadable }: ListedGenerations,
  { at, now }: Choice,
): ListedGeneration {
  const [newest] = futureLast(generations, now)
  const found = at === undefined ? newest : generations.find(({ generation }) => generation.created === at)
  if (found) return found
  const times = generations.map(({ generation }) => generation.created)
  throw new StartupError(
    times.length === 0
      ? `There is no complete backup in ${target.place}.${namingUnreadable(target, unreadable)}`
      : `There is no backup of ${at} in ${target.place}. There are: ${times.join(', ')}.`,
  )
}

/** Where the manifests with these keys are. */
export const pathsOf = ({ pathOf }: BackupTarget, keys: readonly string[]): string =>
  keys.map(key => pathOf('generations', key)).join(', ')

/** A sentence that names unusable manifests, to be appended to another sentence; empty if there are none. */
const namingUnreadable = (target: BackupTarget, keys: readonly string[]): string =>
  keys.length === 0 ? '' : ` Damaged, or of another version: ${pathsOf(target, keys)}.`

/** The rows of the index. */
export async function* indexOf({ blobs }: BackupTarget, { index }: Generation): AsyncGenerator<IndexRow> {
  for await (const row of rowsFrom(await blobs.read(index.blob))) yield row as unknown as IndexRow
}

/** The keys of everything in the target that the generation needs. */
export async function* blobKeysOf(target: BackupTarget, generation: Generation): AsyncGenerator<string> {
  const { tables, index, keys } = generation
  for (const { stored } of tables) yield stored.blob
  yield index.blob
  if (keys) yield keys.blob
  for await (const { blob } of indexOf(target, generation)) yield blob
}

/** Whether the object is there, with the size and digest that the manifest says. */
export async function isIntact(blobs: BlobStore, { blob, size, sha256 }: StoredObject): Promise<boolean> {
  try {
    const found = await measured(await readUntilDamage(blobs, blob))
    return found.size === size && found.sha256 === sha256
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  }
}

/** A file whose bytes are missing or damaged. */
export interface DamagedFile {
  /** Its key in the store. */
  readonly blob: string
  /** Where its bytes are, or should be, in the target; `undefined` when they were lost in the store already. */
  readonly path: string | undefined
  /** `CONTEXT/ID` of its entry; `undefined` in an encrypted backup, which does not give it away. */
  readonly entry: string | undefined
}

export const describeFile = ({ blob, path, entry }: DamagedFile): string =>
  `the bytes of ${entry ?? 'a file'} (blob ${blob}${path === undefined ? '' : `, ${path}`})`

export interface CheckedGeneration {
  readonly files: number
  readonly damaged: readonly DamagedFile[]
  /** Files that were damaged in the store itself when the backup was made. */
  readonly damagedBefore: readonly DamagedFile[]
}

/**
 * Compares all objects of a generation in the target with their digests. This needs no secret key, because the digests are of the encrypted
 * bytes.
 * @throws {StartupError} when rows are damaged
 */
export async function verifyGeneration(
  target: BackupTarget,
  generation: Generation,
  progress: Progress = silent,
): Promise<CheckedGeneration> {
  const { tables, index, keys } = generation
  const objects = [...tables.map(({ name, stored }) => [`table ${name}`, stored] as const), ['index', index] as const]
  for (const [name, object] of keys ? [...objects, ['second-factors.key', keys] as const] : objects) {
    if (await isIntact(target.blobs, object)) continue
    throw new StartupError(`The backup of ${generation.created} in ${target.place} is damaged: ${name}.`)
  }
  const damaged: IndexRow[] = []
  let files = 0
  const onFile = counter(progress, 'Checking files', generation.files.count)
  for await (const row of indexOf(target, generation)) {
    files++
    if (!(await isIntact(target.blobs, row))) damaged.push(row)
    onFile()
  }
  progress.end()
  const entries = await entriesOf(target, generation, [...damaged.map(({ file }) => file), ...generation.damaged])
  return {
    files,
    damaged: damaged.map(({ file, blob }) => ({
      blob: file,
      path: target.pathOf('blobs', blob),
      entry: entries.get(file),
    })),
    damagedBefore: generation.damaged.map(blob => ({ blob, path: undefined, entry: entries.get(blob) })),
  }
}

/** The entries of files with these keys, as far as the backup gives them away. */
async function entriesOf(
  { blobs }: BackupTarget,
  { recipients, tables }: Generation,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const table = tables.find(({ name }) => name === 'files')
  if (!table || recipients.length > 0 || keys.length === 0) return found
  const wanted = new Set(keys)
  for await (const { blob, context, entry } of rowsFrom(await blobs.read(table.stored.blob)))
    if (wanted.has(String(blob))) found.set(String(blob), `${String(context)}/${String(entry)}`)
  return found
}

/**
 * The key of the object for each file. Unreadable lines of a damaged index are left out. A line that names a wrong object is detected
 * later, by the digest of the file.
 */
export async function storedFiles(
  { blobs }: BackupTarget,
  { index }: Generation,
): Promise<ReadonlyMap<string, string>> {
  const stored = new Map<string, string>()
  try {
    for await (const row of intactRowsFrom(await readUntilDamage(blobs, index.blob)))
      if (isBlobKey(String(row['blob']))) stored.set(String(row['file']), String(row['blob']))
  } catch (error) {
    if (!(error instanceof BlobMissing)) throw error
  }
  return stored
}
