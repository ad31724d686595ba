import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD, WRONG_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { blobsOf } from '../support/blobs.ts'
import { stowage } from '../support/cli.ts'
import { type Pinned, pinToEach } from '../support/pinned.ts'
import { sendRaw } from '../support/raw-request.ts'
import { ADMIN_PASSWORD, newContext, newEntry, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { eventually } from '../support/waiting.ts'

const THREADS = 4
const embedded = { skip: onPostgres && 'there each process has one thread' }
const settings = {
  'service.http.threads': String(THREADS),
  'service.data.quota': 'on',
  'service.auth.http-basic': 'on',
}

const service = onPostgres ? undefined : await startProcess({ after }, { settings })
const admin = await service?.admin()
const threads = service ? await pinToEach(service, THREADS) : []
after(() => {
  for (const thread of threads) thread.close()
})
/** One of the connections, round and round. */
const thread = (index: number): Pinned => {
  const found = threads[index % threads.length]
  assert.ok(found)
  return found
}
/** For a test that is not skipped. */
const present = () => {
  assert.ok(service && admin)
  return { service, admin }
}
const isGuest = (text: string): boolean => (JSON.parse(text) as { user: string }).user === 'guest'

test('a number of threads that does not divide the shared memory into whole bytes serves as well', async t => {
  const odd = await startProcess(t, { settings: { 'service.http.threads': '3' } })
  assert.equal((await odd.visitor().get('management/status')).status, 200)
  assert.equal(await odd.stop(), 0)
})

test(
  'a session is good on every thread at once, and on none from the next request after its end',
  embedded,
  async () => {
    const { admin } = present()
    await addUser(admin, 'wanderer')
    for (let round = 0; round < 12; round++) {
      const [first, last] = [thread(round), thread(round + 1)]
      const { cookie } = await first.signIn('wanderer', GOOD_PASSWORD)
      const before = await Promise.all(threads.map(thread => thread.ask('auth/user', { cookie })))
      assert.deepEqual(
        before.map(({ text }) => isGuest(text)),
        threads.map(() => false),
      )
      const out = await last.ask('auth/logout', { cookie })
      assert.equal(out.status, 204, out.text)
      const after = await Promise.all(threads.map(thread => thread.ask('auth/user', { cookie })))
      assert.deepEqual(
        after.map(({ text }) => isGuest(text)),
        threads.map(() => true),
      )
    }
  },
)

test(
  'a user who is disabled by one thread is refused by every other one from the next request on',
  embedded,
  async () => {
    const { admin } = present()
    for (let round = 0; round < 8; round++) {
      const { id, name } = await addUser(admin, `leaver${round}`)
      const { cookie } = await thread(0).signIn(name, GOOD_PASSWORD)
      for (const thread of threads) assert.ok(!isGuest((await thread.ask('auth/user', { cookie })).text))
      const disabled = await thread(round).ask(`_principals/resource/${id}`, {
        method: 'PUT',
        cookie: admin.cookie,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ disabled: true }),
      })
      assert.equal(disabled.status, 204, disabled.text)
      for (const thread of threads) assert.ok(isGuest((await thread.ask('auth/user', { cookie })).text))
    }
  },
)

test(
  'of parallel attempts on all threads exactly five are checked; unlock works on all of them',
  embedded,
  async () => {
    const { admin, service } = present()
    await addUser(admin, 'target')
    const guesses = await Promise.all(
      Array.from({ length: 40 }, (_, index) => thread(index).signIn('target', WRONG_PASSWORD)),
    )
    const statuses = guesses.map(answer => answer.status)
    assert.equal(statuses.filter(status => status === 401).length, 5)
    assert.equal(statuses.filter(status => status === 429).length, 35)
    const locked = await Promise.all(threads.map(thread => thread.signIn('target', GOOD_PASSWORD)))
    assert.ok(locked.every(({ status }) => status === 429))
    const unlocked = await stowage(service.folder, [
      'unlock',
      'target',
      '--set',
      `service.data.folder=${service.folder}`,
    ])
    assert.equal(unlocked.status, 0, unlocked.stderr)
    for (const thread of threads) assert.equal((await thread.signIn('target', GOOD_PASSWORD)).status, 200)
  },
)

