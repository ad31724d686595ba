import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFile, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { StorageFull, StoreDamaged } from '../../src/base/errors.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PAGE = 4096

test('every overwritten page of a database is found, at its opening or by the check of the engine (D20.3)', async () => {
  const folder = await temporaryFolder()
  const original = join(folder, 'original.sqlite')
  const database = await openSqliteDatabase(original)
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id, name) VALUES ('3', 'three')`)
  assert.deepEqual(await database.findDamage(), [])
  await database.close()
  await dropFreePages(original)
  const pages = (await stat(original)).size / PAGE
  assert.ok(pages > 30)

  for (let page = 0; page < pages; page++) {
    const damaged = join(folder, `damaged-${page}.sqlite`)
    await copyFile(original, damaged)
    const file = await open(damaged, 'r+')
    await file.write(randomBytes(PAGE), 0, PAGE, page * PAGE)
    await file.close()
    const found = await findDamage(damaged)
    assert.ok(found.length > 0, `page ${page}`)
  }
})

test('a full-text index that has lost its version is damage (D20.3)', async () => {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const database = await openSqliteDatabase(path)
  await migrate(database, schema)
  await database.close()
  const handle = new DatabaseSync(path, { defensive: false })
  handle.exec('DELETE FROM search_texts_config')
  handle.close()
  assert.match((await findDamage(path)).join(), /fts5/)
})

/** Steps of the schema leave pages that hold nothing, so damage to them is none. */
async function dropFreePages(path: string): Promise<void> {
  const handle = new DatabaseSync(path)
  handle.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
  handle.close()
}

async function findDamage(path: string): Promise<readonly string[]> {
  try {
    const database = await openSqliteDatabase(path)
    try {
      return await database.findDamage()
    } finally {
      await database.close()
    }
  } catch (error) {
    assert.ok(error instanceof StoreDamaged, String(error))
    return [error.message]
  }
}

test('a database larger than a given limit is not checked', async t => {
  const path = join(await temporaryFolder(), 'store.sqlite')
  const whole = await openSqliteDatabase(path)
  await migrate(whole, schema)
  // A table that nothing reads at the opening.
  await whole.run(sql`INSERT INTO audit (number, time, event, detail) VALUES (1, 1, 'login', ${'x'.repeat(20_000)})`)
  await whole.close()
  const { size } = await stat(path)
  const file = await open(path, 'r+')
  await file.write(randomBytes(PAGE), 0, PAGE, size - PAGE)
  await file.close()
  const database = await openSqliteDatabase(path)
  t.after(() => database.close())
  assert.notDeepEqual(await database.findDamage({ maxBytes: size }), [])
  assert.deepEqual(await database.findDamage({ maxBytes: size - 1 }), [])
})

test('a database that cannot grow refuses rows as StorageFull, goes on reading and deleting, and closes (D20.4)', async () => {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  await migrate(database, schema)
  const fill = (from: number): Promise<unknown> =>
    database.transaction(async tx => {
      for (let n = from; n < from + 100; n++) {
        await tx.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${`${n}-${'x'.repeat(1000)}`})`)
      }
    })
  await fill(0)
  // SQLite refuses to grow as it does when the disk is full.
  await database.get(sql`PRAGMA page_count`)
  await database.run(sql`PRAGMA max_page_count = 1`)
  await assert.rejects(fill(100), StorageFull)
  const count = await database.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM discarded_blobs`)
  assert.equal(count?.count, 100)
  assert.equal(await database.run(sql`DELETE FROM discarded_blobs`), 100)
  await database.close()
})
