import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

interface Writable {
  readonly contexts: ReadonlyArray<{
    readonly contextId: string
    readonly name?: string
    readonly rights: readonly string[]
    readonly quota?: { readonly quota: number }
  }>
  readonly results: number
}

const writable = async (visitor: Visitor, query = ''): Promise<Writable> => {
  const answer = await visitor.get(`auth/user/contexts${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<Writable>()
}

const ids = async (visitor: Visitor, query = ''): Promise<string[]> =>
  (await writable(visitor, query)).contexts.map(({ contextId }) => contextId)

const STORE = 'http://entrystore.org/terms/'

/** A context with one statement of access for one principal. */
async function contextFor(principal: string, right: 'read' | 'write', of: 'entry' | 'resource' | 'metadata') {
  const context = await newContext(admin)
  const subject = {
    entry: `${admin.base}_contexts/entry/${context}`,
    resource: `${admin.base}${context}`,
    metadata: `${admin.base}_contexts/metadata/${context}`,
  }[of]
  const who = [{ type: 'uri', value: `${admin.base}_principals/resource/${principal}` }]
  const put = await admin.put(`_contexts/entry/${context}`, { [subject]: { [STORE + right]: who } })
  assert.equal(put.status, 204, put.text)
  return context
}

test('users find the contexts that they may write to: as owner, as writer, by group or as any user (I5.10, D14.5)', async () => {
  const bob = await newUser(service, admin)
  const created = await admin.post('_principals?graphtype=group', { resource: { name: 'writers' } })
  const group = created.json<{ entryId: string }>().entryId
  assert.equal((await admin.put(`_principals/resource/${group}`, [bob.id])).status, 204)
  const mine = [
    await contextFor(bob.id, 'write', 'entry'),
    await contextFor(bob.id, 'write', 'resource'),
    await contextFor(group, 'write', 'resource'),
    await contextFor('_users', 'write', 'resource'),
  ]
  await contextFor(bob.id, 'read', 'resource')
  await contextFor(bob.id, 'write', 'metadata')
  await contextFor((await addUser(admin, 'somebody-else')).id, 'write', 'entry')
  const { contexts, results } = await writable(bob.visitor)
  assert.deepEqual(contexts.map(({ contextId }) => contextId).sort(), [...mine].sort())
  assert.equal(results, mine.length)
  for (const { rights, quota } of contexts) {
    assert.ok(rights.includes('administer') || rights.includes('writeresource'))
    assert.deepEqual(quota, { quota: -1, fillLevel: 0, hasDefaultQuota: true })
  }
})

test('a right that is taken away, or a context that goes, is not listed any more', async () => {
  const eve = await newUser(service, admin)
  const [kept, lost, gone] = [
    await contextFor(eve.id, 'write', 'entry'),
    await contextFor(eve.id, 'write', 'entry'),
    await contextFor(eve.id, 'write', 'entry'),
  ]
  assert.equal((await ids(eve.visitor)).length, 4, 'with that of any user')
  assert.equal((await admin.put(`_contexts/entry/${lost}`, {})).status, 204)
  assert.equal((await admin.delete(`_contexts/entry/${gone}`)).status, 204)
  const left = await ids(eve.visitor)
  assert.ok(left.includes(kept) && !left.includes(lost) && !left.includes(gone), String(left))
})

test('an administrator may write everywhere: all contexts but those of the system, page by page, by name', async () => {
  const { results } = await writable(admin)
  const pages = []
  for (let offset = 0; offset < results; offset += 3) pages.push(...(await ids(admin, `?limit=3&offset=${offset}`)))
  assert.equal(new Set(pages).size, results)
  assert.ok(pages.every(id => !id.startsWith('_')))
  assert.deepEqual(await ids(admin, '?limit=0'), [])
  for (const query of ['?limit=x', '?offset=-1', '?limit=1&limit=2'])
    assert.equal((await admin.get(`auth/user/contexts${query}`)).status, 400, query)
})

test('a guest is asked to sign in (D1.5)', async () => {
  assert.equal((await service.visitor().get('auth/user/contexts')).status, 401)
})

test('access=shared lists contexts of others that the user can read or write to, directly or through a group', async () => {
  const { id, visitor } = await newUser(service, admin)
  const own = await newContext(admin, [id])
  const give = async (right: 'read' | 'write', principal: string): Promise<string> => {
    const context = await newContext(admin)
    const value = `${service.base}_principals/resource/${principal}`
    const info = {
      [`${service.base}${context}`]: { [`http://entrystore.org/terms/${right}`]: [{ type: 'uri', value }] },
    }
    assert.equal((await admin.put(`_contexts/entry/${context}`, info)).status, 204)
    return context
  }
  const shared = [await give('read', id), await give('write', id), await give('read', '_users')]
  const hidden = await newContext(admin)
  type Answer = { readonly contexts: ReadonlyArray<{ readonly contextId: string }>; readonly results: number }
  const answer = (await visitor.get('auth/user/contexts?access=shared')).json<Answer>()
  const listed = new Set(answer.contexts.map(({ contextId }) => contextId))
  assert.ok(
    shared.every(context => listed.has(context)) && !listed.has(own) && !listed.has(hidden),
    [...listed].join(' '),
  )
  assert.equal(answer.results, listed.size)
  const writable = (await visitor.get('auth/user/contexts?access=write')).json<Answer>()
  assert.ok(writable.contexts.some(({ contextId }) => contextId === own))
  assert.equal((await visitor.get('auth/user/contexts?access=all')).status, 400)
})
