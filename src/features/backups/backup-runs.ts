import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { Migration } from '../../stores/migrations.ts'
import { type Sql, sql } from '../../stores/sql.ts'

export const backupSteps: readonly Migration[] = [
  {
    id: 53,
    name: 'scheduled backups',
    statements: [
      // One row for each attempt. `renewed`: when the node that makes the backup was last alive. `finished`: NULL until the attempt ends.
      // `bytes`: NULL without a backup. `problem`: NULL without a problem.
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
  {
    id: 64,
    name: 'place of scheduled backups',
    // Of attempts before this step the place is unknown, so they count for none; nor do those that were given up.
    statements: [sql`ALTER TABLE backup_runs ADD COLUMN place TEXT`],
  },
  {
    id: 65,
    name: 'proofs of scheduled backups',
    // The last proof of each backup. `proof_renewed`: when the node that makes the proof was last alive, NULL when no node makes one.
    // `proven`: when the last proof that found nothing wrong with this backup ended.
    statements: [
      sql`ALTER TABLE backup_runs ADD COLUMN proof_renewed BIGINT`,
      sql`ALTER TABLE backup_runs ADD COLUMN proof_ended BIGINT`,
      sql`ALTER TABLE backup_runs ADD COLUMN proof_problem TEXT`,
      sql`ALTER TABLE backup_runs ADD COLUMN proof_note TEXT`,
      sql`ALTER TABLE backup_runs ADD COLUMN proven BIGINT`,
      sql`ALTER TABLE backup_runs ADD COLUMN restored_in BIGINT`,
      sql`ALTER TABLE backup_runs ADD COLUMN newest_change BIGINT`,
    ],
  },
  {
    id: 66,
    name: 'key of backups',
    // The private key that signs manifests, in base64. No copy of the store has it.
    statements: [sql`CREATE TABLE backup_keys (seed TEXT PRIMARY KEY)`],
  },
  {
    id: 79,
    name: 'lost and damaged backups',
    // `gone`: the backup that the place should have had when this one was made, but lacked. `damage_found`: when a later backup found that
    // bytes of files are damaged in this one.
    statements: [
      sql`ALTER TABLE backup_runs ADD COLUMN gone BIGINT`,
      sql`ALTER TABLE backup_runs ADD COLUMN damage_found BIGINT`,
    ],
  },
  {
    id: 80,
    name: 'damage found by proofs of backups',
    // What the last proof that could be made found wrong with this backup.
    statements: [
      sql`ALTER TABLE backup_runs ADD COLUMN proof_damage TEXT`,
      sql`UPDATE backup_runs SET proof_damage = proof_problem WHERE (proven IS NULL OR proven < proof_ended)
        AND proof_problem NOT LIKE 'The newest backup could not be proven: %'`,
    ],
  },
]

/** The step that made the table of the key that signs manifests. */
export const MANIFEST_KEY_STEP = 66

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
  /** When its last proof ended; `null` while there was none. */
  readonly proof_ended: Milliseconds | null
  /** What that proof found wrong, for people. */
  readonly proof_problem: string | null
  /** What that proof could not check, for people. */
  readonly proof_note: string | null
  /** When the last proof that found nothing wrong with this backup ended. */
  readonly proven: Milliseconds | null
  /** How long the restore of the last proof took; `null` when the backup was only read. */
  readonly restored_in: Milliseconds | null
  /** The last change in the backup, as the last proof found it. */
  readonly newest_change: Milliseconds | null
  /** The backup that the place should have had when this one was made, but lacked; `null` if it lacked none. */
  readonly gone: Milliseconds | null
}

/** The last backup that was made in a place, as far as it tells which backup the place should have. */
export type LastMade = Pick<BackupRun, 'started' | 'gone'>

/** What a proof found. */
export interface ProofResult {
  /** For people: also what is wrong with other backups in the place. */
  readonly problem: string | null
  /** Whether nothing is wrong with this backup; `null` if the proof could not be made. */
  readonly isWhole: boolean | null
  readonly note: string | null
  readonly restored: Milliseconds | null
  readonly newest: Milliseconds | null
}

export type BackupResult = Pick<BackupRun, 'files' | 'bytes' | 'problem' | 'gone'>

/** An attempt that was not renewed for this long belongs to a process that has died. */
export const RUN_TTL: Milliseconds = 300_000
/** A backup is proven again after this time, also when there is no newer one. */
const PROOF_INTERVAL: Milliseconds = 86_400_000
/** An attempt is remembered for this long, and longer while there are few later ones: the clock may be far ahead for a while. */
const HISTORY: Milliseconds = 400 * 86_400_000
const MIN_REMEMBERED = 10_000

/** The attempts of all nodes. The row of an attempt is also the right to make it: only one node inserts it. */
export class BackupRuns {
  readonly #database: Database
  readonly #system: Pick<System, 'now'>
  readonly #place: string

  /** @param place where the backups go: attempts for another place do not count */
  constructor(database: Database, system: Pick<System, 'now'>, place: string) {
    this.#database = database
    this.#system = system
    this.#place = place
  }

  /**
   * Begins an attempt if it is due and no node is making one.
   * @param isDue decides by the last attempt for this place; `undefined` when there was none
   * @returns when it began, which names it
   */
  async claim(isDue: (last: BackupRun | undefined) => boolean): Promise<Milliseconds | undefined> {
    return await this.#database.transaction(async tx => {
      const now = this.#system.now()
      const last = await lastRun(tx, now)
      const isInterrupted = last?.finished === null && last.renewed + RUN_TTL < now
      if (last?.finished === null && !isInterrupted) return undefined
      if (await isProving(tx, now)) return undefined
      if (!isInterrupted && !isDue(await lastRun(tx, now, sql`place = ${this.#place}`))) return undefined
      if (isInterrupted) await giveUp(tx, last.started, now)
      await tx.run(sql`DELETE FROM backup_runs WHERE started < ${now - HISTORY} AND started <
        (SELECT MIN(started) FROM (SELECT started FROM backup_runs ORDER BY started DESC LIMIT ${MIN_REMEMBERED}) AS newest)`)
      const begun = await tx.run(
        sql`INSERT INTO backup_runs (started, renewed, place) VALUES (${now}, ${now}, ${this.#place})
          ON CONFLICT DO NOTHING`,
      )
      return begun === 1 ? now : undefined
    })
  }

  async renew(started: Milliseconds): Promise<void> {
    await this.#database.run(sql`UPDATE backup_runs SET renewed = ${this.#system.now()} WHERE started = ${started}`)
  }

  async finish(started: Milliseconds, { files, bytes, problem, gone }: BackupResult): Promise<void> {
    await this.#database.run(sql`UPDATE backup_runs SET finished = ${this.#system.now()}, files = ${files},
      bytes = ${bytes}, problem = ${problem}, gone = ${gone} WHERE started = ${started}`)
  }

  /** Gives an attempt up: it is due again at once, on this node or another. */
  async forget(started: Milliseconds): Promise<void> {
    await giveUp(this.#database, started, this.#system.now())
  }

  /**
   * Begins a proof of the newest backup in this place, if it is due and no node makes a backup or a proof.
   * @param isStart whether a failed proof is tried again
   */
  async claimProof(isStart: boolean): Promise<BackupRun | undefined> {
    return await this.#database.transaction(async tx => {
      const now = this.#system.now()
      const { made } = await reportBackups(tx, this.#place, now)
      if (!made || (await lastRun(tx, now))?.finished === null || (await isProving(tx, now))) return undefined
      const { proof_ended: ended, proof_problem: problem, started } = made
      const isFresh = ended !== null && ended + PROOF_INTERVAL > now && ended <= now
      if (isFresh && !(isStart && problem !== null)) return undefined
      await tx.run(sql`UPDATE backup_runs SET proof_renewed = ${now} WHERE started = ${started}`)
      return made
    })
  }

  async renewProof(started: Milliseconds): Promise<void> {
    await this.#database.run(
      sql`UPDATE backup_runs SET proof_renewed = ${this.#system.now()} WHERE started = ${started}`,
    )
  }

  async finishProof(started: Milliseconds, { problem, isWhole, note, restored, newest }: ProofResult): Promise<void> {
    const now = this.#system.now()
    const proven = isWhole === true ? sql`, proven = ${now}` : sql``
    const damage = isWhole === null ? sql`` : sql`, proof_damage = ${isWhole ? null : problem}`
    await this.#database.run(sql`UPDATE backup_runs SET proof_renewed = NULL, proof_ended = ${now}, proof_problem = ${problem},
      proof_note = ${note}, restored_in = ${restored}, newest_change = ${newest} ${proven} ${damage} WHERE started = ${started}`)
  }

  /** Gives a proof up: it is due again at once, on this node or another. */
  async forgetProof(started: Milliseconds): Promise<void> {
    await this.#database.run(sql`UPDATE backup_runs SET proof_renewed = NULL WHERE started = ${started}`)
  }

  /** The last attempts, the newest first. */
  async latest(limit: number): Promise<readonly BackupRun[]> {
    return await this.#database.all<BackupRun>(sql`SELECT * FROM backup_runs
      WHERE place = ${this.#place} AND ${isPast(sql`started`, this.#system.now())} ORDER BY started DESC LIMIT ${limit}`)
  }

  async report(): Promise<BackupReport> {
    return await reportBackups(this.#database, this.#place, this.#system.now())
  }
}

export interface BackupReport {
  /** The last attempt that has ended. */
  readonly ended: BackupRun | undefined
  /** The last attempt that made a backup. */
  readonly made: BackupRun | undefined
  /** The backup of the last proof. */
  readonly checked: BackupRun | undefined
  /** The backup that the last proof found whole. */
  readonly proven: BackupRun | undefined
}

export async function reportBackups(queries: Queries, place: string, now: Milliseconds): Promise<BackupReport> {
  const newest = async (by: Sql, condition: Sql): Promise<BackupRun | undefined> =>
    await queries.get<BackupRun>(sql`SELECT * FROM backup_runs WHERE place = ${place} AND ${isPast(sql`started`, now)}
      AND ${condition} ORDER BY ${by} DESC LIMIT 1`)
  return {
    ended: await newest(sql`started`, sql`finished IS NOT NULL`),
    made: await newest(sql`started`, sql`bytes IS NOT NULL`),
    checked: await newest(sql`proof_ended`, isPast(sql`proof_ended`, now)),
    proven: await newest(sql`proven`, isPast(sql`proven`, now)),
  }
}

/** What is known to be wrong with a backup itself. */
export interface KnownProblem {
  /** What the last proof that could be made found, for people. */
  readonly proof: string | undefined
  /** Whether a later backup found bytes of its files damaged. */
  readonly isDamaged: boolean
}

/** What is wrong with backups in this place, by their times. */
export async function knownProblems(queries: Queries, place: string): Promise<ReadonlyMap<string, KnownProblem>> {
  const runs = await queries.all<{
    readonly started: Milliseconds
    readonly proof: string | null
    readonly damaged: Milliseconds | null
  }>(
    sql`SELECT started, damage_found AS damaged, proof_damage AS proof
      FROM backup_runs WHERE place = ${place} AND (proof_damage IS NOT NULL OR damage_found IS NOT NULL)`,
  )
  return new Map(
    runs.map(({ started, proof, damaged }) => [
      new Date(started).toISOString(),
      { proof: proof ?? undefined, isDamaged: damaged !== null },
    ]),
  )
}

/** Remembers that bytes of files are damaged in the backups of these times. */
export async function rememberDamage(
  database: Database,
  place: string,
  { times, now }: { readonly times: readonly Milliseconds[]; readonly now: Milliseconds },
): Promise<void> {
  for (const time of times)
    await database.run(sql`UPDATE backup_runs SET damage_found = ${now} WHERE place = ${place} AND started = ${time}`)
}

/** Forgets the backup that the place lacks, and returns its time; `undefined` if it lacks none. */
export async function forgetGone(
  database: Database,
  place: string,
  now: Milliseconds,
): Promise<Milliseconds | undefined> {
  return await database.transaction(async tx => {
    const { made } = await reportBackups(tx, place, now)
    if (!made || made.gone === null) return undefined
    await tx.run(sql`UPDATE backup_runs SET gone = NULL WHERE started = ${made.started}`)
    return made.gone
  })
}

/** The times of all attempts that the store remembers. */
export async function attempts(queries: Queries): Promise<readonly Milliseconds[]> {
  const runs = await queries.all<{ readonly started: Milliseconds }>(sql`SELECT started FROM backup_runs`)
  return runs.map(({ started }) => started)
}

/** An attempt that was given up counts for no place, but is remembered: its backup may be complete. */
async function giveUp(queries: Queries, started: Milliseconds, now: Milliseconds): Promise<void> {
  await queries.run(
    sql`UPDATE backup_runs SET place = NULL, finished = ${now} WHERE started = ${started} AND finished IS NULL`,
  )
}

/** Whether a time is known and not in the future. It was set while the clock was wrong otherwise: the clocks of nodes differ by less. */
const isPast = (time: Sql, now: Milliseconds): Sql => sql`${time} <= ${now + RUN_TTL}`

/** The last attempt that was not given up. */
const lastRun = async (
  queries: Queries,
  now: Milliseconds,
  where: Sql = sql`place IS NOT NULL`,
): Promise<BackupRun | undefined> =>
  await queries.get<BackupRun>(
    sql`SELECT * FROM backup_runs WHERE ${where} AND ${isPast(sql`started`, now)} ORDER BY started DESC LIMIT 1`,
  )

/** Whether a node proves a backup, and is alive. */
const isProving = async (queries: Queries, now: Milliseconds): Promise<boolean> =>
  (await queries.get(
    sql`SELECT 1 AS proving FROM backup_runs WHERE proof_renewed BETWEEN ${now - RUN_TTL} AND ${now + RUN_TTL}`,
  )) !== undefined
