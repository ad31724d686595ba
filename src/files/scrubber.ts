import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { BlobMissing, type BlobStore } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { digestOf } from './fsck.ts'

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

interface FileRow {
  readonly context: string
  readonly entry: string
  readonly blob: string
  readonly size: Bytes
  readonly sha256: string
  readonly problem: FileProblem | null
}

type FileProblem = 'missing' | 'damaged'

/** The state of the verification of all files. */
interface VerificationReport {
  /** Files whose bytes have not been verified since they were stored. */
  readonly unverified: number
  readonly missing: number
  readonly damaged: number
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
    const due = await database.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM files`)
    let left = Math.ceil(((due?.count ?? 0) * elapsed) / interval)
    const before = this.#deps.system.now() - interval
    let verified = 0
    while (left > 0 && !this.#isClosed) {
      const rows = await database.all<FileRow>(sql`SELECT context, entry, blob, size, sha256, problem FROM files
        WHERE verified <= ${before} ORDER BY verified LIMIT ${Math.min(left, BATCH)}`)
      if (rows.length === 0) break
      for (const row of rows) if (!this.#isClosed) await this.#verify(row)
      verified += rows.length
      left -= rows.length
    }
    return verified
  }

  async report(): Promise<VerificationReport> {
    const row = await this.#deps.database.get<{ unverified: number; missing: number; damaged: number }>(
      sql`SELECT (SELECT COUNT(*) FROM files WHERE verified = 0) AS unverified,
        (SELECT COUNT(*) FROM files WHERE problem = 'missing') AS missing,
        (SELECT COUNT(*) FROM files WHERE problem = 'damaged') AS damaged`,
    )
    return { unverified: row?.unverified ?? 0, missing: row?.missing ?? 0, damaged: row?.damaged ?? 0 }
  }

  /** Stops a run after the current file. */
  close(): void {
    this.#isClosed = true
  }

  async #verify(row: FileRow): Promise<void> {
    const { database, system, log } = this.#deps
    const problem = await this.#problemOf(row)
    const recorded = await database.transaction(
      tx => tx.run(sql`UPDATE files SET verified = ${system.now()}, problem = ${problem} WHERE blob = ${row.blob}`),
      { durability: 'relaxed' },
    )
    // A file that was replaced or deleted meanwhile is ignored.
    if (recorded === 0 || problem === row.problem) return
    const { context, entry, blob } = row
    if (problem === null) log.info({ context, entry, blob }, 'the bytes of a file are intact again')
    else log.error({ context, entry, blob, problem }, `the bytes of a file are ${problem}: restore it from a backup`)
  }

  async #problemOf({ blob, size, sha256 }: FileRow): Promise<FileProblem | null> {
    try {
      const found = await digestOf(this.#deps.blobs, blob)
      return found.size === size && found.sha256 === sha256 ? null : 'damaged'
    } catch (error) {
      if (error instanceof BlobMissing) return 'missing'
      throw error
    }
  }
}
