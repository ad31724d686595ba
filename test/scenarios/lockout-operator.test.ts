import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { loadSettings } from '../../src/config/load.ts'
import { addUser, basicAuth, codeOf, GOOD_PASSWORD, guess, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { ADMIN_PASSWORD, newUser, program, startInProcess, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { storeArguments } from '../support/store.ts'

const service = await startInProcess({ after }, { settings: { 'service.auth.http-basic': 'on' } })
const admin = await service.admin()
const anyone = service.visitor()

const lockouts = async (): Promise<Array<Record<string, unknown>>> =>
  (await admin.get('management/lockouts')).json<{ lockouts: Array<Record<string, unknown>> }>().lockouts
const lift = (visitor: Visitor, name: string) => visitor.delete(`management/lockouts?user=${encodeURIComponent(name)}`)

test('an administrator sees locked users, the number of failures and the end of each lock (D6.5)', async () => {
  const { id } = await addUser(admin, 'listed')
  await addUser(admin, 'four-times')
  await guess(anyone, 'four-times', 4)
  await guess(anyone, 'listed', 5)
  const lockedUntil = new Date(service.system.now() + 300_000).toISOString()
  assert.deepEqual(await lockouts(), [{ id, user: 'listed', failures: 5, lockedUntil }])
  service.system.pass(300_000)
  assert.deepEqual(await lockouts(), [])
})

test('a lifted lock is gone at once for form and Basic, and from the list (D6.5)', async () => {
  await addUser(admin, 'lifted')
  await guess(anyone, 'lifted', 5)
  assert.equal((await lift(admin, ' LIFTED ')).status, 204)
  assert.deepEqual(await lockouts(), [])
  assert.equal((await anyone.get('auth/basic', basicAuth('lifted', GOOD_PASSWORD))).status, 200)
  assert.equal((await service.visitor().signIn('lifted', GOOD_PASSWORD)).status, 200)
  assert.deepEqual(await guess(anyone, 'lifted', 6), [401, 401, 401, 401, 401, 429], 'and counts anew from 0')
})

test('a new password from an administrator lifts the lock (D6.5)', async () => {
  const { id } = await addUser(admin, 'helped')
  await guess(anyone, 'helped', 5)
  assert.equal((await anyone.signIn('helped', GOOD_PASSWORD)).status, 429)
  assert.equal((await admin.put(userPath(id), { password: 'Another-Password-9' })).status, 204)
  assert.equal((await service.visitor().signIn('helped', 'Another-Password-9')).status, 200)
})

test('lifting clears the count of a user who is not locked yet (D6.5)', async () => {
  await addUser(admin, 'nearly')
  await guess(anyone, 'nearly', 4)
  assert.equal((await lift(admin, 'nearly')).status, 204)
  assert.deepEqual(await guess(anyone, 'nearly', 5), [401, 401, 401, 401, 401])
})

test('listing and lifting are for administrators: 401 for a guest, 403 for a user, and nothing is lifted (D1.5, D6.5)', async () => {
  await addUser(admin, 'stays-locked')
  const { visitor } = await newUser(service, admin)
  await guess(anyone, 'stays-locked', 5)
  assert.equal((await anyone.get('management/lockouts')).status, 401)
  assert.equal((await visitor.get('management/lockouts')).status, 403)
  assert.equal((await lift(anyone, 'stays-locked')).status, 401)
  assert.equal((await lift(visitor, 'stays-locked')).status, 403)
  assert.equal((await lift(visitor, 'nobody-at-all')).status, 403, 'names are not told apart')
  assert.equal((await anyone.signIn('stays-locked', GOOD_PASSWORD)).status, 429)
})

test('lifting needs a user who exists: 400 without a name, 404 for none, for a group and for NUL', async () => {
  const nameless = await admin.delete('management/lockouts')
  assert.deepEqual([nameless.status, codeOf(nameless)], [400, 'invalid-query'])
  for (const name of ['nobody-at-all', 'admins']) assert.equal((await lift(admin, name)).status, 404, name)
  const other = await admin.post('management/lockouts', {})
  assert.deepEqual([other.status, other.headers['allow']], [405, 'GET, DELETE, HEAD'])
})

test('the user resource shows disabledUntil during a lock and only then (W2.6)', async () => {
  const { id } = await addUser(admin, 'shown')
  assert.equal('disabledUntil' in (await admin.get(userPath(id))).json(), false)
  await guess(anyone, 'shown', 5)
  const until = new Date(service.system.now() + 300_000).toISOString().replace('Z', '')
  assert.equal((await admin.get(userPath(id))).json()['disabledUntil'], until)
  const entry = (await admin.get(`_principals/entry/${id}?includeAll`)).json<{ resource?: Record<string, unknown> }>()
  assert.equal(entry.resource?.['disabledUntil'], until)
  assert.equal((await lift(admin, 'shown')).status, 204)
  assert.equal('disabledUntil' in (await admin.get(userPath(id))).json(), false)
})

test('a deleted user disappears from the list', async () => {
  const { id } = await addUser(admin, 'deleted')
  await guess(anyone, 'deleted', 5)
  assert.equal((await admin.delete(`_principals/entry/${id}`)).status, 204)
  assert.ok((await lockouts()).every(({ user }) => user !== 'deleted'))
})

/** Runs the program once; its exit status and what it printed. */
async function run(...args: string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const status = await new Promise<number | null>(resolve => child.once('close', resolve))
  return { status, output }
}

test('`stowage unlock NAME` lifts the lock of a running service, admin included, and is put on record (D6.5)', async t => {
  const running = await startProcess(t)
  const operator = await running.admin()
  await guess(running.visitor(), 'admin', 5)
  assert.equal((await running.visitor().signIn('admin', ADMIN_PASSWORD)).status, 429)
  const folder = await storeArguments(running.folder)
  const done = await run('unlock', 'ADMIN', ...folder)
  assert.deepEqual(done, { status: 0, output: 'The wrong passwords of admin are forgotten.\n' })
  assert.equal((await running.visitor().signIn('admin', ADMIN_PASSWORD)).status, 200)
  const { events } = (await operator.get('management/audit')).json<{
    events: Array<{ event: string; user?: string }>
  }>()
  assert.deepEqual(
    events.slice(0, 2).map(({ event }) => event),
    ['login', 'unlocked'],
  )

  const unknown = await run('unlock', 'nobody-at-all', ...folder)
  assert.deepEqual([unknown.status, unknown.output.includes('nobody-at-all')], [1, true])
  const group = await run('unlock', 'admins', ...folder)
  assert.equal(group.status, 1)
})

test('a lock that `stowage unlock` lifts is lifted for remembered Basic credentials too, with the next request (D4.3, D6.5)', async t => {
  const running = await startProcess(t, { settings: { 'service.auth.http-basic': 'on' } })
  await addUser(await running.admin(), 'scripted')
  const ask = async (): Promise<number> =>
    (await running.visitor().get('auth/user', basicAuth('scripted', GOOD_PASSWORD))).status
  assert.equal(await ask(), 200)
  await guess(running.visitor(), 'scripted', 5)
  assert.equal(await ask(), 429)
  assert.equal(await ask(), 429)
  assert.equal((await run('unlock', 'scripted', ...(await storeArguments(running.folder)))).status, 0)
  assert.equal(await ask(), 200)
})

test('`stowage unlock` without a name is a usage error; without a store it fails and makes none', async () => {
  for (const args of [['unlock'], ['unlock', '--set', 'service.data.folder=/nowhere'], ['unlock', 'bob', 'alice']]) {
    const { status, output } = await run(...args)
    assert.equal(status, 2, output)
    assert.match(output, /usage: stowage unlock NAME/)
  }
  const empty = await temporaryFolder()
  const { status, output } = await run('unlock', 'bob', ...(await storeArguments(`${empty}/none`)))
  assert.equal(status, 1)
  assert.match(output, /no store/)
})

test('wrong lockout settings stop the start and name the key (D6.4)', () => {
  for (const [key, value] of [
    ['service.auth.temp.lockout.max.attempts', '0'],
    ['service.auth.temp.lockout.max.attempts', '-2'],
    ['service.auth.temp.lockout.duration', '0'],
    ['service.auth.temp.lockout.duration', '5 minutes'],
    ['service.auth.temp.lockout.admin', 'maybe'],
  ] as const) {
    assert.throws(
      () => loadSettings({ overrides: [`${key}=${value}`] }),
      (error: unknown) => error instanceof StartupError && error.message.includes(key),
      `${key}=${value}`,
    )
  }
})
