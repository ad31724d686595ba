import type { Database, Queries } from '../stores/database.ts'
import { type Migration, migrate } from '../stores/migrations.ts'
import { insertRow, type Row } from './rows.ts'
import type { Source } from './store-copy.ts'
import { type Table, tables, tablesAt } from './tables.ts'

const tableNamed = (name: string): Table => tables.find(table => table.name === name) ?? { name, key: [] }

/** The id of the context with this id, or else this name, in a backup. */
export async function findContextIn(source: Source, idOrName: string): Promise<string | undefined> {
  let named: string | undefined
  for await (const { id, name } of source.rows(tableNamed('contexts'))) {
    if (id === idOrName) return idOrName
    if (name === idOrName) named = String(id)
  }
  return named
}

/** Which rows of a table belong to a context; of other tables none do. Users and groups come along, because entries name them. */
const belongs: Readonly<Record<string, (row: Row, context: string) => boolean>> = {
  principals: () => true,
  group_members: () => true,
  contexts: () => true,
  entries: ({ context, id }, wanted) => context === wanted || (context === '_contexts' && id === wanted),
  metadata_revisions: ({ context }, wanted) => context === wanted,
  list_members: ({ context }, wanted) => context === wanted,
  spaces: ({ context }, wanted) => context === wanted,
  quota_usage: ({ kind, owner }, wanted) => kind === 'context' && owner === wanted,
  files: ({ context }, wanted) => context === wanted,
}

/** Fills an empty database with what a backup has of one context, at the newest step of the schema. */
export async function fillPart(
  source: Source,
  database: Database,
  { schema, context }: { readonly schema: readonly Migration[]; readonly context: string },
): Promise<void> {
  // The later steps change the rows as they changed those of the original.
  await migrate(
    database,
    schema.filter(({ id }) => id <= source.schema),
  )
  const work = async (tx: Queries): Promise<void> => {
    for (const table of tablesAt(source.schema)) {
      const isWanted = belongs[table.name]
      if (!isWanted) continue
      for await (const row of source.rows(table)) if (isWanted(row, context)) await insertRow(tx, table, row)
    }
  }
  await database.transaction(work, { noTimeout: true })
  await migrate(database, schema)
}
