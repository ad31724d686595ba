import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { GOOD_PASSWORD, NEXT_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { type Run, stowage } from '../support/cli.ts'
import { startProcess } from '../support/service.ts'
import { storeArguments } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const service = await startProcess({ after })
const admin = await service.admin()
const store = await storeArguments(service.folder)
const command = (words: readonly string[], input?: string): Promise<Run> =>
  stowage(service.folder, [...words, ...store], {}, input === undefined ? {} : { input: `${input}\n` })
const done = async (words: readonly string[], input?: string): Promise<string> => {
  const { status, stdout, stderr } = await command(words, input)
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
}
const signIn = async (name: string, password: string): Promise<number> =>
  (await service.visitor().signIn(name, password)).status

interface Event {
  readonly event: string
  readonly actorId?: string
  readonly detail: { readonly by?: string }
}
const events = async (name: string): Promise<Event[]> =>
  (await admin.get(`management/audit?user=${name}`)).json<{ events: Event[] }>().events.reverse()

test('`user add` makes a user who signs in to the running service at once', async () => {
  const added = JSON.parse(await done(['user', 'add', 'Anna', '--password', '--json'], GOOD_PASSWORD)) as object
  assert.deepEqual(
    { ...added, id: '' },
    {
      id: '',
      name: 'anna',
      disabled: false,
      hasPassword: true,
      hasTemporaryPassword: false,
      hasSecondFactor: false,
      homeContext: null,
    },
  )
  assert.equal(await signIn('anna', GOOD_PASSWORD), 200)
  assert.match(await done(['user', 'list']), /^\S+ +anna$/m)
  const [created] = await events('anna')
  assert.deepEqual([created?.event, created?.actorId, created?.detail], ['user-created', undefined, { by: 'command' }])
})

test('`user password` ends the sessions of the user, and sets the password of admin too', async () => {
  await done(['user', 'add', 'bertil', '--password'], GOOD_PASSWORD)
  const bertil = service.visitor()
  assert.equal((await bertil.signIn('bertil', GOOD_PASSWORD)).status, 200)
  await done(['user', 'password', 'bertil', '--temporary'], NEXT_PASSWORD)
  assert.equal((await bertil.get('auth/user')).json<{ user: string }>().user, 'guest')
  assert.equal(await signIn('bertil', GOOD_PASSWORD), 401)
  const [user] = (JSON.parse(await done(['user', 'list', '--json'])) as Array<Record<string, unknown>>).filter(
    ({ name }) => name === 'bertil',
  )
  assert.equal(user?.['hasTemporaryPassword'], true)

  const other = await startProcess({ after })
  const run = await stowage(
    other.folder,
    ['user', 'password', 'admin', ...(await storeArguments(other.folder))],
    {},
    {
      input: `${NEXT_PASSWORD}\n`,
    },
  )
  assert.equal(run.status, 0, run.stderr)
  assert.equal((await other.visitor().signIn('admin', NEXT_PASSWORD)).status, 200)
})

test('`user disable`, `enable` and `delete` work beside the service, and without it', async () => {
  await done(['user', 'add', 'cecilia', '--password'], GOOD_PASSWORD)
  const cecilia = service.visitor()
  await cecilia.signIn('cecilia', GOOD_PASSWORD)
  await done(['user', 'disable', 'cecilia'])
  assert.equal((await cecilia.get('auth/user')).json<{ user: string }>().user, 'guest')
  assert.notEqual(await signIn('cecilia', GOOD_PASSWORD), 200)
  await done(['user', 'enable', 'cecilia'])
  assert.equal(await signIn('cecilia', GOOD_PASSWORD), 200)
  await done(['user', 'delete', 'cecilia'])
  assert.equal(await signIn('cecilia', GOOD_PASSWORD), 401)
  const names = (await events('cecilia')).filter(({ detail }) => detail.by === 'command').map(({ event }) => event)
  assert.deepEqual(names, ['user-created', 'user-disabled', 'user-enabled', 'user-deleted'])

  const stopped = await startProcess({ after })
  await stopped.stop()
  const arguments_ = await storeArguments(stopped.folder)
  const run = await stowage(stopped.folder, ['user', 'add', 'david', ...arguments_])
  assert.equal(run.status, 0, run.stderr)
  assert.match((await stowage(stopped.folder, ['user', 'list', ...arguments_])).stdout, /david +no password/)
})

test('wrong words exit with 2, refused names and passwords with 1, and nothing changes', async () => {
  await done(['user', 'add', 'erik', '--password'], GOOD_PASSWORD)
  const before = await done(['user', 'list', '--json'])
  for (const [words, input, status, says] of [
    [['user'], undefined, 2, /list, add, password/],
    [['user', 'paint'], undefined, 2, /list, add, password/],
    [['user', 'add'], undefined, 2, /NAME is missing/],
    [['user', 'add', 'fredrik', 'gustav'], undefined, 2, /"gustav"/],
    [['user', 'add', '_fredrik'], undefined, 1, /reserved/],
    [['user', 'add', 'fredrik', '--password'], 'short', 1, /password/i],
    [['user', 'add', 'fredrik', '--password'], undefined, 2, /standard input/],
    [['user', 'password', 'erik'], 'short', 1, /password/i],
    [['user', 'disable', 'admin'], undefined, 1, /system user/],
    [['user', 'add', 'ERIK'], undefined, 1, /"erik" exists already/],
    [['user', 'password', 'nobody'], 'Whatever-12', 1, /no user "nobody"/],
    [['user', 'delete', 'admin'], undefined, 1, /cannot be deleted/],
  ] as const) {
    const run = await command(words, input)
    assert.deepEqual([run.status, run.stdout], [status, ''], `${words.join(' ')}: ${run.stderr}`)
    assert.match(run.stderr, says)
  }
  assert.equal(await done(['user', 'list', '--json']), before)
})

test('without a store the command fails and makes none', async () => {
  const folder = await temporaryFolder()
  const { status, stderr } = await stowage(folder, ['user', 'list', '--set', 'service.data.folder=none'])
  assert.deepEqual([status, /no store/.test(stderr)], [1, true])
})

test('`user add --admin` makes the store with the first administrator before the service has started (D20.10)', async () => {
  const folder = await temporaryFolder()
  const data = join(folder, 'data')
  const own = await storeArguments(data)
  const first = (words: readonly string[]): Promise<Run> =>
    stowage(folder, ['user', 'add', ...words, ...own], {}, { input: `${GOOD_PASSWORD}\n` })
  const without = await first(['anna', '--password'])
  assert.equal(without.status, 1)
  assert.match(without.stderr, /There is no store/)
  const made = await first(['admin', '--admin', '--password'])
  assert.deepEqual([made.status, made.stderr], [0, ''])
  assert.equal(made.stdout, 'admin can sign in as an administrator with a new password.\n')
  assert.equal(
    (await first(['admin', '--admin', '--password'])).stdout,
    'admin can sign in as an administrator with a new password. Their sessions have ended.\n',
  )
  assert.equal((await first(['eva', '--admin', '--password'])).status, 0)

  const started = await startProcess({ after }, { folder: data, env: { SERVICE_ADMIN_PASSWORD: undefined } })
  assert.doesNotMatch(started.output(), /admin has no password yet/)
  for (const name of ['admin', 'eva']) {
    const visitor = started.visitor()
    assert.equal((await visitor.signIn(name, GOOD_PASSWORD)).status, 200)
    assert.equal((await visitor.get('management/users')).status, 200)
  }
})

test('`user add --admin` gives a present user all it takes to sign in as an administrator again (D20.10)', async () => {
  await done(['user', 'add', 'frida', '--password'], GOOD_PASSWORD)
  await done(['user', 'disable', 'frida'])
  for (let attempt = 0; attempt < 20; attempt++) await signIn('frida', 'Wrong-Password-1')
  assert.equal(await signIn('frida', GOOD_PASSWORD), 429)
  assert.match(await done(['user', 'add', 'Frida', '--admin', '--password'], NEXT_PASSWORD), /^frida can sign in as/)
  const frida = service.visitor()
  assert.equal((await frida.signIn('frida', NEXT_PASSWORD)).status, 200)
  assert.equal((await frida.get('management/users')).status, 200)
  const named = (await events('frida')).map(({ event }) => event)
  for (const event of ['user-enabled', 'password-changed', 'unlocked'])
    assert.ok(named.includes(event), `${event}: ${named.join()}`)
  const members = await admin.get('_principals/resource/_admins')
  assert.match(members.text, /frida/)
  await done(['user', 'add', 'frida', '--admin'])
  assert.equal(
    (await admin.get('_principals/resource/_admins')).text.split('"frida"').length,
    members.text.split('"frida"').length,
  )
  assert.equal((await command(['user', 'add', 'guest', '--admin'])).status, 1)
})
