import type { Database, Queries } from '../stores/database.ts'
import { migrate } from '../stores/migrations.ts'
import { sql } from '../stores/sql.ts'
import { type FileRow, verifyBlobs } from './copy-blobs.ts'
import { insertRows, type Row, rowsOf } from './rows.ts'
import type { Source } from './store-copy.ts'
import { contextsTable, filesTable, type Layout, tablesAt } from './tables.ts'

/** The id of the context with this id, or else this name, in a backup. */
export async function findContextIn(source: Source, idOrName: string): Promise<string | undefined> {
  let named: string | undefined
  for await (const { id, name } of source.rows(contextsTable)) {
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
  quota_usage: ({ kind, owner }, wanted) => kind === 'group' || (kind === 'context' && owner === wanted),
  quota_groups: ({ context }, wanted) => context === wanted,
  files: ({ context }, wanted) => context === wanted,
}

/** Fills an empty database with what a backup has of one context, at the newest step of the schema. */
export async function fillFromContext(
  source: Source,
  database: Database,
  { layout, context }: { readonly layout: Layout; readonly context: string },
): Promise<void> {
  // The later steps change the rows as they changed those of the original.
  await migrate(
    database,
    layout.steps.filter(({ id }) => id <= source.schema),
  )
  const work = async (tx: Queries): Promise<void> => {
    for (const table of tablesAt(layout, source.schema)) {
      const isWanted = belongs[table.name]
      if (!isWanted) continue
      const wanted = async function* (): AsyncGenerator<Row> {
        for await (const row of source.rows(table)) if (isWanted(row, context)) yield row
      }
      await insertRows(tx, table, wanted())
    }
  }
  await database.transaction(work, { noTimeout: true })
  await migrate(database, layout.steps)
}

/**
 * Leaves out the files whose bytes are lost or damaged in the backup: their entries come back without them.
 * @param entries ids of the entries that are wanted; by default all
 * @returns these files
 */
export async function dropDamagedFiles(
  source: Source,
  database: Database,
  entries: ReadonlySet<string> | undefined,
): Promise<readonly FileRow[]> {
  const wanted = async function* (): AsyncGenerator<Row> {
    for await (const row of rowsOf(database, filesTable)) if (!entries || entries.has(String(row['entry']))) yield row
  }
  const { damaged } = await verifyBlobs(wanted(), source.blobs)
  for (const { blob } of damaged) await database.run(sql`DELETE FROM files WHERE blob = ${blob}`)
  return damaged
}
