import type { Bytes } from '../base/units.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Row } from './rows.ts'
import type { FileRow } from './copy-blobs.ts'

/** The keys of files that a store lacks, or has with another size. Reads no bytes: one listing tells. */
export async function absentBlobs(rows: AsyncIterable<Row>, blobs: BlobStore): Promise<ReadonlySet<string>> {
  const sizes = new Map<string, Bytes>()
  for await (const { key, size } of blobs.list()) sizes.set(key, size)
  const absent = new Set<string>()
  for await (const row of rows) {
    const { blob, size } = row as unknown as FileRow
    if (sizes.get(blob) !== size) absent.add(blob)
  }
  return absent
}
