import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { schema } from '../../src/assembly/schema.ts'
import { realSystem } from '../../src/base/system.ts'
import { AnswerCache } from '../../src/http/readers/answer-cache.ts'
import type { ReadAnswer, ReadTask } from '../../src/http/readers/read-task.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const guest = guestFrom({ address: '', userAgent: '' })
const task: ReadTask = {
  url: '/search?type=solr&query=title:a',
  headers: { accept: 'application/json' },
  caller: guest,
}
const user = { ...guest, user: { ...guest.user, id: '7' } }

/** A cache, and how to ask it: each answer that is made has the next number as its body. */
async function open(t: { after(work: () => Promise<void>): void }) {
  const database = await openSqliteDatabase(join(await temporaryFolder(), 'store.sqlite'))
  t.after(() => database.close())
  await migrate(database, schema)
  let isComplete = true
  const answers = new AnswerCache(new DependencyCache(database, 1_000_000, realSystem))
  let made = 0
  const make = async (): Promise<ReadAnswer> => ({
    status: 200,
    headers: {},
    body: `${++made}`,
    ...(isComplete ? {} : { isPassing: true }),
  })
  const ask = async (changes: Partial<ReadTask> = {}, making: () => Promise<ReadAnswer> = make): Promise<unknown> => {
    const answer = await answers.answer({ ...task, ...changes }, making)
    return 'refused' in answer ? answer.refused : answer.body
  }
  return { database, ask, complete: (value: boolean) => (isComplete = value) }
}

test('an answer is kept for its address, headers and caller', async t => {
  const { ask } = await open(t)
  assert.equal(await ask(), '1')
  assert.equal(await ask(), '1')
  assert.equal(await ask({ url: `${task.url}&limit=2` }), '2')
  assert.equal(await ask({ headers: {} }), '3')
  assert.equal(await ask({ caller: user }), '4')
  assert.equal(await ask({ caller: { ...user, groups: new Set(['9', '8']) } }), '5')
  assert.equal(await ask({ caller: { ...user, groups: new Set(['8', '9']) } }), '5', 'the same groups')
  const grant = { tokenId: 'x', scopes: ['read'], contexts: ['3'] } as const
  assert.equal(await ask({ caller: { ...user, grant } }), '6')
  assert.equal(await ask({ caller: { ...user, grant: { ...grant, contexts: ['4'] } } }), '7')
  assert.equal(await ask(), '1')
})

test('an answer that was made before the index was complete is not kept', async t => {
  const { ask, complete } = await open(t)
  complete(false)
  assert.deepEqual([await ask(), await ask()], ['1', '2'])
  complete(true)
  assert.deepEqual([await ask(), await ask()], ['3', '3'])
})

test('an answer is made anew after any change', async t => {
  const { database, ask } = await open(t)
  assert.equal(await ask(), '1')
  await database.run(sql`INSERT INTO principals (id, kind, name) VALUES ('7', 'user', 'anna')`)
  assert.deepEqual([await ask(), await ask()], ['2', '2'])
  await database.run(sql`INSERT INTO list_members (context, member, list, position) VALUES ('3', 'a', 'b', 0)`)
  assert.deepEqual([await ask(), await ask()], ['3', '3'])
})

test('an answer is not kept if something has changed while it was made', async t => {
  const { database, ask } = await open(t)
  const rename = () => database.run(sql`UPDATE principals SET name = 'bea' WHERE id = '7'`)
  await database.run(sql`INSERT INTO principals (id, kind, name) VALUES ('7', 'user', 'anna')`)
  const stale = async (): Promise<ReadAnswer> => {
    await rename()
    // Another question takes the change into account before this answer is there.
    await ask({ url: '/search?other' })
    return { status: 200, headers: {}, body: 'stale' }
  }
  assert.equal(await ask({}, stale), 'stale')
  assert.equal(await ask(), '2')
})

test('refusals, large answers and answers to other requests are not kept', async t => {
  const { ask } = await open(t)
  const refused = { kind: 'InvalidInput', code: 'invalid-query', message: 'no' } as never
  assert.equal(await ask({}, async () => ({ refused })), refused)
  assert.equal(await ask(), '1')
  const large = async (): Promise<ReadAnswer> => ({ status: 200, headers: {}, body: new Uint8Array(262_145) })
  assert.equal(((await ask({ url: '/search?large' }, large)) as Uint8Array).length, 262_145)
  assert.equal(await ask({ url: '/search?large' }), '2')
  assert.deepEqual([await ask({ url: '/3/lookup?x' }), await ask({ url: '/3/lookup?x' })], ['3', '4'])
  assert.deepEqual([await ask({ url: '/searches?x' }), await ask({ url: '/searches?x' })], ['5', '6'])
})
