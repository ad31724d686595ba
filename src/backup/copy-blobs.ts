import { digestOf } from '../files/fsck.ts'
import { BlobMissing, type BlobStore } from '../stores/blob-store.ts'
import type { Row } from './rows.ts'

/** How many are under way at once: a bucket takes its time for each. */
const AT_ONCE = 8

/** What the table `files` says about the bytes of one. */
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
  /** Those that had to be copied; the others were there. */
  readonly copied: number
  /** Files whose bytes are gone from the source, or not those that once came. */
  readonly damaged: readonly FileRow[]
}

/** Copies the bytes of all files that the target does not have yet, and judges each by its digest. */
export async function copyBlobs(rows: AsyncIterable<Row>, source: BlobStore, target: BlobStore): Promise<CopiedBlobs> {
  const totals = { files: 0, bytes: 0, copied: 0 }
  const damaged: FileRow[] = []
  await inParallel(rows, async row => {
    const file = row as unknown as FileRow
    totals.files++
    totals.bytes += file.size
    if (await isThere(target, file)) return
    if (await copy(source, target, file)) totals.copied++
    else damaged.push(file)
  })
  return { ...totals, damaged }
}

/** Compares the bytes of all files with their digests; nothing is copied. */
export async function verifyBlobs(rows: AsyncIterable<Row>, blobs: BlobStore): Promise<CopiedBlobs> {
  const totals = { files: 0, bytes: 0, copied: 0 }
  const damaged: FileRow[] = []
  await inParallel(rows, async row => {
    const file = row as unknown as FileRow
    totals.files++
    totals.bytes += file.size
    if (!(await isThere(blobs, file))) damaged.push(file)
  })
  return { ...totals, damaged }
}

async function isThere(blobs: BlobStore, file: FileRow): Promise<boolean> {
  try {
    const { size, sha256 } = await digestOf(blobs, file.blob)
    return size === file.size && sha256 === file.sha256
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  }
}

/** False, and nothing is there, when the source does not have the bytes. */
async function copy(source: BlobStore, target: BlobStore, { blob, size, sha256 }: FileRow): Promise<boolean> {
  // What is there under this key is not whole.
  await target.delete(blob)
  try {
    const stored = await target.write(blob, await source.read(blob), new AbortController().signal)
    if (stored.size === size && stored.sha256 === sha256) return true
  } catch (error) {
    if (!(error instanceof BlobMissing)) throw error
  }
  await target.delete(blob)
  return false
}

/** Works on several at once; after a failure no further one is begun. */
async function inParallel<T>(items: AsyncIterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.asyncIterator]()
  const failure = new AbortController()
  const worker = async (): Promise<void> => {
    while (!failure.signal.aborted) {
      const { done, value } = await iterator.next()
      if (done === true) return
      await work(value)
    }
  }
  const workers = Array.from({ length: AT_ONCE }, () => worker().catch((error: unknown) => failure.abort(error)))
  await Promise.all(workers)
  failure.signal.throwIfAborted()
}
