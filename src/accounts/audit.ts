import { parseStored } from '../base/json.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { Database, Queries } from '../stores/database.ts'
import { listed, type Sql, sql, storableText } from '../stores/sql.ts'

/** The events that no feature brings. */
const coreEvents = [
  'login',
  'login-failed',
  'locked-out',
  'unlocked',
  'logout',
  'step-up',
  'password-changed',
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
  'access-changed',
  'members-changed',
  'mail-failed',
  'mail-sent',
  'file-uploaded',
  'file-replaced',
  'entry-moved',
  'entry-renamed',
  'metadata-changed',
  'list-changed',
  'entry-deleted',
  'entry-restored',
] as const

/** The names of all events. A feature adds a member with its own (`declare module`). */
export interface AuditEvents {
  core: (typeof coreEvents)[number]
}
export type AuditEvent = AuditEvents[keyof AuditEvents]

const allEvents: AuditEvent[] = [...coreEvents]
/** The events of the audit log. No event contains a secret. */
export const auditEvents: readonly AuditEvent[] = allEvents

/** Adds the events of a feature. @throws {TypeError} for an event that exists */
export function addAuditEvents(events: readonly AuditEvent[]): void {
  const twice = events.find(event => allEvents.includes(event))
  if (twice !== undefined) throw new TypeError(`The audit event ${twice} is declared twice`)
  allEvents.push(...events)
}

export interface AuditEntry {
  readonly event: AuditEvent
  /** The user concerned; absent when no user has the name that was tried. */
  readonly userId?: string | undefined
  readonly userName?: string | undefined
  /** The signed-in user who did it, if any. */
  readonly actorId?: string | undefined
  readonly address?: string | undefined
  readonly detail?: Readonly<Record<string, string | number>>
  /** The service itself has found it: it is recorded however many strangers cause events. */
  readonly isByService?: true
}

interface RecordedEvent extends AuditEntry {
  readonly time: Milliseconds
}

export interface AuditQuery {
  /** The user whom the event is about, or who caused it. */
  readonly userId?: string | undefined
  /**
   * Like `userId`, or part of the user's name: for the user whom an event is about, the name at the time of the event; for the user who
   * caused it, the present name.
   */
  readonly userText?: string | undefined
  /** Users who match `userText` in another way. */
  readonly alsoUsers?: readonly string[]
  /** Part of the name of an entry at the time of the event, and the places of entries that match in another way. */
  readonly item?: { readonly name: string; readonly places: readonly string[] } | undefined
  readonly event?: AuditEvent | undefined
  /** Selects the events of a context and its entries, or of one entry, written `context/id`. */
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
/** Maximum number of characters that an event keeps of one text. */
const MAX_TEXT = 4000

/** The audit log. Each event becomes a log line with `audit: true`, and a database row that administrators can read. */
export class Audit {
  readonly #database: Database
  readonly #system: System
  readonly #log: Log
  readonly #ownLog: Log
  readonly #counts = new Map<AuditEvent, number>()
  #number = 0
  #minute = 0
  #strangers = 0

  constructor(database: Database, machine: { readonly system: System; readonly log: Log }) {
    this.#database = database
    this.#system = machine.system
    this.#log = machine.log
    this.#ownLog = machine.log.child({}, { level: 'info' })
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
    const { event, userId, actorId, isByService } = entry
    const isStrangers = userId === undefined && actorId === undefined && isByService !== true
    if (isStrangers && !this.#hasRoomForStranger(this.#system.now())) return
    try {
      await this.#database.transaction(tx => this.insert(tx, entry), { durability: 'relaxed' })
    } catch (error) {
      this.#log.error({ err: error, event }, 'writing an audit row failed')
    }
  }

  /** Writes the row in the transaction that makes the change. Call {@link announce} after the commit. */
  async insert(tx: Queries, { event, userId, userName, actorId, address, ...rest }: AuditEntry): Promise<void> {
    const detail = bounded(rest.detail)
    const time = this.#system.now()
    await tx.run(sql`INSERT INTO audit (time, number, event, user_id, user_name, actor_id, address, place, name, detail)
      VALUES (${time}, ${this.#nextNumber()}, ${event}, ${userId ?? null}, ${userName ?? null}, ${actorId ?? null},
        ${address ?? null}, ${placeOf(detail)}, ${nameOf(detail)}, ${JSON.stringify(detail)})`)
  }

  /** Writes the log line and counts the event. */
  announce({ event, userId, userName, actorId, address, ...rest }: AuditEntry): void {
    const detail = bounded(rest.detail)
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
    alsoUsers = [],
    item,
    event,
    place,
    since,
    until,
    limit,
    offset = 0,
  }: AuditQuery): Promise<RecordedEvent[]> {
    const conditions: Sql[] = [
      ...(userId === undefined ? [] : [sql`(user_id = ${userId} OR actor_id = ${userId})`]),
      ...(userText === undefined ? [] : [concerns(userText, alsoUsers)]),
      ...(item === undefined ? [] : [isAbout(item)]),
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
      detail: parseStored<Record<string, string | number>>(row.detail),
    }))
  }

  /** When a user last signed in, as far as the trail reaches back. */
  async lastSignIn(userId: string): Promise<Milliseconds | undefined> {
    const row = await this.#database.get<{ time: number }>(sql`SELECT time FROM audit
      WHERE user_id = ${userId} AND event = 'login' ORDER BY time DESC LIMIT 1`)
    return row?.time
  }

  /** Deletes the events that are older than this. */
  async expire(retention: Milliseconds): Promise<void> {
    await this.#database.run(sql`DELETE FROM audit WHERE time < ${this.#system.now() - retention}`)
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

/** The name of the entry that an event is about, which may contain any character. */
const nameOf = (detail: NonNullable<AuditEntry['detail']>): string | null =>
  placeOf(detail) === null || detail['name'] === undefined ? null : storableText(String(detail['name']))

/** Users choose names, which can have megabytes, and events count towards no quota. */
const bounded = (detail: NonNullable<AuditEntry['detail']> = {}): NonNullable<AuditEntry['detail']> =>
  Object.fromEntries(Object.entries(detail).map(([key, value]) => [key, shortened(value)]))

function shortened(value: string | number): string | number {
  if (typeof value === 'number' || value.length <= MAX_TEXT) return value
  // The cut may divide a pair of surrogates.
  return `${value.slice(0, MAX_TEXT).toWellFormed()} … (${value.length} characters)`
}

/** For a context, also the events of its entries and of the entry of the context itself. */
function happenedAt(place: string): Sql {
  if (place.includes('/')) return sql`place = ${place}`
  // The sign after a slash ends the range of the entries.
  return sql`(place IN (${place}, ${`_contexts/${place}`}) OR (place >= ${`${place}/`} AND place < ${`${place}0`}))`
}

function contains(column: Sql, text: string): Sql {
  const pattern = `%${text.replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`
  return sql`lower(${column}) LIKE lower(${pattern}) ESCAPE '\\'`
}

/** Events about, or caused by, a user with one of these ids, or with this id, or whose name contains this text. */
function concerns(text: string, ids: readonly string[]): Sql {
  const all = listed([text, ...ids])
  return sql`(user_id IN (${all}) OR actor_id IN (${all}) OR ${contains(sql`user_name`, text)}
    OR actor_id IN (SELECT id FROM principals WHERE ${contains(sql`name`, text)}))`
}

const isAbout = ({ name, places }: NonNullable<AuditQuery['item']>): Sql =>
  places.length === 0 ? contains(sql`name`, name) : sql`(${contains(sql`name`, name)} OR place IN (${listed(places)}))`
