import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportOf, importInto } from '../support/archives.ts'
import { assertRefused, graphOf, principal, STORE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putChunked, putFile } from '../support/uploads.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const bytes = (count: number): string => 'x'.repeat(count)

interface State {
  readonly owner: { readonly kind: string; readonly id: string }
  readonly quota: number
  readonly fillLevel: number
  readonly hasDefaultQuota: boolean
  readonly maxFiles: number
  readonly files: number
  readonly contexts?: readonly string[]
}

async function set(path: string, limits: object): Promise<State> {
  const answer = await admin.put(`quota/${path}`, limits)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<State>()
}

const state = async (path: string, visitor: Visitor = admin): Promise<State> =>
  (await visitor.get(`quota/${path}`)).json<State>()

async function held(path: string): Promise<[number, number]> {
  const { fillLevel, files } = await state(path)
  return [fillLevel, files]
}

const newPath = async (visitor: Visitor, context: string): Promise<string> =>
  `${context}/resource/${await newEntry(visitor, context)}`

test('a user may fill several contexts, and not a byte more than their own quota (D41.1, D7.4)', async () => {
  const user = await newUser(service, admin)
  const contexts = [await newContext(admin, [user.id]), await newContext(admin, [user.id])]
  await set(`users/${user.id}`, { quota: 1000 })
  for (const context of contexts)
    assert.equal((await putFile(user.visitor, await newPath(user.visitor, context), bytes(500))).status, 201)
  const third = await newPath(user.visitor, contexts[0] ?? '')
  const refused = await putFile(user.visitor, third, 'x')
  assertRefused(refused, 413, 'quota-exceeded')
  const { owner, ownerId, unit, quota, fillLevel, needed, missing } = refused.json()
  assert.deepEqual(
    { owner, ownerId, unit, quota, fillLevel, needed, missing },
    { owner: 'user', ownerId: user.id, unit: 'bytes', quota: 1000, fillLevel: 1000, needed: 1, missing: 1 },
  )
  assertRefused(await putChunked(user.visitor, third, [bytes(1)]), 413, 'quota-exceeded')
  assert.deepEqual(await held(`users/${user.id}`), [1000, 2])
  assert.deepEqual((await state(`users/${user.id}`, user.visitor)).fillLevel, 1000, 'users read their own')
  const own = (await user.visitor.get('quota')).json<{ items: State[] }>().items
  assert.deepEqual(
    own.map(({ owner: { kind }, quota: most }) => [kind, most]),
    [['user', 1000]],
  )
})

test('files count for whoever created their entry, whoever uploads them; for guests and deleted users for nobody (D41.1)', async () => {
  const [maker, other] = [await newUser(service, admin), await newUser(service, admin)]
  const context = await newContext(admin, [maker.id, other.id])
  const path = await newPath(maker.visitor, context)
  assert.equal((await putFile(other.visitor, path, bytes(70))).status, 201)
  assert.deepEqual(
    [await held(`users/${maker.id}`), await held(`users/${other.id}`)],
    [
      [70, 1],
      [0, 0],
    ],
  ) // prettier-ignore
  assert.equal((await admin.delete(`_principals/entry/${maker.id}`)).status, 204)
  assertRefused(await admin.get(`quota/users/${maker.id}`), 404, 'not-found')
  assert.deepEqual(await held(`contexts/${context}`), [70, 1])
  assert.equal((await putFile(other.visitor, path, bytes(30))).status, 201, 'the file goes on')
  assert.equal((await admin.delete(`${context}/entry/${path.split('/').at(-1)}`)).status, 204)
  assert.deepEqual(await held(`contexts/${context}`), [0, 0])
})

