import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused, graphOf, principal, readEntry, STORE, valuesOf } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

const storedFiles = async (): Promise<string[]> => (await blobsOf(service)).stored

test('a deleted entry is gone with its metadata and file, and the room is free again (W3.3.3)', async () => {
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  assert.equal((await admin.ask(`${context}/resource/${id}`, { method: 'PUT', body: 'x'.repeat(100) })).status, 201)
  assert.equal((await storedFiles()).length, 1)
  assert.equal((await admin.delete(`${context}/entry/${id}`)).status, 204)
  for (const kind of ['entry', 'metadata', 'resource'])
    assertRefused(await admin.get(`${context}/${kind}/${id}`), 404, 'not-found')
  assertRefused(await admin.delete(`${context}/entry/${id}`), 404, 'not-found')
  assert.equal((await admin.get(`${context}/quota`)).json()['fillLevel'], 0)
  assert.deepEqual(await storedFiles(), [])
  assert.equal((await admin.get(context)).json<string[]>().length, 0)
})

test('a deleted entry is no longer a member of a list (W3.3.3)', async () => {
  const context = await newContext(admin)
  const [one, two] = [await newEntry(admin, context), await newEntry(admin, context)]
  const list = await newEntry(admin, context, '?graphtype=list', { resource: [one, two] })
  assert.equal((await admin.delete(`${context}/entry/${one}`)).status, 204)
  assert.deepEqual((await admin.get(`${context}/resource/${list}`)).json(), [two])
  assert.equal((await admin.put(`${context}/resource/${list}`, [two])).status, 204)
})

test('a deleted context takes all its entries and files along (W3.3.3)', async () => {
  const context = await newContext(admin)
  await admin.put(context, { alias: 'Doomed' })
  const ids = [await newEntry(admin, context), await newEntry(admin, context), await newEntry(admin, context)]
  for (const id of ids) await admin.ask(`${context}/resource/${id}`, { method: 'PUT', body: id })
  const { id: user } = await newUser(service, admin)
  assert.equal((await admin.put(`_principals/resource/${user}`, { homecontext: context })).status, 204)
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  for (const path of [
    context,
    `${context}/entry/${ids[0]}`,
    `_contexts/entry/${context}`,
    `${context}/quota`,
    'Doomed',
  ])
    assertRefused(await admin.get(path), 404, 'not-found', path)
  assertRefused(await admin.post(context), 404, 'not-found')
  await eventually('its bytes go', async () => (await storedFiles()).length === 0)
  assert.deepEqual((await readEntry(admin, '_principals', user)).resource, {
    name: (await admin.get(`_principals/entry/${user}/name`)).json()['name'],
    customProperties: {},
  })
})

test('the name of a deleted context is free, its id is not (W1.6)', async () => {
  await admin.post('_contexts?graphtype=context&id=once', { resource: { name: 'Once' } })
  await admin.delete('_contexts/entry/once')
  assertRefused(await admin.post('_contexts?graphtype=context&id=once'), 409, 'id-taken')
  assert.equal((await admin.post('_contexts?graphtype=context', { resource: { name: 'Once' } })).status, 201)
})

test('a deleted user is signed out, and a new user of the name inherits neither id nor rights (D1.7)', async () => {
  const context = await newContext(admin)
  const { id, name, password, visitor } = await newUser(service, admin)
  const entry = await newEntry(admin, context, '', {
    info: graphOf(`${admin.base}${context}/metadata/_newId`, `${STORE}read`, principal(admin, id)),
  })
  assert.equal((await visitor.get(`${context}/metadata/${entry}`)).status, 200)
  assert.equal((await admin.delete(`_principals/entry/${id}`)).status, 204)
  assert.equal((await visitor.get('auth/user')).json()['id'], '_guest')
  assert.equal((await service.visitor().signIn(name, password)).status, 401)
  const again = await admin.post('_principals?graphtype=user', { resource: { name, password } })
  assert.notEqual(again.json()['entryId'], id)
  assertRefused(await admin.post(`_principals?graphtype=user&id=${id}`), 409, 'id-taken')
  const heir = service.visitor()
  assert.equal((await heir.signIn(name, password)).status, 200)
  assertRefused(await heir.get(`${context}/metadata/${entry}`), 403, 'not-allowed')
})

