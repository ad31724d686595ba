import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { LastingFailure, StartupError } from '../base/errors.ts'
import { counter, type Progress, silent } from '../base/progress.ts'
import { realSystem } from '../base/system.ts'
import { discardBlob } from '../files/file-records.ts'
import { fsck } from '../files/fsck.ts'
import { emptyIndex } from '../search/index-records.ts'
import { BlobMissing, type BlobStore, measured, newBlobKey } from '../stores/blob-store.ts'
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

/**
 * Marks in `pending_work`: a copy into this store is not complete; beside which blob it puts the files; which rows it has copied. All begin
 * with the first one.
 */
const MARK = 'filling'
const WITH_CLAIM = 'filling with claim '
const WITH_ROWS = 'filling with rows '

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
  const isBegun = await requireEmptyOrBegun(target)
  const isLater = (await schemaVersion(database)) > source.schema
  if (!isLater) {
    // The rows go into tables of their own schema step. The later steps then change them as they changed the original.
    await migrate(
      database,
      layout.steps.filter(({ id }) => id <= source.schema),
    )
    if (!isBegun) await database.run(sql`INSERT INTO pending_work (name) VALUES (${MARK})`)
  } else if (!isBegun) {
    throw new StartupError('This store has been prepared for newer rows: choose an empty store.')
  } else if (!(await hasRowsOf(source, database, layout))) {
    throw new StartupError(
      'This store has rows of another copy, which was interrupted. Run the command for that copy again, or fill another, empty store.',
    )
  }
  const claim = await claimFiles(target)
  const files = await shown(source, filesTable, { progress, what: 'Copying files' })
  const copied = await copyBlobs(files, source.blobs, target.blobs)
  if (!isLater) {
    await database.transaction(tx => copyRows(source, tx, { layout, progress }), { noTimeout: true })
    await requireSameRows(source, database, layout)
  }
  await migrate(database, layout.steps)
  // The search index of an interrupted copy may be that of other rows, or lack a part of its tables.
  await emptyIndex(database)
  const missing = new Set(copied.damaged.map(({ blob }) => blob))
  // Repairs, because an interrupted copy of another store may have left blobs, and because the usage must be counted from these files
  // alone, without uploads in progress. Every digest is compared here.
  const { findings } = await fsck({ ...target, isExclusive: true, kept: claim }, true, { force: true, progress })
  const open = findings.filter(({ repairable, blob = '' }) => !repairable && !missing.has(blob))
  if (open.length > 0) throw new StartupError(open.map(({ message }) => message).join('\n'))
  await finish()
  await database.transaction(async tx => {
    await tx.run(sql`DELETE FROM pending_work WHERE name LIKE ${`${MARK}%`}`)
    await discardBlob(tx, claim)
  })
  // Otherwise the service deletes it.
  await target.blobs.delete(claim).catch(() => {})
  return copied
}

export const INCOMPLETE =
  'This store was being filled by `restore`, `migrate-store` or `import`, which did not come to its end: run it again.'

/** The step of the schema that made the table for the mark. */
const MARK_STEP = 3

/** Whether no copy into this store was interrupted. */
export const isComplete = async (queries: Queries): Promise<boolean> => !(await isMarked(queries))

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
  (await schemaVersion(queries)) >= MARK_STEP && (await hasMark(queries, MARK))

const hasMark = async (queries: Queries, mark: string): Promise<boolean> =>
  (await queries.get(sql`SELECT 1 AS marked FROM pending_work WHERE name = ${mark}`)) !== undefined

/**
 * Compares the rows with the original, and notes which rows these are: later steps of the schema change them, so a copy that continues after
 * such a step cannot compare them.
 */
async function requireSameRows(source: Source, database: Database, layout: Layout): Promise<void> {
  const tables = tablesAt(layout, source.schema)
  const originals = await digestsOf(tables, table => source.rows(table))
  const copies = await digestsOf(tables, table => rowsOf(database, table))
  const different = tables.find((_, at) => originals[at] !== copies[at])
  if (different)
    throw new StartupError(
      `The rows of ${different.name} differ from the original, which may have changed meanwhile. Run the command again.`,
    )
  await database.run(sql`INSERT INTO pending_work (name) VALUES (${markOfRows(originals)})`)
}

