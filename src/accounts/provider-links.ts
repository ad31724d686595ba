import type { Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { findUser, type User } from './users.ts'

/** The identifier that an identity provider uses for one of its users. */
export interface SsoSubject {
  readonly issuer: string
  readonly subject: string
}

/** The user linked to the provider's subject (D1.7). The link remains when the user is renamed. */
export async function findLinkedUser(queries: Queries, { issuer, subject }: SsoSubject): Promise<User | undefined> {
  const row = await queries.get<{ user_id: string }>(
    sql`SELECT user_id FROM sso_links WHERE issuer = ${issuer} AND subject = ${subject}`,
  )
  return row && (await findUser(queries, row.user_id))
}

/** Whether the user is linked to any subject of the issuer. */
export async function isLinkedTo(queries: Queries, userId: string, issuer: string): Promise<boolean> {
  const row = await queries.get<{ subject: string }>(
    sql`SELECT subject FROM sso_links WHERE user_id = ${userId} AND issuer = ${issuer} LIMIT 1`,
  )
  return row !== undefined
}

/**
 * Links the subject to the user, unless it is linked already, in place of the issuer's other subjects: without a subject the link is a name,
 * and the provider may give a former name to another person. The link is deleted with the user.
 */
export async function linkUser(queries: Queries, { issuer, subject }: SsoSubject, userId: string): Promise<void> {
  await queries.run(
    sql`DELETE FROM sso_links WHERE user_id = ${userId} AND issuer = ${issuer} AND subject <> ${subject}`,
  )
  await queries.run(sql`INSERT INTO sso_links (issuer, subject, user_id)
    SELECT ${issuer}, ${subject}, id FROM principals WHERE id = ${userId}
    ON CONFLICT DO NOTHING`)
}

/** Whether an identity provider has signed the user in. */
export async function isLinked(queries: Queries, id: string): Promise<boolean> {
  return (await queries.get(sql`SELECT 1 AS one FROM sso_links WHERE user_id = ${id} LIMIT 1`)) !== undefined
}
