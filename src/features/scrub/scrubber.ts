import type { Log } from '../../base/log.ts'
import { isUnreadable } from '../../stores/disk.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { digestOf } from '../../files/fsck.ts'
import {
  canReadAnother,
  countFiles,
  countProblems,
  type FileProblem,
  recordVerification,
  unverifiedSince,
  type VerificationReport,
  type VerifiedFile,
} from '../../files/verifications.ts'
import { BlobMissing, type BlobStore } from '../../stores/blob-store.ts'
import type { Database } from '../../stores/database.ts'

interface ScrubberOptions {
  /** Each file is verified once in this time, in milliseconds; 0 disables the verification. */
  readonly interval: Milliseconds
}

interface Dependencies {
  readonly database: Database
  readonly blobs: Pick<BlobStore, 'read'>
  readonly system: System
  readonly log: Log
}

const BATCH = 100

/**
 * Compares stored files with their digests in the background, the longest unverified first, so that damage is noticed while
 * a backup still contains the file. The progress is stored in the table `files`; nodes share it.
 */
export class Scrubber {
  readonly #deps: Dependencies
  readonly #options: ScrubberOptions
  #isClosed = false
  #isRunning = false

  constructor(deps: Dependencies, options: ScrubberOptions) {
    this.#deps = deps
    this.#options = options
  }

  /**
   * Verifies the files that are due.
   * @param elapsed time since the last call in milliseconds
   * @returns how many files were verified
   */
  async run(elapsed: Milliseconds): Promise<number> {
    if (this.#options.interval === 0 || this.#isRunning) return 0
    this.#isRunning = true
    try {
      return await this.#verifyDue(elapsed)
    } finally {
      this.#isRunning = false
    }
  }

  async #verifyDue(elapsed: Milliseconds): Promise<number> {
    const { interval } = this.#options
    const { database } = this.#deps
    let left = Math.ceil(((await countFiles(database)) * elapsed) / interval)
    const before = this.#deps.system.now() - interval
    let verified = 0
    while (left > 0 && !this.#isClosed) {
      const rows = await unverifiedSince(database, before, Math.min(left, BATCH))
      if (rows.length === 0) break
      for (const row of rows) if (!this.#isClosed) await this.#verify(row)
      verified += rows.length
      left -= rows.length
    }
    return verified
  }

  report(): Promise<VerificationReport> {
    return countProblems(this.#deps.database)
  }

  /** Stops a run after the current file. */
  close(): void {
    this.#isClosed = true
  }

  async #verify(row: VerifiedFile): Promise<void> {
    const { database, system, log } = this.#deps
    const problem = await this.#problemOf(row)
    const recorded = await database.transaction(
      tx => recordVerification(tx, row.blob, { verified: system.now(), problem }),
      { durability: 'relaxed' },
    )
    // A file that was replaced or deleted meanwhile is ignored.
    if (!recorded || problem === row.problem) return
    const { context, entry, blob } = row
    if (problem === null) log.info({ context, entry, blob }, 'the bytes of a file are intact again')
    else log.error({ context, entry, blob, problem }, `the bytes of a file are ${problem}: restore it from a backup`)
  }

  async #problemOf({ blob, size, sha256 }: VerifiedFile): Promise<FileProblem | null> {
    try {
      const found = await digestOf(this.#deps.blobs, blob)
      return found.size === size && found.sha256 === sha256 ? null : 'damaged'
    } catch (error) {
      if (error instanceof BlobMissing) return 'missing'
      // Without the record no run would get beyond a file that the disk cannot read.
      if (isUnreadable(error) && (await canReadAnother(this.#deps.database, this.#deps.blobs, blob))) return 'damaged'
      throw error
    }
  }
}
