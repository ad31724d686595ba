import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { assertRefused, graphOf, type QuotaJson, readEntry, textTerm, TITLE } from '../support/content.ts'
import { moveInto, share } from '../support/folder-access.ts'
import type { Visitor } from '../support/http-client.ts'
import { idsOf, newList, newTitled } from '../support/lists.ts'
import { begin, newEntries, operate, operateWhole, over, readOperation, unknownIds } from '../support/operations.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'
import { until } from '../support/waiting.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const TAG = 'http://www.w3.org/ns/dcat#keyword'

async function newFile(context: string, bytes: string, list?: string): Promise<string> {
  const query = list === undefined ? '' : `?list=${encodeURIComponent(`${admin.base}${context}/resource/${list}`)}`
  const id = await newTitled(admin, context, `File of ${bytes.length}`, query)
  assert.equal((await putFile(admin, `${context}/resource/${id}`, bytes)).status, 201)
  return id
}

const level = async (context: string): Promise<number> =>
  (await admin.get(`${context}/quota`)).json<QuotaJson>().fillLevel

const trashed = async (context: string): Promise<readonly string[]> =>
  (await admin.get(`${context}/trash?limit=100`))
    .json<{ items: { entryId: string }[] }>()
    .items.map(({ entryId }) => entryId)
    .sort()

const tagsOf = async (visitor: Visitor, context: string, id: string): Promise<readonly string[]> =>
  ((await readEntry(visitor, context, id)).metadata?.[`${admin.base}${context}/resource/${id}`]?.[TAG] ?? [])
    .map(({ value }) => value)
    .sort()

interface Event {
  readonly event: string
  readonly actorId?: string
  readonly detail: Readonly<Record<string, unknown>>
}
const eventsOf = async (context: string): Promise<readonly Event[]> =>
  (await admin.get(`management/audit?place=${context}&limit=500`)).json<{ events: readonly Event[] }>().events

test('entries move into a list, out of every list, and all that is in a list into another one (D51.1)', async () => {
  const context = await newContext(admin)
  const [one, other] = [await newList(admin, context), await newList(admin, context)]
  const ids = await newEntries(admin, context, 5)
  await operateWhole(admin, context, { action: 'move', entries: ids, to: { context, list: one } }, 5)
  assert.deepEqual(await idsOf(admin, context, one), ids)
  await operateWhole(
    admin,
    context,
    { action: 'move', list: one, except: ids.slice(0, 2), to: { context, list: other } },
    3,
  )
  assert.deepEqual(await idsOf(admin, context, other), ids.slice(2))
  assert.deepEqual(await idsOf(admin, context, one), ids.slice(0, 2))
  await operateWhole(admin, context, { action: 'move', entries: ids, to: { context } }, 5)
  assert.deepEqual([...(await idsOf(admin, context, one)), ...(await idsOf(admin, context, other))], [])
})

test('entries and folders move into another context, with the quotas of both (D51.1, D51.4)', async () => {
  const [from, to] = [await newContext(admin), await newContext(admin)]
  const folder = await newList(admin, from)
  await newFile(from, 'abc', folder)
  const single = await newFile(from, 'four')
  await operateWhole(admin, from, { action: 'move', entries: [folder, single], to: { context: to } }, 2)
  assert.deepEqual([await level(from), await level(to)], [0, 7])
  assert.equal((await admin.get(to)).json<string[]>().length, 3)

  const big = await newFile(from, 'x'.repeat(50))
  const small = await newFile(from, 'y')
  assert.equal((await admin.put(`${to}/quota`, { quota: 20 })).status, 200)
  const { done, failed, failures } = await operate(admin, from, {
    action: 'move',
    entries: [big, small],
    to: { context: to },
  })
  assert.deepEqual({ done, failed }, { done: 1, failed: 1 })
  assert.deepEqual(
    failures.map(({ entry, code }) => [entry, code]),
    [[big, 'quota-exceeded']],
  )
  assert.deepEqual([await level(from), await level(to)], [50, 8])
})

