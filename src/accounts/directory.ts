import type { Database } from '../stores/database.ts'
import { listed, type Sql, sql } from '../stores/sql.ts'
import { findUser, normaliseName, type User } from './users.ts'

/** Selects a part of a list. */
export interface Portion {
  /** A part of a name or an id, compared without case. If absent, everything is listed. */
  readonly query: string | undefined
  readonly limit: number
  readonly offset: number
}

export interface Listed<T> {
  readonly total: number
  readonly items: readonly T[]
}

interface ListedGroup {
  readonly id: string
  readonly name: string | undefined
  readonly members: number
}

/** Lists users by name, for administrators. @param alsoIds users who match the query in another way */
export async function listUsers(
  database: Database,
  { query, limit, offset }: Portion,
  alsoIds: readonly string[] = [],
): Promise<Listed<User>> {
  const isFound = holds(query && normaliseName(query))
  const matches = alsoIds.length === 0 ? isFound : sql`(${isFound} OR id IN (${listed(alsoIds)}))`
  const from = sql`FROM principals WHERE kind = 'user' AND ${matches}`
  const rows = await database.all<{ id: string }>(
    sql`SELECT id ${from} ORDER BY coalesce(name, id), id LIMIT ${limit} OFFSET ${offset}`,
  )
  const items: User[] = []
  for (const { id } of rows) {
    const user = await findUser(database, id)
    if (user) items.push(user)
  }
  return { total: await countRows(database, from), items }
}

/** Lists groups by name, for administrators. All signed-in users belong to `_users`, which stores no members. */
export async function listGroups(database: Database, { query, limit, offset }: Portion): Promise<Listed<ListedGroup>> {
  const from = sql`FROM principals g WHERE kind = 'group' AND ${holds(query && normaliseName(query))}`
  const rows = await database.all<{ id: string; name: string | null; members: number }>(sql`SELECT id, name,
      (SELECT count(*) FROM group_members m WHERE m.group_id = g.id) AS members
    ${from} ORDER BY coalesce(name, id), id LIMIT ${limit} OFFSET ${offset}`)
  const items = rows.map(({ id, name, members }) => ({ id, name: name ?? undefined, members }))
  return { total: await countRows(database, from), items }
}

/** Builds a condition on the columns `id` and `name`. */
export function holds(text: string | undefined): Sql {
  if (text === undefined) return sql`1 = 1`
  const pattern = `%${text.replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`
  return sql`(lower(name) LIKE lower(${pattern}) ESCAPE '\\' OR lower(id) LIKE lower(${pattern}) ESCAPE '\\')`
}

/** Counts rows. @param from the statement from `FROM` on */
export async function countRows(database: Database, from: Sql): Promise<number> {
  return (await database.get<{ total: number }>(sql`SELECT count(*) AS total ${from}`))?.total ?? 0
}
