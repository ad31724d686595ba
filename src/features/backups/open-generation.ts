import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { StartupError } from '../../base/errors.ts'
import { BlobMissing } from '../../stores/blob-store.ts'
import { DecryptionFailed, isDamage } from '../../backup/damage.ts'
import { rowsFrom } from '../../backup/row-files.ts'
import type { Source } from '../../backup/store-copy.ts'
import { type Layout, type Table, tablesAt } from '../../backup/tables.ts'
import { type Cipher, plain } from './cipher.ts'
import { requireFittingRows } from './fitting-rows.ts'
import { type BackupTarget, type Generation, isIntact, type StoredTable, storedFiles } from './generations.ts'

/** The keys that seal the secrets of authenticator apps, if they are in a backup. @throws {StartupError} when they are damaged */
export type BackedUpKeys = () => Promise<string | undefined>

/** What everything else in a backup depends on is damaged. */
export class BackupDamaged extends StartupError {}

/** Whether the rows and the index are whole, so that a restore can begin. */
export async function isRestorable({ blobs }: BackupTarget, { tables, index }: Generation): Promise<boolean> {
  for (const object of [...tables.map(({ stored }) => stored), index])
    if (!(await isIntact(blobs, object))) return false
  return true
}

/**
 * Opens a generation as the source of a restore.
 * @throws {BackupDamaged} when its rows or its index are damaged @throws {StartupError} when the key does not fit
 */
export async function openGeneration(
  target: BackupTarget,
  generation: Generation,
  { layout, decrypt = plain }: { readonly layout: Layout; readonly decrypt?: Cipher | undefined },
): Promise<Source & { readonly keys: BackedUpKeys }> {
  const { blobs, place } = target
  const { created, program, tables, keys } = generation
  if (!layout.steps.some(({ id }) => id >= generation.schema))
    throw new StartupError(`The backup is of version ${program}, whose store this version does not support.`)
  const read = async (blob: string): Promise<AsyncIterable<Uint8Array>> => await decrypt(await blobs.read(blob))
  const known = new Map(tables.map(table => [table.name, table]))
  for (const { name } of tablesAt(layout, generation.schema)) {
    const table = known.get(name)
    if (table && (await isReadable(target, table, decrypt))) continue
    throw new BackupDamaged(`The backup of ${created} in ${place} is damaged: table ${name}.`)
  }
  // Without it all files would count as lost.
  if (!(await isIntact(blobs, generation.index)))
    throw new BackupDamaged(`The backup of ${created} in ${place} is damaged: index.`)
  const stored = await storedFiles(target, generation)
  const source = {
    schema: generation.schema,
    blobs: {
      async read(key: string) {
        const blob = stored.get(key)
        if (blob === undefined) throw new BlobMissing(key)
        return await read(blob)
      },
    },
    async *rows({ name }: Pick<Table, 'name'>) {
      const table = known.get(name)
      if (table) yield* rowsFrom(await read(table.stored.blob))
    },
    count: async ({ name }: Pick<Table, 'name'>) => known.get(name)?.rows,
    async keys() {
      if (!keys) return undefined
      if (await isIntact(blobs, keys)) return (await buffer(await read(keys.blob))).toString()
      throw new StartupError(`The backup of ${created} in ${place} is damaged: second-factors.key.`)
    },
  }
  const name = `The backup of ${created} in ${place}`
  await requireFittingRows(source, layout, { name, tables: [...known.keys()] })
  return source
}

/**
 * Whether the rows of a table can be decrypted, and have the digest that the manifest says.
 * @throws {StartupError} when they are intact, but encrypted to other keys
 */
async function isReadable({ blobs }: BackupTarget, { stored, sha256 }: StoredTable, decrypt: Cipher): Promise<boolean> {
  const hash = createHash('sha256')
  try {
    for await (const chunk of await decrypt(await blobs.read(stored.blob))) hash.update(chunk)
  } catch (error) {
    if (!isDamage(error)) throw error
    if (error instanceof DecryptionFailed && (await isIntact(blobs, stored)))
      throw new StartupError(error.message, { cause: error })
    return false
  }
  return hash.digest('hex') === sha256
}