test('uploads at all threads at once fill a quota to the byte and never beyond', embedded, async () => {
  const { admin } = present()
  const context = await newContext(admin)
  assert.equal((await admin.put(`${context}/quota`, { quota: 1000 })).status, 200)
  const ids = await Promise.all(Array.from({ length: 24 }, () => newEntry(admin, context)))
  const answers = await Promise.all(
    ids.map((id, index) =>
      thread(index).ask(`${context}/resource/${id}`, {
        method: 'PUT',
        cookie: admin.cookie,
        headers: { 'content-type': 'text/plain' },
        body: 'x'.repeat(100),
      }),
    ),
  )
  const statuses = answers.map(answer => answer.status)
  assert.equal(statuses.filter(status => status === 201).length, 10, String(statuses))
  assert.equal(statuses.filter(status => status === 413).length, 14, String(statuses))
  const { fillLevel } = (await admin.get(`${context}/quota`)).json<{ fillLevel: number }>()
  assert.equal(fillLevel, 1000)
})

test('what one thread has acknowledged, every other one answers with', embedded, async () => {
  const { admin } = present()
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  const path = `${context}/metadata/${id}`
  for (let round = 0; round < 40; round++) {
    const title = [{ type: 'literal', value: `round ${round}` }]
    const written = await thread(round).ask(path, {
      method: 'PUT',
      cookie: admin.cookie,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ [`${admin.base}${context}/resource/${id}`]: { 'http://purl.org/dc/terms/title': title } }),
    })
    assert.equal(written.status, 204, written.text)
    const answers = await Promise.all(threads.map(thread => thread.ask(path, { cookie: admin.cookie })))
    for (const { text } of answers) assert.ok(text.includes(`"round ${round}"`), text)
  }
})

test('writes at all threads at once are all kept, each with its own number', embedded, async () => {
  const { admin } = present()
  const context = await newContext(admin)
  const created = await Promise.all(
    Array.from({ length: 60 }, (_, index) => thread(index).ask(context, { method: 'POST', cookie: admin.cookie })),
  )
  assert.ok(created.every(answer => answer.status === 201))
  const ids = created.map(answer => (JSON.parse(answer.text) as { entryId: string }).entryId)
  assert.equal(new Set(ids).size, 60)
})

test('the metrics of all threads are added up, whichever thread is asked', embedded, async () => {
  const { admin } = present()
  const count = async (index: number): Promise<number> => {
    const { text } = await thread(index).ask('management/metrics', { cookie: admin.cookie })
    const line = /^stowage_http_requests_total\{[^}]*route="\/auth\/basic"[^}]*\} (\d+)$/m.exec(text)
    assert.match(text, /^process_start_time_seconds \d/m)
    assert.match(text, /^stowage_live_tokens \d/m)
    return Number(line?.[1] ?? 0)
  }
  const before = await count(0)
  for (const thread of threads) for (let n = 0; n < 3; n++) await thread.ask('auth/basic')
  for (let index = 0; index < THREADS; index++) {
    await eventually('all answers have been counted', async () => (await count(index)) === before + 3 * THREADS)
  }
})

test('on SIGTERM the uploads of all threads finish, and the process exits with 0', embedded, async t => {
  const stopping = await startProcess(t, { settings })
  const root = await stopping.admin()
  const context = await newContext(root)
  const uploads = []
  for (let n = 0; n < 12; n++) {
    const id = await newEntry(root, context)
    const head = [`PUT /${context}/resource/${id} HTTP/1.1`, `Cookie: auth_token=${root.cookie}`, 'Content-Length: 10']
    uploads.push({ id, request: await sendRaw(root.base, head, 'first') })
  }
  await eventually('the uploads have begun', async () => (await blobsOf(stopping)).incoming.length === 12)
  const stopped = stopping.stop('SIGTERM')
  await eventually('no new request is served', () =>
    stopping
      .visitor()
      .get('management/status')
      .then(
        () => false,
        () => true,
      ),
  )
  for (const { request } of uploads) request.socket.write('-last')
  for (const { request } of uploads) await request.until(/^HTTP\/1\.1 201 /)
  assert.equal(await stopped, 0, stopping.output())
  const again = await startProcess(t, { folder: stopping.folder, settings })
  const reader = again.visitor()
  assert.equal((await reader.signIn('admin', ADMIN_PASSWORD)).status, 200)
  for (const { id } of uploads) assert.equal((await reader.get(`${context}/resource/${id}`)).text, 'first-last')
})
