import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { StartupError } from '../base/errors.ts'
import { counter, type Progress, silent } from '../base/progress.ts'
import { digestOf } from '../files/fsck.ts'
import { BlobMissing, type BlobStore, type StoredBlob } from '../stores/blob-store.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Migration } from '../stores/migrations.ts'
import { type Cipher, plain } from './cipher.ts'
import { type RowFile, rowsFrom } from './row-files.ts'
import type { Source } from './store-copy.ts'
import { tablesAt } from './tables.ts'

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
  close(): Promise<void>
}

/** Something as it is stored in a target: encrypted, if the generation is. */
export interface StoredPart extends StoredBlob {
  readonly blob: string
}

/** The contents of a manifest. Only what is in the parts can be encrypted. */
export interface Generation {
  readonly format: 'stowage-generation'
  readonly version: 1
  /** The time of the snapshot, in ISO 8601. */
  readonly created: string
  /** The version of the program that made it. */
  readonly program: string
  /** The base address of the service that made it. */
  readonly service: string
  /** The step of the schema. */
  readonly schema: number
  /** The public keys that the parts are encrypted to; none for a generation that is not encrypted. */
  readonly recipients: readonly string[]
  readonly tables: ReadonlyArray<RowFile & { readonly stored: StoredPart }>
  /** A file of rows, never encrypted: under which key each file of the store is stored. */
  readonly index: StoredPart
  /** The keys that seal the secrets of authenticator apps. */
  readonly keys?: StoredPart | undefined
  readonly files: { readonly count: number; readonly bytes: number }
  /** Keys of blobs that were missing or damaged in the store itself. */
  readonly damaged: readonly string[]
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

/** The generations that this version can read, the newest first. */
export async function listGenerations(
  target: BackupTarget,
): Promise<{ readonly generations: readonly ListedGeneration[]; readonly unreadable: number }> {
  const generations: ListedGeneration[] = []
  let unreadable = 0
  for await (const { key } of target.manifests.list()) {
    const generation = await readManifest(target, key)
    if (generation) generations.push({ key, generation })
    else unreadable++
  }
  return { generations: generations.sort((a, b) => timeOf(b) - timeOf(a)), unreadable }
}

async function readManifest({ manifests }: BackupTarget, key: string): Promise<Generation | undefined> {
  try {
    const generation = JSON.parse((await buffer(await manifests.read(key))).toString()) as Generation
    return generation.format === 'stowage-generation' && generation.version === 1 ? generation : undefined
  } catch (error) {
    // One that was being written when the process died.
    if (error instanceof BlobMissing || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The newest generation, or the one of this time. @throws {StartupError} when there is none */
export async function findGeneration(target: BackupTarget, at?: string): Promise<Generation> {
  const { generations } = await listGenerations(target)
  const found = at === undefined ? generations[0] : generations.find(({ generation }) => generation.created === at)
  if (found) return found.generation
  const times = generations.map(({ generation }) => generation.created)
  throw new StartupError(
    times.length === 0
      ? `There is no complete backup in ${target.place}.`
      : `There is no backup of ${at} in ${target.place}. There are: ${times.join(', ')}.`,
  )
}

/** The rows of the index. */
export async function* indexOf({ blobs }: BackupTarget, { index }: Generation): AsyncGenerator<IndexRow> {
  for await (const row of rowsFrom(await blobs.read(index.blob))) yield row as unknown as IndexRow
}

/** The keys of everything in the target that the generation needs. */
export async function* partsOf(target: BackupTarget, generation: Generation): AsyncGenerator<string> {
  const { tables, index, keys } = generation
  for (const { stored } of tables) yield stored.blob
  yield index.blob
  if (keys) yield keys.blob
  for await (const { blob } of indexOf(target, generation)) yield blob
}

export async function isIntact(blobs: BlobStore, { blob, size, sha256 }: StoredPart): Promise<boolean> {
  try {
    const found = await digestOf(blobs, blob)
    return found.size === size && found.sha256 === sha256
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  }
}

export interface CheckedGeneration {
  readonly files: number
  /** Keys of files in the store whose bytes are missing or damaged in the target. */
  readonly damaged: readonly string[]
}

/**
 * Compares everything that the target holds of a generation with its digests. This needs no secret key: the digests are those of the
 * encrypted bytes.
 * @throws {StartupError} when rows are damaged
 */
export async function verifyGeneration(
  target: BackupTarget,
  generation: Generation,
  progress: Progress = silent,
): Promise<CheckedGeneration> {
  const { tables, index, keys } = generation
  const parts = [...tables.map(({ name, stored }) => [`table ${name}`, stored] as const), ['index', index] as const]
  for (const [name, part] of keys ? [...parts, ['second-factors.key', keys] as const] : parts) {
    if (await isIntact(target.blobs, part)) continue
    throw new StartupError(`The backup of ${generation.created} in ${target.place} is damaged: ${name}.`)
  }
  const damaged: string[] = []
  let files = 0
  const onFile = counter(progress, 'Checking files', generation.files.count)
  for await (const row of indexOf(target, generation)) {
    files++
    if (!(await isIntact(target.blobs, row))) damaged.push(row.file)
    onFile()
  }
  progress.end()
  return { files, damaged }
}

/** Opens a generation as the source of a restore. @throws {StartupError} when it is damaged, or the key does not fit */
export async function openGeneration(
  target: BackupTarget,
  generation: Generation,
  { schema, decrypt = plain }: { readonly schema: readonly Migration[]; readonly decrypt?: Cipher | undefined },
): Promise<Source & { readonly keys: () => Promise<string | undefined> }> {
  const { blobs, place } = target
  const { created, program, tables, keys } = generation
  if (!schema.some(({ id }) => id >= generation.schema))
    throw new StartupError(`The backup is of version ${program}, whose store this version does not support.`)
  const read = async (blob: string): Promise<AsyncIterable<Uint8Array>> => await decrypt(await blobs.read(blob))
  const known = new Map(tables.map(table => [table.name, table]))
  for (const { name } of tablesAt(generation.schema)) {
    const table = known.get(name)
    const hash = createHash('sha256')
    if (table) for await (const chunk of await read(table.stored.blob)) hash.update(chunk)
    if (hash.digest('hex') === table?.sha256) continue
    throw new StartupError(`The backup of ${created} in ${place} is damaged: table ${name}.`)
  }
  const stored = new Map<string, string>()
  for await (const { file, blob } of indexOf(target, generation)) stored.set(file, blob)
  return {
    schema: generation.schema,
    blobs: {
      async read(key) {
        const blob = stored.get(key)
        if (blob === undefined) throw new BlobMissing(key)
        return await read(blob)
      },
    },
    async *rows({ name }) {
      const table = known.get(name)
      if (table) yield* rowsFrom(await read(table.stored.blob))
    },
    count: async ({ name }) => known.get(name)?.rows,
    keys: async () => keys && (await buffer(await read(keys.blob))).toString(),
  }
}
