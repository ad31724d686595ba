import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, modifiedOf, principal, readEntry, STORE } from '../support/content.ts'
import { childIds, idsOf, newList, newTitled, parentLists, readList } from '../support/lists.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

test('a list inside its entry shows its page, its size and all its members in their order (W2.7)', async () => {
  const context = await newContext(admin)
  const [b, a, none] = [
    await newTitled(admin, context, 'beta'),
    await newTitled(admin, context, 'Alpha'),
    await newEntry(admin, context),
  ]
  const inner = await newList(admin, context, [none])
  const list = await newList(admin, context, [b, a, inner])
  const whole = await readList(admin, context, list)
  assert.deepEqual([whole.size, whole.limit, whole.offset, whole.allUnsorted], [3, 0, 0, [b, a, inner]])
  assert.deepEqual(childIds(whole), [b, a, inner])
  const [first, , last] = whole.children
  assert.ok(first?.info && first.metadata && first.relations && first.rights)
  assert.equal(first.resource, undefined)
  assert.equal(last?.size, 1)

  const usual = await readList(admin, context, list, '&limit=50&sort=title&prio=List')
  assert.deepEqual([usual.limit, childIds(usual), usual.allUnsorted], [50, [inner, a, b], [b, a, inner]])
  const page = await readList(admin, context, list, '&limit=1&offset=1&sort=title')
  assert.deepEqual([page.limit, page.offset, page.size, childIds(page)], [1, 1, 3, [b]])
  assert.deepEqual(childIds(await readList(admin, context, list, '&sort=title&order=desc')), [b, a, inner])
  assert.deepEqual(childIds(await readList(admin, context, list, '&limit=-1&offset=2')), [inner])
  assert.equal((await readList(admin, context, list, '&limit=1000')).limit, 100)
  for (const query of ['sort=colour', 'limit=ten', 'offset=1.5', 'lang=%2F'])
    assertRefused(await admin.get(`${context}/entry/${list}?includeAll&${query}`), 400, 'invalid-query', query)
})

test('the ids of a list come in the order asked for, also by date and by bytes (W3.8.5)', async () => {
  const context = await newContext(admin)
  const ids: string[] = []
  for (const bytes of [30, 10, 20]) {
    const id = await newEntry(admin, context)
    service.system.pass(1000)
    await admin.ask(`${context}/resource/${id}`, { method: 'PUT', body: 'x'.repeat(bytes) })
    ids.push(id)
  }
  const [one = '', two = '', three = ''] = ids
  const list = await newList(admin, context, [two, three, one])
  service.system.pass(1000)
  assert.equal((await admin.put(`${context}/metadata/${two}`, {})).status, 204)
  assert.deepEqual(await idsOf(admin, context, list), [two, three, one])
  assert.deepEqual(await idsOf(admin, context, list, '?sort=created'), [one, two, three])
  assert.deepEqual(await idsOf(admin, context, list, '?sort=modified&order=desc'), [two, three, one])
  assert.deepEqual(await idsOf(admin, context, list, '?sort=size'), [two, three, one])
  assert.deepEqual(await idsOf(admin, context, list, '?sort=size&order=desc'), [one, three, two])
})

test('members that the caller may not read stay in the list, without metadata and unsorted (W2.7, D11.6)', async () => {
  const context = await newContext(admin)
  const { id: user, visitor } = await newUser(service, admin)
  const secret = await newTitled(admin, context, 'aaa')
  const open = await newTitled(admin, context, 'zzz')
  const info = graphOf(`${admin.base}${context}/metadata/${open}`, `${STORE}read`, principal(admin, user))
  assert.equal((await admin.put(`${context}/entry/${open}`, info)).status, 204)
  const list = await newList(admin, context, [secret, open])
  const read = graphOf(`${admin.base}${context}/resource/${list}`, `${STORE}read`, principal(admin, user))
  assert.equal((await admin.put(`${context}/entry/${list}`, read)).status, 204)
  const seen = await readList(visitor, context, list, '&sort=title')
  assert.deepEqual(childIds(seen), [open, secret])
  assert.ok(seen.children[0]?.metadata)
  assert.equal(seen.children[1]?.metadata, undefined)
  assert.deepEqual(seen.children[1]?.rights, [])
  assert.deepEqual(seen.children[1]?.info, {})
  assertRefused(await service.visitor().get(`${context}/entry/${list}`), 401, 'not-signed-in')
  assertRefused(await service.visitor().get(`${context}/resource/${list}`), 401, 'not-signed-in')
  assertRefused(
    await service.visitor().ask(`${context}/resource/${list}`, { method: 'PUT', json: [] }),
    401,
    'not-signed-in',
  )
  assertRefused(await visitor.put(`${context}/resource/${list}`, []), 403, 'not-allowed')
  assertRefused(await visitor.delete(`${context}/resource/${list}`), 403, 'not-allowed')
})

