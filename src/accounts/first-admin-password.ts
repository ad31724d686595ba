import { StartupError } from '../base/errors.ts'
import type { Database, Queries } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { MAX_PASSWORD_CHARACTERS, type Passwords } from './passwords.ts'
import { ADMIN, findUser } from './users.ts'

const MIN_CHARACTERS = 8

/**
 * The hash of `SERVICE_ADMIN_PASSWORD` if admin has no password yet, in a new or an older store. Otherwise the variable is
 * ignored, whatever it holds (D5.5).
 * @throws {StartupError} when the password is needed and is too short, or longer than a password that sign-in takes
 */
export async function hashFirstAdminPassword(
  database: Database,
  passwords: Pick<Passwords, 'hash'>,
  password: string | undefined,
): Promise<string | undefined> {
  if (password === undefined || (await findUser(database, ADMIN))?.password !== undefined) return undefined
  const length = [...password].length
  if (length >= MIN_CHARACTERS && length <= MAX_PASSWORD_CHARACTERS) return await passwords.hash(password)
  throw new StartupError(
    `SERVICE_ADMIN_PASSWORD cannot be the first password of admin: it has ${length} characters, and must have ${MIN_CHARACTERS} to ${MAX_PASSWORD_CHARACTERS}.`,
  )
}

/** Stores the first password of admin. Changes nothing if admin has a password by now. */
export async function setFirstAdminPassword(queries: Queries, hash: string): Promise<void> {
  await queries.run(sql`UPDATE principals SET password = ${hash} WHERE id = ${ADMIN} AND password IS NULL`)
}
