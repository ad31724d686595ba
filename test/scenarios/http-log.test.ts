import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { exchange, line } from '../support/raw.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

interface Line {
  readonly msg?: string
  readonly requestId?: string
  readonly method?: string
  readonly path?: string
  readonly status?: number
  readonly user?: string
  readonly address?: string
}

test('no password, token or cookie appears in the log or in responses, whatever fails (canary)', async t => {
  const canary = `Canary-${randomBytes(9).toString('hex')}`
  const other = `Other-Canary-${randomBytes(9).toString('hex')}`
  const service = await startProcess(t, {
    env: { SERVICE_ADMIN_PASSWORD: canary },
    settings: { 'service.log.level': 'debug', 'service.http.trusted-proxies.1': '127.0.0.1' },
  })
  const admin = service.visitor()
  assert.equal((await admin.signIn('admin', canary)).status, 200)
  const token = admin.cookie ?? ''
  const bob = await newUser(service, admin, other)
  const cookie = `auth_token=${token}`
  const answers = [
    await service.visitor().signIn('admin', `${canary}x`),
    await service.visitor().signIn(bob.name, `${other}${'x'.repeat(2048)}`),
    await service.visitor().signIn('admin', canary, { auth_maxage: 'abc' }),
    await admin.put(`_principals/resource/${bob.id}`, { password: canary, unknown: other, name: 7 }),
    await bob.visitor.put(`_principals/resource/${bob.id}`, { password: canary, currentPassword: `${other}y` }),
    await ask(`${service.base}auth/cookie?auth_password=${canary}`, { method: 'POST', json: { password: canary } }),
    await ask(`${service.base}auth/user?token=${token}&auth_password=${canary}`, { headers: { cookie } }),
    await ask(`${service.base}auth/user?x=%zz&auth_password=${canary}`, { headers: { cookie } }),
    await ask(`${service.base}auth/%zz?auth_password=${canary}`, { headers: { cookie } }),
    await ask(`${service.base}auth/user`, { headers: { authorization: `Basic ${btoa(`admin:${canary}`)}`, cookie } }),
    await admin.ask('auth/tokens', { method: 'DELETE', json: { token: `${token}x` } }),
    await admin.ask('auth/tokens', {
      method: 'DELETE',
      body: `{"token":"${token}"`,
      headers: { 'content-type': 'application/json' },
    }),
    await ask(`${service.base}auth/cookie`, {
      form: { auth_username: canary, auth_password: 'x' },
      headers: { cookie },
    }),
  ]
  await exchange(service.base, line('GET', '/auth/user', `Cookie: ${cookie}; x=${'a'.repeat(20_000)}\r\n`))
  await exchange(service.base, line('GET', `http://admin:${canary}@127.0.0.1/auth/user`))
  await admin.get('auth/logout')
  assert.equal(await service.stop(), 0)
  for (const secret of [canary, other, token, btoa(`admin:${canary}`), 'argon2id']) {
    assert.ok(!service.output().includes(secret), 'a secret is in the log')
  }
  for (const { text } of answers.filter(({ status }) => status >= 400)) {
    for (const secret of [canary, other]) assert.ok(!text.includes(secret), text)
  }
})

test('each request has one line in the log with the id that its answer carries', async t => {
  const service = await startProcess(t, { settings: { 'service.http.trusted-proxies.1': '127.0.0.1' } })
  const admin = await service.admin()
  const asked = [
    'auth/user',
    'auth/tokens',
    'nothing',
    'auth/user?x=%zz',
    'auth/%zz',
    'auth/user?secret=1',
    `${'a'.repeat(1025)}/entry/1`,
  ]
  const ids: string[] = []
  for (const path of asked) {
    const answer = await admin.get(path, { 'x-forwarded-for': '6.6.6.6, 203.0.113.9', 'x-request-id': 'forged' })
    ids.push(String(answer.headers['x-request-id']))
  }
  assert.equal(new Set(ids).size, asked.length)
  // On a loaded machine a request may be slow, which is another line.
  const found = (): Line[] =>
    service.log<Line>().filter(({ requestId, msg }) => ids.includes(requestId ?? '') && msg !== 'slow request')
  await eventually('its line comes', () => found().length >= asked.length)
  // Several threads write to the log, so the order of their lines is open.
  assert.equal(found().length, ids.length)
  assert.deepEqual(new Set(found().map(({ requestId }) => requestId)), new Set(ids))
  for (const { method, path, status, address, msg } of found()) {
    assert.deepEqual([method, address, msg], ['GET', '203.0.113.9', 'request'])
    assert.equal(typeof status, 'number')
    assert.doesNotMatch(path ?? '', /\?/)
  }
  assert.equal(found()[0]?.user, '_admin')
})

test('a line break in an address makes no second line in the log', async t => {
  const service = await startProcess(t)
  const before = service.log<Line>().length
  const forged = '%0A{"level":"info","msg":"forged"}'
  await ask(`${service.base}auth/${forged}`, { headers: { 'user-agent': 'x"}\\n{"msg":"forged"}' } })
  await eventually('its line comes', () => service.log<Line>().length > before)
  assert.ok(service.log<Line>().every(({ msg }) => msg !== 'forged'))
})

test('a restart ends every login and keeps users, passwords and contents (I2.1, I3.1)', async t => {
  const folder = await temporaryFolder()
  const settings = { 'service.auth.token.store': 'memory' }
  const first = await startProcess(t, { folder, settings })
  const admin = await first.admin()
  const bob = await newUser(first, admin)
  const context = await newContext(admin)
  assert.equal(await first.stop(), 0)

  const second = await startProcess(t, { folder, settings, env: { SERVICE_ADMIN_PASSWORD: 'Another-Password-56' } })
  const stale = await ask(`${second.base}auth/user`, { headers: { cookie: `auth_token=${bob.visitor.cookie}` } })
  assert.equal(stale.json()['user'], 'guest')
  assert.match(stale.headers['set-cookie']?.[0] ?? '', /^auth_token=; Max-Age=0; /)
  const again = second.visitor()
  assert.equal((await again.signIn(bob.name, bob.password)).json()['id'], bob.id)
  assert.equal(Object.keys((await again.get('auth/tokens')).json()).length, 1)
  assert.equal((await second.visitor().signIn('admin', 'Another-Password-56')).status, 401)
  const adminAgain = await second.admin()
  assert.equal((await adminAgain.get(`_contexts/entry/${context}`)).status, 200)
})

test('a download that the client ends early is in the log, once', async t => {
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  const path = `${context}/resource/${await newEntry(admin, context)}`
  assert.equal((await putFile(admin, path, Buffer.alloc(20_000_000))).status, 201)
  const download = await sendRaw(service.base, [`GET /${path} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`])
  await download.until(/^HTTP\/1\.1 200 /)
  download.socket.destroy()
  const downloads = () =>
    service.log<Line>().filter(({ method, path: asked }) => method === 'GET' && asked === `/${path}`)
  await eventually('the download is logged', () => downloads().length > 0)
  assert.equal((await admin.ask(path, { method: 'GET', headers: { range: 'bytes=0-9' } })).status, 206)
  await eventually('the second one is logged', () => downloads().some(({ status }) => status === 206))
  await service.stop()
  assert.deepEqual(
    downloads().map(({ status, user }) => [status, user]),
    [
      [200, '_admin'],
      [206, '_admin'],
    ],
  )
})
