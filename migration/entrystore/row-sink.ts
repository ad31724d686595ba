import { readRows, RowFileWriter } from '../../src/backup/row-files.ts'
import type { ColumnDefaults, Row } from '../../src/backup/rows.ts'

/** The tables that an import fills; all others stay empty. */
const filled = [
  'principals',
  'group_members',
  'contexts',
  'entries',
  'metadata_revisions',
  'list_members',
  'retired_ids',
  'quota_usage',
  'files',
] as const
export type FilledTable = (typeof filled)[number]

/** Receives the rows of the new store. */
export interface RowTarget {
  add(table: FilledTable, row: Row): Promise<void>
}

/** Stores the rows for the new store in the format of a backup: one file for each table. */
export class RowSink implements RowTarget {
  readonly #folder: string
  readonly #defaults: ColumnDefaults
  readonly #writers: ReadonlyMap<FilledTable, RowFileWriter>

  private constructor(folder: string, defaults: ColumnDefaults, writers: ReadonlyMap<FilledTable, RowFileWriter>) {
    this.#folder = folder
    this.#defaults = defaults
    this.#writers = writers
  }

  /** @param defaults for columns that the import does not set */
  static async create(folder: string, defaults: ColumnDefaults): Promise<RowSink> {
    const writers = new Map<FilledTable, RowFileWriter>()
    for (const name of filled) writers.set(name, await RowFileWriter.create(folder, { name }))
    return new RowSink(folder, defaults, writers)
  }

  /** @throws {TypeError} for a column that the table does not have */
  async add(table: FilledTable, row: Row): Promise<void> {
    const defaults = this.#defaults.get(table) ?? {}
    const strange = Object.keys(row).find(column => !(column in defaults))
    if (strange !== undefined) throw new TypeError(`the table ${table} has no column ${strange}`)
    await this.#writers.get(table)?.add({ ...defaults, ...row })
  }

  async finish(): Promise<void> {
    for (const writer of this.#writers.values()) await writer.finish()
  }

  async close(): Promise<void> {
    for (const writer of this.#writers.values()) await writer.close()
  }

  /** The rows that were written; none for tables that the import does not fill. */
  async *rows({ name }: { readonly name: string }): AsyncGenerator<Row> {
    if (filled.some(table => table === name)) yield* readRows(this.#folder, { name })
  }
}
