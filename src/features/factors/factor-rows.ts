import type { Milliseconds } from '../../base/units.ts'
import type { Queries } from '../../stores/database.ts'
import { sql } from '../../stores/sql.ts'

export type FactorKind = 'totp' | 'passkey'

/** A second factor of a user. Only confirmed factors are stored. */
export interface Factor {
  readonly id: string
  readonly userId: string
  readonly kind: FactorKind
  /** Given by its owner. */
  readonly name: string
  /** Of `totp`: sealed. Of a passkey: its public key. */
  readonly secret: string
  readonly credentialId: string | undefined
  /** Of `totp`: the step of the last accepted code. Of a passkey: its signature counter. */
  readonly counter: number
  readonly userHandle: string | undefined
  readonly transports: string | undefined
  readonly isSyncable: boolean | undefined
  readonly created: Milliseconds
  readonly lastUsed: Milliseconds | undefined
}

/** A factor that is to be added; its owner has just proven that they have it. */
export type NewFactor = Pick<Factor, 'kind' | 'name' | 'secret' | 'counter'> &
  Partial<Pick<Factor, 'credentialId' | 'userHandle' | 'transports' | 'isSyncable'>>

interface Row {
  readonly id: string
  readonly user_id: string
  readonly kind: FactorKind
  readonly name: string
  readonly secret: string
  readonly credential_id: string | null
  readonly counter: number
  readonly user_handle: string | null
  readonly transports: string | null
  readonly syncable: number | null
  readonly created: number
  readonly last_used: number | null
}

const columns = sql`id, user_id, kind, name, secret, credential_id, counter, user_handle, transports, syncable, created, last_used`

const fromRow = (row: Row): Factor => ({
  id: row.id,
  userId: row.user_id,
  kind: row.kind,
  name: row.name,
  secret: row.secret,
  credentialId: row.credential_id ?? undefined,
  counter: row.counter,
  userHandle: row.user_handle ?? undefined,
  transports: row.transports ?? undefined,
  isSyncable: row.syncable === null ? undefined : row.syncable !== 0,
  created: row.created,
  lastUsed: row.last_used ?? undefined,
})

/** The factors of a user, the oldest first. */
export async function factorsOf(queries: Queries, userId: string): Promise<Factor[]> {
  const rows = await queries.all<Row>(
    sql`SELECT ${columns} FROM second_factors WHERE user_id = ${userId} ORDER BY created, id`,
  )
  return rows.map(fromRow)
}

/** The factors of one kind of all users. */
export async function factorsOfKind(queries: Queries, kind: FactorKind): Promise<Factor[]> {
  return (await queries.all<Row>(sql`SELECT ${columns} FROM second_factors WHERE kind = ${kind}`)).map(fromRow)
}

/** Removes all factors and recovery codes of a user, and returns the factors. */
export async function removeFactorsOf(tx: Queries, userId: string): Promise<readonly Factor[]> {
  const removed = await factorsOf(tx, userId)
  await tx.run(sql`DELETE FROM second_factors WHERE user_id = ${userId}`)
  await replaceRecoveryCodes(tx, userId, [])
  return removed
}

export async function findFactor(queries: Queries, id: string): Promise<Factor | undefined> {
  const row = await queries.get<Row>(sql`SELECT ${columns} FROM second_factors WHERE id = ${id}`)
  return row && fromRow(row)
}

/** The passkey with this credential, whoever has it. */
export async function findByCredential(queries: Queries, credentialId: string): Promise<Factor | undefined> {
  const row = await queries.get<Row>(sql`SELECT ${columns} FROM second_factors WHERE credential_id = ${credentialId}`)
  return row && fromRow(row)
}

/** @throws {UniqueViolation} for a credential that is known already */
export async function insertFactor(tx: Queries, factor: Factor): Promise<void> {
  const { id, userId, kind, name, secret, credentialId, counter, userHandle, transports, isSyncable, created } = factor
  await tx.run(sql`INSERT INTO second_factors
    (id, user_id, kind, name, secret, credential_id, counter, user_handle, transports, syncable, created, last_used)
    VALUES (${id}, ${userId}, ${kind}, ${name}, ${secret}, ${credentialId ?? null}, ${counter}, ${userHandle ?? null},
      ${transports ?? null}, ${isSyncable === undefined ? null : Number(isSyncable)}, ${created}, ${factor.lastUsed ?? null})`)
}

/** Moves the counter forward. False if another request, on any node, has moved it that far: then the code was used. */
export async function advanceCounter(
  queries: Queries,
  id: string,
  to: { readonly counter: number; readonly now: Milliseconds },
): Promise<boolean> {
  const changed = await queries.run(sql`UPDATE second_factors SET counter = ${to.counter}, last_used = ${to.now}
    WHERE id = ${id} AND counter < ${to.counter}`)
  return changed === 1
}

/**
 * Stores the signature counter of a passkey, which some authenticators leave at 0. False unless it has grown: in one statement, so that of two
 * responses with the same counter one passes, on whatever node.
 */
export async function countPasskeyUse(
  queries: Queries,
  id: string,
  { counter, now }: { readonly counter: number; readonly now: Milliseconds },
): Promise<boolean> {
  const changed = await queries.run(sql`UPDATE second_factors SET counter = ${counter}, last_used = ${now}
    WHERE id = ${id} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`)
  return changed === 1
}

export async function renameFactor(tx: Queries, id: string, name: string): Promise<void> {
  await tx.run(sql`UPDATE second_factors SET name = ${name} WHERE id = ${id}`)
}

export async function deleteFactor(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM second_factors WHERE id = ${id}`)
}

export async function countRecoveryCodes(queries: Queries, userId: string): Promise<number> {
  const row = await queries.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM recovery_codes WHERE user_id = ${userId}`,
  )
  return row?.count ?? 0
}

/** Replaces the codes of a user; none leaves the user without. */
export async function replaceRecoveryCodes(tx: Queries, userId: string, digests: readonly string[]): Promise<void> {
  await tx.run(sql`DELETE FROM recovery_codes WHERE user_id = ${userId}`)
  for (const digest of digests) {
    await tx.run(sql`INSERT INTO recovery_codes (user_id, digest) VALUES (${userId}, ${digest})`)
  }
}

/** Deletes the code. False if the user has no such code, or another request has used it. */
export async function takeRecoveryCode(queries: Queries, userId: string, digest: string): Promise<boolean> {
  return (await queries.run(sql`DELETE FROM recovery_codes WHERE user_id = ${userId} AND digest = ${digest}`)) === 1
}
