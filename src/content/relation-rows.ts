import { RELATIVE, type Statement, statementsOf } from '../graph/graph.ts'
import { addressIn, type EntryAddress } from '../model/addresses.ts'
import { type Entry, resourceOf } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { listed, portionsOf, type Sql, sql } from '../stores/sql.ts'
import { entriesAfter } from './entry-records.ts'

/** Writes the statements of entries about other entries. Only `changes.ts` and the start of the service import this file. */

/** A statement of an entry whose object is another entry. */
interface Relation {
  readonly part: 'info' | 'metadata'
  readonly statement: Statement
  readonly target: EntryAddress
}

const isRelative = (iri: string): boolean => iri.startsWith(RELATIVE)

/**
 * Yields statements of this entry whose object is another entry, with the part (info or metadata) they occur in
 * (W2.9).
 */
function* relationsIn(entry: Entry): Generator<Relation> {
  const metadata = isRelative(resourceOf(entry)) ? entry.metadata : {}
  for (const [part, graph] of [['info', entry.statements] as const, ['metadata', metadata] as const]) {
    for (const statement of statementsOf(graph)) {
      if (statement.object.type !== 'uri' || !isRelative(statement.subject)) continue
      const target = addressIn(statement.object.value)
      if (target) yield { part, statement, target }
    }
  }
}

/** Rows per statement: engines limit the number of values. */
const ROWS = 25
/** If more relations than this are removed, all are deleted and the remaining ones are inserted again. */
const MAX_SINGLE_DELETIONS = 8

/** Stores the statements of a new entry about others. The others need not exist yet. */
export async function addRelations(tx: Queries, entry: Entry): Promise<void> {
  await insertRelations(tx, entry, [...relationsIn(entry)])
}

async function insertRelations(
  tx: Queries,
  { context, id }: EntryAddress,
  relations: readonly Relation[],
): Promise<void> {
  for (const some of portionsOf(relations, ROWS)) {
    const rows = some.map(
      ({ part, target, statement: { subject, predicate, object } }) =>
        sql`(${target.context}, ${target.id}, ${context}, ${id}, ${part}, ${subject}, ${predicate}, ${object.value})`,
    )
    await tx.run(sql`INSERT INTO relations
      (target_context, target, source_context, source, part, subject, predicate, object) VALUES ${listed(rows)}`)
  }
}

const from = ({ context, id }: EntryAddress): Sql => sql`source_context = ${context} AND source = ${id}`

/** Deletes the statements of a deleted entry about others. Statements of others about it remain with them. */
export async function dropRelations(tx: Queries, address: EntryAddress): Promise<void> {
  await tx.run(sql`DELETE FROM relations WHERE ${from(address)}`)
}

export async function dropRelationsOf(tx: Queries, context: string): Promise<void> {
  await tx.run(sql`DELETE FROM relations WHERE source_context = ${context}`)
}

const keyOf = ({ part, statement: { subject, predicate, object } }: Relation): string =>
  JSON.stringify([part, subject, predicate, object.value])

/** Updates the relations of a changed entry, in its transaction: deletes the removed ones and inserts the new ones. */
export async function renewRelations(tx: Queries, before: Entry, after: Entry): Promise<void> {
  const isSame =
    before.metadata === after.metadata &&
    before.statements === after.statements &&
    before.externalResource === after.externalResource
  if (isSame) return
  const [old, present] = [[...relationsIn(before)], [...relationsIn(after)]]
  if (old.length === 0 && present.length === 0) return
  const [oldKeys, presentKeys] = [new Set(old.map(keyOf)), new Set(present.map(keyOf))]
  const gone = old.filter(relation => !presentKeys.has(keyOf(relation)))
  if (gone.length > MAX_SINGLE_DELETIONS) {
    await dropRelations(tx, after)
    return await insertRelations(tx, after, present)
  }
  for (const { part, statement } of gone) {
    const { subject, predicate, object } = statement
    await tx.run(sql`DELETE FROM relations WHERE ${from(after)}
      AND part = ${part} AND subject = ${subject} AND predicate = ${predicate} AND object = ${object.value}`)
  }
  await insertRelations(
    tx,
    after,
    present.filter(relation => !oldKeys.has(keyOf(relation))),
  )
}

const BATCH = 500
const WORK = 'relations'

/** Adds the relations to a store that was created before relations existed; does nothing when that is done. */
export async function buildMissingRelations(queries: Queries): Promise<void> {
  if (!(await queries.get(sql`SELECT 1 AS pending FROM pending_work WHERE name = ${WORK}`))) return
  await queries.run(sql`DELETE FROM relations`)
  let last: EntryAddress = { context: '', id: '' }
  for (;;) {
    const entries = await entriesAfter(queries, last, BATCH)
    for (const entry of entries) await addRelations(queries, entry)
    const next = entries.at(-1)
    if (!next) break
    last = next
  }
  await queries.run(sql`DELETE FROM pending_work WHERE name = ${WORK}`)
}
