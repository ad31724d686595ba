import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { schema } from '../../src/assembly/stores.ts'
import { addRelations, dropRelations, renewRelations } from '../../src/content/entry-rows.ts'
import { type Graph, graphOf, uri } from '../../src/graph/graph.ts'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { countStatements } from '../support/statements.ts'

const database = await openSqliteDatabase(':memory:')
await migrate(database, schema)
test.after(() => database.close())

const address = { context: '3', id: '1' }
const entryWith = (metadata: Graph, statements: Graph = {}): Entry => ({
  ...newEntry({ ...address, by: undefined, now: 0, metadata }),
  statements,
})

const rows = async (): Promise<readonly string[]> =>
  (await database.all(sql`SELECT * FROM relations`)).map(row => JSON.stringify(row)).sort()

test('after any change the relations are those of the new state, each once', async () => {
  const iri = fc.constantFrom('./3/resource/1', './3/entry/2', './3/metadata/3', './4/resource/5', 'urn:elsewhere')
  const statement = fc.record({
    subject: iri,
    predicate: fc.constantFrom('urn:p', 'urn:q', 'urn:r', 'urn:s'),
    object: iri.map(uri),
  })
  const graph = fc.array(statement, { maxLength: 60 }).map(graphOf)
  const property = fc.asyncProperty(graph, graph, graph, graph, async (before, beforeInfo, after, afterInfo) => {
    const [old, present] = [entryWith(before, beforeInfo), entryWith(after, afterInfo)]
    await dropRelations(database, address)
    await addRelations(database, present)
    const expected = await rows()
    await dropRelations(database, address)
    await addRelations(database, old)
    await renewRelations(database, old, present)
    assert.deepEqual(await rows(), expected)
  })
  await fc.assert(property, { seed: 14, numRuns: 200 })
})

test('a change of one among many relations writes that one', async () => {
  const graph = (objects: readonly number[]): Graph =>
    graphOf(objects.map(n => ({ subject: './3/resource/1', predicate: 'urn:p', object: uri(`./3/entry/${n}`) })))
  const many = Array.from({ length: 5000 }, (_, n) => n)
  const before = entryWith(graph(many))
  await dropRelations(database, address)
  await addRelations(database, before)
  const { counted, statements } = countStatements(database)
  const count = async (): Promise<number> => (await rows()).length
  await renewRelations(counted, before, entryWith(graph([...many.slice(1), 9000])))
  assert.deepEqual(
    [statements.map(({ parts }) => parts[0]?.trim().split(' ')[0]).filter(verb => verb !== 'SELECT'), await count()],
    [['DELETE', 'INSERT'], 5000],
  )
})
