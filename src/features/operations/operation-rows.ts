import { parseStored } from '../../base/json.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { deleteRows, type Queries } from '../../stores/database.ts'
import { databaseTime, listed, name, portionsOf, type Sql, sql } from '../../stores/sql.ts'
import type { Failure, Operation, OperationRequest, PlannedEntry, State } from './operation.ts'

interface Row {
  readonly id: string
  readonly context: string
  readonly maker: string
  readonly request: string
  readonly state: State
  readonly total: number
  readonly position: number
  readonly failed: number
  readonly failures: string
  readonly code: string | null
  readonly reason: string | null
  readonly created: number
  readonly finished: number | null
}

const columns = sql`id, context, maker, request, state, total, position, failed, failures, code, reason, created, finished`

const fromRow = ({ request, failures, code, reason, finished, ...row }: Row): Operation => ({
  ...row,
  request: parseStored<OperationRequest>(request),
  failures: parseStored<readonly Failure[]>(failures),
  code: code ?? undefined,
  reason: reason ?? undefined,
  finished: finished ?? undefined,
})

/** A process that carries operations out. Its name is in the rows of those that it works on. */
export interface Claimant {
  readonly claim: string
  readonly system: Pick<System, 'now'>
}

/** A running operation, with how its maker was recognised, as text. */
export interface Claimed {
  readonly operation: Operation
  readonly credential: string
}

type NewOperation = Pick<Operation, 'id' | 'context' | 'maker' | 'request' | 'total' | 'created'> & {
  readonly credential: string
}

export async function insertOperation(tx: Queries, one: NewOperation, { claim, system }: Claimant): Promise<void> {
  const { id, context, maker, request, total, created, credential } = one
  await tx.run(sql`INSERT INTO operations (id, context, maker, action, request, credential, state, total, created, claim, claimed)
    VALUES (${id}, ${context}, ${maker}, ${request.action}, ${JSON.stringify(request)}, ${credential}, 'running', ${total}, ${created},
      ${claim}, ${databaseTime(tx, system)})`)
}

/** Their positions count from 1. @param entries the id of each, and the list of the same operation that it is in */
export async function insertEntries(
  tx: Queries,
  operation: string,
  entries: ReadonlyArray<readonly [id: string, list?: string]>,
): Promise<void> {
  let position = 0
  for (const some of portionsOf(entries)) {
    const rows = some.map(([id, list]) => sql`(${operation}, ${++position}, ${id}, ${list ?? null})`)
    await tx.run(sql`INSERT INTO operation_entries (operation, position, entry, list) VALUES ${listed(rows)}`)
  }
}

export async function findOperation(queries: Queries, id: string): Promise<Operation | undefined> {
  const row = await queries.get<Row>(sql`SELECT ${columns} FROM operations WHERE id = ${id}`)
  return row && fromRow(row)
}

/** Those of a context, the latest first. @param maker only those of this user */
export async function operationsOf(
  queries: Queries,
  { context, maker }: { readonly context: string; readonly maker: string | undefined },
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly items: readonly Operation[]; readonly results: number }> {
  const where = maker === undefined ? sql`context = ${context}` : sql`context = ${context} AND maker = ${maker}`
  const rows = await queries.all<Row>(
    sql`SELECT ${columns} FROM operations WHERE ${where} ORDER BY created DESC, id LIMIT ${limit} OFFSET ${offset}`,
  )
  const found = await queries.get<{ count: number }>(sql`SELECT count(*) AS count FROM operations WHERE ${where}`)
  return { items: rows.map(fromRow), results: found?.count ?? 0 }
}

/** Number of running operations. @param maker only those of this user */
export async function countRunning(queries: Queries, maker?: string): Promise<number> {
  const whose = maker === undefined ? sql`` : sql`AND maker = ${maker}`
  const row = await queries.get<{ count: number }>(
    sql`SELECT count(*) AS count FROM operations WHERE state = 'running' ${whose}`,
  )
  return row?.count ?? 0
}

/** The operation, if it is running and this process still carries it out: the proof is renewed. */
export async function renewClaim(tx: Queries, id: string, { claim, system }: Claimant): Promise<Operation | undefined> {
  const row = await tx.get<Row>(sql`UPDATE operations SET claimed = ${databaseTime(tx, system)}
    WHERE id = ${id} AND state = 'running' AND claim = ${claim} RETURNING ${columns}`)
  return row && fromRow(row)
}

