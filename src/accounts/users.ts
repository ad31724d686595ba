import { parseStored } from '../base/json.ts'
import { Conflict, InvalidInput } from '../base/errors.ts'
import { type Queries, UniqueViolation } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { digestOf } from './tokens.ts'

/** The user that a request without credentials acts as. */
export const GUEST = '_guest'
/** The super user. */
export const ADMIN = '_admin'
/** The group whose members have the same rights as admin. */
export const ADMINS = '_admins'
/** The group of all signed-in users; its members are computed, never stored. */
export const USERS = '_users'

/**
 * Stands in access lists for everyone to whom the context gives access. Ids that begin with `_` are reserved, so no user or group has this
 * id.
 */
export const OF_CONTEXT = '_context'

/**
 * Stands in access lists for everyone to whom the folder above gives access; in the list of a folder, it says that the list is for
 * everything in the folder. It is no user or group.
 */
export const OF_FOLDER = '_folder'

/** Names of the users and groups above (W1.6). */
export const systemNames = { [GUEST]: 'guest', [ADMIN]: 'admin', [ADMINS]: 'admins', [USERS]: 'users' } as const

export interface User {
  readonly id: string
  /** Normalised; a user without a name cannot sign in. */
  readonly name: string | undefined
  /** A password in one of the schemes of `passwords.ts`; a user without one cannot sign in with a password. */
  readonly password: string | undefined
  /** Rises whenever all earlier sessions and cached credentials of the user must end. */
  readonly epoch: number
  /**
   * A digest of the token of the session in which the user last raised the epoch themselves. This session stays valid (D5.3).
   */
  readonly keptSessionDigest: string | undefined
  readonly disabled: boolean
  /** A sign-in of this user needs a second factor (D28). */
  readonly hasSecondFactor: boolean
  /** An administrator has set the password; the user must choose another one at the next sign-in (D33). */
  readonly hasTemporaryPassword: boolean
  /** How often a lockout of the user by wrong passwords has been lifted. Each lift starts a new count of wrong passwords. */
  readonly unlocks: number
  /** The same for wrong codes. A new password lifts no lock of codes. */
  readonly codeUnlocks: number
  readonly language: string | undefined
  /** The id of a context. */
  readonly homeContext: string | undefined
  readonly customProperties: Readonly<Record<string, string>>
}

interface UserRow {
  id: string
  name: string | null
  password: string | null
  epoch: number
  spared_login: string | null
  disabled: number
  factors: number
  temporary_password: number
  unlocks: number
  code_unlocks: number
  language: string | null
  home_context: string | null
  custom_properties: string
}

const columns = sql`id, name, password, epoch, spared_login, disabled, temporary_password, unlocks, code_unlocks, language, home_context, custom_properties,
  (SELECT count(*) FROM second_factors WHERE second_factors.user_id = principals.id) AS factors`

const fromRow = (row: UserRow): User => ({
  id: row.id,
  name: row.name ?? undefined,
  password: row.password ?? undefined,
  epoch: row.epoch,
  keptSessionDigest: row.spared_login ?? undefined,
  disabled: row.disabled !== 0,
  hasSecondFactor: row.factors > 0,
  hasTemporaryPassword: row.temporary_password !== 0,
  unlocks: row.unlocks,
  codeUnlocks: row.code_unlocks,
  language: row.language ?? undefined,
  homeContext: row.home_context ?? undefined,
  customProperties: parseStored<Record<string, string>>(row.custom_properties),
})

async function findWhere(queries: Queries, condition: Sql): Promise<User | undefined> {
  const row = await queries.get<UserRow>(sql`SELECT ${columns} FROM principals WHERE kind = 'user' AND ${condition}`)
  return row && fromRow(row)
}

export const findUser = (queries: Queries, id: string): Promise<User | undefined> => findWhere(queries, sql`id = ${id}`)

/** @param name normalised; may be any text that a client sent. A group of that name is not found here. */
export const findUserByName = async (queries: Queries, name: string): Promise<User | undefined> =>
  // Names never contain NUL, and no database engine accepts it in text.
  name.includes('\0') ? undefined : await findWhere(queries, sql`name = ${name}`)

/** The id of the user or group with this name; users and groups share one set of names. @param name normalised */
export async function findPrincipalNamed(queries: Queries, name: string): Promise<string | undefined> {
  return (await queries.get<{ id: string }>(sql`SELECT id FROM principals WHERE name = ${name}`))?.id
}

export async function listUserIds(queries: Queries): Promise<string[]> {
  const rows = await queries.all<{ id: string }>(sql`SELECT id FROM principals WHERE kind = 'user' ORDER BY id`)
  return rows.map(row => row.id)
}

export interface NewUser {
  readonly id: string
  readonly name?: string | undefined
  readonly password?: string | undefined
  readonly hasTemporaryPassword?: boolean
  readonly homeContext?: string | undefined
}

/** @throws {Conflict} `name-taken` when a user or group has the name. */
export async function insertUser(tx: Queries, user: NewUser): Promise<void> {
  await claimingName(
    user.name,
    tx.run(sql`INSERT INTO principals (id, kind, name, password, temporary_password, home_context)
      VALUES (${user.id}, 'user', ${user.name ?? null}, ${user.password ?? null}, ${user.hasTemporaryPassword ?? false},
        ${user.homeContext ?? null})`),
  )
}

