import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { schema } from '../../src/assembly/schema.ts'
import { entryFromRow } from '../../src/content/entry-records.ts'
import { addRelations, dropRelations, renewRelations } from '../../src/content/entry-rows.ts'
import { type Graph, graphOf, uri } from '../../src/graph/graph.ts'
import { type Entry, newEntry } from '../../src/model/entry.ts'
import { withMembers } from '../../src/model/stored-graphs.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { countStatements } from '../support/statements.ts'

const database = await openSqliteDatabase(':memory:')
await migrate(database, schema)
test.after(() => database.close())

const address = { context: '3', id: '1' }
const entryWith = (metadata: Graph, statements: Graph = {}): Entry => ({
  ...newEntry({ ...address, by: undefined, now: 0 }),
  metadata,
  statements,
})

const rows = async (): Promise<readonly string[]> =>
  (await database.all(sql`SELECT * FROM relations`)).map(row => JSON.stringify(row)).sort()

test('after any change the relations are those of the new state, each once (D35.4)', async () => {
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

test('a change of one among many relations writes that one (D35.4)', async () => {
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

test('the relations of an entry are read some thousand at a time, by their index (D40.13)', async () => {
  const before = entryWith(
    graphOf(
      Array.from({ length: 9000 }, (_, n) => ({
        subject: './3/resource/1',
        predicate: `urn:p${n}`,
        object: uri('./3/entry/2'),
      })),
    ),
  )
  await dropRelations(database, address)
  await addRelations(database, before)
  const { counted, statements } = countStatements(database)
  await renewRelations(counted, before, entryWith({}))
  const reads = statements.filter(({ parts }) => parts[0]?.startsWith('SELECT'))
  assert.deepEqual([reads.length, await rows()], [3, []])
  for (const { parts, values } of reads) {
    const plan = await database.all<{ detail: string }>({
      parts: [`EXPLAIN QUERY PLAN ${parts[0]}`, ...parts.slice(1)],
      values,
    })
    assert.deepEqual(
      plan.map(({ detail }) => detail),
      ['SEARCH relations USING INDEX relations_by_source (source_context=? AND source=? AND rowid>?)'],
    )
  }
})

test('the former graphs of an entry are not parsed when one is replaced (D35.4)', async () => {
  const graph = graphOf([{ subject: './3/resource/1', predicate: 'urn:p', object: uri('./3/entry/2') }])
  await dropRelations(database, address)
  await addRelations(database, entryWith(graph))
  const row = {
    ...address,
    entry_type: 'Local',
    graph_type: 'None',
    resource_type: 'InformationResource',
    resource_uri: null,
    external_metadata: null,
    created: 0,
    modified: 0,
    creator: null,
    contributors: '[]',
    acl: '{}',
    cached: null,
    statements: '{}',
    // Parsing it would fail.
    metadata: 'no graph',
    cached_external_metadata: null,
    content: null,
  } as const
  const before = entryFromRow(row)
  const after = withMembers(before, { metadata: {} })
  await renewRelations(database, before, after)
  assert.deepEqual([await rows(), after], [[], { ...newEntry({ ...address, by: undefined, now: 0 }), metadata: {} }])
  await renewRelations(database, before, withMembers(before, { metadata: graph }))
  assert.equal((await rows()).length, 1)
  await renewRelations(database, before, withMembers(before, { statements: graph }))
  assert.equal((await rows()).length, 2, 'a change of the info reads no metadata')
  // Long, and cut off behind its first statement, which parsing as a whole would notice at once.
  const cut = `${JSON.stringify(graph).slice(0, -2)},${' '.repeat(70_000)}`
  await dropRelations(database, address)
  await assert.rejects(addRelations(database, entryFromRow({ ...row, metadata: cut })), /cannot be read/)
})
