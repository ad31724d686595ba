import { TooLarge } from '../base/errors.ts'
import { type Bytes, UNLIMITED } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'

/** Whose quota it is: of a context, of a user, of a group of contexts, or of the whole store. */
export type OwnerKind = 'context' | 'user' | 'group' | 'store'

export interface QuotaOwner {
  readonly kind: OwnerKind
  /** Id of the context or user, name of the group; empty for the store. */
  readonly id: string
}

/** The one owner of its kind. */
export const STORE: QuotaOwner = { kind: 'store', id: '' }

/** Bytes and number of files, as quotas count them. */
export interface Amount {
  readonly bytes: Bytes
  /** Number of files. */
  readonly files: number
}

/** Where a file counts: for its context, for that context's group, for the store, and for its user. */
export interface Payers {
  readonly context: string
  /** Id of the user who created the entry; none for guests. */
  readonly user: string | null
}

/** Limits and present usage of one owner. */
export interface Usage {
  readonly owner: QuotaOwner
  /** -1 is unlimited. */
  readonly limit: Amount
  readonly used: Amount
  /** With what uploads in progress have reserved. */
  readonly held: Amount
  /** True if the limit of bytes comes from the settings. */
  readonly hasDefaultQuota: boolean
  /** Ids of the contexts of a group, where they were asked for. */
  readonly contexts?: readonly string[]
}

export interface QuotaOptions {
  /** If false, usage is counted but nothing is rejected. */
  readonly enforced: boolean
  /** Limits of bytes for owners without their own; -1 is unlimited. */
  readonly defaults: {
    readonly context: Bytes
    readonly user: Bytes
    /** For users who came from an identity provider. */
    readonly providerUser: Bytes
  }
}

interface UsageRow {
  readonly kind: OwnerKind
  readonly owner: string
  readonly quota: Bytes | null
  readonly max_files: number | null
  readonly used: Bytes
  readonly reserved: Bytes
  readonly files: number
  readonly reserved_files: number
  readonly provisioned: number
}

const columns = sql`kind, owner, quota, max_files, used, reserved, files, reserved_files, provisioned`

const ORDER: readonly OwnerKind[] = ['context', 'user', 'group', 'store']

export const NOTHING: Amount = { bytes: 0, files: 0 }

/**
 * The rows of the table `quota_usage`: limits, usage and reservations of each owner. Users get their row with their first upload. A group
 * and the store have a row only while they have a quota, so that uploads without such a quota do not all wait for the same row.
 */
export class QuotaUsage {
  readonly enforced: boolean
  readonly #defaults: QuotaOptions['defaults']

  constructor({ enforced, defaults }: QuotaOptions) {
    this.enforced = enforced
    this.#defaults = defaults
  }

  /**
   * Changes usage and reservations in the rows of all payers, in one statement. Equal or lower usage always fits, even above the quota (D7.3).
   * @returns the usage afterwards of each payer that has a row, the context first
   * @throws {TooLarge} `quota-exceeded` if a payer would exceed its quota; the transaction must not be committed then
   */
  async book(tx: Queries, payers: Payers, used: Amount, reserved = NOTHING): Promise<readonly Usage[]> {
    const rows = await this.#change(tx, rowsOf(payers), used, reserved)
    if (payers.user !== null && !rows.some(({ kind }) => kind === 'user'))
      rows.push(...(await this.#firstOfUser(tx, payers.user, used, reserved)))
    return this.#checked(rows, used, reserved)
  }

  /** Like {@link book} for these owners alone. */
  async bookFor(
    tx: Queries,
    owners: readonly QuotaOwner[],
    used: Amount,
    reserved = NOTHING,
  ): Promise<readonly Usage[]> {
    const rows: UsageRow[] = []
    for (const { kind, id } of owners) {
      const changed = await this.#change(tx, sql`kind = ${kind} AND owner = ${id}`, used, reserved)
      rows.push(
        ...(changed.length === 0 && kind === 'user' ? await this.#firstOfUser(tx, id, used, reserved) : changed),
      )
    }
    return this.#checked(rows, used, reserved)
  }

  /** Limits and usage of an owner that has a row. */
  async find(queries: Queries, { kind, id }: QuotaOwner): Promise<Usage | undefined> {
    const row = await queries.get<UsageRow>(
      sql`SELECT ${columns} FROM quota_usage WHERE kind = ${kind} AND owner = ${id}`,
    )
    return row && this.#usageOf(row)
  }

  /** The rows that meet a condition, those that use most bytes first. */
  async largest(
    queries: Queries,
    where: Sql,
    { limit, offset }: { readonly limit: number; readonly offset: number },
  ): Promise<Usage[]> {
    const rows = await queries.all<UsageRow>(sql`SELECT ${columns} FROM quota_usage WHERE ${where}
      ORDER BY used DESC, owner LIMIT ${limit} OFFSET ${offset}`)
    return rows.map(row => this.#usageOf(row))
  }

  /** The usage of an owner that has no row: the limits are those of the settings. */
  without({ kind, id }: QuotaOwner, { bytes, files }: Amount): Usage {
    const nothing = { quota: null, max_files: null, reserved: 0, reserved_files: 0, provisioned: 0 }
    return this.#usageOf({ kind, owner: id, used: bytes, files, ...nothing })
  }

  /** Expression for the limit of bytes of a row of `quota_usage`. */
  limitOfBytes(): Sql {
    const { context, user, providerUser } = this.#defaults
    // PostgreSQL would take values without a type for texts.
    return sql`COALESCE(quota, CASE WHEN kind = 'context' THEN CAST(${context} AS BIGINT)
      WHEN kind = 'user' AND provisioned = 1 THEN ${providerUser} WHEN kind = 'user' THEN ${user} ELSE ${UNLIMITED} END)`
  }

  /** Condition for the rows of `quota_usage` that have reached this percentage of a limit. */
  hasReached(percent: number): Sql {
    const limit = this.limitOfBytes()
    return sql`((${limit} >= 0 AND used >= ${limit} * (${percent} / 100.0))
      OR (max_files >= 0 AND files >= max_files * (${percent} / 100.0)))`
  }

  async #change(tx: Queries, where: Sql, used: Amount, reserved: Amount): Promise<UsageRow[]> {
    return await tx.all<UsageRow>(sql`UPDATE quota_usage
      SET used = used + ${used.bytes}, files = files + ${used.files},
        reserved = reserved + ${reserved.bytes}, reserved_files = reserved_files + ${reserved.files}
      WHERE ${where} RETURNING ${columns}`)
  }

  /** Makes the row of a user, unless the user is gone. */
  async #firstOfUser(tx: Queries, user: string, used: Amount, reserved: Amount): Promise<UsageRow[]> {
    const isThere = await tx.run(sql`INSERT INTO quota_usage (kind, owner)
      SELECT 'user', id FROM principals WHERE id = ${user} AND kind = 'user' ON CONFLICT DO NOTHING`)
    return isThere === 0 ? [] : await this.#change(tx, sql`kind = 'user' AND owner = ${user}`, used, reserved)
  }

  #checked(rows: readonly UsageRow[], used: Amount, reserved: Amount): readonly Usage[] {
    const asked = {
      bytes: used.bytes + Math.max(0, reserved.bytes),
      files: used.files + Math.max(0, reserved.files),
    }
    const usages = rows.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)).map(row => this.#usageOf(row))
    for (const usage of usages) this.#requireWithin(usage, asked, used)
    return usages
  }