/** The changes to a user. An absent member stays as it is; `undefined` clears it. */
export interface UserChange {
  readonly name?: string
  /** A new password also ends a temporary one, unless the new password is temporary itself. */
  readonly password?: string
  readonly hasTemporaryPassword?: boolean
  readonly disabled?: boolean
  readonly language?: string | undefined
  readonly homeContext?: string | undefined
  readonly customProperties?: Readonly<Record<string, string>>
}

/**
 * Applies the change and returns the changed user. A new password or disabling raises the epoch, which ends every session
 * and cached credential made under the old epoch (D5.3, D4.3), except the session with the token `keptToken`.
 * @throws {Conflict} `name-taken`
 */
export async function changeUser(tx: Queries, user: User, change: UserChange, keptToken?: string): Promise<User> {
  const ends = change.password !== undefined || (change.disabled === true && !user.disabled)
  const raised = { epoch: user.epoch + 1, keptSessionDigest: keptToken === undefined ? undefined : digestOf(keptToken) }
  const hasTemporaryPassword =
    change.password === undefined ? user.hasTemporaryPassword : (change.hasTemporaryPassword ?? false)
  const changed: User = { ...user, ...change, hasTemporaryPassword, ...(ends ? raised : {}) }
  await claimingName(
    changed.name,
    tx.run(sql`UPDATE principals SET
        name = ${changed.name ?? null},
        password = ${changed.password ?? null},
        temporary_password = ${hasTemporaryPassword},
        epoch = ${changed.epoch},
        spared_login = ${changed.keptSessionDigest ?? null},
        disabled = ${changed.disabled},
        language = ${changed.language ?? null},
        home_context = ${changed.homeContext ?? null},
        custom_properties = ${JSON.stringify(changed.customProperties)}
      WHERE id = ${user.id}`),
  )
  if (changed.disabled && !user.disabled) for (const end of endings) await end(tx, user.id)
  return changed
}

/** The names of custom properties have small letters only, as clients find them. */
export const propertyName = (name: string): string => name.toLowerCase()

/** Deletes what a user loses for good when they are disabled, in the transaction that disables them. */
export type EndOnDisabling = (tx: Queries, userId: string) => Promise<void>

const endings: EndOnDisabling[] = []

/** Called when the features are declared, before any user is changed. */
export const addEndOnDisabling = (end: EndOnDisabling): void => void endings.push(end)

/** Ends every session and cached credential of the user, except the session with the token `kept`. */
export async function endOtherSessions(tx: Queries, id: string, kept: string | undefined): Promise<void> {
  await tx.run(sql`UPDATE principals SET epoch = epoch + 1, spared_login = ${kept === undefined ? null : digestOf(kept)}
    WHERE id = ${id}`)
}

/** Replaces the stored form of an unchanged password (D5.1), unless the password has been changed meanwhile. */
export async function replaceHash(queries: Queries, user: User, hash: string): Promise<void> {
  await queries.run(
    sql`UPDATE principals SET password = ${hash} WHERE id = ${user.id} AND password = ${user.password ?? null}`,
  )
}

/** Resets the user's counts of wrong passwords and codes and so lifts a lockout, at once and on every node (D6.5). */
export async function liftLockout(queries: Queries, id: string): Promise<void> {
  await queries.run(sql`UPDATE principals SET unlocks = unlocks + 1, code_unlocks = code_unlocks + 1 WHERE id = ${id}`)
}

/** Resets the count of wrong passwords only, because the user has a new one. */
export async function forgetWrongPasswords(queries: Queries, id: string): Promise<void> {
  await queries.run(sql`UPDATE principals SET unlocks = unlocks + 1 WHERE id = ${id}`)
}

/** Deletes a user or a group, including memberships. */
export async function deletePrincipal(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM principals WHERE id = ${id}`)
}

/** Converts the database's error for a duplicate name into ours. Duplicate ids are rejected earlier, with the entries. */
export async function claimingName<T>(name: string | undefined, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    throw new Conflict('name-taken', `A user or group with the name "${name ?? ''}" exists already.`, { cause: error })
  }
}

const MAX_CHARACTERS = 255
/** Allows for characters that normalising removes. Without a limit, NFKC could make a long body 18 times as long. */
const MAX_RAW_CHARACTERS = 10_000

/**
 * The single form in which names of users and groups are stored, compared and looked up, regardless of their source (D1.7):
 * Unicode NFKC, invisible format characters removed, lower case, trimmed. Applying it twice changes nothing.
 */
export function normaliseName(raw: string): string {
  let name = raw
  // Lower-casing and NFKC can each undo the other's result, so both repeat until nothing changes (two or three rounds).
  for (let previous; previous !== name; ) {
    previous = name
    name = name
      .replaceAll(/\p{Cf}/gu, '')
      .normalize('NFKC')
      .toLowerCase()
      .normalize('NFKC')
      .trim()
  }
  return name
}

/** @throws {InvalidInput} `invalid-name` when the normalised name is empty, begins with `_`, is too long or contains control characters. */
export function requireName(raw: string): string {
  const name = raw.length > MAX_RAW_CHARACTERS ? raw : normaliseName(raw)
  if (name === '') throw new InvalidInput('invalid-name', 'The name is empty.')
  // Ids of the service begin with it, so such a name could be taken for one.
  if (name.startsWith('_')) throw new InvalidInput('invalid-name', 'Names that begin with _ are reserved.')
  if (name.length > 2 * MAX_CHARACTERS || [...name].length > MAX_CHARACTERS) {
    throw new InvalidInput('invalid-name', `The name is longer than ${MAX_CHARACTERS} characters.`)
  }
  if (/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)) {
    throw new InvalidInput('invalid-name', 'The name contains control characters.')
  }
  return name
}
