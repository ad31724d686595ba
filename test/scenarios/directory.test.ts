import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, addUserWithoutPassword, guess } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { assertRefused } from '../support/content.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

interface Item {
  readonly id: string
  readonly contextId: string
  readonly name?: string
  readonly [member: string]: unknown
}

async function list(kind: 'users' | 'groups' | 'contexts', query = '') {
  const answer = await admin.get(`management/${kind}${query}`)
  assert.equal(answer.status, 200, answer.text)
  const found = answer.json<{ results: number; limit: number; offset: number } & Record<typeof kind, Item[]>>()
  return { ...found, items: found[kind] }
}

const search = (text: string): string => `?query=${encodeURIComponent(text)}`

test('users are listed by name with the facts that administrators need', async () => {
  const { id } = await addUser(admin, 'lina@list.example')
  const bare = await addUserWithoutPassword(admin, 'mona@list.example')
  const context = await newContext(admin)
  await admin.put(`_principals/resource/${bare.id}`, { homecontext: context, disabled: true })
  await guess(service.visitor(), 'lina@list.example', 5)
  const { items, results } = await list('users', search('@LIST.example'))
  const lockedUntil = items[0]?.['lockedUntil']
  assert.ok(typeof lockedUntil === 'string' && Date.parse(lockedUntil) > service.system.now())
  assert.deepEqual(items, [
    { id, name: 'lina@list.example', disabled: false, hasPassword: true, lockedUntil },
    {
      id: bare.id,
      name: 'mona@list.example',
      disabled: true,
      hasPassword: false,
      homecontext: context,
      quota: { quota: -1, fillLevel: 0, hasDefaultQuota: true },
    },
  ])
  assert.equal(results, 2)
})

test('the list of users has full name, e-mail address and last sign-in; full names are as they were typed', async () => {
  const { id, visitor } = await newUser(service, admin)
  const signedIn = new Date(service.system.now()).toISOString()
  service.system.pass(5000)
  await visitor.signIn('nobody', 'Wrong-Password-99')
  const about = `${service.base}_principals/resource/${id}`
  const metadata = {
    [about]: {
      'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Karin Ström' }],
      'http://xmlns.com/foaf/0.1/mbox': [{ type: 'uri', value: 'mailto:karin@list.example' }],
    },
  }
  assert.equal((await admin.put(`_principals/metadata/${id}`, metadata)).status, 204)
  const { items } = await list('users', search(id))
  const user = items.find(item => item.id === id)
  assert.deepEqual(
    [user?.['fullName'], user?.['email'], user?.['lastSignIn']],
    ['Karin Ström', 'karin@list.example', signedIn],
  )
  for (const text of ['RIN STR', 'karin@list', 'Ström'])
    assert.deepEqual(
      (await list('users', search(text))).items.map(found => found.id),
      [id],
      text,
    )
  assert.deepEqual((await list('users', search('Karin Strand'))).items, [])
  const created = await admin.post('_principals?graphtype=group', {
    resource: { name: 'Divers' },
    metadata: {
      [`${service.base}_principals/resource/_newId`]: {
        'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Divers' }],
      },
    },
  })
  const { entryId } = created.json<{ entryId: string }>()
  assert.deepEqual((await list('groups', search('divers'))).items, [
    { id: entryId, name: 'divers', members: 0, fullName: 'Divers' },
  ])
})

test('the list of users is unharmed by a home context that was deleted', async () => {
  const { id, name } = await newUser(service, admin)
  const context = await newContext(admin)
  await admin.put(`_principals/resource/${id}`, { homecontext: context })
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  const { items } = await list('users', search(name))
  assert.equal(items.find(item => item.id === id)?.['quota'], undefined)
})

test('groups are listed with the number of their members; the lists of users and groups are separate', async () => {
  const { id } = await addUser(admin, 'in-a-group')
  const created = await admin.post('_principals?graphtype=group', { resource: { name: 'Listed Group' } })
  const group = created.json<{ entryId: string }>().entryId
  assert.equal((await admin.put(`_principals/resource/${group}`, [id])).status, 204)
  assert.deepEqual((await list('groups', search('listed'))).items, [{ id: group, name: 'listed group', members: 1 }])
  assert.deepEqual((await list('users', search('listed group'))).items, [])
  assert.deepEqual((await list('groups', search('in-a-group'))).items, [])
  const all = (await list('groups')).items.map(({ id }) => id)
  assert.ok(all.includes('_admins') && all.includes('_users'))
})

test('what is searched for is text: signs of patterns, quotes mean nothing special', async () => {
  const { id } = await addUser(admin, "100%_o'neil\\x")
  for (const part of ['100%', '%_o', "'", '\\x', "100%_O'NEIL\\X"])
    assert.deepEqual(
      (await list('users', search(part))).items.map(user => user.id),
      [id],
      part,
    )
  for (const part of ['100x', '_neil', "' OR 1=1 --"]) assert.equal((await list('users', search(part))).results, 0)
})

