import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, type GraphJson, graphOf, principal, readEntry, STORE, uriTerm } from '../support/content.ts'
import { newList, parentLists } from '../support/lists.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const KNOWS = 'http://ex.org/knows'

const relationsOf = async (context: string, id: string, visitor = admin): Promise<GraphJson> => {
  const answer = await visitor.get(`${context}/relations/${id}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<GraphJson>()
}

test('what metadata and info say about an entry stands in its relations and follows every change (W2.9, D11.5)', async () => {
  const context = await newContext(admin)
  const target = await newEntry(admin, context)
  const base = `${admin.base}${context}`
  for (const kind of ['entry', 'resource', 'metadata']) {
    const object = uriTerm(`${base}/${kind}/${target}`)
    const source = await newEntry(admin, context, '', { metadata: graphOf(`${base}/resource/_newId`, KNOWS, object) })
    const said = graphOf(`${base}/resource/${source}`, KNOWS, object)
    assert.deepEqual(await relationsOf(context, target), said, kind)
    assert.deepEqual((await readEntry(admin, context, target)).relations, said)
    const outside = graphOf(`${base}/resource/${source}`, KNOWS, uriTerm('http://ex.org/other'))
    assert.equal((await admin.put(`${context}/metadata/${source}`, outside)).status, 204)
    assert.deepEqual(await relationsOf(context, target), {})
    assert.equal((await admin.put(`${context}/entry/${source}`, said)).status, 204)
    assert.deepEqual(await relationsOf(context, target), said)
    assert.equal((await admin.delete(`${context}/entry/${source}`)).status, 204)
    assert.deepEqual(await relationsOf(context, target), {})
  }
})

test('structure, access lists and resources elsewhere make no relations (W2.9)', async () => {
  const context = await newContext(admin)
  const { id: user } = await newUser(service, admin)
  const target = await newEntry(admin, context)
  const about = graphOf('http://ex.org/page', KNOWS, uriTerm(`${admin.base}${context}/entry/${target}`))
  await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/page', { metadata: about })
  const acl = graphOf(`${admin.base}${context}/resource/${target}`, `${STORE}read`, principal(admin, user))
  assert.equal((await admin.put(`${context}/entry/${target}`, acl)).status, 204)
  assert.deepEqual(await relationsOf(context, target), {})
  assert.deepEqual(await relationsOf('_principals', user), {})
})

test('relations need a right on the entry; statements of unreadable metadata and lists are omitted (D18.12)', async () => {
  const context = await newContext(admin)
  const reader = await newUser(service, admin)
  const [target, list] = [await newEntry(admin, context), await newList(admin, context)]
  const base = `${admin.base}${context}`
  const object = uriTerm(`${base}/entry/${target}`)
  await newEntry(admin, context, '', { metadata: graphOf(`${base}/resource/_newId`, KNOWS, object) })
  assert.equal((await admin.put(`${context}/resource/${list}`, [target])).status, 204)
  const member = graphOf(`${base}/resource/${list}`, `${STORE}hasListMember`, object)
  assertRefused(await service.visitor().get(`${context}/relations/${target}`), 401, 'not-signed-in')
  const acl = graphOf(`${base}/metadata/${target}`, `${STORE}read`, principal(admin, reader.id))
  assert.equal((await admin.put(`${context}/entry/${target}`, acl)).status, 204)
  assert.deepEqual(await relationsOf(context, target, reader.visitor), {})
  const listAcl = graphOf(`${base}/resource/${list}`, `${STORE}read`, principal(admin, reader.id))
  assert.equal((await admin.put(`${context}/entry/${list}`, listAcl)).status, 204)
  assert.deepEqual(await relationsOf(context, target, reader.visitor), member)
  assert.equal(Object.keys(await relationsOf(context, target)).length, 2)
  assertRefused(await admin.get(`${context}/relations/none`), 404, 'not-found')
})

test('the response to a creation in a list shows the list (W2.9)', async () => {
  const context = await newContext(admin)
  const list = await newList(admin, context)
  const id = await newEntry(admin, context, `?list=${admin.base}${context}/resource/${list}`)
  assert.deepEqual(await parentLists(admin, context, id), [`${context}/resource/${list}`])
})

test('groups and home contexts stand in the relations of users and contexts (W2.9)', async () => {
  const { id: user } = await newUser(service, admin)
  const context = await newContext(admin)
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  const self = uriTerm(`${admin.base}_principals/entry/${user}`)
  assert.equal((await admin.put(`_principals/resource/${group}`, [user])).status, 204)
  const resource = (id: string): string => `${admin.base}_principals/resource/${id}`
  assert.deepEqual(await relationsOf('_principals', user), graphOf(resource(group), `${STORE}hasGroupMember`, self))
  assert.equal((await admin.put(`_principals/resource/${user}`, { homecontext: context })).status, 204)
  const home = uriTerm(`${admin.base}_contexts/entry/${context}`)
  assert.deepEqual(await relationsOf('_contexts', context), graphOf(resource(user), `${STORE}homeContext`, home))
  assert.equal((await admin.put(`_principals/resource/${group}`, [])).status, 204)
  assert.equal((await admin.put(`_principals/resource/${user}`, { homecontext: '' })).status, 204)
  assert.deepEqual([await relationsOf('_principals', user), await relationsOf('_contexts', context)], [{}, {}])
})

test('sources with the same id in different contexts each count by their own access list', async () => {
  const [open, closed] = [await newContext(admin), await newContext(admin)]
  const everybody = graphOf(`${admin.base}${open}`, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(`_contexts/entry/${open}`, everybody)).status, 204)
  for (const contexts of [
    [open, closed],
    [closed, open],
  ]) {
    const target = await newEntry(admin, open)
    const object = uriTerm(`${admin.base}${open}/entry/${target}`)
    const saidIn = (context: string) => graphOf(`${admin.base}${context}/resource/same-${target}`, KNOWS, object)
    for (const context of contexts) {
      await newEntry(admin, context, `?id=same-${target}`, { metadata: saidIn(context) })
    }
    assert.deepEqual(await relationsOf(open, target, service.visitor()), saidIn(open))
    assert.deepEqual(await relationsOf(open, target), { ...saidIn(open), ...saidIn(closed) })
  }
})

test('memberships and home contexts are not public (D18.12)', async () => {
  const [member, other] = [await newUser(service, admin), await newUser(service, admin)]
  const context = await newContext(admin)
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  assert.equal((await admin.put(`_principals/resource/${group}`, [member.id])).status, 204)
  const setHome = async () =>
    assert.equal((await admin.put(`_principals/resource/${member.id}`, { homecontext: context })).status, 204)
  const everybody = principal(admin, '_guest')
  for (const [at, id] of [
    ['_principals', member.id],
    ['_contexts', context],
  ] as const) {
    const open = graphOf(`${admin.base}${at}/metadata/${id}`, `${STORE}read`, everybody)
    assert.equal((await admin.put(`${at}/entry/${id}`, open)).status, 204)
  }
  // The home context stands in the info that has just been replaced.
  await setHome()
  assert.match(JSON.stringify(await relationsOf('_principals', member.id)), /hasGroupMember/)
  assert.match(JSON.stringify(await relationsOf('_principals', member.id, member.visitor)), /hasGroupMember/)
  assert.match(JSON.stringify(await relationsOf('_contexts', context)), /homeContext/)
  for (const visitor of [service.visitor(), other.visitor])
    assert.deepEqual(await relationsOf('_principals', member.id, visitor), {})
  const byGuest = await relationsOf('_contexts', context, service.visitor())
  // The info of this user is open to guests by its access list, so their home context is, too.
  assert.match(JSON.stringify(byGuest), /homeContext/)
  const closed = graphOf(`${admin.base}_principals/metadata/${member.id}`, `${STORE}read`, principal(admin, '_admin'))
  assert.equal((await admin.put(`_principals/entry/${member.id}`, closed)).status, 204)
  await setHome()
  assert.deepEqual(await relationsOf('_contexts', context, service.visitor()), {})
  assert.match(JSON.stringify(await relationsOf('_contexts', context)), /homeContext/)
})
