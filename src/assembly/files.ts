import type { Audit } from '../accounts/audit.ts'
import type { QuotaMails } from '../content/quota-mails.ts'
import type { Settings } from '../config/settings.ts'
import { Files, type FilesOptions } from '../files/files.ts'
import type { Garbage } from '../files/garbage.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { ResumableFiles } from '../files/resumable-files.ts'
import { StagedImports } from '../files/staged-import.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import type { DiskSpace } from '../stores/disk.ts'
import type { RuntimeEnvironment } from './machine.ts'
import { thresholdDetail } from './quota.ts'
import { createVirusScan } from './virus-scan.ts'

interface Dependencies {
  readonly database: Database
  readonly blobs: BlobStore
  /** Absent when the data folder is not used. */
  readonly disk: DiskSpace | undefined
  readonly audit: Audit
  readonly ledger: Ledger
  readonly garbage: Garbage
  /** Absent without a mail server, and for commands. */
  readonly quotaMails?: QuotaMails | undefined
}

/** The files of entries, uploads that continue, and imports. */
export function createFiles(
  settings: Settings,
  machine: RuntimeEnvironment,
  { database, blobs, disk, audit, ledger, garbage, quotaMails }: Dependencies,
) {
  const virusScan = createVirusScan(settings, machine, { audit, blobs })
  const options: FilesOptions = {
    maxFileSize: settings['service.data.max-file-size'],
    verifyOnRead: settings['service.data.verify-on-read'],
    // Files in a bucket take no space on the disk.
    requireSpace: settings['service.data.store'] === 'folder' ? disk?.requireSpace.bind(disk) : undefined,
    virusScan,
    onThreshold: async reached => {
      quotaMails?.add(reached)
      await audit.record({ event: 'quota-threshold', detail: thresholdDetail(reached) })
    },
  }
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, options)
  return {
    virusScan,
    files,
    resumableFiles: new ResumableFiles(
      { ...machine, database, blobs, ledger },
      { ttl: settings['service.upload.expires'] },
    ),
    stagedImports: new StagedImports({ ...machine, database, blobs, ledger, garbage }, options),
  }
}