test('a copy is a new entry with its own file, and a copied folder has copies of all that is in it (D51.2)', async () => {
  const [from, to] = [await newContext(admin), await newContext(admin)]
  const [folder, inner] = [await newList(admin, from), await newList(admin, from)]
  await moveInto(admin, from, inner, folder)
  const files = [await newFile(from, 'abc', inner), await newFile(from, 'defg', inner)]
  await operateWhole(admin, from, { action: 'copy', entries: [inner, folder], to: { context: to } }, 4)
  assert.deepEqual(await idsOf(admin, from, inner), files)
  assert.deepEqual([await level(from), await level(to)], [7, 7])
  const copies = (await admin.get(to)).json<string[]>()
  assert.equal(copies.length, 4)
  const lists: string[][] = []
  for (const id of copies) {
    const answer = await admin.get(`${to}/resource/${id}`)
    if (answer.text.startsWith('[')) lists.push(answer.json<string[]>())
  }
  const [outer, innermost] = lists.sort((a, b) => a.length - b.length)
  assert.ok(outer && innermost)
  assert.deepEqual([outer.length, innermost.length], [1, 2])
  const texts = await Promise.all(innermost.map(async id => (await admin.get(`${to}/resource/${id}`)).text))
  assert.deepEqual(texts, ['abc', 'defg'])
  const [copy = ''] = innermost
  const { metadata = {} } = await readEntry(admin, to, copy)
  assert.equal(metadata[`${admin.base}${to}/resource/${copy}`]?.[TITLE]?.[0]?.value, 'File of 3')
  assert.equal((await admin.delete(`${to}/entry/${copy}`)).status, 204)
  assert.equal((await admin.get(`${from}/resource/${files[0]}`)).text, 'abc')
})

test('a copy belongs to who makes it, and nobody copies what they may not read (D51.2, D51.3)', async () => {
  const { id: user, visitor } = await newUser(service, admin)
  const [from, to] = [await newContext(admin), await newContext(admin, [user])]
  const [open, closed] = [await newFile(from, 'open'), await newFile(from, 'closed')]
  await share(admin, from, open, { readers: [user] })
  const { done, failures } = await operate(visitor, from, {
    action: 'copy',
    entries: [open, closed],
    to: { context: to },
  })
  assert.equal(done, 1)
  assert.deepEqual(
    failures.map(({ entry, code }) => [entry, code]),
    [[closed, 'not-allowed']],
  )
  const listed = await admin.get(to)
  assert.equal(listed.status, 200, listed.text)
  const [copy = ''] = listed.json<string[]>()
  assert.equal((await visitor.get(`${to}/resource/${copy}`)).text, 'open')
  assert.deepEqual((await readEntry(visitor, to, copy)).rights, ['administer'])
})

test('entries go to the trash, come back, and are deleted for good (D51.1)', async () => {
  const context = await newContext(admin)
  const ids = [await newFile(context, 'a'), await newFile(context, 'b'), await newFile(context, 'c')].sort()
  await operateWhole(admin, context, { action: 'trash', entries: ids }, 3)
  assert.deepEqual(await trashed(context), ids)
  await operateWhole(admin, context, { action: 'restore', entries: ids.slice(0, 1) }, 1)
  assert.equal((await admin.get(`${context}/resource/${ids[0]}`)).text, 'a')
  await operateWhole(admin, context, { action: 'purge', entries: ids.slice(1) }, 2)
  assert.deepEqual(await trashed(context), [])
  assert.equal(await level(context), 1)
})

