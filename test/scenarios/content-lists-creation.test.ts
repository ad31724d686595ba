import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertRefused,
  DCT,
  graphOf,
  principal,
  readEntry,
  STORE,
  textTerm,
  TITLE,
  valuesOf,
} from '../support/content.ts'
import { idsOf, newList, parentLists } from '../support/lists.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const subject = `${DCT}subject`

const listUri = (context: string, list: string): string => `${admin.base}${context}/resource/${list}`

test('a new entry becomes the last member of its list, and the list has changed (W3.2.1, D11.2)', async () => {
  const context = await newContext(admin)
  const first = await newEntry(admin, context)
  const list = await newList(admin, context, [first])
  const before = (await admin.get(`${context}/entry/${list}`)).headers.etag
  const id = await newEntry(admin, context, `?list=${listUri(context, list)}`)
  assert.deepEqual(await idsOf(admin, context, list), [first, id])
  assert.notEqual((await admin.get(`${context}/entry/${list}`)).headers.etag, before)
  assert.deepEqual((await readEntry(admin, context, id)).rights, ['administer'])
  assert.deepEqual(valuesOf(admin, await readEntry(admin, context, id), `${context}/entry/${id}`, `${STORE}write`), [])
})

test('`list`, `template`, `moveEntry` and `fromList` may name the context by its alias (W1.2)', async () => {
  const context = await newContext(admin)
  assert.equal((await admin.put(context, { alias: 'Våra listor' })).status, 200)
  const alias = `${admin.base}${encodeURIComponent('Våra listor')}`
  const [one, other] = [await newList(admin, context), await newList(admin, context)]
  const template = await newEntry(admin, context, '?id=model', {
    metadata: graphOf(`${admin.base}${context}/resource/model`, subject, textTerm('Modelled')),
  })
  const query = `?list=${alias}/resource/${one}&template=${alias}/entry/${template}`
  const id = await newEntry(admin, context, query)
  assert.deepEqual(await idsOf(admin, context, one), [id])
  const entry = await readEntry(admin, context, id)
  assert.equal(entry.metadata?.[`${admin.base}${context}/resource/${id}`]?.[subject]?.[0]?.value, 'Modelled')
  const from = `moveEntry=${alias}/entry/${id}&fromList=${alias}/resource/${one}`
  assert.equal((await admin.post(`${context}/resource/${other}?${from}`)).status, 200)
  assert.deepEqual([await idsOf(admin, context, one), await idsOf(admin, context, other)], [[], [id]])
})

test('anything but a list of the context is 400, and nothing is created', async () => {
  const [context, other] = [await newContext(admin), await newContext(admin)]
  const plain = await newEntry(admin, context)
  const elsewhere = await newList(admin, other)
  for (const uri of [listUri(context, plain), listUri(context, 'none'), listUri(other, elsewhere), 'http://ex.org/1'])
    assertRefused(await admin.post(`${context}?list=${uri}`), 400, 'unknown-list', uri)
  assert.deepEqual((await admin.get(context)).json(), [plain])
})

