import { parseStored } from '../base/json.ts'
import { graphText, parseGraph } from '../graph/graph.ts'
import type { Acl, Entry, EntryHead } from '../model/entry.ts'
import { listed, name, type Sql, sql } from '../stores/sql.ts'
import { foldersFrom, foldersOf, foldersOfTrashed } from './folder-records.ts'

/** The columns of the table of entries, and the entries that its rows hold. */

/** The columns of a head, each with its value. */
const headValues = {
  context: (head: EntryHead) => head.context,
  id: (head: EntryHead) => head.id,
  entry_type: (head: EntryHead) => head.entryType,
  graph_type: (head: EntryHead) => head.graphType,
  resource_type: (head: EntryHead) => head.resourceType,
  resource_uri: (head: EntryHead) => head.externalResource ?? null,
  external_metadata: (head: EntryHead) => head.externalMetadata ?? null,
  created: (head: EntryHead) => head.created,
  modified: (head: EntryHead) => head.modified,
  creator: (head: EntryHead) => head.creator ?? null,
  contributors: (head: EntryHead) => JSON.stringify(head.contributors),
  acl: (head: EntryHead) => JSON.stringify(head.acl),
  cached: (head: EntryHead) => head.cached ?? null,
} as const

/** The columns of `entries`, each with its value: the only list of them beside the schema and {@link entryFromRow}. */
const values = {
  ...headValues,
  statements: (entry: Entry) => graphText(entry.statements),
  metadata: (entry: Entry) => entry.metadata,
  cached_external_metadata: (entry: Entry) => entry.cachedExternalMetadata ?? null,
  content: (entry: Entry) => entry.content ?? null,
} as const

type ValuesOf<T extends Readonly<Record<string, (entry: Entry) => unknown>>> = { [K in keyof T]: ReturnType<T[K]> }

/** The stored columns. */
export type StoredRow = ValuesOf<typeof values>

/** A row with the column that {@link foldersOf} returns. */
export interface HeadRow extends ValuesOf<typeof headValues> {
  folders: string | null
}

export interface EntryRow extends StoredRow {
  folders: string | null
}

const listOf = (columns: object, of: (column: Sql) => Sql = column => column): Sql =>
  listed(Object.keys(columns).map(column => of(name(column))))
const ofE = (column: Sql): Sql => sql`e.${column}`

const ofHead = listOf(headValues)
/** The columns of `entries`, for writing rows. */
export const storedColumns = listOf(values)
/** The same columns for the table alias `e`. */
export const storedColumnsOfE = listOf(values, ofE)

export const headColumns = sql`${ofHead}, ${foldersOf(sql`entries`)}`
export const columns = sql`${storedColumns}, ${foldersOf(sql`entries`)}`
export const trashedHeadColumns = sql`${ofHead}, ${foldersOfTrashed}`
export const trashedColumns = sql`${storedColumns}, ${foldersOfTrashed}`

/** The columns for the table alias `e`. */
export const columnsOfE = sql`${storedColumnsOfE}, ${foldersOf(sql`e`)}`

/** The columns of the head for the table alias `e`. */
export const headColumnsOfE = sql`${listOf(headValues, ofE)}, ${foldersOf(sql`e`)}`

export const headFromRow = (row: HeadRow): EntryHead => ({
  context: row.context,
  id: row.id,
  entryType: row.entry_type,
  graphType: row.graph_type,
  resourceType: row.resource_type,
  externalResource: row.resource_uri ?? undefined,
  externalMetadata: row.external_metadata ?? undefined,
  created: row.created,
  modified: row.modified,
  creator: row.creator ?? undefined,
  contributors: parseStored<string[]>(row.contributors),
  acl: parseStored<Acl>(row.acl),
  folders: foldersFrom(row.folders),
  cached: row.cached ?? undefined,
})

export const entryFromRow = (row: EntryRow): Entry => ({
  ...headFromRow(row),
  statements: parseGraph(row.statements),
  metadata: row.metadata,
  cachedExternalMetadata: row.cached_external_metadata ?? undefined,
  content: row.content ?? undefined,
})

/** The row of an entry, its members in the order of {@link storedColumns}. */
export const rowOf = (entry: Entry): StoredRow =>
  Object.fromEntries(Object.entries(values).map(([column, value]) => [column, value(entry)])) as StoredRow
