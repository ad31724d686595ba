import { readColumnDefaults } from '../../src/backup/rows.ts'
import { coreTables } from '../../src/backup/tables.ts'
import type { Source } from '../../src/backup/store-copy.ts'
import type { System } from '../../src/base/system.ts'
import type { Queries } from '../../src/stores/database.ts'
import type { Scratch } from '../../src/stores/scratch.ts'
import { convert } from './convert.ts'
import { readDateTime, utc, type Zone } from './dates.ts'
import { DiskFiles } from './old-files.ts'
import type { PasswordHashing } from './principal-rows.ts'
import type { Progress } from '../../src/base/progress.ts'
import { QuadTable } from './quad-table.ts'
import { Report } from './report.ts'
import { RowSink } from './row-sink.ts'
import { type InputOptions, loadQuads, openInput } from './source.ts'
import { findBase, requireComplete, survey } from './survey.ts'
import { Terms } from './terms.ts'

export interface ImportOptions extends Omit<InputOptions, 'acceptFailed'> {
  /** The folder of the backup, of several backups, or of a stopped server. */
  readonly folder: string
  /** The expected base address. */
  readonly base?: string | undefined
  /** An older base address, whose IRIs are treated as IRIs of the store. */
  readonly alsoBase?: string | undefined
  /** The zone of dates without one. Without this setting they are treated as UTC and reported. */
  readonly zone: Zone | undefined
  /** In bytes, for contexts without a quota of their own; -1 is unlimited. */
  readonly defaultQuota: number
  /** Codes of problems that would otherwise stop the import: `backup-failed`, `truncated`. */
  readonly accept: ReadonlySet<string>
}

interface Dependencies {
  readonly scratch: Scratch
  /** A SQLite database with all tables of this version, for the defaults of their columns. */
  readonly tables: Queries
  readonly schema: number
  readonly passwords: PasswordHashing
  readonly progress: Progress
  readonly system: System
}

/**
 * Reads an EntryStore backup, or the live folders of a stopped server, and prepares the rows of a new store.
 * @returns the source from which `fillStore` fills an empty store, valid until the scratch is closed, and the
 * report
 * @throws {Unusable} when there is nothing to import
 */
export async function readEntryStore(
  options: ImportOptions,
  deps: Dependencies,
): Promise<{ readonly report: Report; readonly source: Source }> {
  const { scratch, passwords, progress, system } = deps
  const { accept, zone, defaultQuota } = options
  const report = new Report()
  const input = await openInput(options.folder, { ...options, acceptFailed: accept.has('backup-failed') })
  report.from('input', `${input.kind} ${input.folder.path}`)
  if (input.date !== undefined) report.from('date', input.date)
  if (input.others.length > 0) report.from('other backups, not taken', input.others.join(', '))
  if (input.hasFailed) report.from('accepted', 'EntryStore marked this backup as failed')
  report.from('files', input.files?.path ?? 'not given (--files)')

  const quads = new QuadTable(scratch)
  const { isProved } = await loadQuads(input, {
    quads,
    report,
    progress,
    system,
    acceptTruncated: accept.has('truncated'),
  })
  const base = findBase(quads, options.base)
  report.from('base address', base)
  const found = survey(quads, base)
  if (!isProved && !accept.has('truncated')) requireComplete(quads, base, found)

  const terms = new Terms({ base, alsoBase: options.alsoBase }, report)
  const files = new DiskFiles(scratch, input.files, report)
  await files.list(found.contexts)
  const names = coreTables.map(({ name }) => name)
  const rows = await RowSink.create(scratch.folder, await readColumnDefaults(deps.tables, names))
  try {
    let entries = 0
    progress.begin('Converting entries', undefined)
    const onEntry = (): void => progress.at(++entries)
    const fallbackTime = timeOf(input.date, zone ?? utc) ?? system.now()
    await convert({
      quads,
      scratch,
      terms,
      survey: found,
      files,
      rows,
      report,
      passwords,
      zone,
      fallbackTime,
      defaultQuota,
      onEntry,
    })
    await rows.finish()
  } finally {
    progress.end()
    await rows.close()
  }
  report.requireBalanced()
  const blobs = { read: (key: string) => files.read(key) }
  return { report, source: { schema: deps.schema, blobs, rows: table => rows.rows(table) } }
}

/** `yyyyMMddHHmmss` */
function timeOf(date: string | undefined, zone: Zone): number | undefined {
  const iso = date?.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5:$6')
  return iso === undefined ? undefined : readDateTime(iso, zone)?.time
}
