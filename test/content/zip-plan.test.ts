import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { guestFrom } from '../../src/accounts/caller.ts'
import { InvalidInput, TooLarge } from '../../src/base/errors.ts'
import { FileZips } from '../../src/features/zips/file-zip.ts'
import type { Files } from '../../src/files/files.ts'
import { everybody, newEntry } from '../../src/model/entry.ts'
import { sql } from '../../src/stores/sql.ts'
import { insertEntry } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { countStatements } from '../support/statements.ts'
import { newDatabase } from '../support/store.ts'

/** A list in a list that gets entries, and zips that read it through a database whose statements are recorded. */
async function openZips(t: TestContext) {
  const database = await newDatabase(t)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('_contexts'), ('3')`)
  const by = { by: undefined, now: 0, acl: { rread: everybody } }
  await insertEntry(database, newEntry({ ...by, context: '_contexts', id: '3', graphType: 'Context' }))
  await insertEntry(database, newEntry({ ...by, context: '3', id: 'outer', graphType: 'List' }))
  await insertEntry(database, newEntry({ ...by, context: '3', id: 'inner', graphType: 'List' }))
  await database.run(sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', 'inner', 'outer', 1)`)
  const fill = async (from: number, to: number): Promise<void> => {
    await database.run(sql`INSERT INTO list_members (context, member, list, position)
      WITH RECURSIVE numbers (n) AS (SELECT CAST(${from} AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${to})
      SELECT '3', 'e' || n, 'inner', n FROM numbers`)
  }
  const { counted, statements } = countStatements(database)
  const zips = new FileZips({ database: counted, files: {} as Files, system: new FakeSystem() })
  const guest = guestFrom({ address: '127.0.0.1', userAgent: '' })
  const open = (onEnd: (done: () => void) => void = () => {}) => zips.open(guest, '3', ['outer'], { onEnd })
  return { fill, open, statements }
}

test('a list of too many entries is refused as a zip before they are read, also of those that the zip leaves out (D35.15)', async t => {
  const { fill, open, statements } = await openZips(t)
  await fill(1, 9998)
  assert.equal((await open()).name, 'outer')
  statements.length = 0
  await fill(9999, 9999)
  await assert.rejects(open(), error => error instanceof TooLarge && error.code === 'zip-too-large')
  assert.ok(statements.length < 15, `${statements.length} statements`)
})

test('when its client leaves, no more entries are read for a zip, as they no longer count (D35.15)', async t => {
  const { fill, open, statements } = await openZips(t)
  await fill(1, 9998)
  const hasLeft = (error: unknown): boolean => error instanceof InvalidInput && error.message === 'The client has left.'
  await assert.rejects(
    open(leave => leave()),
    hasLeft,
  )
  statements.length = 0
  let leave = (): void => {}
  const opened = open(done => (leave = done))
  while (statements.length < 30) await nextIteration()
  leave()
  const before = statements.length
  await assert.rejects(opened, hasLeft)
  assert.ok(statements.length < before + 5, `${statements.length - before} statements`)
})
