import assert from 'node:assert/strict'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { NEXT_PASSWORD, userPath } from '../support/accounts.ts'
import { ask, type Visitor } from '../support/http-client.ts'
import { type InProcess, newUser, startInProcess, startProcess } from '../support/service.ts'
import { onPostgres, openDatabaseOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const keyFile = (folder: string): string => join(folder, 'token.key')
const inDatabase = (folder: string) => ({
  'service.auth.token.store': 'database',
  'service.auth.token.key-file': keyFile(folder),
})
const nameOf = async (visitor: Visitor): Promise<unknown> => (await visitor.get('auth/user')).json()['user']

/** Somebody who has a cookie, at a service that may have another address now. */
function returning(service: { visitor(): Visitor }, { cookie }: Visitor): Visitor {
  const visitor = service.visitor()
  visitor.cookie = cookie
  return visitor
}

async function startOn(t: TestContext, folder: string, settings: Readonly<Record<string, string>> = {}) {
  return await startInProcess(t, { folder, settings: { ...inDatabase(folder), ...settings } })
}

/** Bytes of all files of the store, the key among them or not, and of what a database server holds instead. */
async function dump(folder: string): Promise<Buffer> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(file => file.isFile())
  const bytes = await Promise.all(files.map(file => readFile(join(file.parentPath, file.name))))
  if (!onPostgres) return Buffer.concat(bytes)
  const database = await openDatabaseOf(folder)
  const rows = await database.all(sql`SELECT * FROM ephemeral`)
  await database.close()
  return Buffer.concat([...bytes, Buffer.from(JSON.stringify(rows))])
}

test('with tokens in the database logins outlive the service, with expiry, list and address as they were (D3.6)', async t => {
  const folder = await temporaryFolder()
  const first = await startOn(t, folder)
  const admin = await first.admin()
  const bob = await newUser(first, admin)
  const listed = (await bob.visitor.get('auth/tokens')).json()
  await first.close()

  const second = await startOn(t, folder)
  assert.deepEqual((await returning(second, bob.visitor).get('auth/tokens')).json(), listed)
  assert.equal(await nameOf(returning(second, admin)), 'admin')
})

test('what was ended stays ended after a restart: logout, removal, all others, a new password, a user deleted (D3.5)', async t => {
  const folder = await temporaryFolder()
  const first = await startOn(t, folder)
  const admin = await first.admin()
  const [out, removed, others, changed, deleted] = await Promise.all([1, 2, 3, 4, 5].map(() => newUser(first, admin)))
  assert.ok(out && removed && others && changed && deleted)
  const stays = first.visitor()
  await stays.signIn(others.name, others.password)
  const ended = [out, removed, others, changed, deleted].map(({ visitor }) => ({ cookie: visitor.cookie ?? '' }))
  await out.visitor.get('auth/logout')
  await removed.visitor.ask('auth/tokens', { method: 'DELETE', json: { token: removed.visitor.cookie } })
  await stays.ask('auth/tokens', { method: 'DELETE', json: { scope: 'others' } })
  await admin.put(userPath(changed.id), { password: NEXT_PASSWORD })
  await admin.delete(`_principals/entry/${deleted.id}`)
  const check = async (service: InProcess): Promise<void> => {
    for (const { cookie } of ended) {
      const answer = await ask(`${service.base}auth/user`, { headers: { cookie: `auth_token=${cookie}` } })
      assert.equal(answer.json()['user'], 'guest')
    }
    assert.equal(await nameOf(returning(service, stays)), others.name)
  }
  await check(first)
  await first.close()
  await check(await startOn(t, folder))
})

test('after kill -9 a login is as it was, and its key file is made for the owner alone', async t => {
  const folder = await temporaryFolder()
  const first = await startProcess(t, { folder, settings: inDatabase(folder) })
  const admin = await first.admin()
  assert.equal((await stat(keyFile(folder))).mode & 0o777, 0o600)
  await first.stop('SIGKILL')
  const second = await startProcess(t, { folder, settings: inDatabase(folder) })
  assert.equal(await nameOf(returning(second, admin)), 'admin')
})

test('the last access survives a stop in good order, though it is written behind', async t => {
  const folder = await temporaryFolder()
  const first = await startOn(t, folder)
  const admin = await first.admin()
  first.system.pass(60_000)
  await admin.get('auth/user')
  await first.close()
  const second = await startOn(t, folder)
  const [login] = Object.values((await returning(second, admin).get('auth/tokens')).json<Record<string, object>>())
  assert.deepEqual(
    { ...login, userAgent: '' },
    {
      loginTime: '2026-11-21T10:00:00.000456',
      loginExpiration: '2026-11-22T10:01:00.000000',
      inetAddress: '/127.0.0.1',
      lastAccess: '2026-11-21T10:01:00.000000',
      userAgent: '',
      userName: 'admin',
    },
  )
})