/** Lets another process, or a later start, go on with these. @param claim absent: whoever had them */
export async function releaseClaims(tx: Queries, claim?: string): Promise<void> {
  const whose = claim === undefined ? sql`claim IS NOT NULL` : sql`claim = ${claim}`
  await tx.run(sql`UPDATE operations SET claim = NULL WHERE state = 'running' AND ${whose}`)
}

/** Lets another process go on with one. */
export async function releaseClaim(tx: Queries, id: string, claim: string): Promise<void> {
  await tx.run(sql`UPDATE operations SET claim = NULL WHERE id = ${id} AND claim = ${claim} AND state = 'running'`)
}

/** Takes the running operations that no process carries out. @param ttl a claim that was not renewed for this long has ended */
export async function claimAbandoned(
  tx: Queries,
  { claim, system }: Claimant,
  ttl: Milliseconds,
): Promise<readonly Claimed[]> {
  const now = databaseTime(tx, system)
  const rows = await tx.all<Row & { credential: string }>(sql`UPDATE operations SET claim = ${claim}, claimed = ${now}
    WHERE state = 'running' AND (claim IS NULL OR claimed < ${now} - ${ttl}) RETURNING ${columns}, credential`)
  return rows.map(({ credential, ...row }) => ({ operation: fromRow(row), credential }))
}

/** The next entries of an operation. */
export async function nextEntries(
  queries: Queries,
  { id, context, position }: Operation,
  limit: number,
): Promise<readonly PlannedEntry[]> {
  const rows = await queries.all<{ position: number; entry: string; list: string | null }>(
    sql`SELECT position, entry, list FROM operation_entries
      WHERE operation = ${id} AND position > ${position} ORDER BY position LIMIT ${limit}`,
  )
  return rows.map(row => ({ context, id: row.entry, position: row.position, list: row.list ?? undefined }))
}

/** Notes that the entries up to this position are over. */
export async function advance(
  tx: Queries,
  id: string,
  { position, failed, failures }: Pick<Operation, 'position' | 'failed' | 'failures'>,
): Promise<void> {
  await tx.run(sql`UPDATE operations SET position = ${position}, failed = ${failed}, failures = ${JSON.stringify(failures)}
    WHERE id = ${id}`)
}

export async function noteCopy(tx: Queries, operation: string, position: number, copy: string): Promise<void> {
  await tx.run(
    sql`UPDATE operation_entries SET copy = ${copy} WHERE operation = ${operation} AND position = ${position}`,
  )
}

/** The id of the copy of an entry that the operation has copied already. */
export async function copyOf(tx: Queries, operation: string, entry: string): Promise<string | undefined> {
  const row = await tx.get<{ copy: string | null }>(
    sql`SELECT copy FROM operation_entries WHERE operation = ${operation} AND entry = ${entry}`,
  )
  return row?.copy ?? undefined
}

interface End {
  readonly state: Exclude<State, 'running'>
  readonly code?: string | undefined
  readonly reason?: string | undefined
}

/** Ends a running operation, as it is then; `undefined` if it was not running. */
export async function endOperation(
  tx: Queries,
  id: string,
  { state, code, reason }: End,
  finished: Milliseconds,
): Promise<Operation | undefined> {
  const row =
    await tx.get<Row>(sql`UPDATE operations SET state = ${state}, code = ${code ?? null}, reason = ${reason ?? null},
      finished = ${finished}, claim = NULL, credential = '{}'
    WHERE id = ${id} AND state = 'running' RETURNING ${columns}`)
  if (!row) return undefined
  await deleteRows(tx, name('operation_entries'), sql`operation = ${id}`)
  return fromRow(row)
}

/** Forgets the finished operations of a user but the latest. */
export async function forgetSurplus(tx: Queries, maker: string, kept: number): Promise<void> {
  await forget(
    tx,
    sql`maker = ${maker} AND id NOT IN (SELECT id FROM operations WHERE maker = ${maker} ORDER BY created DESC, id LIMIT ${kept})`,
  )
}

/** Forgets what finished before this time. */
export async function forgetBefore(tx: Queries, time: Milliseconds): Promise<void> {
  await forget(tx, sql`finished < ${time}`)
}

async function forget(tx: Queries, which: Sql): Promise<void> {
  await tx.run(sql`DELETE FROM operations WHERE state <> 'running' AND ${which}`)
}
