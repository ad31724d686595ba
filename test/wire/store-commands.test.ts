import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { type Run, stowage } from '../support/cli.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { storeArguments } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

const service = await startProcess(
  { after },
  { settings: { 'service.data.quota': 'on', 'service.auth.token.store': 'memory' } },
)
const admin = await service.admin()
const store = [...(await storeArguments(service.folder)), '--set', 'service.data.quota=on']
const command = (...words: readonly string[]): Promise<Run> => stowage(service.folder, [...words, ...store])
const done = async (...words: readonly string[]): Promise<string> => {
  const { status, stdout, stderr } = await command(...words)
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
}
const json = async (...words: readonly string[]): Promise<unknown> => JSON.parse(await done(...words, '--json'))
const upload = async (context: string, size: number): Promise<number> => {
  const entry = await newEntry(admin, context)
  return (await putFile(admin, `${context}/resource/${entry}`, 'x'.repeat(size))).status
}

test('`context add`, `list` and `quota` beside a running service, which keeps to the quota at once', async () => {
  const { id } = (await json('context', 'add', 'letters')) as { id: string }
  assert.equal(await upload(id, 500), 201)
  assert.match(await done('context', 'quota', 'letters', '1k'), /letters +500 +1024/)
  assert.equal(await upload(id, 600), 413)
  const listed = (await json('context', 'list')) as Array<Record<string, unknown>>
  const found = listed.find(context => context['name'] === 'letters')
  assert.deepEqual([found?.['id'], found?.['bytes'], found?.['quota']], [id, 500, 1024])
  await done('context', 'quota', 'letters', 'default')
  assert.equal(await upload(id, 600), 201)
  const { events } = (await admin.get('management/audit?event=quota-changed')).json<{
    events: Array<{ actorId?: string; detail: Record<string, unknown> }>
  }>()
  assert.deepEqual([events.length, events[0]?.actorId, events[0]?.detail['by']], [2, undefined, 'command'])
})

test('`quota` sets and shows the limits of users, groups and the store; what is not named stays', async () => {
  const context = await newContext(admin)
  await addUser(admin, 'quota-user')
  await done('quota', 'user', 'quota-user', '2m', '--max-files', '3')
  assert.match(await done('quota', 'user', 'quota-user', '1m'), /quota-user +0 +1048576 +0 +3/)
  await done('quota', 'group', 'lab', '100', '--contexts', context)
  assert.equal(await upload(context, 200), 413)
  const listed = (await json('quota', 'list')) as Array<Record<string, unknown>>
  assert.deepEqual(listed.find(({ kind }) => kind === 'group')?.['quota'], 100)
  assert.match(await done('quota', 'group', 'lab', 'default'), /deleted/)
  assert.equal(await upload(context, 200), 201)
  await done('quota', 'store', '1g')
  assert.equal(((await json('quota', 'store')) as Record<string, unknown>)['quota'], 2 ** 30)
  await done('quota', 'store', 'default')
})

test('`usage` lists the largest contexts and users first', async () => {
  const large = await newContext(admin)
  assert.equal(await upload(large, 5000), 201)
  const found = (await json('usage', '--limit', '1')) as Record<'contexts' | 'users', Array<Record<string, unknown>>>
  assert.deepEqual([found.contexts.length, found.contexts[0]?.['id'], found.contexts[0]?.['bytes']], [1, large, 5000])
  assert.deepEqual(
    found.users.map(({ name }) => name),
    ['admin'],
  )
})

test('`token list` and `token revoke` end a token with its next request', async () => {
  await addUser(admin, 'robot')
  const robot = service.visitor()
  await robot.signIn('robot', GOOD_PASSWORD)
  const expires = new Date(Date.now() + 86_400_000).toISOString()
  const made = await robot.post('auth/access-tokens', { name: 'nightly', expires, scopes: ['read'] })
  assert.equal(made.status, 201, made.text)
  const { id, token } = made.json<{ id: string; token: string }>()
  const use = async (): Promise<number> =>
    (await service.visitor().get('auth/user', { authorization: `Bearer ${token}` })).status
  assert.equal(await use(), 200)
  const listed = await done('token', 'list', 'robot')
  assert.ok(listed.includes(id) && listed.includes('nightly') && !listed.includes(token), listed)
  await done('token', 'revoke', id)
  assert.equal(await use(), 401)
  assert.deepEqual(await json('token', 'list', 'robot'), [])
})