test('entries are shared and tagged, also what a search finds (D51.1)', async () => {
  const { id: user, visitor } = await newUser(service, admin)
  const context = await newContext(admin)
  const word = `zebra${context}`
  const ids = [await newTitled(admin, context, word), await newTitled(admin, context, word)]
  const other = await newTitled(admin, context, 'else')
  await operateWhole(admin, context, { action: 'tag', query: `title:${word}`, tags: { add: ['a', 'b'] } }, 2)
  assert.deepEqual(await tagsOf(admin, context, ids[0] ?? ''), ['a', 'b'])
  await operateWhole(admin, context, { action: 'tag', entries: ids, tags: { add: ['c'], remove: ['a'] } }, 2)
  assert.deepEqual(await tagsOf(admin, context, ids[1] ?? ''), ['b', 'c'])
  assert.deepEqual(await tagsOf(admin, context, other), [])

  const giving = (role: string): object => ({ action: 'share', entries: ids, share: { principal: user, role } })
  await operateWhole(admin, context, giving('reader'), 2)
  assert.deepEqual(await tagsOf(visitor, context, ids[0] ?? ''), ['b', 'c'])
  assertRefused(await visitor.get(`${context}/entry/${other}`), 403, 'not-allowed')
  assertRefused(await visitor.delete(`${context}/entry/${ids[0]}`), 403, 'not-allowed')
  await operateWhole(admin, context, giving('none'), 2)
  assertRefused(await visitor.get(`${context}/entry/${ids[0]}`), 403, 'not-allowed')
})

test('a folder that is shared gives access to what is in it; a list that decides alone is not emptied (D51.1)', async () => {
  const { id: user, visitor } = await newUser(service, admin)
  const context = await newContext(admin)
  const folder = await newList(admin, context)
  const inside = await newFile(context, 'in it', folder)
  const alone = await newFile(context, 'alone')
  await share(admin, context, alone, { readers: [user], only: true })
  const giving = (role: string): object => ({
    action: 'share',
    entries: [folder, alone],
    share: { principal: user, role },
  })
  await operateWhole(admin, context, giving('writer'), 2)
  assert.equal((await visitor.get(`${context}/resource/${inside}`)).text, 'in it')
  assert.equal((await putFile(visitor, `${context}/resource/${alone}`, 'changed')).status, 201)
  const { done, failures } = await operate(admin, context, giving('none'))
  assert.equal(done, 1)
  assert.deepEqual(
    failures.map(({ entry, code }) => [entry, code]),
    [[alone, 'conflict']],
  )
  assertRefused(await visitor.get(`${context}/resource/${inside}`), 403, 'not-allowed')
})

test('each entry is changed by the rights on it, and one that fails stops no other (D51.3, D51.5)', async () => {
  const { id: user, visitor } = await newUser(service, admin)
  const context = await newContext(admin)
  const ids = await newEntries(admin, context, 6)
  for (const id of ids.slice(0, 3)) await share(admin, context, id, { owners: [user] })
  const mixed = [ids[3] ?? '', ids[0] ?? '', 'none', ids[1] ?? '', ids[4] ?? '', ids[2] ?? '']
  const { state, done, failed, failures } = await operate(visitor, context, { action: 'trash', entries: mixed })
  assert.deepEqual({ state, done, failed }, { state: 'done', done: 3, failed: 3 })
  assert.deepEqual(
    failures.map(({ entry, code }) => [entry, code]),
    [
      [ids[3], 'not-allowed'],
      ['none', 'not-found'],
      [ids[4], 'not-allowed'],
    ],
  )
  assert.deepEqual(await trashed(context), ids.slice(0, 3).sort())
})

test('an operation is one event of the audit log, with the number of entries (D51.6)', async () => {
  const context = await newContext(admin)
  const list = await newList(admin, context)
  const ids = await newEntries(admin, context, 4)
  const before = await eventsOf(context)
  const ended = (detail: object): object => ({
    event: 'operation-ended',
    actorId: '_admin',
    detail: { context, state: 'done', ...detail },
  })
  await operate(admin, context, { action: 'move', entries: [...ids, 'none'], to: { context, list } })
  await operate(admin, context, { action: 'trash', entries: ids })
  const events = (await eventsOf(context)).slice(0, -before.length || undefined)
  assert.deepEqual(
    events.map(({ event, actorId, detail }) => ({ event, actorId, detail })),
    [
      ended({ operation: 'trash', entries: 4, failed: 0 }),
      ended({ operation: 'move', entries: 4, failed: 1, to: `${context}/${list}` }),
    ],
  )
})

