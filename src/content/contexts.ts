import { Conflict, InvalidInput, NotFound } from '../base/errors.ts'
import { type Queries, UniqueViolation } from '../stores/database.ts'
import { sql } from '../stores/sql.ts'
import { RELATIVE } from '../graph/graph.ts'
import { addressIn, CONTEXTS, contextIdOf, type EntryAddress, isReservedSegment } from '../model/addresses.ts'
import type { EntryHead } from '../model/entry.ts'
import { headColumnsOfE, headFromRow, type HeadRow } from './entry-columns.ts'
import { isIdFree, isNumberFree } from './entry-records.ts'

export interface Context {
  readonly id: string
  /** The name, called alias by clients; unique, case preserved. */
  readonly name: string | undefined
}

const MAX_NAME_CHARACTERS = 255

/** The context with this id or, if there is none, this name. Addresses may contain either (W1.2). */
export async function findContext(queries: Queries, idOrName: string): Promise<Context | undefined> {
  const rows = await queries.all<{ id: string; name: string | null }>(
    sql`SELECT id, name FROM contexts WHERE id = ${idOrName} OR name = ${idOrName}`,
  )
  const row = rows.find(row => row.id === idOrName) ?? rows[0]
  return row && { id: row.id, name: row.name ?? undefined }
}

/** The id of the context with this name. */
export async function findContextNamed(queries: Queries, name: string): Promise<string | undefined> {
  return (await queries.get<{ id: string }>(sql`SELECT id FROM contexts WHERE name = ${name}`))?.id
}

export interface FoundContext {
  readonly context: Context
  /** Its entry in `_contexts`, which carries its ACL. */
  readonly entry: EntryHead
}

/** @throws {NotFound} */
export async function getContext(queries: Queries, idOrName: string): Promise<FoundContext> {
  const rows = await queries.all<HeadRow & { name: string | null }>(sql`SELECT c.name, ${headColumnsOfE}
    FROM contexts c JOIN entries e ON e.context = ${CONTEXTS} AND e.id = c.id
    WHERE c.id = ${idOrName} OR c.name = ${idOrName}`)
  const row = rows.find(({ id }) => id === idOrName) ?? rows[0]
  if (!row) throw new NotFound('not-found', `There is no context "${idOrName}".`)
  return { context: { id: row.id, name: row.name ?? undefined }, entry: headFromRow(row) }
}

/** The entry that a URI denotes. The URI may contain the name of the context instead of its id. */
export async function findAddress(queries: Queries, uri: string): Promise<EntryAddress | undefined> {
  const [, idOrName, rest = ''] = /^\.\/([^/]+)\/(.+)$/.exec(uri) ?? []
  const context = idOrName === undefined ? undefined : await findContext(queries, decoded(idOrName))
  return addressIn(context ? `${RELATIVE}${context.id}/${rest}` : uri)
}

/** @throws {Conflict} `name-taken` */
export async function insertContext(tx: Queries, id: string, name: string | undefined): Promise<void> {
  await requireNotAnId(tx, name, id)
  await claimingContextName(name, tx.run(sql`INSERT INTO contexts (id, name) VALUES (${id}, ${name ?? null})`))
}

/** `undefined` removes the name. @throws {Conflict} `name-taken` */
export async function renameContext(tx: Queries, id: string, name: string | undefined): Promise<void> {
  await requireNotAnId(tx, name, id)
  await claimingContextName(name, tx.run(sql`UPDATE contexts SET name = ${name ?? null} WHERE id = ${id}`))
}

export async function deleteContextRow(tx: Queries, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM contexts WHERE id = ${id}`)
}

/** The next number that is free as an id in the context; numbers are never reused (W1.6). */
export async function nextId(tx: Queries, context: string): Promise<string> {
  for (;;) {
    const row = await tx.get<{ last_number: number }>(
      sql`UPDATE contexts SET last_number = last_number + 1 WHERE id = ${context} RETURNING last_number`,
    )
    if (!row) throw new NotFound('not-found', `There is no context "${context}".`)
    const id = String(row.last_number)
    const isNameOfContext = context === CONTEXTS && (await findContext(tx, id)) !== undefined
    if (!isNameOfContext && (await isNumberFree(tx, { context, id }))) return id
  }
}

/** The last number used as an id in the context. */
export async function lastNumberOf(queries: Queries, context: string): Promise<number> {
  const row = await queries.get<{ last_number: number }>(sql`SELECT last_number FROM contexts WHERE id = ${context}`)
  return row?.last_number ?? 0
}

/** Numbers up to this one are no longer used as ids. */
export async function skipNumbers(tx: Queries, context: string, last: number): Promise<void> {
  await tx.run(sql`UPDATE contexts SET last_number = ${last} WHERE id = ${context} AND last_number < ${last}`)
}

/** Checks a name for a context. @throws {InvalidInput} `invalid-name` */
export function requireContextName(raw: string): string {
  const name = raw.normalize('NFC').trim()
  const wrong = (why: string): InvalidInput => new InvalidInput('invalid-name', `The name of a context ${why}.`)
  if (name === '') throw wrong('must not be empty')
  if (name.length > 2 * MAX_NAME_CHARACTERS || [...name].length > MAX_NAME_CHARACTERS)
    throw wrong(`may have at most ${MAX_NAME_CHARACTERS} characters`)
  if (/\p{C}/u.test(name)) throw wrong('must not contain control characters')
  // A client would take such a part of a path for a step in it, also when it is escaped.
  if (name === '.' || name === '..') throw wrong(`cannot be "${name}"`)
  if (isReservedSegment(name) || name.startsWith('_')) throw wrong(`cannot be "${name}": it is reserved`)
  return name
}

/** Contexts of earlier versions whose id or name has become an address of the service. */
export async function reservedContexts(queries: Queries): Promise<readonly Context[]> {
  const rows = await queries.all<{ id: string; name: string | null }>(sql`SELECT id, name FROM contexts`)
  return rows
    .filter(({ id, name }) => isReservedSegment(id) || isReservedSegment(name ?? ''))
    .map(({ id, name }) => ({ id, name: name ?? undefined }))
}

/** The id of an existing context, given as id or URI. @throws {InvalidInput} */
export async function requireHomeContext(queries: Queries, given: string): Promise<string> {
  const id = contextIdOf(given.startsWith(RELATIVE) ? given : RELATIVE + given)
  const context = id === undefined ? undefined : await findContext(queries, id)
  if (!context) throw new InvalidInput('invalid-value', `\`homecontext\` "${given}" is not a context.`)
  return context.id
}

/**
 * In addresses an id takes precedence over a name, so a name equal to another context's id would lead to the wrong context.
 */
async function requireNotAnId(tx: Queries, name: string | undefined, own: string): Promise<void> {
  if (name === undefined || name === own) return
  if (!(await isIdFree(tx, { context: CONTEXTS, id: name }))) throw nameTaken(name)
}

async function claimingContextName<T>(name: string | undefined, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof UniqueViolation)) throw error
    throw nameTaken(name ?? '', error)
  }
}

const nameTaken = (name: string, cause?: unknown): Conflict =>
  new Conflict('name-taken', `Another context has the name or id "${name}".`, { cause })

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment).normalize('NFC')
  } catch {
    return segment
  }
}