test('an entry is in one list only, and no list is inside itself: 409, and nothing changes (W3.8.5)', async () => {
  const context = await newContext(admin)
  const [one, two] = [await newEntry(admin, context), await newEntry(admin, context)]
  const inner = await newList(admin, context, [one])
  const outer = await newList(admin, context, [inner])
  for (const members of [[two, one], [two, inner, two], [outer]])
    assertRefused(await admin.put(`${context}/resource/${outer}`, members), 409, 'conflict')
  assertRefused(await admin.put(`${context}/resource/${inner}`, [outer]), 409, 'conflict')
  assertRefused(await admin.put(`${context}/resource/${outer}`, [inner, 'none']), 400, 'invalid-member')
  assertRefused(await admin.post(`${context}?graphtype=list`, { resource: [one] }), 409, 'conflict')
  assert.deepEqual([await idsOf(admin, context, outer), await idsOf(admin, context, inner)], [[inner], [one]])
  assert.equal((await admin.put(`${context}/resource/${outer}`, [two, inner])).status, 204)
  assert.deepEqual(await idsOf(admin, context, outer), [two, inner])
})

test('DELETE empties a list; its members stay (W3.8.5)', async () => {
  const context = await newContext(admin)
  const one = await newEntry(admin, context)
  const list = await newList(admin, context, [one])
  const before = modifiedOf(admin, context, await readEntry(admin, context, list))
  assert.equal((await admin.delete(`${context}/resource/${list}`)).status, 204)
  assert.deepEqual(await idsOf(admin, context, list), [])
  assert.ok(modifiedOf(admin, context, await readEntry(admin, context, list)) > before)
  assert.deepEqual(await parentLists(admin, context, one), [])
  assert.equal((await admin.put(`${context}/resource/${await newList(admin, context)}`, [one])).status, 204)
})

test('a list deleted with ?recursive takes all that is in it along, else its members stay (W3.3.3)', async () => {
  for (const path of ['entry', 'resource']) {
    const { id: user, visitor } = await newUser(service, admin)
    const context = await newContext(admin)
    const [leaf, beside] = [await newEntry(admin, context), await newEntry(admin, context)]
    const inner = await newList(admin, context, [leaf])
    const outer = await newList(admin, context, [inner])
    const info = graphOf(`${admin.base}${context}/entry/${outer}`, `${STORE}write`, principal(admin, user))
    assert.equal((await admin.put(`${context}/entry/${outer}`, info)).status, 204)
    assertRefused(await visitor.delete(`${context}/${path}/${outer}?recursive=true`), 403, 'not-allowed')
    assertRefused(await service.visitor().delete(`${context}/${path}/${outer}?recursive=true`), 401, 'not-signed-in')
    assert.equal((await admin.get(context)).json<string[]>().length, 4)
    assert.equal((await admin.delete(`${context}/${path}/${outer}?recursive=true`)).status, 204)
    assert.deepEqual((await admin.get(context)).json(), [beside])
  }
  const context = await newContext(admin)
  const member = await newEntry(admin, context)
  const list = await newList(admin, context, [member])
  assert.equal((await admin.delete(`${context}/entry/${list}`)).status, 204)
  assert.deepEqual(await parentLists(admin, context, member), [])
  assert.equal((await admin.post(`${context}?graphtype=list`, { resource: [member] })).status, 201)
})

test('?applyACLtoChildren gives the list’s rights to all below, if the caller administers all (W3.3.2)', async () => {
  const context = await newContext(admin)
  const { id: user, visitor } = await newUser(service, admin)
  const leaf = await newEntry(admin, context)
  const list = await newList(admin, context, [await newList(admin, context, [leaf])])
  const info = graphOf(`${admin.base}${context}/entry/${list}`, `${STORE}write`, principal(admin, user))
  assert.equal((await admin.put(`${context}/entry/${list}`, info)).status, 204)
  assertRefused(await visitor.put(`${context}/entry/${list}?applyACLtoChildren`, info), 403, 'not-allowed')
  assertRefused(await visitor.get(`${context}/entry/${leaf}`), 403, 'not-allowed')
  assert.equal((await admin.put(`${context}/entry/${list}?applyACLtoChildren`, info)).status, 204)
  assert.deepEqual((await readEntry(visitor, context, leaf)).rights, ['administer'])
})

test('?applyACLtoChildren changes nothing of the members but their access lists', async () => {
  const context = await newContext(admin)
  const text = await newEntry(admin, context, '?graphtype=string', { resource: 'the text' })
  const file = await newTitled(admin, context, 'With a file')
  const upload = { method: 'PUT', body: 'bytes', headers: { 'content-type': 'text/plain' } }
  assert.equal((await admin.ask(`${context}/resource/${file}`, upload)).status, 201)
  const list = await newList(admin, context, [text, file])
  const before = await readEntry(admin, context, file)
  const info = graphOf(`${admin.base}${context}/metadata/${list}`, `${STORE}read`, principal(admin, '_guest'))
  assert.equal((await admin.put(`${context}/entry/${list}?applyACLtoChildren`, info)).status, 204)
  const after = await readEntry(admin, context, file)
  const r = `${admin.base}${context}/resource/${file}`
  assert.deepEqual(after.metadata, before.metadata)
  assert.deepEqual(after.info[r], before.info[r])
  assert.ok(after.info[`${admin.base}${context}/metadata/${file}`])
  assert.equal((await admin.get(`${context}/resource/${text}`)).text, 'the text')
})
