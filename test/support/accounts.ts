import assert from 'node:assert/strict'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import type { Answer, Visitor } from './http-client.ts'
import { openDatabaseOf } from './store.ts'

export const GOOD_PASSWORD = 'Good-Password-12'
export const NEXT_PASSWORD = 'Next-Password-34'
export const WRONG_PASSWORD = 'Wrong-Password-99'

export interface Account {
  readonly id: string
  readonly name: string
}

/** Creates a user without signing in; without a password when that is `undefined`. */
export async function addUser(
  admin: Visitor,
  name: string,
  password: string | undefined = GOOD_PASSWORD,
): Promise<Account> {
  const created = await admin.post('_principals?graphtype=user', { resource: { name, password } })
  assert.equal(created.status, 201, created.text)
  return { id: created.json<{ entryId: string }>().entryId, name }
}

/** Creates a user who has no password. */
export async function addUserWithoutPassword(admin: Visitor, name: string): Promise<Account> {
  const created = await admin.post('_principals?graphtype=user', { resource: { name } })
  assert.equal(created.status, 201, created.text)
  return { id: created.json<{ entryId: string }>().entryId, name }
}

export const basicAuth = (name: string, password: string): { readonly authorization: string } => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

export const userPath = (id: string): string => `_principals/resource/${id}`

/** Sends this many wrong passwords by form, and returns the statuses of the responses. */
export async function guess(visitor: Visitor, name: string, times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let count = 0; count < times; count++) statuses.push((await visitor.signIn(name, WRONG_PASSWORD)).status)
  return statuses
}

/** The code of an error response. */
export const codeOf = (answer: Answer): unknown => answer.json()['code']

/** Opens the database of a running service, to inspect it and to plant what no request can write. */
export async function openStore(
  t: { after(work: () => Promise<void>): void },
  service: { readonly folder: string },
): Promise<Database> {
  const database = await openDatabaseOf(service.folder)
  t.after(() => database.close())
  return database
}

export async function storedPassword(database: Database, id: string): Promise<string | null | undefined> {
  const row = await database.get<{ password: string | null }>(sql`SELECT password FROM principals WHERE id = ${id}`)
  return row?.password
}

export async function plantPassword(database: Database, id: string, stored: string): Promise<void> {
  await database.run(sql`UPDATE principals SET password = ${stored} WHERE id = ${id}`)
}
