import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { silent } from '../../src/base/progress.ts'
import { realSystem } from '../../src/base/system.ts'
import { entriesOf } from '../../src/content/entry-records.ts'
import { literal } from '../../src/graph/graph.ts'
import { newEntry } from '../../src/model/entry.ts'
import { fillIndex } from '../../src/search/catch-up.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { sourceUrl, startChild } from '../support/child-process.ts'
import { insertEntry } from '../support/entries.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** More than one transaction of the filling takes. */
const ENTRIES = 1100
const DCT = 'http://purl.org/dc/terms/'

const open = (path: string): Promise<Database> => openSqliteDatabase(path, { sortsInFiles: true })

/** A store whose index was built with each change. */
async function openStore(t: TestContext): Promise<{ readonly path: string; readonly database: Database }> {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const database = await open(path)
  t.after(() => database.close())
  await addEntries(database)
  return { path, database }
}

async function addEntries(database: Database): Promise<void> {
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3')`)
  await database.transaction(async tx => {
    for (let n = 0; n < ENTRIES; n++) {
      const metadata = {
        'x:r': {
          [`${DCT}title`]: [literal(`Numbat ${n % 7}`), literal(`Title ${n}`)],
          [`${DCT}issued`]: [literal(`20${10 + (n % 90)}`)],
          [`x:predicate${n % 20}`]: [literal(`${ENTRIES - n}`)],
        },
      }
      await insertEntry(
        tx,
        newEntry({ context: '3', id: String(n), by: undefined, now: n, metadata, acl: { mread: ['x:p'] } }),
      )
    }
  })
}

/** What the index says about each entry, and its own structure. */
async function contentOf(database: Database): Promise<unknown> {
  const values = (table: 'strings' | 'numbers') =>
    database.all<{ line: string }>(
      table === 'strings'
        ? sql`SELECT f.name || ' ' || s.value || ' ' || e.id AS line FROM search_strings s
            JOIN search_fields f ON f.number = s.field JOIN search_entries e ON e.doc = s.doc ORDER BY line`
        : sql`SELECT f.name || ' ' || s.value || ' ' || e.id AS line FROM search_numbers s
            JOIN search_fields f ON f.number = s.field JOIN search_entries e ON e.doc = s.doc ORDER BY line`,
    )
  const count = await database.get<object>(sql`SELECT (SELECT count(*) FROM search_ngrams) AS ngrams,
    (SELECT count(*) FROM search_texts) AS texts, (SELECT count(*) FROM search_strings) AS strings`)
  const byDoc = sql`SELECT sql FROM sqlite_schema WHERE name = 'search_strings_by_doc'`
  return {
    strings: (await values('strings')).map(({ line }) => line),
    numbers: (await values('numbers')).map(({ line }) => line),
    count: { ...count },
    index: (await database.get<{ sql: string }>(byDoc))?.sql,
  }
}

test('an index that a command fills is the one that changes build', async t => {
  const { database } = await openStore(t)
  const expected = await contentOf(database)
  await fillIndex({ database, entriesOf }, ENTRIES, silent)
  assert.deepEqual(await contentOf(database), expected)
  // Changes find the table and not the one that hid it.
  const id = String(ENTRIES)
  await database.transaction(tx => insertEntry(tx, newEntry({ context: '3', id, by: undefined, now: 1 })))
  const uri = sql`SELECT e.id FROM search_strings s JOIN search_entries e ON e.doc = s.doc WHERE value = './3/entry/1100'`
  assert.equal((await database.get<{ id: string }>(uri))?.id, id)
})

test('the same in PostgreSQL', async t => {
  if (!requirePeer(t, postgres)) return
  const database = await openPostgresDatabase(await postgresDatabase(), { system: realSystem })
  t.after(() => database.close())
  await addEntries(database)
  const contentOfPostgres = async () => ({
    values: await database.all(sql`SELECT field, value, id FROM search_strings JOIN search_entries USING (doc)
      UNION ALL SELECT field, CAST(value AS TEXT), id FROM search_numbers JOIN search_entries USING (doc)
      UNION ALL SELECT field, value || grams, id FROM search_ngrams JOIN search_entries USING (doc)
      UNION ALL SELECT field, CAST(words AS TEXT), id FROM search_texts JOIN search_entries USING (doc)
      ORDER BY id, field, value`),
    indexes: await database.all(sql`SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'search%' ORDER BY indexname`),
  })
  const expected = await contentOfPostgres()
  await fillIndex({ database, entriesOf }, ENTRIES, silent)
  assert.deepEqual(await contentOfPostgres(), expected)
})

test('filling begins again after it was interrupted', async t => {
  const { path, database } = await openStore(t)
  const expected = await contentOf(database)
  let portions = 0
  async function* interrupted(...[tx, context, ids]: Parameters<typeof entriesOf>): ReturnType<typeof entriesOf> {
    if (++portions === 2) throw new Error('interrupted')
    yield* entriesOf(tx, context, ids)
  }
  await assert.rejects(fillIndex({ database, entriesOf: interrupted }, ENTRIES, silent), /interrupted/)
  await database.close()
  const again = await open(path)
  t.after(() => again.close())
  await fillIndex({ database: again, entriesOf }, ENTRIES, silent)
  assert.deepEqual(await contentOf(again), expected)
})

test('temporary files of a command are in the data folder, whatever it opens first', {
  skip: process.platform !== 'linux',
}, async () => {
  const folder = await temporaryFolder()
  const child = await startChild(`
    import { readdirSync, readlinkSync } from 'node:fs'
    import { settingsFrom } from '${sourceUrl('commands/settings-options.ts')}'
    import { openSqliteDatabase } from '${sourceUrl('stores/sqlite/sqlite-database.ts')}'
    import { sql } from '${sourceUrl('stores/sql.ts')}'
    settingsFrom({ config: undefined, set: ['service.data.folder=${folder}'] })
    await (await openSqliteDatabase(':memory:')).close()
    const database = await openSqliteDatabase('${join(folder, 'store.sqlite')}', { sortsInFiles: true })
    await database.run(sql\`CREATE TEMP TABLE large AS
      WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 20000) SELECT hex(zeroblob(200)) AS text FROM n\`)
    for (const fd of readdirSync('/proc/self/fd')) {
      try {
        console.log(readlinkSync('/proc/self/fd/' + fd))
      } catch {}
    }
    console.log('ready')
  `)
  await child.kill()
  // SQLite removes the name of a temporary file as soon as it is open, and on some file systems it never has one.
  const temporary = child.lines.filter(line => line.endsWith(' (deleted)'))
  assert.ok(temporary.length > 0, child.lines.join('\n'))
  for (const path of temporary) assert.ok(path.startsWith(`${folder}/`), path)
})
