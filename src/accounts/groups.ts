import type { Queries } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { claimingName } from './users.ts'

export interface Group {
  readonly id: string
  readonly name: string | undefined
  readonly homeContext: string | undefined
}

interface GroupRow {
  id: string
  name: string | null
  home_context: string | null
}

export async function findGroup(queries: Queries, id: string): Promise<Group | undefined> {
  return await findWhere(queries, sql`id = ${id}`)
}

/** @param name in its normal form, as stored */
export async function findGroupByName(queries: Queries, name: string): Promise<Group | undefined> {
  return await findWhere(queries, sql`name = ${name}`)
}

async function findWhere(queries: Queries, condition: Sql): Promise<Group | undefined> {
  const row = await queries.get<GroupRow>(
    sql`SELECT id, name, home_context FROM principals WHERE kind = 'group' AND ${condition}`,
  )
  return row && { id: row.id, name: row.name ?? undefined, homeContext: row.home_context ?? undefined }
}

/** The groups that store the user as a member; `_users` is not among them. */
export async function groupsOf(queries: Queries, userId: string): Promise<string[]> {
  const rows = await queries.all<{ group_id: string }>(
    sql`SELECT group_id FROM group_members WHERE user_id = ${userId}`,
  )
  return rows.map(row => row.group_id)
}

/** Ids of the members, in the order they were given. */
export async function membersOf(queries: Queries, groupId: string): Promise<string[]> {
  const rows = await queries.all<{ user_id: string }>(
    sql`SELECT user_id FROM group_members WHERE group_id = ${groupId} ORDER BY position`,
  )
  return rows.map(row => row.user_id)
}

/** @throws {Conflict} `name-taken` */
export async function insertGroup(tx: Queries, group: { id: string; name?: string | undefined }): Promise<void> {
  await claimingName(
    group.name,
    tx.run(sql`INSERT INTO principals (id, kind, name) VALUES (${group.id}, 'group', ${group.name ?? null})`),
  )
}

/** @throws {Conflict} `name-taken` */
export async function renameGroup(tx: Queries, id: string, name: string | undefined): Promise<void> {
  await claimingName(name, tx.run(sql`UPDATE principals SET name = ${name ?? null} WHERE id = ${id}`))
}

export async function setHomeContext(tx: Queries, principalId: string, context: string | undefined): Promise<void> {
  await tx.run(sql`UPDATE principals SET home_context = ${context ?? null} WHERE id = ${principalId}`)
}

/** Clears the context as the home context of all users and groups. */
export async function forgetHomeContext(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`UPDATE principals SET home_context = NULL WHERE home_context = ${context}`)
}

/** Replaces the members. The users must exist. */
export async function setMembers(tx: Queries, groupId: string, userIds: readonly string[]): Promise<void> {
  await tx.run(sql`DELETE FROM group_members WHERE group_id = ${groupId}`)
  for (const [position, userId] of userIds.entries()) {
    await tx.run(
      sql`INSERT INTO group_members (group_id, user_id, position) VALUES (${groupId}, ${userId}, ${position})`,
    )
  }
}
