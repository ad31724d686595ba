import type { Settings } from '../config/settings.ts'
import { Files } from '../files/files.ts'
import type { FilesOptions } from '../files/staging.ts'
import type { Garbage } from '../files/garbage.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import type { DiskSpace } from '../stores/disk.ts'
import type { RuntimeEnvironment } from '../core/machine.ts'

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  /** Absent when the data folder is not used. */
  readonly disk: DiskSpace | undefined
  readonly ledger: Ledger
  readonly garbage: Garbage
}

/** The files of entries. */
export function createFiles(
  settings: Settings,
  machine: RuntimeEnvironment,
  { database, blobs, disk, ledger, garbage }: Dependencies,
): Files {
  const options: FilesOptions = {
    maxFileSize: settings['service.data.max-file-size'],
    // Files in a bucket take no space on the disk.
    requireSpace: settings['service.data.store'] === 'folder' ? disk?.requireSpace.bind(disk) : undefined,
  }
  return new Files({ database, blobs }, { ledger, garbage }, machine, options)
}