test('an operation that is cancelled stops, and keeps what it has done (D51.7)', async () => {
  const context = await newContext(admin)
  const [first = ''] = await newEntries(admin, context, 1)
  const { id, total } = await begin(admin, context, { action: 'trash', entries: [first, ...unknownIds(9_999)] })
  assert.equal(total, 10_000)
  await until(
    () => readOperation(admin, context, id),
    ({ done }) => done > 0,
  )
  assert.equal((await admin.delete(`${context}/operations/${id}`)).status, 204)
  const { state, done, failed, failures } = await readOperation(admin, context, id)
  assert.deepEqual({ state, done }, { state: 'cancelled', done: 1 })
  assert.ok(failed < total - 1, `${failed} entries were tried`)
  assert.equal(failures.length, 100)
  assert.equal((await admin.delete(`${context}/operations/${id}`)).status, 204)
  assert.equal((await readOperation(admin, context, id)).failed, failed)
  assert.deepEqual(await trashed(context), [first])
})

test('an operation ends with the session, the account and the access token of its maker (D51.8)', async () => {
  const context = await newContext(admin)
  const slow = { action: 'trash', entries: unknownIds(10_000) }
  const endings: ReadonlyArray<
    (user: Awaited<ReturnType<typeof newUser>>) => Promise<{ visitor: Visitor; end: () => Promise<unknown> }>
  > = [
    async ({ visitor }) => ({ visitor, end: () => visitor.get('auth/logout') }),
    async ({ visitor, id }) => ({
      visitor,
      end: () => admin.put(`_principals/resource/${id}`, { disabled: true }),
    }),
    async ({ visitor }) => {
      const created = await visitor.post('auth/access-tokens', {
        name: 'robot',
        expires: '2027-01-01',
        scopes: ['write'],
      })
      const { id, token } = created.json<{ id: string; token: string }>()
      const robot = service.visitor()
      const asked = robot.ask.bind(robot)
      robot.ask = (path, options) =>
        asked(path, { ...options, headers: { ...options?.headers, authorization: `Bearer ${token}` } })
      return { visitor: robot, end: () => visitor.delete(`auth/access-tokens/${id}`) }
    },
  ]
  for (const ending of endings) {
    const { visitor, end } = await ending(await newUser(service, admin))
    const { id } = await begin(visitor, context, slow)
    await end()
    const { state, code, failed } = await over(admin, context, id)
    assert.deepEqual({ state, code }, { state: 'ended', code: 'not-signed-in' })
    assert.ok(failed < 10_000)
  }
})

test('only the maker of an operation and administrators see and cancel it (D51.9)', async () => {
  const { visitor } = await newUser(service, admin)
  const stranger = await newUser(service, admin)
  const context = await newContext(admin)
  const { id, maker } = await begin(visitor, context, { action: 'trash', entries: ['none'] })
  await over(visitor, context, id)
  for (const asked of [stranger.visitor.get.bind(stranger.visitor), stranger.visitor.delete.bind(stranger.visitor)])
    assertRefused(await asked(`${context}/operations/${id}`), 404, 'not-found')
  assertRefused(await service.visitor().get(`${context}/operations/${id}`), 401, 'not-signed-in')
  assertRefused(
    await service.visitor().post(`${context}/operations`, { action: 'trash', entries: ['1'] }),
    401,
    'not-signed-in',
  )
  assert.equal((await readOperation(admin, context, id)).maker, maker)
  const listed = async (who: Visitor): Promise<readonly string[]> =>
    (await who.get(`${context}/operations`)).json<{ items: { id: string }[] }>().items.map(({ id }) => id)
  assert.deepEqual(await listed(visitor), [id])
  assert.deepEqual(await listed(admin), [id])
  assert.deepEqual(await listed(stranger.visitor), [])
  const elsewhere = await newContext(admin)
  assertRefused(await admin.get(`${elsewhere}/operations/${id}`), 404, 'not-found')
})