test('a group limits the sum of its contexts, which may join and leave it with what they hold (D41.3)', async () => {
  const [one, two] = [await newContext(admin), await newContext(admin)]
  const first = await newPath(admin, one)
  await putFile(admin, first, bytes(300))
  const made = await set('groups/lab', { quota: 1000, contexts: [one, two] })
  assert.deepEqual([made.fillLevel, made.files, made.contexts], [300, 1, [one, two]])
  const second = await newPath(admin, two)
  const refused = await putFile(admin, second, bytes(701))
  assertRefused(refused, 413, 'quota-exceeded')
  assert.match(
    String(refused.json()['detail']),
    /^The group of contexts "lab" has a quota of 1000 bytes and holds 300; 701/,
  )
  assert.equal((await putFile(admin, second, bytes(700))).status, 201)
  assertRefused(await admin.put('quota/groups/other', { contexts: [one] }), 409, 'conflict')
  assertRefused(await admin.get('quota/groups/other'), 404, 'not-found')
  assert.equal((await set('groups/lab', { quota: 1000, contexts: [two] })).fillLevel, 700)
  const { contexts, hasDefaultQuota, maxFiles } = await set('groups/lab', { maxFiles: 5 })
  assert.deepEqual({ contexts, hasDefaultQuota, maxFiles }, { contexts: [two], hasDefaultQuota: true, maxFiles: 5 })
  await set('groups/lab', { quota: 1000 })
  assert.equal((await putFile(admin, first, bytes(900))).status, 201, 'no longer of the group')
  assert.equal((await admin.delete(`_contexts/entry/${two}`)).status, 204)
  assert.deepEqual(await held('groups/lab'), [0, 0])
  assert.equal((await admin.delete('quota/groups/lab')).status, 204)
  assertRefused(await admin.get('quota/groups/lab'), 404, 'not-found')
})

test('numbers of files are limited like bytes; replacing a file needs no further one (D41.2, D41.5)', async () => {
  const context = await newContext(admin)
  await set(`contexts/${context}`, { maxFiles: 2 })
  const paths = [await newPath(admin, context), await newPath(admin, context), await newPath(admin, context)]
  const [one = '', two = '', three = ''] = paths
  for (const path of [one, two, one]) assert.equal((await putFile(admin, path, bytes(5))).status, 201)
  const refused = await putFile(admin, three, '')
  assertRefused(refused, 413, 'quota-exceeded')
  assert.deepEqual([refused.json()['unit'], refused.json()['quota'], refused.json()['fillLevel']], ['files', 2, 2])
  assert.equal((await admin.delete(two)).status, 204)
  assert.equal((await putFile(admin, three, '')).status, 201)
  const form = (await admin.get(`${context}/quota`)).json<object>()
  assert.deepEqual(form, { quota: -1, fillLevel: 5, hasDefaultQuota: true }, 'the form that clients know')
})

test('the store has a quota over all contexts as soon as it gets one (D41.2)', async t => {
  const before = await state('store')
  assert.deepEqual([before.quota, before.hasDefaultQuota], [-1, true])
  t.after(() => admin.delete('quota/store'))
  const { fillLevel } = await set('store', { quota: before.fillLevel + 100 })
  assert.equal(fillLevel, before.fillLevel)
  const path = await newPath(admin, await newContext(admin))
  assertRefused(await putFile(admin, path, bytes(101)), 413, 'quota-exceeded')
  assert.equal((await putFile(admin, path, bytes(100))).status, 201)
  const items = (await admin.get('quota')).json<{ items: State[] }>().items
  assert.deepEqual(
    items.map(({ owner }) => owner.kind),
    ['user', 'store'],
  ) // prettier-ignore
})

test('files that move or go to the trash stay counted for their user and the group of their context (D41.4)', async () => {
  const user = await newUser(service, admin)
  const [from, to] = [await newContext(admin, [user.id]), await newContext(admin, [user.id])]
  await set('groups/source', { contexts: [from] })
  await set('groups/target', { quota: 50, contexts: [to] })
  const path = await newPath(user.visitor, from)
  await putFile(user.visitor, path, bytes(60))
  const id = path.split('/').at(-1)
  const list = await newEntry(user.visitor, to, '?graphtype=list')
  const move = () =>
    user.visitor.post(
      `${to}/resource/${list}?moveEntry=${encodeURIComponent(`${service.base}${from}/entry/${id}`)}`,
      {},
    )
  const refused = await move()
  assertRefused(refused, 413, 'quota-exceeded')
  await set('groups/target', { quota: 60, contexts: [to] })
  const moved = await move()
  assert.equal(moved.status, 200, moved.text)
  assert.deepEqual(
    [await held('groups/source'), await held('groups/target'), await held(`users/${user.id}`)],
    [
      [0, 0],
      [60, 1],
      [60, 1],
    ],
  ) // prettier-ignore
  const there = moved.json<{ entryURI: string }>().entryURI.split('/').at(-1)
  assert.equal((await user.visitor.post(`${to}/trash/${there}`, {})).status, 204)
  assert.deepEqual(
    [await held('groups/target'), await held(`users/${user.id}`)],
    [
      [60, 1],
      [60, 1],
    ],
  )
  assert.equal((await user.visitor.delete(`${to}/trash/${there}`)).status, 204)
  assert.deepEqual(
    [await held('groups/target'), await held(`users/${user.id}`)],
    [
      [0, 0],
      [0, 0],
    ],
  )
})

