import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertRefused,
  type EntryJson,
  graphOf,
  principal,
  readEntry,
  STORE,
  textTerm,
  TITLE,
} from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const guest = service.visitor()
const owner = await newUser(service, admin)
const stranger = await newUser(service, admin)
const context = await newContext(admin, [owner.id])
const title = graphOf('http://ex.org/', TITLE, textTerm('Field notes'))

const secret = await newEntry(owner.visitor, context, '?graphtype=string', { metadata: title, resource: 'secret' })
const open = await newEntry(owner.visitor, context, '?graphtype=string', {
  metadata: title,
  resource: 'open',
  info: {
    ...graphOf(`${admin.base}${context}/metadata/_newId`, `${STORE}read`, principal(admin, '_guest')),
    ...graphOf(`${admin.base}${context}/resource/_newId`, `${STORE}read`, principal(admin, stranger.id)),
  },
})

test('without includeAll an entry is its id and info; with it everything (W2.2)', async () => {
  const brief = (await owner.visitor.get(`${context}/entry/${secret}`)).json()
  assert.deepEqual(Object.keys(brief).sort(), ['entryId', 'info'])
  const full = await readEntry(owner.visitor, context, secret)
  assert.deepEqual(full.metadata, title)
  assert.deepEqual(full.rights, ['administer'])
  assert.equal(full.resource, 'secret')
})

test('info takes a right on the entry; metadata and resource are left out where they may not be read (D18.11)', async () => {
  for (const part of ['entry', 'relations']) {
    for (const path of [`${context}/${part}/${secret}`, `${context}/${part}/${secret}?includeAll`]) {
      assertRefused(await guest.get(path), 401, 'not-signed-in', path)
      assertRefused(await stranger.visitor.get(path), 403, 'not-allowed', path)
      assertRefused(await guest.get(path, { accept: 'text/turtle' }), 401, 'not-signed-in', path)
    }
  }
  const forGuest = await readEntry(guest, context, open)
  assert.deepEqual([forGuest.rights, forGuest.metadata, forGuest.resource], [['readmetadata'], title, undefined])
  const forStranger = await readEntry(stranger.visitor, context, open)
  assert.deepEqual(forStranger.rights, ['readmetadata', 'readresource'])
  assert.equal(forStranger.resource, 'open')
})

test('without the right to read, a guest gets 401 and a user 403 (D1.5)', async () => {
  for (const path of [`${context}/metadata/${secret}`, `${context}/resource/${secret}`, context]) {
    assertRefused(await guest.get(path), 401, 'not-signed-in', path)
    assertRefused(await stranger.visitor.get(path), 403, 'not-allowed', path)
  }
  assertRefused(await guest.get(`${context}/resource/${open}`), 401, 'not-signed-in')
  assert.equal((await guest.get(`${context}/metadata/${open}`)).status, 200)
  assert.equal((await stranger.visitor.get(`${context}/resource/${open}`)).status, 200)
})

test('owner and administrator read everything, only the administrator lists a context (W3.2.2)', async () => {
  for (const visitor of [owner.visitor, admin]) {
    assert.deepEqual((await visitor.get(`${context}/metadata/${secret}`)).json(), title)
    assert.equal((await visitor.get(`${context}/resource/${secret}`)).text, 'secret')
  }
  assert.deepEqual((await admin.get(context)).json(), [secret, open])
  assertRefused(await owner.visitor.get(context), 403, 'not-allowed')
})

test('ignoreAuth makes every caller a guest (I4)', async () => {
  const path = `${context}/metadata/${secret}`
  assertRefused(await owner.visitor.get(`${path}?ignoreAuth`), 401, 'not-signed-in')
  assertRefused(await owner.visitor.get(`${path}?x=what?&ignoreAuth&y=a=b`), 401, 'not-signed-in')
  assert.equal((await owner.visitor.get(path)).status, 200)
})

test('the guest user and the system contexts can be read by a guest (W5.1, W1.2)', async () => {
  const user = await readEntry(guest, '_principals', '_guest')
  assert.deepEqual(user.resource, { name: 'guest', customProperties: {} })
  for (const id of ['_contexts', '_principals']) {
    const entry = await readEntry(guest, '_contexts', id)
    assert.equal(entry.name, id)
    assert.deepEqual(entry.metadata, {})
  }
  const admins = await readEntry(guest, '_principals', '_admins')
  assert.deepEqual(admins.rights, ['readmetadata'])
})

test('names of contexts are public, those of users need the right to read their metadata (W3.4, W4.4)', async () => {
  await admin.put(`_contexts/entry/${context}/name`, { name: 'Reading room' })
  assert.deepEqual((await guest.get(`_contexts/entry/${context}/name`)).json(), { name: 'Reading room' })
  assertRefused(await guest.get(`_principals/entry/${owner.id}/name`), 401, 'not-signed-in')
  assert.deepEqual((await stranger.visitor.get(`_principals/entry/${owner.id}/name`)).json(), { name: owner.name })
  assertRefused(await guest.get(`${context}/entry/${open}/name`), 404, 'not-found')
})