test('contexts are listed with their quota by name, by bytes, or the fullest first', async () => {
  const sizes = [
    ['fill-half', 1000, 500],
    ['fill-over', 100, 300],
    ['fill-free', -1, 900],
    ['fill-none', 0, 0],
    ['fill-low', 10_000, 800],
  ] as const
  for (const [name, quota, size] of sizes) {
    const created = await admin.post(`_contexts?graphtype=context&id=${name}`, { resource: { name: `Name ${name}` } })
    assert.equal(created.status, 201, created.text)
    await admin.post(`${name}?id=file`)
    if (size > 0) await admin.ask(`${name}/resource/file`, { method: 'PUT', body: 'x'.repeat(size) })
    assert.equal((await admin.put(`${name}/quota`, { quota })).status, 200)
  }
  const order = async (sort: string) =>
    (await list('contexts', `${search('NAME fill')}&sort=${sort}`)).items.map(({ contextId }) => contextId.slice(5))
  assert.deepEqual(await order('name'), ['free', 'half', 'low', 'none', 'over'])
  assert.deepEqual(await order('used'), ['free', 'low', 'half', 'over', 'none'])
  assert.deepEqual(await order('fullness'), ['over', 'none', 'half', 'low', 'free'], 'no limit, never full')
  const [half] = (await list('contexts', search('fill-half'))).items
  assert.deepEqual(half?.['quota'], { quota: 1000, fillLevel: 500, hasDefaultQuota: false })
  assert.equal(half?.name, 'Name fill-half')
})

test('administrators find a context by a part of its title', async () => {
  const context = await newContext(admin)
  const title = { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Tide gauges of Trondheim' }] }
  assert.equal((await admin.put(`_contexts/metadata/${context}`, { [admin.base + context]: title })).status, 204)
  const found = async (): Promise<unknown[]> =>
    (await list('contexts', search('GAUGES of tr'))).items.map(({ contextId }) => contextId)
  assert.deepEqual(await found(), [context])
})

test('contexts without a quota of their own are as full as the default makes them', async t => {
  const settings = { 'service.data.quota': 'on', 'service.data.quota.default': '1000' }
  const other = await startInProcess(t, { settings })
  const root = await other.admin()
  const [plain, roomy] = [await newContext(root), await newContext(root)]
  await root.put(`${roomy}/quota`, { quota: 10_000 })
  for (const [context, size] of [
    [plain, 200],
    [roomy, 900],
  ] as const) {
    await root.post(`${context}?id=file`)
    await root.ask(`${context}/resource/file`, { method: 'PUT', body: 'x'.repeat(size) })
  }
  const { contexts } = (await root.get('management/contexts?sort=fullness')).json<{ contexts: Item[] }>()
  assert.deepEqual(
    contexts.map(({ contextId }) => contextId),
    [plain, roomy],
  )
})

test('without quota, contexts are sorted by bytes, and no quota is shown', async t => {
  const other = await startInProcess(t)
  const root = await other.admin()
  const [empty, filled] = [await newContext(root), await newContext(root)]
  await root.post(`${filled}?id=file`)
  await root.ask(`${filled}/resource/file`, { method: 'PUT', body: 'x' })
  const { contexts } = (await root.get('management/contexts?sort=fullness')).json<{ contexts: Item[] }>()
  assert.deepEqual(
    contexts.map(({ contextId, quota }) => [contextId, quota]),
    [
      [filled, undefined],
      [empty, undefined],
    ],
  )
})

for (const kind of ['users', 'groups', 'contexts'] as const) {
  test(`portions of ${kind} together are the whole, each once; what makes no sense is refused`, async () => {
    for (let count = 0; count < 5; count++) {
      await addUser(admin, `portion-${kind}-${count}`)
      await admin.post('_principals?graphtype=group', { resource: { name: `group-${kind}-${count}` } })
      await newContext(admin)
    }
    const keyOf = ({ id, contextId }: Item): string => (kind === 'contexts' ? contextId : id)
    const whole = await list(kind, '?limit=100')
    const parts: string[] = []
    for (let offset = 0; offset < whole.results; offset += 2) {
      const part = await list(kind, `?limit=2&offset=${offset}`)
      assert.deepEqual([part.limit, part.offset, part.results], [2, offset, whole.results])
      parts.push(...part.items.map(keyOf))
    }
    assert.deepEqual(parts, whole.items.map(keyOf))
    assert.equal((await list(kind, '?limit=1000')).limit, 100)
    for (const query of ['limit=x', 'limit=-1', 'offset=1.5', 'query=a&query=b', 'query=%ff'])
      assertRefused(await admin.get(`management/${kind}?${query}`), 400, 'invalid-query')
  })

  test(`only administrators see the ${kind} (D1.5)`, async () => {
    const { visitor } = await newUser(service, admin)
    assertRefused(await visitor.get(`management/${kind}?limit=bad`), 403, 'not-allowed')
    assertRefused(await service.visitor().get(`management/${kind}`), 401, 'not-signed-in')
    assert.equal((await admin.ask(`management/${kind}`, { method: 'DELETE' })).status, 405)
  })
}

test('an unknown order of contexts is refused', async () => {
  assertRefused(await admin.get('management/contexts?sort=id'), 400, 'invalid-query')
})
