import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Audit, type AuditEntry, type AuditQuery } from '../../src/accounts/audit.ts'
import type { Log } from '../../src/base/log.ts'
import type { Database } from '../../src/stores/database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const RETENTION = 1000

/** An audit log, and what it logs. The child of the log says that it is one. */
async function setUp(t: TestContext, level = 'warn') {
  const system = new FakeSystem()
  const database = await newDatabase(t)
  const logged: unknown[][] = []
  const logTo = (...prefix: unknown[]): Log =>
    ({
      level,
      info: (...given: unknown[]) => logged.push([...prefix, 'info', ...given]),
      error: (...given: unknown[]) => logged.push([...prefix, 'error', ...given]),
      child: (bindings: unknown, options: unknown) => logTo(bindings, options),
    }) as unknown as Log
  const audit = new Audit(database, { system, log: logTo() })
  const list = async (query: Partial<AuditQuery> = {}) => await audit.list({ limit: 100, ...query })
  return { system, database, audit, logged, list, logTo }
}

const login: AuditEntry = {
  event: 'login',
  userId: '7',
  userName: 'nora',
  actorId: '7',
  address: '192.0.2.7',
  detail: { mechanism: 'form', step: 2 },
}

test('an event becomes a row and a log line of the level info, whatever the level of the log', async t => {
  const { system, audit, logged, list } = await setUp(t)
  await audit.record(login)
  assert.deepEqual(await list(), [{ ...login, time: system.now() }])
  const { detail, ...rest } = login
  assert.deepEqual(logged, [[{}, { level: 'info' }, 'info', { audit: true, ...rest, ...detail }, 'audit']])
  system.pass(1)
  await audit.record({ event: 'logout' })
  const absent = { userId: undefined, userName: undefined, actorId: undefined, address: undefined }
  assert.deepEqual((await list())[0], { event: 'logout', ...absent, detail: {}, time: system.now() })
})

test('a log that is silent stays so', async t => {
  const { audit, logged } = await setUp(t, 'silent')
  await audit.record(login)
  assert.equal(logged[0]?.[0], 'info')
})

test('events are counted since the start of the process', async t => {
  const { audit } = await setUp(t)
  assert.deepEqual([...audit.counts], [])
  for (const event of ['login', 'logout', 'login'] as const) audit.announce({ ...login, event })
  assert.deepEqual(Object.fromEntries(audit.counts), { login: 2, logout: 1 })
})

test('a row that cannot be written fails nothing: the log line remains, and an error', async t => {
  const { system, logTo, logged } = await setUp(t)
  const error = new Error('disk full')
  const database = { transaction: () => Promise.reject(error) } as unknown as Database
  await new Audit(database, { system, log: logTo() }).record(login)
  assert.equal(logged.length, 2)
  assert.deepEqual(logged[1]?.slice(-3), ['error', { err: error, event: 'login' }, 'writing an audit row failed'])
})

test('events of a request are written without waiting for the disk', async t => {
  const { system, logTo } = await setUp(t)
  const asked: unknown[] = []
  const database = { transaction: async (_work: unknown, options: unknown) => void asked.push(options) }
  await new Audit(database as unknown as Database, { system, log: logTo() }).record(login)
  assert.deepEqual(asked, [{ durability: 'relaxed' }])
})

test('in a minute 60 events without a known user become rows; those of users, and of quota, are not limited', async t => {
  const { system, audit, logged, list } = await setUp(t)
  const stranger: AuditEntry = { event: 'login-failed', userName: 'nobody', address: '192.0.2.9' }
  for (let count = 0; count < 65; count++) {
    system.pass(900)
    await audit.record(stranger)
  }
  assert.equal((await list()).length, 60)
  assert.equal(logged.length, 65)
  await audit.record({ event: 'quota-threshold', isByService: true })
  await audit.record({ event: 'login-failed', userId: '7' })
  await audit.record({ event: 'access-changed', actorId: '7' })
  assert.equal((await list()).length, 63)
  system.pass(60_000)
  await audit.record(stranger)
  assert.equal((await list()).length, 64)
})

test('the latest events come first, also within a millisecond, and a part at a time', async t => {
  const { system, audit, list } = await setUp(t)
  const record = async (...names: string[]) => {
    for (const userName of names) await audit.record({ event: 'login', userId: '7', userName })
  }
  await record('a', 'b', 'c', 'd')
  system.pass(1)
  await record('e', 'f')
  const names = async (query: Partial<AuditQuery> = {}) => (await list(query)).map(({ userName }) => userName).join('')
  assert.equal(await names(), 'fedcba')
  assert.equal(await names({ limit: 2 }), 'fe')
  assert.equal(await names({ limit: 2, offset: 3 }), 'cb')
  const now = system.now()
  assert.equal(await names({ since: now }), 'fe')
  assert.equal(await names({ until: now }), 'dcba')
  assert.equal(await names({ since: now - 1, until: now }), 'dcba')
  assert.equal(await names({ since: now + 1 }), '')
})

test('events are found by user, by a part of the name at that time, and by what happened', async t => {
  const { audit, list } = await setUp(t)
  const events: ReadonlyArray<readonly [event: AuditEntry['event'], userId: string, userName: string]> = [
    ['login', '7', 'Nora'],
    ['logout', '7', 'Nora'],
    ['login', '8', 'nora_2'],
    ['login', '9', '100%'],
    ['login', 'nora', 'x\\y'],
  ]
  for (const [event, userId, userName] of events) await audit.record({ event, userId, userName })
  const found = async (query: Partial<AuditQuery>) =>
    (await list(query)).map(({ event, userId }) => `${event} ${userId}`).reverse()
  assert.deepEqual(await found({ userId: '7' }), ['login 7', 'logout 7'])
  assert.deepEqual(await found({ userId: '7', event: 'logout' }), ['logout 7'])
  assert.deepEqual(await found({ event: 'logout' }), ['logout 7'])
  assert.deepEqual(await found({ userText: 'NOR' }), ['login 7', 'logout 7', 'login 8'])
  assert.deepEqual(await found({ userText: 'nora' }), ['login 7', 'logout 7', 'login 8', 'login nora'])
  assert.deepEqual(await found({ userText: '8' }), ['login 8'])
  assert.deepEqual(await found({ userText: '_' }), ['login 8'])
  assert.deepEqual(await found({ userText: '%' }), ['login 9'])
  assert.deepEqual(await found({ userText: '\\' }), ['login nora'])
  assert.deepEqual(await found({ userText: 'nobody' }), [])
})

test('events older than the retention are deleted', async t => {
  const { system, audit, list } = await setUp(t)
  await audit.record(login)
  system.pass(1)
  await audit.record({ ...login, event: 'logout' })
  system.pass(RETENTION)
  await audit.expire(RETENTION)
  assert.deepEqual(
    (await list()).map(({ event }) => event),
    ['logout'],
  )
})
