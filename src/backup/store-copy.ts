import { LastingFailure, StartupError } from '../base/errors.ts'
import { counter, type Progress, silent } from '../base/progress.ts'
import { fsck } from '../files/fsck.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Database, Queries } from '../stores/database.ts'
import { migrate, type Migration, requireCurrent, schemaVersion } from '../stores/migrations.ts'
import { name as sqlName, sql } from '../stores/sql.ts'
import { type CopiedBlobs, copyBlobs, counted } from './copy-blobs.ts'
import type { ReadableBlobs } from './damage.ts'
import { digestOfRows, insertRows, type Row, rowsOf } from './rows.ts'
import { filesTable, type Layout, type Table, tablesAt } from './tables.ts'

/** The source of a copy. */
export interface Source {
  /** The step of the schema that the rows have. */
  readonly schema: number
  readonly blobs: ReadableBlobs
  rows(table: Table): AsyncIterable<Row>
  /** The number of rows, for the progress; absent where it is not known. */
  count?(table: Table): Promise<number | undefined>
}

export interface Target {
  readonly database: Database
  readonly blobs: BlobStore
}

interface FillOptions {
  readonly finish?: () => Promise<void>
  readonly progress?: Progress
}

const MARK = 'filling'

/**
 * Fills an empty store. First come the blobs, then all rows in one transaction, and then everything is
 * verified by digests. A mark in the store prevents a service from using it before. A copy that finds the
 * mark continues where the last one was interrupted.
 * @param options `finish` must have been done before a service may use the store
 * @throws {StartupError} when the target contains anything else, or differs from the source afterwards
 */
export async function fillStore(
  source: Source,
  target: Target,
  layout: Layout,
  { finish = async () => {}, progress = silent }: FillOptions = {},
): Promise<CopiedBlobs> {
  const { database } = target
  // The rows go into tables of their own schema step. The later steps then change them as they changed the original.
  const isLater = (await schemaVersion(database)) > source.schema
  if (!isLater)
    await migrate(
      database,
      layout.steps.filter(({ id }) => id <= source.schema),
    )
  const isBegun = await claim(target)
  if (isLater && !isBegun) throw new StartupError('This store has been prepared for newer rows: choose an empty store.')
  const files = await shown(source, filesTable, { progress, what: 'Copying files' })
  const copied = await copyBlobs(files, source.blobs, target.blobs)
  // A store that has gone on to later steps already contains the rows.
  if (!isLater) {
    await database.transaction(tx => copyRows(source, tx, { layout, progress }), { noTimeout: true })
    for (const table of tablesAt(layout, source.schema)) await requireSame(table, source, database)
  }
  await migrate(database, layout.steps)
  const missing = new Set(copied.damaged.map(({ blob }) => blob))
  // Repairs, because an interrupted copy of another store may have left blobs, and because the usage must be counted from these files
  // alone, without uploads in progress. Every digest is compared here.
  const { findings } = await fsck({ ...target, isExclusive: true }, true, { force: true, progress })
  const open = findings.filter(({ repairable, blob = '' }) => !repairable && !missing.has(blob))
  if (open.length > 0) throw new StartupError(open.map(({ message }) => message).join('\n'))
  await finish()
  await database.run(sql`DELETE FROM pending_work WHERE name = ${MARK}`)
  return copied
}

export const INCOMPLETE =
  'This store was being filled by `restore`, `migrate-store` or `import`, which did not come to its end: run it again.'

/** The step of the schema that made the table for the mark. */
const MARK_STEP = 3

/** Whether no copy into this store was interrupted. */
export const isComplete = async (queries: Queries): Promise<boolean> =>
  (await schemaVersion(queries)) < MARK_STEP || !(await isMarked(queries))

/** @throws {LastingFailure} when a copy into this store is incomplete */
export async function requireCompleteStore(queries: Queries): Promise<void> {
  if (!(await isComplete(queries))) throw new LastingFailure(INCOMPLETE)
}

/**
 * For commands that use a store without changing its schema: only the service changes it.
 * @throws {StartupError} when a copy into the store is incomplete, or the store lacks some of `steps` or has newer ones
 */
export async function requireUsableStore(queries: Queries, steps: readonly Migration[]): Promise<void> {
  await requireCompleteStore(queries)
  await requireCurrent(queries, steps)
}

const isMarked = async (queries: Queries): Promise<boolean> =>
  (await queries.get(sql`SELECT 1 AS marked FROM pending_work WHERE name = ${MARK}`)) !== undefined

async function requireSame(table: Table, source: Source, database: Database): Promise<void> {
  const original = await digestOfRows(known(table, source.rows(table)))
  if (original === (await digestOfRows(known(table, rowsOf(database, table))))) return
  throw new StartupError(
    `The rows of ${table.name} differ from the original, which may have changed meanwhile. Run the command again.`,
  )
}

/**
 * Checks a target before long work for it begins, and makes its tables.
 * @throws {StartupError} when it contains anything but the result of an interrupted copy
 */
export async function requireEmptyTarget(target: Target, { steps }: Layout): Promise<void> {
  await migrate(target.database, steps)
  if (!(await isMarked(target.database))) await requireEmpty(target)
}

async function requireEmpty({ database, blobs }: Target): Promise<void> {
  const used = await database.get(sql`SELECT 1 AS used FROM contexts UNION ALL SELECT 1 FROM principals LIMIT 1`)
  if (used)
    throw new StartupError(
      'The target already contains a store. Only an empty one can be filled: name another folder or database, or move this one away.',
    )
  for await (const { key } of blobs.list()) {
    throw new StartupError(
      `The target already contains files (${key}). Only an empty store can be filled: name another folder or bucket, or move these away.`,
    )
  }
}

/** Marks the store as the target of this copy. Returns true when it already was. */
async function claim(target: Target): Promise<boolean> {
  const { database } = target
  if (await isMarked(database)) return true
  await requireEmpty(target)
  await database.transaction(tx => tx.run(sql`INSERT INTO pending_work (name) VALUES (${MARK})`))
  return false
}

async function copyRows(
  source: Source,
  tx: Queries,
  { layout, progress }: { readonly layout: Layout; readonly progress: Progress },
): Promise<void> {
  const copied = tablesAt(layout, source.schema)
  for (const { name } of [...copied].reverse()) await tx.run(sql`DELETE FROM ${sqlName(name)}`)
  for (const table of copied) {
    await insertRows(tx, table, await shown(source, table, { progress, what: `Copying rows of ${table.name}` }))
  }
  await tx.run(sql`INSERT INTO pending_work (name) VALUES ('relations') ON CONFLICT DO NOTHING`)
}

/** The rows of a table, shown as a step of the work. */
async function shown(
  source: Source,
  table: Table,
  { progress, what }: { readonly progress: Progress; readonly what: string },
): Promise<AsyncIterable<Row>> {
  return counted(source.rows(table), counter(progress, what, await source.count?.(table)))
}

/** Leaves out what is computed anew. */
async function* known(table: Table, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  for await (const row of rows) yield isUsage(table) ? { ...row, ...NO_USAGE } : row
}

const isUsage = ({ name }: Table): boolean => name === 'spaces' || name === 'quota_usage'
const NO_USAGE = { used: null, reserved: null, files: null, reserved_files: null }