test('a request that cannot be carried out is refused before anything begins (D51.10)', async () => {
  const { visitor } = await newUser(service, admin)
  const context = await newContext(admin)
  const other = await newContext(admin)
  const entry = await newEntry(admin, context)
  const cases: ReadonlyArray<readonly [body: object, status: number, code: string, who?: Visitor]> = [
    [{ action: 'shred', entries: [entry] }, 400, 'invalid-json'],
    [{ action: 'trash' }, 400, 'invalid-value'],
    [{ action: 'trash', entries: [entry], query: 'title:x' }, 400, 'invalid-value'],
    [{ action: 'move', entries: [entry] }, 400, 'invalid-value'],
    [{ action: 'trash', entries: [entry], to: { context } }, 400, 'invalid-value'],
    [{ action: 'restore', query: 'title:x' }, 400, 'invalid-value'],
    [{ action: 'tag', entries: [entry], tags: {} }, 400, 'invalid-value'],
    [{ action: 'tag', entries: [entry], tags: { add: [' x'] } }, 400, 'invalid-value'],
    [{ action: 'share', entries: [entry], share: { principal: 'nobody', role: 'reader' } }, 400, 'invalid-value'],
    [{ action: 'move', entries: [entry], to: { context: '_principals' } }, 400, 'invalid-type'],
    [{ action: 'move', entries: [entry], to: { context, list: entry } }, 400, 'unknown-list'],
    [{ action: 'move', entries: [entry], to: { context: 'nowhere' } }, 404, 'not-found'],
    [{ action: 'move', entries: [entry], to: { context: other } }, 403, 'not-allowed', visitor],
    [{ action: 'trash', list: entry }, 400, 'invalid-member'],
    [{ action: 'trash', list: entry }, 403, 'not-allowed', visitor],
    [{ action: 'trash', query: 'title:[' }, 400, 'invalid-query'],
    [{ action: 'trash', entries: unknownIds(10_001) }, 413, 'operation-too-large'],
  ]
  for (const [body, status, code, who = admin] of cases)
    assertRefused(await who.post(`${context}/operations`, body), status, code, JSON.stringify(body).slice(0, 200))
  assertRefused(await admin.post('_principals/operations', { action: 'trash', entries: ['1'] }), 400, 'invalid-type')
  assertRefused(await admin.post('nowhere/operations', { action: 'trash', entries: ['1'] }), 404, 'not-found')
  assert.equal((await admin.get(`${context}/operations`)).json<{ results: number }>().results, 0)
})

test('a user runs five operations at a time, and fifty finished ones are kept (D51.10)', async () => {
  const { visitor } = await newUser(service, admin)
  const context = await newContext(admin)
  const slow = { action: 'trash', entries: unknownIds(10_000) }
  const running: string[] = []
  for (let count = 0; count < 5; count++) running.push((await begin(visitor, context, slow)).id)
  const refused = await visitor.post(`${context}/operations`, slow)
  assertRefused(refused, 429, 'too-many-operations')
  assert.ok(Number(refused.headers['retry-after']) > 0)
  for (const id of running) assert.equal((await visitor.delete(`${context}/operations/${id}`)).status, 204)
  service.system.pass(1000)
  for (let count = 0; count < 50; count++) await operate(visitor, context, { action: 'trash', entries: ['none'] })
  const { results } = (await visitor.get(`${context}/operations`)).json<{ results: number }>()
  assert.equal(results, 50)
  assertRefused(await visitor.get(`${context}/operations/${running[0]}`), 404, 'not-found')
})

test('metadata of a copy speak of the copy (D51.2)', async () => {
  const context = await newContext(admin)
  const about = `${admin.base}${context}/resource/_newId`
  const id = await newEntry(admin, context, '', { metadata: graphOf(about, TITLE, textTerm('Plan')) })
  await operateWhole(admin, context, { action: 'copy', entries: [id], to: { context } }, 1)
  const copy = (await admin.get(context)).json<string[]>().find(one => one !== id) ?? ''
  assert.deepEqual(
    (await readEntry(admin, context, copy)).metadata,
    graphOf(`${admin.base}${context}/resource/${copy}`, TITLE, textTerm('Plan')),
  )
})
