import { StartupError } from '../../base/errors.ts'
import { readColumnDefaults } from '../../backup/rows.ts'
import type { Source } from '../../backup/store-copy.ts'
import { type Layout, tablesAt } from '../../backup/tables.ts'
import { migrate } from '../../stores/migrations.ts'
import { openSqliteDatabase } from '../../stores/sqlite/sqlite-database.ts'

/**
 * Compares the tables and columns of a backup with the schema step that its manifest names, before the backup is used.
 * @param backup.name for people @param backup.tables the names of the tables in the backup
 * @throws {StartupError} where they differ: the manifest was changed
 */
export async function requireFittingRows(
  source: Source,
  layout: Layout,
  { name, tables }: { readonly name: string; readonly tables: readonly string[] },
): Promise<void> {
  const expected = tablesAt(layout, source.schema)
  const refuse = (table: string): never => {
    throw new StartupError(
      `${name} is damaged: its manifest says that it is of step ${source.schema} of the schema, but table ${table} is of another.`,
    )
  }
  const strange = tables.find(table => !expected.some(({ name }) => name === table))
  if (strange !== undefined) refuse(strange)
  const database = await openSqliteDatabase(':memory:')
  try {
    await migrate(
      database,
      layout.steps.filter(({ id }) => id <= source.schema),
    )
    const columns = await readColumnDefaults(
      database,
      expected.map(({ name }) => name),
    )
    for (const table of expected)
      for await (const row of source.rows(table)) {
        const known = Object.keys(columns.get(table.name) ?? {})
        const found = Object.keys(row)
        if (known.length !== found.length || !found.every(column => known.includes(column))) refuse(table.name)
        // All rows of a table have the same columns.
        break
      }
  } finally {
    await database.close()
  }
}