  /** @throws {TooLarge} `quota-exceeded` if an owner holds more than before, and more than it may */
  requireFit(before: Usage, after: Usage): void {
    const asked = { bytes: after.held.bytes - before.held.bytes, files: after.held.files - before.held.files }
    const used = { bytes: after.used.bytes - before.used.bytes, files: after.used.files - before.used.files }
    this.#requireWithin(after, asked, used)
  }

  /** @param asked how much more is held now, of which `used` is not only reserved */
  #requireWithin(usage: Usage, asked: Amount, used: Amount): void {
    for (const unit of this.enforced ? (['bytes', 'files'] as const) : []) {
      const limit = usage.limit[unit]
      if (asked[unit] <= 0 || limit === UNLIMITED || usage.held[unit] <= limit) continue
      throw new QuotaExceeded(usage.owner, unit, {
        limit,
        used: usage.used[unit] - used[unit],
        needed: asked[unit],
        missing: usage.held[unit] - limit,
      })
    }
  }

  #usageOf({ kind, owner, quota, max_files, used, files, reserved, reserved_files, provisioned }: UsageRow): Usage {
    return {
      owner: { kind, id: owner },
      limit: { bytes: quota ?? this.#defaultOf(kind, provisioned === 1), files: max_files ?? UNLIMITED },
      used: { bytes: used, files },
      held: { bytes: used + reserved, files: files + reserved_files },
      hasDefaultQuota: quota === null,
    }
  }

  #defaultOf(kind: OwnerKind, isProvisioned: boolean): Bytes {
    if (kind === 'context') return this.#defaults.context
    if (kind === 'user') return isProvisioned ? this.#defaults.providerUser : this.#defaults.user
    return UNLIMITED
  }
}

/** Condition for the rows of `quota_usage` of these payers. */
export const rowsOf = ({ context, user }: Payers): Sql => sql`((kind = 'context' AND owner = ${context})
  OR (kind = 'user' AND owner = ${user})
  OR (kind = 'group' AND owner = (SELECT name FROM quota_groups WHERE context = ${context}))
  OR kind = 'store')`

interface Excess {
  readonly limit: number
  /** Before the change that is refused. */
  readonly used: number
  readonly needed: number
  /** By how much the limit would be exceeded. */
  readonly missing: number
}

/** Something does not fit into a quota. The caller may not be allowed to know the numbers: {@link withoutNumbers}. */
export class QuotaExceeded extends TooLarge {
  readonly owner: QuotaOwner
  readonly #unit: keyof Amount

  constructor(owner: QuotaOwner, unit: keyof Amount, { limit, used, needed, missing }: Excess) {
    const { kind, id } = owner
    const detail = `${kind === 'group' ? `The group of contexts "${id}"` : KINDS[kind]} has a quota of ${limit} ${unit} and holds ${used}; ${needed} more do not fit.`
    const extra = { quota: limit, fillLevel: used, needed, missing, unit, owner: kind, ownerId: id }
    super('quota-exceeded', detail, { extra })
    this.owner = owner
    this.#unit = unit
  }

  /** The same refusal with nothing but whose quota is full. */
  withoutNumbers(): TooLarge {
    const { kind } = this.owner
    const extra = { unit: this.#unit, owner: kind }
    return new TooLarge('quota-exceeded', `${KINDS[kind]} has too little of its quota left.`, { extra })
  }
}

const KINDS: Readonly<Record<OwnerKind, string>> = {
  context: 'The context',
  user: 'The user who created the entry',
  group: 'The group of the context',
  store: 'The store',
}
