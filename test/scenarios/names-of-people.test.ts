import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, startInProcess, type Service } from '../support/service.ts'

type Audience = 'users' | 'shared' | 'nobody'

/** Anna has a group with Bo and a context with Cid; Dora has nothing in common with her. */
async function startWith(audience: Audience) {
  const service = await startInProcess({ after }, { settings: { 'service.names.visible-to': audience } })
  const admin = await service.admin()
  const [anna, bo, cid, dora] = await Promise.all(['anna', 'bo', 'cid', 'dora'].map(name => addUser(admin, name)))
  assert.ok(anna && bo && cid && dora)
  for (const { id, name } of [anna, bo, cid, dora]) {
    const about = `${admin.base}_principals/resource/${id}`
    const metadata = {
      [about]: { 'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: `${name} zetterlund` }] },
    }
    assert.equal((await admin.put(`_principals/metadata/${id}`, metadata)).status, 204)
  }
  const created = await admin.post('_principals?graphtype=group', { resource: { name: 'divers' } })
  const group = created.json<{ entryId: string }>().entryId
  assert.equal((await admin.put(`_principals/resource/${group}`, [anna.id, bo.id])).status, 204)
  const context = await newContext(admin, [anna.id, cid.id])
  return { service, admin, anna, bo, cid, dora, group, context, visitor: await signedIn(service, 'anna') }
}

async function signedIn(service: Service, name: string): Promise<Visitor> {
  const visitor = service.visitor()
  assert.equal((await visitor.signIn(name, GOOD_PASSWORD)).status, 200)
  return visitor
}

/** Names of users other than system users that a search for people finds, with the values of a facet over the same hits. */
async function found(visitor: Visitor): Promise<readonly [names: string[], facet: number, total: number]> {
  const parameters = new URLSearchParams({
    type: 'solr',
    query: 'graphType:User AND title:*zetterlund*',
    facetFields: 'username',
  })
  const answer = await visitor.get(`search?${parameters.toString()}`)
  assert.equal(answer.status, 200, answer.text)
  const { resource, results, facetFields } = answer.json<{
    resource: { children: ReadonlyArray<{ name: string }> }
    results: number
    facetFields: ReadonlyArray<{ values: readonly unknown[] }>
  }>()
  const names = resource.children.map(({ name }) => name).sort()
  return [names, facetFields[0]?.values.length ?? 0, results]
}

/** Every other way to read the name of one user. */
async function doors(visitor: Visitor, id: string): Promise<readonly number[]> {
  const about = encodeURIComponent(`${visitor.base}_principals/resource/${id}`)
  const paths = [
    `_principals/entry/${id}`,
    `_principals/entry/${id}/name`,
    `_principals/metadata/${id}`,
    `_principals/entry/${id}?includeAll`,
    `lookup?uri=${about}`,
    `_principals/relations/${id}`,
  ]
  return await Promise.all(paths.map(async path => (await visitor.get(path)).status))
}

const open = [200, 200, 200, 200, 200, 200]
const closed = [403, 403, 403, 403, 404, 403]

test('by default all signed-in users read the names of all users (D18.20)', async () => {
  const { visitor, dora } = await startWith('users')
  assert.deepEqual(await found(visitor), [['anna', 'bo', 'cid', 'dora'], 4, 4])
  assert.deepEqual(await doors(visitor, dora.id), open)
})

test('with `shared`, users read the names of those with whom they share a group or a context, by every door (D18.20)', async () => {
  const { service, admin, visitor, bo, cid, dora, group, context } = await startWith('shared')
  assert.deepEqual(await found(visitor), [['anna', 'bo', 'cid'], 3, 3])
  for (const { id } of [bo, cid]) assert.deepEqual((await doors(visitor, id)).slice(0, 4), open.slice(0, 4))
  assert.deepEqual(await doors(visitor, dora.id), closed)
  assert.deepEqual(await doors(service.visitor(), dora.id), [401, 401, 401, 401, 404, 401])
  assert.equal((await visitor.get(`_principals/entry/${group}/name`)).status, 200)
  // A user is found by the exact name, which is needed to share.
  assert.deepEqual((await visitor.get('auth/principals?name=dora')).json(), { id: dora.id })

  // Access to the context counts from the next request on, and until it ends.
  const info = (ids: readonly string[]) => ({
    [`${admin.base}_contexts/entry/${context}`]: {
      'http://entrystore.org/terms/write': ids.map(id => ({
        type: 'uri',
        value: `${admin.base}_principals/resource/${id}`,
      })),
    },
  })
  const first = (await visitor.get('auth/user')).json<{ id: string }>().id
  assert.equal((await admin.put(`_contexts/entry/${context}`, info([first, dora.id]))).status, 204)
  assert.deepEqual(await found(visitor), [['anna', 'bo', 'dora'], 3, 3])
  assert.equal((await visitor.get(`_principals/entry/${dora.id}/name`)).status, 200)
  assert.equal((await visitor.get(`_principals/entry/${cid.id}/name`)).status, 403)
  assert.equal((await admin.put(`_principals/resource/${group}`, [first])).status, 204)
  assert.deepEqual(await found(visitor), [['anna', 'dora'], 2, 2])
  assert.equal((await visitor.get(`_principals/entry/${bo.id}/name`)).status, 403)
})

test('with `nobody`, users read no names, but those of whom they gave access to what is theirs (D18.20)', async () => {
  const { admin, visitor, bo, cid, dora, group, context } = await startWith('nobody')
  assert.deepEqual(await found(visitor), [['anna'], 1, 1])
  for (const { id } of [bo, cid, dora]) assert.deepEqual(await doors(visitor, id), closed)
  const members = (await visitor.get(`_principals/resource/${group}`)).json<{
    children: ReadonlyArray<{ name?: string }>
  }>()
  assert.deepEqual(
    members.children.map(({ name }) => name),
    ['anna', undefined],
  )
  assert.equal((await visitor.get(`_principals/entry/${group}/name`)).status, 200)

  const entry = await newEntry(visitor, context)
  const info = {
    [`${admin.base}${context}/resource/${entry}`]: {
      'http://entrystore.org/terms/read': [
        { type: 'uri', value: `${admin.base}_principals/resource/${dora.id}` },
        // Of somebody else: only the end of the address is that of a user here.
        { type: 'uri', value: `https://example.org/${bo.id}` },
      ],
    },
  }
  assert.equal((await visitor.put(`${context}/entry/${entry}`, info)).status, 204)
  const named = await visitor.get(`${context}/access/${entry}`)
  const names = named.json<{ principals: ReadonlyArray<{ name: string; fullName: string }> }>().principals
  assert.deepEqual(names.map(({ name, fullName }) => `${name}: ${fullName}`).sort(), [
    'anna: anna zetterlund',
    'cid: cid zetterlund',
    'dora: dora zetterlund',
  ])
  assert.deepEqual((await found(admin))[0], ['anna', 'bo', 'cid', 'dora'], 'administrators read all')
})

test('only those who administer an entry read who has access to it', async () => {
  const { service, admin, context } = await startWith('nobody')
  const entry = await newEntry(admin, context)
  const other = await signedIn(service, 'dora')
  assert.equal((await other.get(`${context}/access/${entry}`)).status, 403)
  assert.equal((await service.visitor().get(`${context}/access/${entry}`)).status, 401)
  assert.equal((await admin.get(`${context}/access/none`)).status, 404)
})