test('only administrators set quotas and see those of others; what cannot be set is named (D41.5)', async () => {
  const user = await newUser(service, admin)
  for (const path of ['users/_admin', 'groups/any', 'store', 'users', 'groups', 'contexts'])
    assertRefused(await user.visitor.get(`quota/${path}`), 403, 'not-allowed')
  assertRefused(await user.visitor.put(`quota/users/${user.id}`, { quota: -1 }), 403, 'not-allowed')
  assertRefused(await service.visitor().get('quota'), 401, 'not-signed-in')
  for (const wrong of [{ quota: -2 }, { quota: '5' }, { maxFiles: 1.5 }, { limit: 5 }, { contexts: [] }, []])
    assertRefused(await admin.put('quota/store', wrong), 400, 'invalid-quota')
  assertRefused(await admin.put('quota/groups/a%20b', { quota: 5 }), 400, 'invalid-name')
  for (const path of ['users/nobody', 'contexts/nowhere'])
    assertRefused(await admin.put(`quota/${path}`, { quota: 5 }), 404, 'not-found')
  const back = await state(`users/${user.id}`)
  assert.equal((await admin.put(`quota/users/${user.id}`, back)).status, 200, 'what was read can be sent back')
  assert.equal((await admin.delete(`quota/users/${user.id}`)).json<State>().hasDefaultQuota, true)
})

test('lists begin with the largest usage, and can be reduced to owners that have reached a part of a limit', async t => {
  const listing = await startInProcess(t, {
    settings: {
      'service.data.quota': 'on',
      'service.data.quota.default': '100',
      'service.data.quota.user-default': '120',
    },
  })
  const chief = await listing.admin()
  const user = await newUser(listing, chief)
  const [large, small, many] = [await newContext(chief, [user.id]), await newContext(chief), await newContext(chief)]
  await putFile(user.visitor, await newPath(user.visitor, large), bytes(79))
  await putFile(chief, await newPath(chief, small), bytes(8))
  await putFile(chief, await newPath(chief, many), '')
  await chief.put(`quota/contexts/${small}`, { quota: 10 })
  await chief.put(`quota/contexts/${many}`, { maxFiles: 1 })
  await chief.put('quota/groups/both', { quota: 87, contexts: [large, small] })
  const listed = async (path: string): Promise<string[]> =>
    (await chief.get(`quota/${path}`)).json<{ items: State[] }>().items.map(({ owner }) => owner.id)
  assert.deepEqual(await listed('contexts?limit=2'), [large, small])
  assert.deepEqual(await listed('contexts?reached=79'), [large, small, many])
  assert.deepEqual(await listed('contexts?reached=80'), [small, many])
  assert.deepEqual(await listed('contexts?reached=100'), [many])
  assert.deepEqual(await listed('users?reached=65'), [user.id])
  assert.deepEqual(await listed('users?reached=66'), [])
  assert.deepEqual(await listed('groups?reached=100'), ['both'])
})

test('with quota off the addresses answer like those of contexts (D7.1)', async t => {
  const plain = await startInProcess(t)
  for (const path of ['quota', 'quota/store', 'quota/users', 'quota/users/_admin', 'quota/groups/x'])
    assertRefused(await (await plain.admin()).get(path), 501, 'quota-not-supported')
})

test('no context gets the name under which the quotas are (D41.6)', async () => {
  assertRefused(await admin.post('_contexts?graphtype=context', { resource: { name: 'quota' } }), 400, 'invalid-name')
})

