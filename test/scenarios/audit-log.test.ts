import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { Audit } from '../../src/accounts/audit.ts'
import { createLog } from '../../src/base/log.ts'
import { sql } from '../../src/stores/sql.ts'
import { addUser, basicAuth, openStore, userPath } from '../support/accounts.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { ADMIN_PASSWORD, startProcess } from '../support/service.ts'
import { newDatabase } from '../support/store.ts'

const DAY = 86_400_000

async function setUp(t: { after(work: () => Promise<void>): void }) {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(...chunk.toString().trimEnd().split('\n'))
      done()
    },
  })
  const system = new FakeSystem()
  const database = await newDatabase(t)
  const audit = new Audit(database, { system, log: createLog('info', stream) })
  return { audit, system, database, lines }
}

test('line breaks and quotes in what a user sent cannot forge a line or a row', async t => {
  const { audit, lines } = await setUp(t)
  const userName = 'eve\r\n{"audit":true,"event":"login","userName":"admin"}\u2028"'
  await audit.record({ event: 'user-renamed', userId: '7', userName, detail: { newName: userName } })
  assert.equal(lines.length, 1)
  const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>
  assert.deepEqual([line['audit'], line['event'], line['userName']], [true, 'user-renamed', userName])
  const [row] = await audit.list({ limit: 10 })
  assert.equal(row?.detail?.['newName'], userName)
})

test('events of one millisecond keep their order', async t => {
  const { audit } = await setUp(t)
  for (let index = 0; index < 20; index++) await audit.record({ event: 'login', userId: String(index) })
  assert.deepEqual(
    (await audit.list({ limit: 1000 })).map(({ userId }) => userId),
    Array.from({ length: 20 }, (_, index) => String(19 - index)),
  )
})

test('200 events at once are all kept', async t => {
  const { audit } = await setUp(t)
  await Promise.all(Array.from({ length: 200 }, (_, index) => audit.record({ event: 'login', userId: String(index) })))
  const ids = (await audit.list({ limit: 1000 })).map(({ userId }) => Number(userId))
  assert.deepEqual(
    ids.sort((a, b) => a - b),
    Array.from({ length: 200 }, (_, index) => index),
  )
})

test('rows older than the retention are deleted, to the millisecond, and no others', async t => {
  const { audit, system } = await setUp(t)
  await audit.record({ event: 'login', userId: 'old' })
  system.pass(1)
  await audit.record({ event: 'login', userId: 'new' })
  system.pass(2 * DAY - 1)
  await audit.expire(2 * DAY)
  assert.equal((await audit.list({ limit: 10 })).length, 2)
  system.pass(1)
  await audit.expire(2 * DAY)
  assert.deepEqual(
    (await audit.list({ limit: 10 })).map(({ userId }) => userId),
    ['new'],
  )
})

test('a row that cannot be written causes no failure: the log line remains, and an error line reports it', async t => {
  const { audit, database, lines } = await setUp(t)
  await database.run(sql`DROP TABLE audit`)
  await audit.record({ event: 'login', userId: '7' })
  assert.deepEqual(
    lines.map(line => (JSON.parse(line) as { level: string }).level),
    ['info', 'error'],
  )
})

test('no password, token, cookie or header of a whole session is in the log or in the trail (canary)', async t => {
  const service = await startProcess(t, {
    settings: {
      'service.auth.http-basic': 'on',
      'service.log.level': 'debug',
      'service.auth.temp.lockout.trusted-devices': 'on',
    },
  })
  const secrets = {
    first: 'Canary-First-4711',
    second: 'Canary-Second-4712',
    third: 'Canary-Third-4713',
    wrong: 'Canary-Wrong-4714',
    asName: 'canary-as-name-4715',
    weak: 'canaryweak',
  }
  const tokens = new Set<string>()
  const admin = await service.admin()
  const { id } = await addUser(admin, 'bob', secrets.first)
  const bob = service.visitor()
  const signIn = async (password: string): Promise<void> => {
    const answer = await bob.signIn('bob', password)
    for (const line of answer.headers['set-cookie'] ?? []) tokens.add(/=([^;]*)/.exec(line)?.[1] ?? '')
  }
  await signIn(secrets.first)
  await bob.put(userPath(id), { password: secrets.second, currentPassword: secrets.wrong })
  await bob.put(userPath(id), { password: secrets.weak, currentPassword: secrets.first })
  await bob.put(userPath(id), { password: secrets.second, currentPassword: secrets.first })
  await bob.get('auth/user', basicAuth('bob', secrets.second))
  await bob.get('auth/user', basicAuth('bob', secrets.wrong))
  await bob.get('auth/user', { authorization: `Bearer ${secrets.wrong}` })
  await bob.signIn(secrets.asName, secrets.wrong)
  await bob.ask('auth/cookie', {
    method: 'POST',
    body: `{"password":"${secrets.wrong}"`,
    headers: { 'content-type': 'application/json' },
  })
  await bob.ask(userPath(id), {
    method: 'PUT',
    body: `{"password":"${secrets.wrong}"`,
    headers: { 'content-type': 'application/json' },
  })
  await bob.get(`auth/user?auth_password=${secrets.wrong}`)
  await admin.put(userPath(id), { password: secrets.third })
  await signIn(secrets.third)
  await bob.get('auth/tokens')
  await bob.ask('auth/tokens', { method: 'DELETE', json: { token: bob.cookie } })
  await signIn(secrets.third)
  await bob.get('auth/logout')
  const database = await openStore(t, service)
  const rows = JSON.stringify(await database.all(sql`SELECT * FROM audit`))
  const trail = (await admin.get('management/audit?limit=1000')).text
  assert.equal(await service.stop(), 0)

  const output = service.output()
  assert.ok(output.includes('"audit":true') && output.includes('"event":"password-changed"'), 'there is a log at all')
  assert.equal(tokens.size, 6, 'three sessions, three devices')
  const encoded = [basicAuth('bob', secrets.second), basicAuth('bob', secrets.wrong)].map(({ authorization }) =>
    authorization.slice('Basic '.length),
  )
  for (const secret of [...Object.values(secrets), ...tokens, ...encoded, ADMIN_PASSWORD, admin.cookie ?? '']) {
    assert.ok(secret !== '')
    for (const [where, text] of Object.entries({ output, rows, trail })) {
      assert.ok(!text.includes(secret), `${secret} is in the ${where}`)
    }
  }
})
