import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'

/** The events of the audit log. No event contains a secret. */
export const auditEvents = [
  'login',
  'login-failed',
  'locked-out',
  'unlocked',
  'logout',
  'token-removed',
  'access-token-created',
  'access-token-revoked',
  'factor-added',
  'factor-removed',
  'factor-used',
  'passkey-counter-mismatch',
  'recovery-code-used',
  'recovery-codes-created',
  'step-up',
  'password-changed',
  'password-reset-requested',
  'password-reset',
  'user-created',
  'user-disabled',
  'user-enabled',
  'user-renamed',
  'user-deleted',
  'group-created',
  'group-renamed',
  'group-deleted',
  'context-created',
  'context-renamed',
  'context-deleted',
  'quota-changed',
  'context-exported',
  'context-imported',
  'access-changed',
  'message-sent',
  'members-changed',
  'groups-changed',
  'profile-changed',
  'quota-threshold',
  'virus-found',
  'file-uploaded',
  'file-replaced',
  'entry-deleted',
  'entry-trashed',
  'entry-restored',
  'trash-deleted',
  'link-created',
  'link-changed',
  'link-revoked',
  'link-used',
  'link-refused',
] as const

export type AuditEvent = (typeof auditEvents)[number]

export interface AuditEntry {
  readonly event: AuditEvent
  /** The user concerned; absent when no user has the name that was tried. */
  readonly userId?: string | undefined
  readonly userName?: string | undefined
  /** The signed-in user who did it, if any. */
  readonly actorId?: string | undefined
  readonly address?: string | undefined
  readonly detail?: Readonly<Record<string, string | number>>
}

interface RecordedEvent extends AuditEntry {
  readonly time: Milliseconds
}

export interface AuditQuery {
  /** The user whom the event is about, or who caused it. */
  readonly userId?: string | undefined
  /** As `userId`, or a part of the name of that user: the one at the time of the event, for who caused it the present one. */
  readonly userText?: string | undefined
  readonly event?: AuditEvent | undefined
  /** Of a context, with its entries, or of one entry as `context/id`. */
  readonly place?: string | undefined
  /** Inclusive start. */
  readonly since?: Milliseconds | undefined
  /** Exclusive end: the time of the last event of one page is the `until` of the next page. */
  readonly until?: Milliseconds | undefined
  /** The maximum number of events; the latest are returned. */
  readonly limit: number
  /** How many of the latest events to skip; 0 by default. */
  readonly offset?: number
}

interface AuditRow {
  time: number
  event: AuditEvent
  user_id: string | null
  user_name: string | null
  actor_id: string | null
  address: string | null
  detail: string
}

/** Maximum rows per minute for events without a known user. A flood of them would otherwise fill the disk. */
const MAX_STRANGERS = 60

/** The audit log. Each event becomes a log line with `audit: true`, and a database row that administrators can read. */
export class Audit {
  readonly #database: Database
  readonly #system: System
  readonly #log: Log
  readonly #ownLog: Log
  readonly #retention: Milliseconds
  readonly #counts = new Map<AuditEvent, number>()
  #number = 0
  #minute = 0
  #strangers = 0

  constructor(database: Database, machine: { readonly system: System; readonly log: Log }, retention: Milliseconds) {
    this.#database = database
    this.#system = machine.system
    this.#log = machine.log
    this.#ownLog = machine.log.child({}, { level: 'info' })
    this.#retention = retention
  }

  /** How often each event has happened since the process started. */
  get counts(): ReadonlyMap<AuditEvent, number> {
    return this.#counts
  }

  /**
   * Records an event. It never fails the action that it records: if the row cannot be written, the log line and an error
   * line remain. The row is written without waiting for the disk, because the log line holds the same data.
   */
  async record(entry: AuditEntry): Promise<void> {
    this.announce(entry)
    const { event, userId, actorId } = entry
    const isStrangers = userId === undefined && actorId === undefined && event !== 'quota-threshold'
    if (isStrangers && !this.#hasRoomForStranger(this.#system.now())) return
    try {
      await this.#database.transaction(tx => this.insert(tx, entry), { durability: 'relaxed' })
    } catch (error) {
      this.#log.error({ err: error, event }, 'writing an audit row failed')
    }
  }

  /** Writes the row in the transaction that makes the change. Call {@link announce} after the commit. */
  async insert(tx: Queries, { event, userId, userName, actorId, address, detail = {} }: AuditEntry): Promise<void> {
    const time = this.#system.now()
    await tx.run(sql`INSERT INTO audit (time, number, event, user_id, user_name, actor_id, address, place, detail)
      VALUES (${time}, ${this.#nextNumber()}, ${event}, ${userId ?? null}, ${userName ?? null}, ${actorId ?? null},
        ${address ?? null}, ${placeOf(detail)}, ${JSON.stringify(detail)})`)
  }

  /** Writes the log line and counts the event. */
  announce({ event, userId, userName, actorId, address, detail = {} }: AuditEntry): void {
    // A high log level does not suppress audit lines; `silent` does.
    const log = this.#log.level === 'silent' ? this.#log : this.#ownLog
    log.info({ audit: true, event, userId, userName, actorId, address, ...detail }, 'audit')
    this.#counts.set(event, (this.#counts.get(event) ?? 0) + 1)
  }

  /**
   * Distinguishes rows of the same millisecond and keeps the order of this process. Partly random, because other processes
   * write rows too: a query for the highest number would make their transactions wait for one another.
   */
  #nextNumber(): number {
    this.#number = (this.#number + 1) % 2 ** 28
    return this.#number * 2 ** 24 + Buffer.from(this.#system.randomBytes(3)).readUIntBE(0, 3)
  }

