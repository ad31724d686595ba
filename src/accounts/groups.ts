import type { Queries } from '../stores/database.ts'
import { listed, portionsOf, type Sql, sql } from '../stores/sql.ts'
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

/** Replaces the members. The users must exist. A membership that stays keeps the providers that gave it. */
export async function setMembers(tx: Queries, groupId: string, userIds: readonly string[]): Promise<void> {
  const present = await membersOf(tx, groupId)
  const wanted = new Set(userIds)
  for (const userId of present) {
    if (!wanted.has(userId)) {
      await tx.run(sql`DELETE FROM group_members WHERE group_id = ${groupId} AND user_id = ${userId}`)
    }
  }
  for (const [position, userId] of userIds.entries()) {
    await tx.run(sql`INSERT INTO group_members (group_id, user_id, position) VALUES (${groupId}, ${userId}, ${position})
      ON CONFLICT (group_id, user_id) DO UPDATE SET position = excluded.position`)
  }
}

/** A group of a user, and the providers that gave the membership; none for one that was given by hand. */
export interface Membership {
  readonly groupId: string
  readonly name: string | undefined
  readonly providers: ReadonlySet<string>
}

export async function membershipsOf(queries: Queries, userId: string): Promise<readonly Membership[]> {
  const groups = await queries.all<{ id: string; name: string | null }>(sql`SELECT g.id, g.name
    FROM group_members m JOIN principals g ON g.id = m.group_id WHERE m.user_id = ${userId}`)
  const given = await queries.all<{ group_id: string; provider: string }>(
    sql`SELECT group_id, provider FROM provider_memberships WHERE user_id = ${userId}`,
  )
  const providers = new Map<string, Set<string>>()
  for (const { group_id: id, provider } of given) providers.set(id, (providers.get(id) ?? new Set()).add(provider))
  return groups.map(({ id, name }) => ({
    groupId: id,
    name: name ?? undefined,
    providers: providers.get(id) ?? new Set<string>(),
  }))
}

/** A user or group that has one of these names. */
interface NamedPrincipal {
  readonly id: string
  readonly name: string
  readonly isGroup: boolean
}

/** @param names normalised */
export async function findPrincipalsNamed(
  queries: Queries,
  names: readonly string[],
): Promise<readonly NamedPrincipal[]> {
  const found: NamedPrincipal[] = []
  for (const portion of portionsOf(names)) {
    const rows = await queries.all<{ id: string; name: string; kind: string }>(
      sql`SELECT id, name, kind FROM principals WHERE name IN (${listed(portion)})`,
    )
    found.push(...rows.map(({ id, name, kind }) => ({ id, name, isGroup: kind === 'group' })))
  }
  return found
}

/** Makes the user a member of the groups, and notes that the provider gave the memberships. */
export async function giveMemberships(
  tx: Queries,
  provider: string,
  userId: string,
  groupIds: readonly string[],
): Promise<void> {
  for (const portion of portionsOf(groupIds)) {
    await tx.run(sql`INSERT INTO group_members (group_id, user_id, position)
      SELECT g.id, ${userId}, coalesce((SELECT max(m.position) + 1 FROM group_members m WHERE m.group_id = g.id), 0)
      FROM principals g WHERE g.id IN (${listed(portion)})
      ON CONFLICT DO NOTHING`)
    await tx.run(sql`INSERT INTO provider_memberships (user_id, group_id, provider)
      SELECT m.user_id, m.group_id, ${provider} FROM group_members m
      WHERE m.user_id = ${userId} AND m.group_id IN (${listed(portion)})
      ON CONFLICT DO NOTHING`)
  }
}

/** Removes memberships that the provider gave, except those that another provider gave as well. */
export async function takeMemberships(
  tx: Queries,
  provider: string,
  userId: string,
  groupIds: readonly string[],
): Promise<void> {
  for (const portion of portionsOf(groupIds)) {
    await tx.run(sql`DELETE FROM provider_memberships
      WHERE user_id = ${userId} AND provider = ${provider} AND group_id IN (${listed(portion)})`)
    await tx.run(sql`DELETE FROM group_members WHERE user_id = ${userId} AND group_id IN (${listed(portion)})
      AND NOT EXISTS (SELECT 1 FROM provider_memberships p
        WHERE p.user_id = group_members.user_id AND p.group_id = group_members.group_id)`)
  }
}
