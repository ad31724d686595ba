import { parseStored } from '../base/json.ts'
import { LRUCache } from 'lru-cache'
import type { Acl, FolderAccess } from '../model/entry.ts'
import { type Sql, sql } from '../stores/sql.ts'

/** Reads with each entry the folders that give access to it (adr: access-follows-folders). */

/** An entry in more folders with access lists than this is closed. */
const MAX_FOLDERS = 100

/** The access list of a folder that is not there: nobody has access through it. */
const closed: Acl = { rread: [''] }

interface Columns {
  /** The nearest folder of the entry. */
  readonly scope: Sql
  /** The access list of a folder. */
  readonly aclOf: (id: Sql) => Sql
  /** The next folder. */
  readonly scopeOf: (id: Sql) => Sql
}

/**
 * The folders whose access lists count for an entry: a line for each with its id and access list, the nearest first. NULL for an entry that
 * is in no such folder. Only this expression finds the folders, and every query that reads entries contains it.
 */
const foldersAbove = ({ scope, aclOf, scopeOf }: Columns): Sql => sql`CASE WHEN ${scope} IS NULL THEN NULL
  ELSE (WITH RECURSIVE above (id, height) AS (
    SELECT ${scope}, 1
    UNION ALL SELECT ${scopeOf(sql`a.id`)}, a.height + 1 FROM above a
      WHERE a.height <= ${MAX_FOLDERS} AND ${scopeOf(sql`a.id`)} IS NOT NULL
  ) SELECT string_agg(o.id || ' ' || o.acl, ${'\n'}) FROM (
    SELECT id, CASE WHEN height > ${MAX_FOLDERS} THEN ${JSON.stringify(closed)}
      ELSE coalesce(${aclOf(sql`above.id`)}, ${JSON.stringify(closed)}) END AS acl
    FROM above ORDER BY height) AS o) END`

const aclIn = (context: Sql, id: Sql): Sql =>
  sql`(SELECT d.acl FROM entries d WHERE d.context = ${context} AND d.id = ${id})`
const scopeIn = (context: Sql, id: Sql): Sql =>
  sql`(SELECT p.scope FROM list_members p WHERE p.context = ${context} AND p.member = ${id})`

/** @param of the table `entries`, or its alias */
export const foldersOf = (of: Sql): Sql =>
  sql`(SELECT ${foldersAbove({
    scope: sql`m.scope`,
    aclOf: id => aclIn(sql`m.context`, id),
    scopeOf: id => scopeIn(sql`m.context`, id),
  })} FROM list_members m WHERE m.context = ${of}.context AND m.member = ${of}.id) AS folders`

const trashed = sql`trashed_entries.context`
const ofTrashed = (column: Sql, id: Sql): Sql =>
  sql`(SELECT ${column} FROM trashed_entries g WHERE g.context = ${trashed} AND g.id = ${id})`

/**
 * The folders of an entry in the trash: the folder that contained it gives the access that it gives now, even if the folder is in the trash
 * itself.
 */
export const foldersOfTrashed = sql`${foldersAbove({
  scope: sql`trashed_entries.scope`,
  aclOf: id => sql`coalesce(${aclIn(trashed, id)}, ${ofTrashed(sql`g.acl`, id)})`,
  scopeOf: id => sql`coalesce(${scopeIn(trashed, id)}, ${ofTrashed(sql`g.scope`, id)})`,
})} AS folders`

/** The same text is parsed once: thousands of entries can be in one folder. */
const parsedFolders = new LRUCache<string, readonly FolderAccess[]>({
  maxSize: 2 ** 20,
  sizeCalculation: (_, text) => text.length + 1,
})

/** The folders that give access to an entry, from the column `folders` of its row. */
export function foldersFrom(text: string | null): readonly FolderAccess[] {
  if (text === null) return noFolders
  const known = parsedFolders.get(text)
  if (known) return known
  const folders = text.split('\n').map(line => {
    const at = line.indexOf(' ')
    return { id: line.slice(0, at), acl: parseStored<Acl>(line.slice(at + 1)) }
  })
  parsedFolders.set(text, folders)
  return folders
}

const noFolders: readonly FolderAccess[] = []