  /**
   * Unknown callers can try any number of names, so only a limited number of their failures per minute become rows. The
   * others become log lines only.
   */
  #hasRoomForStranger(time: Milliseconds): boolean {
    const minute = Math.floor(time / 60_000)
    if (minute !== this.#minute) this.#strangers = 0
    this.#minute = minute
    return ++this.#strangers <= MAX_STRANGERS
  }

  /** Returns the latest events first. */
  async list({
    userId,
    userText,
    event,
    place,
    since,
    until,
    limit,
    offset = 0,
  }: AuditQuery): Promise<RecordedEvent[]> {
    const conditions: Sql[] = [
      ...(userId === undefined ? [] : [sql`(user_id = ${userId} OR actor_id = ${userId})`]),
      ...(userText === undefined ? [] : [concerns(userText)]),
      ...(event === undefined ? [] : [sql`event = ${event}`]),
      ...(place === undefined ? [] : [happenedAt(place)]),
      ...(since === undefined ? [] : [sql`time >= ${since}`]),
      ...(until === undefined ? [] : [sql`time < ${until}`]),
    ]
    const where = conditions.reduce((all, one) => sql`${all} AND ${one}`, sql`1 = 1`)
    const rows =
      await this.#database.all<AuditRow>(sql`SELECT time, event, user_id, user_name, actor_id, address, detail
      FROM audit WHERE ${where} ORDER BY time DESC, number DESC LIMIT ${limit} OFFSET ${offset}`)
    return rows.map(row => ({
      time: row.time,
      event: row.event,
      userId: row.user_id ?? undefined,
      userName: row.user_name ?? undefined,
      actorId: row.actor_id ?? undefined,
      address: row.address ?? undefined,
      detail: JSON.parse(row.detail) as Record<string, string | number>,
    }))
  }

  /** When a user last signed in, as far as the trail reaches back. */
  async lastSignIn(userId: string): Promise<Milliseconds | undefined> {
    const row = await this.#database.get<{ time: number }>(sql`SELECT time FROM audit
      WHERE user_id = ${userId} AND event = 'login' ORDER BY time DESC LIMIT 1`)
    return row?.time
  }

  /** Deletes the events that are older than the retention. */
  async expire(): Promise<void> {
    await this.#database.run(sql`DELETE FROM audit WHERE time < ${this.#system.now() - this.#retention}`)
  }
}

/** An event about a user, by the signed-in user who caused it. */
export const eventOf = (
  event: AuditEvent,
  { user: actor, client }: { readonly user: { readonly id: string }; readonly client: { readonly address: string } },
  { id, name }: { readonly id: string; readonly name?: string | undefined },
  detail: AuditEntry['detail'] = {},
): AuditEntry => ({ event, userId: id, userName: name, actorId: actor.id, address: client.address, detail })

/** What an event is about: an entry as `context/id`, or a context. */
function placeOf({ context, entry }: NonNullable<AuditEntry['detail']>): string | null {
  if (typeof entry === 'string') return entry.includes('/') ? entry : `${context}/${entry}`
  return context === undefined ? null : String(context)
}

/** Of a context also what is about its entries, or about the entry that it is. */
function happenedAt(place: string): Sql {
  if (place.includes('/')) return sql`place = ${place}`
  // The sign after a slash ends the range of the entries.
  return sql`(place IN (${place}, ${`_contexts/${place}`}) OR (place >= ${`${place}/`} AND place < ${`${place}0`}))`
}

/** Events about, or caused by, a user with this id or whose name contains this text. */
function concerns(text: string): Sql {
  const pattern = `%${text.replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`
  const isNamed = (column: Sql): Sql => sql`lower(${column}) LIKE lower(${pattern}) ESCAPE '\\'`
  return sql`(user_id = ${text} OR actor_id = ${text} OR ${isNamed(sql`user_name`)}
    OR actor_id IN (SELECT id FROM principals WHERE ${isNamed(sql`name`)}))`
}
