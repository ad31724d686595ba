import type { Bytes } from '../base/units.ts'
import type { Queries } from '../stores/database.ts'
import { name, type Sql, sql } from '../stores/sql.ts'
import type { OwnerKind, QuotaOwner } from './quota-usage.ts'

/** A row of `quota_usage` beside the sums that it stands for. */
interface ComparedUsage {
  readonly kind: OwnerKind
  readonly owner: string
  readonly used: Bytes
  readonly files: number
  readonly reserved: Bytes
  readonly reservedFiles: number
  readonly usedSum: Bytes
  readonly filesSum: number
  readonly reservedSum: Bytes
  readonly reservedFilesSum: number
}

/** The sums of files and of uploads in progress, by owner. Users who no longer exist have none. */
const sums = sql`items AS (
    SELECT context, user_id, size AS used, 1 AS files, 0 AS reserved, 0 AS reserved_files FROM files
    UNION ALL SELECT context, user_id, 0, 0, reserved, reserved_files FROM uploads
  ), owned AS (
    SELECT 'context' AS kind, context AS owner, used, files, reserved, reserved_files FROM items
    UNION ALL SELECT 'user', p.id, used, files, reserved, reserved_files FROM items
      JOIN principals p ON p.id = items.user_id AND p.kind = 'user'
    UNION ALL SELECT 'group', g.name, used, files, reserved, reserved_files FROM items
      JOIN quota_groups g ON g.context = items.context
    UNION ALL SELECT 'store', '', used, files, reserved, reserved_files FROM items
  ), sums AS (
    SELECT kind, owner, SUM(used) AS used, SUM(files) AS files, SUM(reserved) AS reserved,
      SUM(reserved_files) AS reserved_files FROM owned GROUP BY kind, owner
  )`

/** Every row with its sums. */
export async function compareUsage(queries: Queries): Promise<ComparedUsage[]> {
  return await queries.all<ComparedUsage>(sql`WITH ${sums}
    SELECT q.kind, q.owner, q.used, q.files, q.reserved, q.reserved_files AS "reservedFiles",
      COALESCE(s.used, 0) AS "usedSum", COALESCE(s.files, 0) AS "filesSum",
      COALESCE(s.reserved, 0) AS "reservedSum", COALESCE(s.reserved_files, 0) AS "reservedFilesSum"
    FROM quota_usage q LEFT JOIN sums s ON s.kind = q.kind AND s.owner = q.owner ORDER BY q.kind, q.owner`)
}

/** Contexts and users that hold files but have no row. */
export async function missingUsage(
  queries: Queries,
): Promise<ReadonlyArray<{ readonly kind: OwnerKind; readonly owner: string; readonly used: Bytes }>> {
  return await queries.all(sql`WITH ${sums} SELECT s.kind, s.owner, s.used FROM sums s
    LEFT JOIN quota_usage q ON q.kind = s.kind AND q.owner = s.owner
    WHERE q.kind IS NULL AND s.kind IN ('context', 'user') AND s.files > 0 ORDER BY s.kind, s.owner`)
}

/** Sets all rows to their sums, and creates missing rows. */
export async function recountUsage(tx: Queries): Promise<void> {
  await tx.run(sql`INSERT INTO quota_usage (kind, owner)
    SELECT 'context', f.context FROM files f GROUP BY f.context
    UNION ALL SELECT 'user', p.id FROM files f JOIN principals p ON p.id = f.user_id AND p.kind = 'user' GROUP BY p.id
    ON CONFLICT DO NOTHING`)
  await tx.run(sql`UPDATE quota_usage SET used = 0, files = 0, reserved = 0, reserved_files = 0`)
  await tx.run(sql`WITH ${sums} UPDATE quota_usage
    SET used = s.used, files = s.files, reserved = s.reserved, reserved_files = s.reserved_files
    FROM sums s WHERE s.kind = quota_usage.kind AND s.owner = quota_usage.owner`)
}

/** Sets the row of a group or of the store to the sums of its contexts. Uploads may go into a context that is gone. */
export async function sumContexts(tx: Queries, { kind, id }: QuotaOwner): Promise<void> {
  const isMember = (column: Sql): Sql =>
    kind === 'group' ? sql`${column} IN (SELECT context FROM quota_groups WHERE name = ${id})` : sql`1 = 1`
  await tx.run(sql`UPDATE quota_usage
    SET used = s.used, files = s.files, reserved = u.reserved, reserved_files = u.reserved_files
    FROM (SELECT COALESCE(SUM(used), 0) AS used, COALESCE(SUM(files), 0) AS files FROM quota_usage
        WHERE kind = 'context' AND ${isMember(name('owner'))}) s,
      (SELECT COALESCE(SUM(reserved), 0) AS reserved, COALESCE(SUM(reserved_files), 0) AS reserved_files FROM uploads
        WHERE ${isMember(name('context'))}) u
    WHERE quota_usage.kind = ${kind} AND quota_usage.owner = ${id}`)
}
