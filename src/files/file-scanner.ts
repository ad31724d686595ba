import { InvalidInput } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { FileRecord } from './file-records.ts'

/** Who sends a file, for the audit log. */
export interface Sender {
  /** Absent for guests. */
  readonly userId: string | undefined
  readonly address: string
}

/** A file that is stored but not visible yet. */
export interface ScannedFile extends Pick<FileRecord, 'blob' | 'size' | 'sha256'> {
  readonly context: string
  /** Absent while the entry does not exist yet. */
  readonly entry?: string | undefined
  readonly sender: Sender | undefined
  readonly signal: AbortSignal
}

/** Looks for malicious software in files before they become visible. */
export interface FileScanner {
  /** For a file that is not stored yet. @throws {TooLarge} `too-large-to-scan` */
  requireScannable(size: Bytes): void
  /**
   * @throws {FileInfected} @throws {TooLarge} `too-large-to-scan`
   * @throws {Overloaded} `scan-unavailable`, or `overloaded` when too many files wait
   */
  require(file: ScannedFile): Promise<void>
}

/** The scanner has found malicious software. */
export class FileInfected extends InvalidInput {
  /** @param signature the name of what was found */
  constructor(signature: string) {
    const detail = `The virus scanner found ${signature} in the file. Nothing was stored.`
    super('virus-found', detail, { extra: { signature } })
  }
}
