import { Conflict, NotFound } from '../base/errors.ts'
import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { endUploadsOf } from './lasting-uploads.ts'
import { type Amount, type QuotaOwner, type QuotaUsage, type Usage } from './quota-usage.ts'
import { sumContexts } from './recount.ts'

/** Limits as administrators set them; `null` stands for the limit of the settings, in files for none. */
export interface Limits {
  readonly bytes: number | null
  readonly files: number | null
  /** Ids of the contexts of a group; without it they stay as they are. */
  readonly contexts?: readonly string[] | undefined
}

/** The next file of this user counts against the quota for users from identity providers. Part of the transaction that creates them. */
export async function markProvisioned(tx: Queries, user: string): Promise<void> {
  await tx.run(sql`INSERT INTO quota_usage (kind, owner, provisioned) VALUES ('user', ${user}, 1)
    ON CONFLICT (kind, owner) DO UPDATE SET provisioned = 1`)
}

/** Before a user is deleted: ends their uploads. Their files stay, and count for their contexts alone. */
export async function forgetUserQuota(tx: Queries, user: string): Promise<void> {
  await endUploadsOf(tx, user)
  await tx.run(sql`DELETE FROM quota_usage WHERE kind = 'user' AND owner = ${user}`)
}

/** What administrators set: the limits of owners, and which contexts form a group. All work is part of a transaction. */
export class QuotaOwners {
  readonly #usage: QuotaUsage

  constructor(usage: QuotaUsage) {
    this.#usage = usage
  }

  /** Limits and usage of an owner, also of one that has no row yet. @throws {NotFound} */
  async read(queries: Queries, owner: QuotaOwner): Promise<Usage> {
    return (await this.#usage.find(queries, owner)) ?? (await this.#withoutRow(queries, owner))
  }

  /** Limits below the present usage only prevent growth. @throws {NotFound} */
  async setLimits(tx: Queries, owner: QuotaOwner, { bytes, files }: Limits): Promise<void> {
    const { kind, id } = owner
    await this.#requireOwner(tx, owner)
    const isNew =
      (await tx.run(sql`INSERT INTO quota_usage (kind, owner) VALUES (${kind}, ${id}) ON CONFLICT DO NOTHING`)) > 0
    if (isNew && (kind === 'group' || kind === 'store')) await sumContexts(tx, owner)
    await tx.run(
      sql`UPDATE quota_usage SET quota = ${bytes}, max_files = ${files} WHERE kind = ${kind} AND owner = ${id}`,
    )
  }

  /** Removes the limits. A group ceases to exist, and its contexts belong to none. @throws {NotFound} */
  async removeLimits(tx: Queries, owner: QuotaOwner): Promise<void> {
    const { kind, id } = owner
    if (kind === 'context' || kind === 'user') return await this.setLimits(tx, owner, { bytes: null, files: null })
    const removed = await tx.run(sql`DELETE FROM quota_usage WHERE kind = ${kind} AND owner = ${id}`)
    if (removed === 0 && kind === 'group') throw unknownGroup(id)
    if (kind === 'group') await tx.run(sql`DELETE FROM quota_groups WHERE name = ${id}`)
  }

  /** Ids of the contexts of a group. */
  async contextsOf(queries: Queries, group: string): Promise<string[]> {
    const rows = await queries.all<{ id: string }>(
      sql`SELECT context AS id FROM quota_groups WHERE name = ${group} ORDER BY context`,
    )
    return rows.map(({ id }) => id)
  }

  /**
   * Makes exactly these contexts the members of the group. Their usage counts for the group from now on.
   * @throws {NotFound} @throws {Conflict} when a context belongs to another group
   * @throws {TooLarge} `quota-exceeded` when the usage of a context does not fit
   */
  async setContexts(tx: Queries, group: string, contexts: readonly string[]): Promise<void> {
    const owner = { kind: 'group', id: group } as const
    const before = await this.read(tx, owner)
    for (const id of contexts) {
      if (!(await tx.get(sql`SELECT 1 AS found FROM contexts WHERE id = ${id}`)))
        throw new NotFound('not-found', `There is no context "${id}".`)
      const other = await tx.get<{ name: string }>(
        sql`SELECT name FROM quota_groups WHERE context = ${id} AND name <> ${group}`,
      )
      if (other)
        throw new Conflict(
          'conflict',
          `The context "${id}" belongs to the group "${other.name}": take it out of that first.`,
        )
    }
    await tx.run(sql`DELETE FROM quota_groups WHERE name = ${group}`)
    for (const id of contexts) await tx.run(sql`INSERT INTO quota_groups (context, name) VALUES (${id}, ${group})`)
    await sumContexts(tx, owner)
    this.#usage.requireFit(before, await this.read(tx, owner))
  }

  /**
   * Owners of a kind that have a quota or hold files, in descending order of the bytes.
   * @param portion `reached`: only owners at this percentage of a limit; 0, the default, means all
   */
  async list(
    queries: Queries,
    kind: QuotaOwner['kind'],
    { reached = 0, ...portion }: { readonly limit: number; readonly offset: number; readonly reached?: number },
  ): Promise<{ readonly total: number; readonly usages: readonly Usage[] }> {
    const where = reached === 0 ? sql`kind = ${kind}` : sql`kind = ${kind} AND ${this.#usage.hasReached(reached)}`
    const count = await queries.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM quota_usage WHERE ${where}`)
    return { total: count?.count ?? 0, usages: await this.#usage.largest(queries, where, portion) }
  }

  async #withoutRow(queries: Queries, owner: QuotaOwner): Promise<Usage> {
    await this.#requireOwner(queries, owner)
    if (owner.kind === 'group') throw unknownGroup(owner.id)
    const used: Amount = await amountOf(queries, owner)
    return this.#usage.without(owner, used)
  }

  /** A group is made by its first quota. */
  async #requireOwner(queries: Queries, { kind, id }: QuotaOwner): Promise<void> {
    if (kind === 'group' || kind === 'store') return
    const table = kind === 'user' ? sql`principals WHERE kind = 'user' AND` : sql`contexts WHERE`
    const found = await queries.get(sql`SELECT 1 AS found FROM ${table} id = ${id}`)
    if (!found) throw new NotFound('not-found', `There is no ${kind} "${id}".`)
  }
}

/** Without a row, the store's usage is the sum of all contexts, and a user has none. */
async function amountOf(queries: Queries, { kind }: QuotaOwner): Promise<Amount> {
  if (kind !== 'store') return { bytes: 0, files: 0 }
  const sum = await queries.get<Amount>(sql`SELECT COALESCE(SUM(used), 0) AS bytes, COALESCE(SUM(files), 0) AS files
    FROM quota_usage WHERE kind = 'context'`)
  return sum ?? { bytes: 0, files: 0 }
}

const unknownGroup = (name: string): NotFound =>
  new NotFound('not-found', `There is no group of contexts "${name}": PUT a quota to create it.`)