test('an import counts the files for the creators that the archive names (D41.4)', async () => {
  const [one, two] = [await newUser(service, admin), await newUser(service, admin)]
  const context = await newContext(admin, [one.id, two.id])
  await putFile(admin, await newPath(one.visitor, context), bytes(40))
  await putFile(admin, await newPath(two.visitor, context), bytes(2))
  const archive = await exportOf(admin, context)
  await putFile(admin, await newPath(one.visitor, context), bytes(500))
  assert.deepEqual(await held(`users/${one.id}`), [540, 2])
  const imported = await importInto(admin, context, archive)
  assert.equal(imported.status, 200, imported.text)
  assert.deepEqual(
    [await held(`users/${one.id}`), await held(`users/${two.id}`), await held(`contexts/${context}`)],
    [
      [40, 1],
      [2, 1],
      [42, 2],
    ],
  ) // prettier-ignore
  await set(`users/${one.id}`, { quota: 39 })
  assert.equal((await importInto(admin, context, archive)).status, 200, 'no more than before')
  await putFile(admin, await newPath(one.visitor, context), '')
  assert.equal((await admin.delete(`${context}/resource/1`)).status, 204)
  assertRefused(await importInto(admin, context, archive), 413, 'quota-exceeded')
  assert.deepEqual(await held(`contexts/${context}`), [2, 2])
})

test('numbers of a quota are for those who may read it; others learn whose quota is full (D7.4, D41.5)', async t => {
  t.after(() => admin.delete('quota/store'))
  const [maker, other] = [await newUser(service, admin), await newUser(service, admin)]
  const context = await newContext(admin, [maker.id])
  const path = await newPath(maker.visitor, context)
  const [, , id] = path.split('/')
  const info = graphOf(admin.base + path, `${STORE}write`, principal(admin, other.id))
  assert.equal((await admin.put(`${context}/entry/${id}`, info)).status, 204)
  await set('groups/hidden', { contexts: [context] })
  const { fillLevel } = await set('store', {})
  const readers: ReadonlyArray<readonly [string, string, number, readonly Visitor[]]> = [
    [`users/${maker.id}`, 'user', 10, [maker.visitor, admin]],
    [`contexts/${context}`, 'context', 10, [maker.visitor, admin]],
    ['groups/hidden', 'group', 10, [admin]],
    ['store', 'store', fillLevel + 10, [admin]],
  ]
  for (const [quota, kind, limit, allowed] of readers) {
    await set(quota, { quota: limit })
    for (const visitor of [maker.visitor, other.visitor, admin]) {
      const upload = { method: 'POST', headers: { 'tus-resumable': '1.0.0', 'upload-length': '11' } }
      const answers = [
        await putFile(visitor, path, bytes(11)),
        await putChunked(visitor, path, [bytes(11)]),
        await visitor.ask(path.replace('/resource/', '/uploads/'), upload),
      ]
      for (const answer of answers) {
        assertRefused(answer, 413, 'quota-exceeded')
        const problem = answer.json()
        if (allowed.includes(visitor)) assert.equal(problem['quota'], limit, quota)
        else {
          const told = 'type title status detail code error unit owner'.split(' ').sort()
          assert.deepEqual(Object.keys(problem).sort(), told)
          assert.deepEqual([problem['owner'], problem['unit']], [kind, 'bytes'])
          assert.doesNotMatch(String(problem['detail']), /\d|hidden/)
        }
      }
    }
    await set(quota, { quota: -1 })
  }
})

test('of the quotas of a group and of the store users learn whether they are full, guests too (D41.5)', async t => {
  t.after(() => admin.delete('quota/store'))
  const user = await newUser(service, admin)
  const context = await newContext(admin, [user.id])
  const ofContext = `quota?context=${context}`
  await putFile(user.visitor, await newPath(user.visitor, context), bytes(20))
  await set('groups/shared', { contexts: [context] })
  const { fillLevel } = await set('store', {})
  const shown = async (visitor: Visitor, path: string) => (await visitor.get(path)).json<{ items: State[] }>().items
  const full = (kind: string, is: boolean) => ({ owner: { kind }, full: is })
  const hidden = async (visitor: Visitor) =>
    (await shown(visitor, ofContext)).filter(({ owner: { kind } }) => kind === 'group' || kind === 'store')
  for (const [limits, is] of [
    [{ quota: -1 }, false],
    [{ quota: fillLevel + 1 }, false],
    [{ quota: 20, maxFiles: -1 }, true],
    [{ quota: -1, maxFiles: 1 }, true],
  ] as const) {
    await set('groups/shared', limits)
    await set('store', limits)
    assert.deepEqual(await hidden(user.visitor), [full('group', is), full('store', is)])
  }
  assert.deepEqual((await shown(user.visitor, 'quota')).slice(1), [full('store', true)])
  assert.deepEqual((await shown(admin, ofContext)).map(({ owner: { id }, maxFiles }) => [id, maxFiles]).slice(1), [
    ['shared', 1],
    ['_admin', -1],
    ['', 1],
  ])
  const guest = service.visitor()
  assertRefused(await guest.get(ofContext), 401, 'not-signed-in')
  assertRefused(await guest.get('quota'), 401, 'not-signed-in')
  const open = graphOf(admin.base + context, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(`_contexts/entry/${context}`, open)).status, 204)
  assert.deepEqual(
    (await shown(guest, ofContext)).map(({ owner: { kind }, fillLevel: level }) => [kind, level]),
    [
      ['context', 20],
      ['group', undefined],
      ['store', undefined],
    ],
  )
})