test('all users are members of _users, with what the reader may see of each (W2.6)', async () => {
  type Members = { name: string; children: EntryJson[] }
  const { name, children } = (await admin.get('_principals/resource/_users')).json<Members>()
  assert.equal(name, 'users')
  const ids = children.map(child => child.entryId)
  for (const id of [owner.id, stranger.id, '_admin']) assert.ok(ids.includes(id), id)
  assert.equal(children.find(child => child.entryId === owner.id)?.name, owner.name)
  assertRefused(await guest.get('_principals/resource/_users'), 401, 'not-signed-in')
})

test('HEAD has the headers of GET and no body (W3.3.1)', async () => {
  for (const path of [`${context}/entry/${open}`, `${context}/metadata/${open}`, `${context}/resource/${open}`]) {
    const get = await admin.get(path)
    const head = await admin.ask(path, { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.bytes.length, 0)
    for (const header of ['etag', 'last-modified', 'content-type', 'content-length'])
      assert.equal(head.headers[header], get.headers[header], `${path} ${header}`)
  }
})

test('a missing entry is 404 for all callers (D1.5)', async () => {
  for (const visitor of [guest, admin]) {
    for (const path of ['x/entry/1', `${context}/entry/999`, `${context}/metadata/999`, `${context}/resource/999`])
      assertRefused(await visitor.get(path), 404, 'not-found', path)
    for (const path of [`${context}/nothing/1`, `${context}/entry`, `${context}/entry/${open}/more/of/it`, 'a/b/c/d'])
      assertRefused(await visitor.get(path), 404, 'not-found', path)
  }
})

test('a wrong method is 405 and lists the possible ones (D1.5)', async () => {
  const rows: ReadonlyArray<readonly [path: string, method: string, allow: string]> = [
    [context, 'DELETE', 'GET, POST, PUT, HEAD'],
    [context, 'PATCH', 'GET, POST, PUT, HEAD'],
    [`${context}/entry/${open}`, 'POST', 'GET, PUT, DELETE, HEAD'],
    [`${context}/entry/${open}/name`, 'DELETE', 'GET, PUT, HEAD'],
    [`${context}/metadata/${open}`, 'POST', 'GET, PUT, DELETE, HEAD'],
    [`${context}/resource/${open}`, 'POST', 'GET, PUT, DELETE, HEAD'],
    ['_principals/groups', 'GET', 'POST'],
  ]
  for (const [path, method, allow] of rows) {
    const answer = await admin.ask(path, { method })
    assertRefused(answer, 405, 'method-not-allowed', `${method} ${path}`)
    assert.equal(answer.headers.allow, allow, path)
  }
})

test('formats that are not offered are 406, malformed addresses 400', async () => {
  assertRefused(await admin.get(`${context}/entry/${open}?format=image/png`), 406, 'not-acceptable')
  assert.equal((await admin.get(`${context}/metadata/${open}?format=application/rdf%2Bjson`)).status, 200)
  for (const path of [`${context}/entry/${open}?a=%zz`, `${context}/entry/%zz`, `${context}/entry/%00`, '%ff'])
    assert.equal((await admin.get(path)).status, 400, path)
})

test('responses to signed-in users are private, and every response has the security headers (D1.6)', async () => {
  const answer = await admin.get(`${context}/entry/${open}`)
  assert.equal(answer.headers['cache-control'], 'private')
  assert.equal((await guest.get(`${context}/entry/${open}`)).headers['cache-control'], undefined)
  for (const { headers } of [answer, await guest.get('nowhere/entry/1')]) {
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/)
    assert.equal(headers['referrer-policy'], 'no-referrer')
  }
})

test('the resource of a link is elsewhere: 303, but never to a script (W3.7)', async () => {
  const make = (uri: string) => newEntry(admin, context, `?entrytype=link&resource=${encodeURIComponent(uri)}`)
  const link = await admin.get(`${context}/resource/${await make('http://ex.org/a%20b?c=d#e')}`)
  assert.equal(link.status, 303)
  assert.equal(link.headers.location, 'http://ex.org/a%20b?c=d#e')
  assertRefused(await admin.get(`${context}/resource/${await make('javascript:alert(1)')}`), 404, 'not-found')
  const named = await newEntry(admin, context, '?informationresource=false')
  const answer = await admin.get(`${context}/resource/${named}`)
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, `${admin.base}${context}/metadata/${named}`)
})

test('with public-info all callers can read the info of every entry, and nothing else of it (D18.11)', async t => {
  const open = await startInProcess(t, { settings: { 'service.repository.public-info': 'on' } })
  const boss = await open.admin()
  const place = await newContext(boss)
  const id = await newEntry(boss, place, '', { metadata: title })
  const other = await newUser(open, boss)
  for (const visitor of [open.visitor(), other.visitor]) {
    const entry = await readEntry(visitor, place, id)
    assert.deepEqual(Object.keys(entry).sort(), ['entryId', 'info', 'relations', 'rights'])
    assert.deepEqual(entry.rights, [])
    assert.equal((await visitor.get(`${place}/relations/${id}`)).status, 200)
  }
})
