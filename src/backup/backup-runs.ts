import type { System } from '../base/system.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import type { Migration } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'

export const backupSteps: readonly Migration[] = [
  {
    id: 53,
    name: 'scheduled backups',
    statements: [
      // One row for each attempt; `renewed` is when the node that makes it was last alive, `finished` is NULL until it ends. `bytes` is
      // NULL when there is no backup, `problem` when there is nothing to say.
      sql`CREATE TABLE backup_runs (
        started BIGINT PRIMARY KEY,
        renewed BIGINT NOT NULL,
        finished BIGINT,
        files BIGINT,
        bytes BIGINT,
        problem TEXT
      )`,
    ],
  },
]

/** One attempt to make a backup. */
export interface BackupRun {
  readonly started: Milliseconds
  readonly renewed: Milliseconds
  /** `null` while it is being made. */
  readonly finished: Milliseconds | null
  readonly files: number | null
  /** Size of all files in the backup; `null` when none was made. */
  readonly bytes: Bytes | null
  /** What went wrong, for people. There may be a backup nevertheless, without some files. */
  readonly problem: string | null
}

export type BackupResult = Pick<BackupRun, 'files' | 'bytes' | 'problem'>

/** An attempt that was not renewed for this long belongs to a process that has died. */
export const RUN_TTL: Milliseconds = 300_000
const HISTORY: Milliseconds = 400 * 86_400_000

/** The attempts of all nodes. The row of an attempt is also the right to make it: only one node inserts it. */
export class BackupRuns {
  readonly #database: Database
  readonly #system: Pick<System, 'now'>

  constructor(database: Database, system: Pick<System, 'now'>) {
    this.#database = database
    this.#system = system
  }

  /**
   * Begins an attempt if it is due and no node is making one.
   * @param isDue decides by when the last one began; `undefined` when there was none
   * @returns when it began, which names it
   */
  async claim(isDue: (last: Milliseconds | undefined) => boolean): Promise<Milliseconds | undefined> {
    return await this.#database.transaction(async tx => {
      const now = this.#system.now()
      // Those of a time when the clock was wrong. Clocks of nodes differ by less.
      await tx.run(sql`DELETE FROM backup_runs WHERE started > ${now + RUN_TTL}`)
      const last = await lastRun(tx)
      const isInterrupted = last?.finished === null && last.renewed + RUN_TTL < now
      if (last?.finished === null && !isInterrupted) return undefined
      if (!isInterrupted && !isDue(last?.started)) return undefined
      if (isInterrupted) await tx.run(sql`DELETE FROM backup_runs WHERE started = ${last.started}`)
      await tx.run(sql`DELETE FROM backup_runs WHERE started < ${now - HISTORY}`)
      const begun = await tx.run(
        sql`INSERT INTO backup_runs (started, renewed) VALUES (${now}, ${now}) ON CONFLICT DO NOTHING`,
      )
      return begun === 1 ? now : undefined
    })
  }

  async renew(started: Milliseconds): Promise<void> {
    await this.#database.run(sql`UPDATE backup_runs SET renewed = ${this.#system.now()} WHERE started = ${started}`)
  }

  async finish(started: Milliseconds, { files, bytes, problem }: BackupResult): Promise<void> {
    await this.#database.run(sql`UPDATE backup_runs SET finished = ${this.#system.now()}, files = ${files},
      bytes = ${bytes}, problem = ${problem} WHERE started = ${started}`)
  }

  /** Gives an attempt up: it is due again at once, on this node or another. */
  async forget(started: Milliseconds): Promise<void> {
    await this.#database.run(sql`DELETE FROM backup_runs WHERE started = ${started} AND finished IS NULL`)
  }

  async report(): Promise<BackupReport> {
    return await reportBackups(this.#database)
  }
}

export interface BackupReport {
  /** The last attempt that has ended. */
  readonly ended: BackupRun | undefined
  /** The last one that made a backup. */
  readonly made: BackupRun | undefined
}

export async function reportBackups(queries: Queries): Promise<BackupReport> {
  return {
    ended: await queries.get<BackupRun>(
      sql`SELECT * FROM backup_runs WHERE finished IS NOT NULL ORDER BY started DESC LIMIT 1`,
    ),
    made: await queries.get<BackupRun>(
      sql`SELECT * FROM backup_runs WHERE bytes IS NOT NULL ORDER BY started DESC LIMIT 1`,
    ),
  }
}

const lastRun = async (queries: Queries): Promise<BackupRun | undefined> =>
  await queries.get<BackupRun>(sql`SELECT * FROM backup_runs ORDER BY started DESC LIMIT 1`)