/** The thresholds that an owner has reached, the last one first. */
async function reached(kind: string, id: string): Promise<unknown[]> {
  const { events } = (await admin.get('management/audit?event=quota-threshold&limit=100')).json<{
    events: Array<{ detail: Record<string, unknown> }>
  }>()
  return events.filter(({ detail }) => detail[kind] === id).map(({ detail }) => detail['percent'])
}

test('a context joins a group only with what fits into its quota; lowering the quota only prevents growth (D41.2, D41.3)', async () => {
  const [large, small, empty] = [await newContext(admin), await newContext(admin), await newContext(admin)]
  const name = 'tight'
  await putFile(admin, await newPath(admin, large), bytes(700))
  await putFile(admin, await newPath(admin, small), bytes(300))
  const put = (limits: object) => admin.put(`quota/groups/${name}`, limits)
  const refused = await put({ quota: 500, contexts: [large] })
  assertRefused(refused, 413, 'quota-exceeded')
  const { owner, ownerId, quota, fillLevel, needed, missing } = refused.json()
  assert.deepEqual([owner, ownerId, quota, fillLevel, needed, missing], ['group', name, 500, 0, 700, 200])
  assertRefused(await admin.get(`quota/groups/${name}`), 404, 'not-found')
  await set(`groups/${name}`, { quota: 500, contexts: [small] })
  assertRefused(await put({ quota: 999, contexts: [small, large] }), 413, 'quota-exceeded')
  assertRefused(await put({ quota: 1000, maxFiles: 1, contexts: [small, large] }), 413, 'quota-exceeded')
  assert.deepEqual((await state(`groups/${name}`)).contexts, [small], 'nothing of the change stays')
  await set(`groups/${name}`, { quota: 1000, contexts: [small, large] })
  assert.equal((await set(`groups/${name}`, { quota: 100 })).fillLevel, 1000)
  await set(`groups/${name}`, { quota: 100, contexts: [small, large, empty] })
})

test('moves, lower quotas and contexts that join a group reach thresholds like uploads do (D41.3)', async () => {
  const user = await newUser(service, admin)
  const [from, to] = [await newContext(admin, [user.id]), await newContext(admin, [user.id])]
  const path = await newPath(user.visitor, from)
  assert.equal((await putFile(user.visitor, path, bytes(85))).status, 201)
  await set(`contexts/${to}`, { quota: 100 })
  const list = await newEntry(user.visitor, to, '?graphtype=list')
  const moved = await user.visitor.post(
    `${to}/resource/${list}?moveEntry=${encodeURIComponent(`${admin.base}${from}/entry/${path.split('/').at(-1)}`)}`,
  )
  assert.equal(moved.status, 200, moved.text)
  assert.deepEqual(await reached('context', to), [80])
  assert.equal((await admin.put(`${to}/quota`, { quota: 94 })).status, 200)
  assert.equal((await admin.put(to, { quota: 85 })).status, 200)
  await set(`contexts/${to}`, { quota: 80 })
  await set(`contexts/${to}`, { quota: 200 })
  await set(`contexts/${to}`, { quota: 106 })
  assert.deepEqual(await reached('context', to), [80, 100, 90, 80])
  await set(`users/${user.id}`, { quota: 85 })
  assert.deepEqual(await reached('user', user.id), [100])
  await set('groups/joined', { quota: 100 })
  await set('groups/joined', { quota: 100, contexts: [to] })
  assert.deepEqual(await reached('group', 'joined'), [80])
  assert.equal((await admin.delete(`quota/users/${user.id}`)).status, 200)
  assert.deepEqual(await reached('user', user.id), [100])
})