test('no token stands in the files of the store, while it runs and after', async t => {
  const folder = await temporaryFolder()
  const service = await startOn(t, folder)
  const admin = await service.admin()
  const bob = await newUser(service, admin)
  await bob.visitor.get('auth/user')
  await admin.get('auth/logout')
  const tokens = [bob.visitor.cookie ?? '', (await service.admin()).cookie ?? '']
  const check = async (): Promise<void> => {
    const bytes = await dump(folder)
    assert.ok(bytes.includes('session:'), 'the logins are in what was looked at')
    for (const token of tokens) {
      assert.equal(bytes.includes(token), false)
      assert.equal(bytes.includes(Buffer.from(token, 'base64url')), false)
    }
  }
  await check()
  await service.close()
  await check()
})

test('a new key before the old one keeps logins; an old key taken away ends those made with it', async t => {
  const folder = await temporaryFolder()
  const first = await startOn(t, folder)
  const old = await first.admin()
  await first.close()
  const oldKey = await readFile(keyFile(folder), 'utf8')
  const newKey = `${Buffer.alloc(32, 9).toString('base64')}\n`

  await writeFile(keyFile(folder), `${newKey}# until Monday\n${oldKey}`)
  const second = await startOn(t, folder)
  assert.equal(await nameOf(returning(second, old)), 'admin')
  const fresh = await second.admin()
  assert.equal(Object.keys((await fresh.get('auth/tokens')).json()).length, 2)
  await second.close()

  await writeFile(keyFile(folder), newKey)
  const third = await startOn(t, folder)
  assert.equal(await nameOf(returning(third, old)), 'guest')
  assert.deepEqual(Object.keys((await returning(third, fresh).get('auth/tokens')).json()), [fresh.cookie])
})

test('a login that outlived the service ends when it would have ended (I3.1)', async t => {
  const folder = await temporaryFolder()
  const settings = { 'service.auth.cookie.max-age': '60' }
  const first = await startOn(t, folder, settings)
  const admin = await first.admin()
  await first.close()
  const second = await startOn(t, folder, settings)
  assert.equal(await nameOf(returning(second, admin)), 'admin')
  second.system.pass(60_000)
  assert.equal(await nameOf(returning(second, admin)), 'guest')
})

const refusals: ReadonlyArray<
  readonly [why: string, set: Record<string, string>, env: Record<string, string>, RegExp]
> = [
  ['without a key', {}, {}, /service\.auth\.token\.key-file.*SERVICE_AUTH_TOKEN_KEY/],
  [
    'with two sources of keys',
    { 'service.auth.token.key-file': '/nowhere' },
    { SERVICE_AUTH_TOKEN_KEY: Buffer.alloc(32).toString('base64') },
    /service\.auth\.token\.key-file.*SERVICE_AUTH_TOKEN_KEY/,
  ],
  ['with a key that is none', {}, { SERVICE_AUTH_TOKEN_KEY: 'my-secret' }, /SERVICE_AUTH_TOKEN_KEY, line 1/],
]
for (const [why, settings, env, message] of refusals) {
  test(`tokens in the database ${why} stop the start, and no secret is shown`, async t => {
    const start = startProcess(t, { settings: { 'service.auth.token.store': 'database', ...settings }, env })
    await assert.rejects(start, (error: unknown) => {
      assert.match(String(error), message)
      assert.doesNotMatch(String(error), /my-secret|AAAAAA/)
      return true
    })
  })
}

test('a key file that others can read stops the start', async t => {
  const folder = await temporaryFolder()
  await writeFile(keyFile(folder), Buffer.alloc(32).toString('base64'))
  await chmod(keyFile(folder), 0o644)
  await assert.rejects(startProcess(t, { folder, settings: inDatabase(folder) }), /chmod 600/)
})

test('keys from the environment do as well, and are found again', async t => {
  const folder = await temporaryFolder()
  const [one, two] = [1, 2].map(byte => Buffer.alloc(32, byte).toString('base64'))
  const settings = { 'service.auth.token.store': 'database' }
  const first = await startProcess(t, { folder, settings, env: { SERVICE_AUTH_TOKEN_KEY: `${one}` } })
  const admin = await first.admin()
  assert.equal(await first.stop(), 0)
  const second = await startProcess(t, { folder, settings, env: { SERVICE_AUTH_TOKEN_KEY: `${two},${one}` } })
  assert.equal(await nameOf(returning(second, admin)), 'admin')
})
