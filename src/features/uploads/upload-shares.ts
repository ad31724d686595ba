import { TooLarge } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import { type Bytes, UNLIMITED } from '../../base/units.ts'
import type { Queries } from '../../stores/database.ts'
import { databaseTime, type Sql, sql } from '../../stores/sql.ts'
import { type Amount, NOTHING, type OwnerKind, type QuotaOwner, type Usage } from '../../files/quota-usage.ts'
import type { ResumableUpload } from './resumable-upload.ts'

/** A resumable upload, as it is shown to users whose quota it counts against. */
export interface ReservingUpload
  extends Pick<
    ResumableUpload,
    'id' | 'uploader' | 'context' | 'entry' | 'fileName' | 'isPartial' | 'length' | 'received' | 'expires'
  > {
  readonly reserved: Bytes
}

/** Uploads that can go on and count against a quota, those that reserve most first. */
export async function uploadsReserving(
  queries: Queries,
  system: System,
  owner: QuotaOwner,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly uploads: readonly ReservingUpload[]; readonly results: number }> {
  const from = sql`FROM resumable_uploads r JOIN uploads u ON u.blob = r.blob
    WHERE r.is_done = 0 AND r.expires >= ${databaseTime(queries, system)} AND ${countsFor(owner)}`
  const uploads =
    await queries.all<ReservingUpload>(sql`SELECT r.id, r.uploader, r.context, r.entry, r.file_name AS "fileName",
      r.is_part AS "isPartial", r.length, r.received, r.expires, u.reserved ${from}
    ORDER BY u.reserved DESC, r.id LIMIT ${limit} OFFSET ${offset}`)
  const row = await queries.get<{ results: number }>(sql`SELECT COUNT(*) AS results ${from}`)
  return { uploads, results: row?.results ?? 0 }
}

/** Whether the upload counts against the quota of this user. */
export async function isPaidBy(
  queries: Queries,
  { blob }: Pick<ResumableUpload, 'blob'>,
  user: string,
): Promise<boolean> {
  const found = await queries.get(sql`SELECT 1 AS found FROM uploads WHERE blob = ${blob} AND user_id = ${user}`)
  return found !== undefined
}

/**
 * Limits the bytes and files that the uploads of one user reserve of the quotas of others: half of the quota of another user, and half of
 * that of the store. So nobody can take a whole quota without sending a byte. Runs in the transaction that has just reserved.
 * @param usages of all payers @param reserved the new reservation; an upload that needs no more than the file it replaces always fits
 * @throws {TooLarge} `too-much-reserved`
 */
export async function requireShare(
  tx: Queries,
  uploader: string,
  { usages, reserved }: { readonly usages: readonly Usage[]; readonly reserved: Amount },
): Promise<void> {
  for (const { owner, limit } of usages) {
    const isOthers = owner.kind === 'store' || (owner.kind === 'user' && owner.id !== uploader)
    if (!isOthers || (limit.bytes === UNLIMITED && limit.files === UNLIMITED)) continue
    const held =
      await tx.get<Amount>(sql`SELECT COALESCE(SUM(u.reserved), 0) AS bytes, COALESCE(SUM(u.reserved_files), 0) AS files
      FROM resumable_uploads r JOIN uploads u ON u.blob = r.blob
      WHERE r.uploader = ${uploader} AND r.is_done = 0 AND ${countsFor(owner)}`)
    const isTooMuch = (['bytes', 'files'] as const).some(
      unit => reserved[unit] > 0 && limit[unit] !== UNLIMITED && (held ?? NOTHING)[unit] > Math.ceil(limit[unit] / 2),
    )
    if (isTooMuch) throw tooMuchReserved(owner.kind)
  }
}

/** A condition for the uploads `r` with the reservations `u` that count for this owner. */
function countsFor({ kind, id }: QuotaOwner): Sql {
  if (kind === 'context') return sql`r.context = ${id}`
  if (kind === 'user') return sql`u.user_id = ${id}`
  return kind === 'group' ? sql`r.context IN (SELECT context FROM quota_groups WHERE name = ${id})` : sql`1 = 1`
}

function tooMuchReserved(owner: OwnerKind): TooLarge {
  const whose = owner === 'store' ? 'the store' : 'the user who created the entry'
  const detail = `Your resumable uploads would reserve more than half of the quota of ${whose}. Finish or delete some, or send the file in one request.`
  return new TooLarge('too-much-reserved', detail, { extra: { owner } })
}