test('a deleted group gives no rights any more, and its id stays taken', async () => {
  const context = await newContext(admin)
  const { id, visitor } = await newUser(service, admin)
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  await admin.put(`_principals/resource/${group}`, [id])
  const entry = await newEntry(admin, context, '', {
    info: graphOf(`${admin.base}${context}/metadata/_newId`, `${STORE}read`, principal(admin, group)),
  })
  assert.equal((await visitor.get(`${context}/metadata/${entry}`)).status, 200)
  assert.equal((await admin.delete(`_principals/entry/${group}`)).status, 204)
  assertRefused(await visitor.get(`${context}/metadata/${entry}`), 403, 'not-allowed')
  assertRefused(await admin.post(`_principals?graphtype=group&id=${group}`), 409, 'id-taken')
})

test('a deleted user is no longer a member of groups', async () => {
  const [one, two] = [await newUser(service, admin), await newUser(service, admin)]
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  await admin.put(`_principals/resource/${group}`, [one.id, two.id])
  await admin.delete(`_principals/entry/${one.id}`)
  const { children } = (await admin.get(`_principals/resource/${group}`)).json<{
    children: Array<{ entryId: string }>
  }>()
  assert.deepEqual(
    children.map(child => child.entryId),
    [two.id],
  )
})

test('system entries cannot be deleted (W3.3.3)', async () => {
  for (const id of ['_guest', '_admin', '_admins', '_users'])
    assertRefused(await admin.delete(`_principals/entry/${id}`), 403, 'not-allowed', id)
  for (const id of ['_contexts', '_principals'])
    assertRefused(await admin.delete(`_contexts/entry/${id}`), 403, 'not-allowed', id)
  assert.equal((await admin.get('_principals/entry/_guest')).status, 200)
})

test('an entry is deleted by its administrator or the owner of its context only (W4.4)', async () => {
  const [owner, keeper, writer] = [
    await newUser(service, admin),
    await newUser(service, admin),
    await newUser(service, admin),
  ]
  const context = await newContext(admin, [owner.id])
  const make = () =>
    newEntry(admin, context, '', {
      info: {
        ...graphOf(`${admin.base}${context}/entry/_newId`, `${STORE}write`, principal(admin, keeper.id)),
        ...graphOf(`${admin.base}${context}/resource/_newId`, `${STORE}write`, principal(admin, writer.id)),
      },
    })
  const [one, two] = [await make(), await make()]
  assertRefused(await writer.visitor.delete(`${context}/entry/${one}`), 403, 'not-allowed')
  assert.equal((await keeper.visitor.delete(`${context}/entry/${one}`)).status, 204)
  assert.equal((await owner.visitor.delete(`${context}/entry/${two}`)).status, 204)
  assertRefused(await writer.visitor.delete(`_contexts/entry/${context}`), 403, 'not-allowed')
  assert.equal((await owner.visitor.delete(`_contexts/entry/${context}`)).status, 204)
})

test('an entry that links to a user is deleted without touching the user', async () => {
  const { id } = await newUser(service, admin)
  const context = await newContext(admin)
  const user = encodeURIComponent(`${admin.base}_principals/resource/${id}`)
  const metadata = encodeURIComponent(`${admin.base}_principals/metadata/${id}`)
  const link = await newEntry(
    admin,
    context,
    `?entrytype=reference&graphtype=user&resource=${user}&cached-external-metadata=${metadata}`,
  )
  const entry = await readEntry(admin, context, link)
  assert.deepEqual(valuesOf(admin, entry, `${context}/entry/${link}`, `${STORE}resource`), [decodeURIComponent(user)])
  assert.equal((await admin.delete(`${context}/entry/${link}`)).status, 204)
  assert.equal((await admin.get(`_principals/entry/${id}`)).status, 200)
})