/** Whether an interrupted copy has copied these rows. */
async function hasRowsOf(source: Source, queries: Queries, layout: Layout): Promise<boolean> {
  const digests = await digestsOf(tablesAt(layout, source.schema), table => source.rows(table))
  return await hasMark(queries, markOfRows(digests))
}

async function digestsOf(tables: readonly Table[], rows: Source['rows']): Promise<readonly string[]> {
  const digests: string[] = []
  for (const table of tables) digests.push(await digestOfRows(known(table, rows(table))))
  return digests
}

const markOfRows = (digests: readonly string[]): string => `${WITH_ROWS}${hash('sha256', digests.join('\n'))}`

/**
 * Checks a target before long work for it begins, and makes its tables.
 * @throws {StartupError} when it contains anything but the result of an interrupted copy
 */
export async function requireEmptyTarget(target: Target, { steps }: Layout): Promise<void> {
  await requireEmptyOrBegun(target)
  await migrate(target.database, steps)
}

/**
 * Returns true when a copy into this target was begun before, and false when the target is empty.
 * @throws {StartupError} when it contains anything else, or the copy was begun with another place for the files, where it would take the files
 * of another store for its own
 */
async function requireEmptyOrBegun({ database, blobs }: Target): Promise<boolean> {
  const isBegun = await isMarked(database)
  if (!isBegun) await requireNoRows(database)
  const claim = isBegun ? await findClaim(database) : undefined
  if (claim !== undefined && (await isThere(blobs, claim))) return true
  for await (const { key } of blobs.list()) {
    // Left incomplete by a crash.
    if (key === claim) continue
    throw new StartupError(
      isBegun
        ? `This store was being filled in another place for its files, and this place already contains files (${key}). ` +
            'Run the command with the same place again, or fill another, empty store.'
        : `The target already contains files (${key}). Only an empty store can be filled: name another folder or bucket, or move these away.`,
    )
  }
  return isBegun
}

async function requireNoRows(database: Database): Promise<void> {
  const hasTables = (await schemaVersion(database)) > 0
  const used =
    hasTables && (await database.get(sql`SELECT 1 AS used FROM contexts UNION ALL SELECT 1 FROM principals LIMIT 1`))
  if (used)
    throw new StartupError(
      'The target already contains a store. Only an empty one can be filled: name another folder or database, or move this one away.',
    )
}

/**
 * Puts a blob of this copy beside its files, and returns its key: an address cannot tell places apart, because another disk or server can have
 * the same.
 */
async function claimFiles({ database, blobs }: Target): Promise<string> {
  let claim = await findClaim(database)
  if (claim === undefined) {
    claim = newBlobKey(count => realSystem.randomBytes(count))
    await database.run(sql`INSERT INTO pending_work (name) VALUES (${WITH_CLAIM + claim})`)
  }
  if (await isThere(blobs, claim)) return claim
  // Remains of a crash.
  await blobs.delete(claim)
  await blobs.write(claim, Readable.from([Buffer.from('This store is being filled.')]), new AbortController().signal)
  return claim
}

async function findClaim(queries: Queries): Promise<string | undefined> {
  const row = await queries.get<{ name: string }>(
    sql`SELECT name FROM pending_work WHERE name LIKE ${`${WITH_CLAIM}%`}`,
  )
  return row?.name.slice(WITH_CLAIM.length)
}

async function isThere(blobs: BlobStore, key: string): Promise<boolean> {
  try {
    await measured(await blobs.read(key))
    return true
  } catch (error) {
    if (error instanceof BlobMissing) return false
    throw error
  }
}

async function copyRows(
  source: Source,
  tx: Queries,
  { layout, progress }: { readonly layout: Layout; readonly progress: Progress },
): Promise<void> {
  const copied = tablesAt(layout, source.schema)
  for (const { name } of [...copied].reverse()) await tx.run(sql`DELETE FROM ${sqlName(name)}`)
  await tx.run(sql`DELETE FROM pending_work WHERE name LIKE ${`${WITH_ROWS}%`}`)
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