test('with write access to the list only, a user can create entries in it, and administers only those (W3.2.1)', async () => {
  const context = await newContext(admin)
  const { id: user, visitor } = await newUser(service, admin)
  const reader = await newUser(service, admin)
  const [list, closed] = [await newList(admin, context), await newList(admin, context)]
  const r = `${admin.base}${context}/resource/${list}`
  const info = { [r]: { [`${STORE}write`]: [principal(admin, user)], [`${STORE}read`]: [principal(admin, reader.id)] } }
  assert.equal((await admin.put(`${context}/entry/${list}`, info)).status, 204)
  const id = await newEntry(visitor, context, `?list=${listUri(context, list)}`)
  const entry = await readEntry(visitor, context, id)
  assert.deepEqual(entry.rights, ['administer'])
  const said = (about: string, predicate: string): string[] =>
    valuesOf(admin, entry, `${context}/${about}/${id}`, STORE + predicate)
  assert.deepEqual(said('entry', 'write'), [principal(admin, user).value])
  assert.deepEqual(said('resource', 'write'), [principal(admin, user).value])
  assert.deepEqual(said('resource', 'read'), [principal(admin, reader.id).value])
  assert.deepEqual(said('entry', 'originallyCreatedIn'), [r])
  assert.deepEqual((await readEntry(reader.visitor, context, id)).rights, ['readresource'])

  // A client sends the whole info back, with or without what the service keeps itself.
  assert.equal(
    (
      await visitor.put(`${context}/entry/${id}`, {
        ...graphOf(`${admin.base}${context}/entry/${id}`, `${STORE}write`, principal(admin, user)),
      })
    ).status,
    204,
  )
  const kept = valuesOf(
    admin,
    await readEntry(admin, context, id),
    `${context}/entry/${id}`,
    `${STORE}originallyCreatedIn`,
  )
  assert.deepEqual(kept, [r])

  assertRefused(await visitor.post(context), 403, 'not-allowed')
  assertRefused(await visitor.post(`${context}?list=${listUri(context, closed)}`), 403, 'not-allowed')
  assertRefused(await reader.visitor.post(`${context}?list=${r}`), 403, 'not-allowed')
  assertRefused(await service.visitor().post(`${context}?list=${r}`), 401, 'not-signed-in')
  assert.deepEqual(await idsOf(admin, context, list), [id])
})

test('a list in _principals gives no right to create users (W4.2)', async () => {
  const { id: user, visitor } = await newUser(service, admin)
  const list = await newList(admin, '_principals')
  const info = graphOf(listUri('_principals', list), `${STORE}write`, principal(admin, user))
  assert.equal((await admin.put(`_principals/entry/${list}`, info)).status, 204)
  assertRefused(
    await visitor.post(`_principals?graphtype=user&list=${listUri('_principals', list)}`),
    403,
    'not-allowed',
  )
})

test('a guest who creates an entry in a list does not administer it', async () => {
  const context = await newContext(admin)
  const list = await newList(admin, context)
  const info = graphOf(listUri(context, list), `${STORE}write`, principal(admin, '_guest'))
  assert.equal((await admin.put(`${context}/entry/${list}`, info)).status, 204)
  const guest = service.visitor()
  const id = await newEntry(guest, context, `?list=${listUri(context, list)}`)
  assert.deepEqual((await readEntry(guest, context, id)).rights, ['writeresource'])
})

test('a template gives its metadata, but neither titles nor descriptions, to the new entry (W3.2.1)', async () => {
  const context = await newContext(admin)
  const about = `${admin.base}${context}/resource/_newId`
  const template = await newEntry(admin, context, '', {
    metadata: {
      [about]: {
        [TITLE]: [textTerm('Model')],
        [`${DCT}description`]: [textTerm('of others')],
        'http://purl.org/dc/elements/1.1/title': [textTerm('old')],
        [subject]: [textTerm('duck')],
      },
    },
  })
  const query = `?template=${admin.base}${context}/entry/${template}`
  const id = await newEntry(admin, context, query, { metadata: graphOf(about, TITLE, textTerm('Mine')) })
  assert.deepEqual((await readEntry(admin, context, id)).metadata, {
    [`${admin.base}${context}/resource/${id}`]: { [TITLE]: [textTerm('Mine')], [subject]: [textTerm('duck')] },
  })
  assertRefused(await admin.post(`${context}?template=${admin.base}${context}/entry/none`), 400, 'invalid-value')

  const { id: user, visitor } = await newUser(service, admin)
  const list = await newList(admin, context)
  await admin.put(`${context}/entry/${list}`, graphOf(listUri(context, list), `${STORE}write`, principal(admin, user)))
  assertRefused(await visitor.post(`${context}${query}&list=${listUri(context, list)}`), 403, 'not-allowed')
})

test('of 30 entries made in one list at once each is a member, once (D7)', async () => {
  const context = await newContext(admin)
  const list = await newList(admin, context)
  const work = Array.from({ length: 30 }, () => newEntry(admin, context, `?list=${listUri(context, list)}`))
  const ids = await Promise.all(work)
  const members = await idsOf(admin, context, list)
  assert.deepEqual([...members].sort(), [...ids].sort())
  for (const id of ids.slice(0, 3))
    assert.deepEqual(await parentLists(admin, context, id), [`${context}/resource/${list}`])
})
