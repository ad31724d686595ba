import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, readEntry, STORE, uriTerm, valuesOf } from '../support/content.ts'
import { newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.nonadmin.group-context-creation': 'on' } })
const admin = await service.admin()

test('group and context are made together, the creator owns both (W3.9)', async () => {
  const { id, visitor, name: owner } = await newUser(service, admin)
  const created = await visitor.ask('_principals/groups?name=Survey%20Team&contextId=survey', {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=UTF-8', 'content-length': '0' },
  })
  assert.deepEqual([created.status, created.text], [201, ''])
  const location = String(created.headers.location)
  assert.ok(location.startsWith(`${visitor.base}_principals/entry/`))
  assert.ok(created.headers['last-modified'])
  const group = await readEntry(visitor, '_principals', location.slice(location.lastIndexOf('/') + 1))
  const { name, children } = group.resource as { name: string; children: Array<{ entryId: string }> }
  assert.equal(name, `${owner}: survey team`)
  assert.deepEqual(
    children.map(child => child.entryId),
    [id],
  )
  assert.deepEqual(group.rights, ['administer'])
  assert.deepEqual(valuesOf(visitor, group, `_principals/resource/${group.entryId}`, `${STORE}homeContext`), [
    `${visitor.base}_contexts/entry/survey`,
  ])
  const context = await readEntry(visitor, '_contexts', 'survey')
  assert.equal(context.name, 'Survey Team')
  assert.deepEqual(context.rights, ['administer'])
  assert.deepEqual(valuesOf(visitor, context, 'survey', `${STORE}write`), [
    uriTerm(`${visitor.base}_principals/resource/${group.entryId}`).value,
  ])

  const member = await newUser(service, admin)
  assertRefused(await member.visitor.post('survey'), 403, 'not-allowed')
  assert.equal((await visitor.put(`_principals/resource/${group.entryId}`, [id, member.id])).status, 204)
  assert.equal((await member.visitor.post('survey')).status, 201)
})

test('a name or id that is taken makes neither group nor context (W3.9)', async () => {
  const { visitor } = await newUser(service, admin)
  const ids = async () => [(await admin.get('_principals')).json(), (await admin.get('_contexts')).json()]
  assert.equal((await visitor.post('_principals/groups?name=One&contextId=one-context')).status, 201)
  const before = await ids()
  for (const query of ['name=one', 'name=other&contextId=one-context', 'name=one-context', 'contextId=One'])
    assert.equal((await visitor.post(`_principals/groups?${query}`)).status, 409, query)
  for (const query of ['name=auth', 'contextId=a%20b', 'contextId=_x', 'contextId=search', 'name='])
    assert.equal((await visitor.post(`_principals/groups?${query}`)).status, 400, query)
  assertRefused(await service.visitor().post('_principals/groups?name=two'), 401, 'not-signed-in')
  assert.deepEqual(await ids(), before)
})

test('without a name and an id, both are still created', async () => {
  const { visitor } = await newUser(service, admin)
  assert.equal((await visitor.post('_principals/groups')).status, 201)
})

test('the name of a user-created group begins with the name of its creator, so that it takes and reveals no other (D18.13)', async () => {
  const { visitor, name: creator } = await newUser(service, admin)
  const { name: taken } = await newUser(service, admin)
  const groupName = async (location: unknown): Promise<string> => {
    const id = String(location).split('/').at(-1) ?? ''
    const { resource } = await readEntry(admin, '_principals', id)
    return (resource as { name: string }).name
  }
  // A name of another user, one that provisioning needs, and one that is free: all are accepted alike.
  for (const name of [taken, 'anna@example.org', 'free']) {
    const created = await visitor.post(
      `_principals/groups?${new URLSearchParams({ name, contextId: `of-${name.length}` })}`,
    )
    assert.equal(created.status, 201, created.text)
    assert.equal(await groupName(created.headers.location), `${creator}: ${name}`)
  }
  // Nor by renaming. The present name can be kept.
  const created = await visitor.post('_principals/groups?name=mine')
  const id = String(created.headers.location).split('/').at(-1)
  for (const [wanted, given] of [
    [taken, taken],
    [`${creator}: ${taken} too`, `${taken} too`],
    ['Mine', 'mine'],
  ]) {
    const answer = await visitor.put(`_principals/entry/${id}/name`, { name: wanted })
    if (wanted === taken) assert.equal(answer.status, 409, 'their own group has it')
    else assert.equal(await groupName(created.headers.location), `${creator}: ${given}`)
  }
  // Administrators give any name that is free.
  assert.equal((await admin.put(`_principals/entry/${id}/name`, { name: 'staff' })).status, 204)
  assert.equal((await visitor.put(`_principals/entry/${id}/name`, { name: 'staff' })).status, 204)
  assert.equal(await groupName(created.headers.location), 'staff')
})
