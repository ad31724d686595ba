import type { Acl, Entry, EntryHead, EntryType, GraphType, ResourceType } from '../model/entry.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { type Sql, sql } from '../stores/sql.ts'
import type { Bytes } from '../base/units.ts'
import { type Graph, parseGraph } from '../graph/graph.ts'

/** Maps an entry to the columns of its row. */

export interface HeadRow {
  context: string
  id: string
  entry_type: EntryType
  graph_type: GraphType
  resource_type: ResourceType
  resource_uri: string | null
  external_metadata: string | null
  created: number
  modified: number
  creator: string | null
  contributors: string
  acl: string
  cached: number | null
}

export interface EntryRow extends HeadRow {
  statements: string
  metadata: string
  cached_external_metadata: string | null
  content: string | null
}

export const headColumns = sql`context, id, entry_type, graph_type, resource_type, resource_uri, external_metadata, created,
  modified, creator, contributors, acl, cached`

export const columns = sql`context, id, entry_type, graph_type, resource_type, resource_uri, external_metadata, created, modified,
  creator, contributors, acl, statements, metadata, cached_external_metadata, cached, content`

/** The same columns for the table alias `e`. */
export const columnsOfE = sql`e.context, e.id, e.entry_type, e.graph_type, e.resource_type, e.resource_uri, e.external_metadata,
  e.created, e.modified, e.creator, e.contributors, e.acl, e.statements, e.metadata, e.cached_external_metadata, e.cached,
  e.content`

/** The columns of the head for the table alias `e`. */
export const headColumnsOfE = sql`e.context, e.id, e.entry_type, e.graph_type, e.resource_type, e.resource_uri,
  e.external_metadata, e.created, e.modified, e.creator, e.contributors, e.acl, e.cached`

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
  contributors: JSON.parse(row.contributors) as string[],
  acl: JSON.parse(row.acl) as Acl,
  cached: row.cached ?? undefined,
})

export const entryFromRow = (row: EntryRow): Entry =>
  withGraphs(
    { ...headFromRow(row), content: row.content ?? undefined },
    { statements: row.statements, metadata: row.metadata, cachedExternalMetadata: row.cached_external_metadata },
  )

export const at = ({ context, id }: EntryAddress): Sql => sql`context = ${context} AND id = ${id}`

/** The names of the members that hold graphs. */
type GraphName = 'statements' | 'metadata' | 'cachedExternalMetadata'
type Texts = Readonly<Record<GraphName, string | null>>

/** The texts in the row of an entry, used to estimate its memory. */
const ofEntries = new WeakMap<Entry, Texts>()

/** Approximate memory of an entry that was read from its row, with its graphs parsed. */
export function sizeOf(entry: Entry): Bytes {
  const { statements, metadata, cachedExternalMetadata } = ofEntries.get(entry) ?? {}
  const characters = [statements, metadata, cachedExternalMetadata, entry.content].reduce<number>(
    (sum, text) => sum + (text?.length ?? 0),
    JSON.stringify(entry.acl).length,
  )
  return ENTRY_BYTES + 6 * characters
}

/** The head of an entry, without its access list. */
const ENTRY_BYTES: Bytes = 1000

/**
 * Adds the graphs to an entry; each is parsed when it is first read. A copy of the entry (`{ ...entry }`) has them parsed.
 */
export function withGraphs(rest: Omit<Entry, GraphName>, texts: Texts): Entry {
  let statements: Graph | undefined
  let metadata: Graph | undefined
  let external: Graph | undefined
  const entry = {
    ...rest,
    get statements(): Graph {
      return (statements ??= parseGraph(texts.statements ?? '{}'))
    },
    get metadata(): Graph {
      return (metadata ??= parseGraph(texts.metadata ?? '{}'))
    },
    get cachedExternalMetadata(): Graph | undefined {
      if (texts.cachedExternalMetadata === null) return undefined
      return (external ??= parseGraph(texts.cachedExternalMetadata))
    },
  }
  ofEntries.set(entry, texts)
  return entry
}
