import { BlobMissing, type BlobStore, measured } from '../stores/blob-store.ts'
import { type ReadableBlobs, readUntilDamage } from './damage.ts'
import type { Row } from './rows.ts'

/** The maximum number of parallel copies, because each request to a bucket takes a while. */
const AT_ONCE = 8

/** The row of table `files` about the bytes of one file. */
export interface FileRow {
  readonly context: string
  readonly entry: string
  readonly blob: string
  readonly size: number
  readonly sha256: string
}

export interface CopiedBlobs {
  readonly files: number
  readonly bytes: number
  /** The number of blobs that were copied; the target already had the others. */
  readonly copied: number
  /** Files whose bytes are missing from the source or differ from the uploaded ones. */
  readonly damaged: readonly FileRow[]
}

/** Yields the rows. Calls `onFile` for a row when the next row is asked for. */
export async function* counted(rows: AsyncIterable<Row>, onFile: () => void): AsyncGenerator<Row> {
  for await (const row of rows) {
    yield row
    onFile()
  }
}

/** Copies the bytes of all files that the target lacks, and compares each with its digest. */
export async function copyBlobs(
  rows: AsyncIterable<Row>,
  source: ReadableBlobs,
  target: BlobStore,
): Promise<CopiedBlobs> {
  let copied = 0
  const checked = await checkEach(rows, async file => {
    if (await isThere(target, file)) return true
    const isCopied = await copy(source, target, file)
    if (isCopied) copied++
    return isCopied
  })
  return { ...checked, copied }
}

/** Compares the bytes of all files with their digests, without copying. */
export const verifyBlobs = async (rows: AsyncIterable<Row>, blobs: ReadableBlobs): Promise<CopiedBlobs> => ({
  ...(await checkEach(rows, file => isThere(blobs, file))),
  copied: 0,
})

async function checkEach(
  rows: AsyncIterable<Row>,
  isWhole: (file: FileRow) => Promise<boolean>,
): Promise<Omit<CopiedBlobs, 'copied'>> {
  const totals = { files: 0, bytes: 0 }
  const damaged: FileRow[] = []
  await inParallel(rows, AT_ONCE, async row => {
    const file = row as unknown as FileRow
    totals.files++
    totals.bytes += file.size
    if (!(await isWhole(file))) damaged.push(file)
  })
  return { ...totals, damaged }
}

async function isThere(blobs: ReadableBlobs, file: FileRow): Promise<boolean> {
  try {
    const { size, sha256 } = await measured(await readUntilDamage(blobs, file.blob))
    return size === file.size && sha256 === file.sha256
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  }
}

/** Returns false, and leaves nothing in the target, when the source lacks the bytes. */
async function copy(source: ReadableBlobs, target: BlobStore, { blob, size, sha256 }: FileRow): Promise<boolean> {
  // A blob that is already under this key is incomplete.
  await target.delete(blob)
  try {
    const stored = await target.write(blob, await readUntilDamage(source, blob), new AbortController().signal)
    if (stored.size === size && stored.sha256 === sha256) return true
  } catch (error) {
    if (!(error instanceof BlobMissing)) throw error
  }
  await target.delete(blob)
  return false
}

/** Works on several items at once. After a failure, no further one is started. */
export async function inParallel<T>(
  items: AsyncIterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const failure = new AbortController()
  const worker = async (): Promise<void> => {
    while (!failure.signal.aborted) {
      const { done, value } = await iterator.next()
      if (done === true) return
      await work(value)
    }
  }
  const workers = Array.from({ length: atOnce }, () => worker().catch((error: unknown) => failure.abort(error)))
  await Promise.all(workers)
  failure.signal.throwIfAborted()
}