test('`session end` ends all sessions, also in the memory of the service; to list those is refused', async () => {
  await addUser(admin, 'leaving')
  const leaving = service.visitor()
  await leaving.signIn('leaving', GOOD_PASSWORD)
  const refused = await command('session', 'list')
  assert.deepEqual([refused.status, refused.stdout], [1, ''])
  assert.match(refused.stderr, /^stowage: Sessions are in the memory of the service.*\n$/)
  await done('session', 'end', 'leaving')
  assert.equal((await leaving.get('auth/user')).json<{ user: string }>().user, 'guest')
})

test('sessions in the database are listed, and one of them is ended', async t => {
  const folder = await temporaryFolder()
  const settings = {
    'service.auth.token.store': 'database',
    'service.auth.token.key-file': join(folder, 'token.key'),
  }
  const other = await startProcess(t, { folder, settings })
  const [one, two] = [await other.admin(), await other.admin()]
  const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const ask = async (...words: string[]): Promise<Run> =>
    await stowage(folder, [...words, ...(await storeArguments(other.folder)), ...sets])
  const listed = await ask('session', 'list', '--json')
  assert.equal(listed.status, 0, listed.stderr)
  const sessions = JSON.parse(listed.stdout) as Array<{ id: string; user: string }>
  assert.deepEqual(
    sessions.map(({ user }) => user),
    ['admin', 'admin'],
  )
  const ended = await ask('session', 'end', 'admin', '--session', sessions[1]?.id ?? '')
  assert.equal(ended.status, 0, ended.stderr)
  const users = await Promise.all(
    [one, two].map(async visitor => (await visitor.get('auth/user')).json<{ user: string }>().user),
  )
  assert.deepEqual(users.toSorted(), ['admin', 'guest'])
  assert.equal((await ask('session', 'end', 'admin', '--session', sessions[1]?.id ?? '')).status, 1)
})

test('`audit export` prints every event as one line, also for programs', async () => {
  await addUser(admin, 'exported')
  const lines = (await done('audit', 'export', '--json', '--event', 'user-created')).trim().split('\n')
  const events = lines.map(line => JSON.parse(line) as { event: string; userName: string })
  assert.equal(events[0]?.userName, 'exported')
  assert.ok(events.every(({ event }) => event === 'user-created'))
  assert.match(await done('audit', 'export', '--user', 'exported'), /^\S+Z {2}user-created {2}exported/)
})

test('wrong arguments exit with 2, one line and the usage; what is not there or refused with 1 and one line', async () => {
  for (const [words, status, says] of [
    [['usage', '--limit', '0'], 2, /--limit.*"0"/],
    [['context', 'add', '_contexts'], 1, /_contexts/],
    [['context', 'quota', 'nowhere', '1k'], 1, /"nowhere"/],
    [['quota', 'store', '5GB'], 2, /"5GB"/],
    [['quota', 'store', '1g', '--max-files', 'many'], 2, /"many"/],
    [['quota', 'group', 'no spaces', '1g'], 1, /no spaces/],
    [['quota', 'group', 'ghosts'], 1, /"ghosts"/],
    [['token', 'revoke', 'none'], 1, /no access token/],
    [['token', 'list', 'nobody'], 1, /"nobody"/],
    [['session', 'end', 'nobody'], 1, /"nobody"/],
    [['audit', 'export', '--since', 'yesterday'], 2, /--since.*"yesterday"/],
    [['audit', 'export', '--event', 'paint'], 2, /"paint"/],
  ] as const) {
    const run = await command(...words)
    assert.deepEqual([run.status, run.stdout], [status, ''], `${words.join(' ')}: ${run.stderr}`)
    assert.match(run.stderr, says)
    const [, ...more] = run.stderr.trim().split('\n')
    assert.deepEqual(
      more.map(line => line.slice(0, 15)),
      status === 1 ? [] : ['usage: stowage '],
      run.stderr,
    )
  }
  assert.doesNotMatch(await done('quota', 'list'), /1073741824|ghosts/)
})
