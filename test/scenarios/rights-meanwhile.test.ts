import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { NEXT_PASSWORD } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { readEntry } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

/** A request whose right has been judged and whose body is still to come; resolves, once it is sent, to the status. */
async function begin(
  visitor: Visitor,
  method: string,
  path: string,
  body: unknown,
  type = 'application/json',
  more: Readonly<Record<string, string>> = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const request = httpRequest(visitor.base + path, {
    method,
    agent: false,
    headers: {
      ...(visitor.cookie === undefined ? {} : { cookie: `auth_token=${visitor.cookie}` }),
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      expect: '100-continue',
      ...more,
    },
  })
  const answered = once(request, 'response')
  request.flushHeaders()
  // It is sent when somebody reads the body.
  await Promise.race([once(request, 'continue'), answered])
  return async (): Promise<number> => {
    request.end(text)
    const [answer] = (await answered) as [IncomingMessage]
    answer.resume()
    return answer.statusCode ?? 0
  }
}

const setAdmins = async (ids: readonly string[]): Promise<void> => {
  assert.equal((await admin.put('_principals/resource/_admins', ['_admin', ...ids])).status, 204)
}

/** A user whose right to administer everything ends during the test. */
async function newAdministrator() {
  const somebody = await newUser(service, admin)
  await setAdmins([somebody.id])
  return { ...somebody, demote: () => setAdmins([]) }
}

const asUser = (id: string) => `_principals/resource/${id}`
const groupUri = (base: string) => encodeURIComponent(`${base}_principals/entry/_admins`)

test('a caller who is no longer an administrator when the body has arrived changes nothing (D1.5)', async () => {
  const { id: other } = await newUser(service, admin)
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const list = await newEntry(admin, context, '?graphtype=list')
  const text = await newEntry(admin, context, '?graphtype=string')
  const graph = await newEntry(admin, context, '?graphtype=graph')
  const before = await readEntry(admin, context, entry)
  const requests: Array<[method: string, path: string, body: unknown]> = [
    ['PUT', '_principals/resource/_admins', ['_admin', other]],
    ['PUT', asUser('_admin'), { password: NEXT_PASSWORD }],
    ['PUT', asUser(other), { disabled: true }],
    ['PUT', asUser(other), { language: 'sv' }],
    ['POST', `_principals?graphtype=user&groupURI=${groupUri(admin.base)}`, { resource: { name: 'another' } }],
    ['POST', context, {}],
    ['PUT', `${context}/quota`, { quota: 1 }],
    ['PUT', context, { name: 'renamed' }],
    ['PUT', `_contexts/entry/${context}/name`, { name: 'renamed' }],
    ['PUT', `_principals/entry/${other}/name`, { name: 'renamed' }],
    ['PUT', `${context}/entry/${entry}`, {}],
    ['PUT', `${context}/metadata/${entry}`, {}],
    ['PUT', `${context}/resource/${entry}`, 'a file'],
    ['PUT', `${context}/resource/${list}`, [entry]],
    ['PUT', `${context}/resource/${text}`, '"text"'],
    ['PUT', `${context}/resource/${graph}`, {}],
  ]
  for (const [method, path, body] of requests) {
    const { visitor, demote } = await newAdministrator()
    const finish = await begin(visitor, method, path, body)
    await demote()
    assert.equal(await finish(), 403, `${method} ${path}`)
  }
  assert.deepEqual(await readEntry(admin, context, entry), before)
  assert.deepEqual((await admin.get(`${context}/resource/${list}`)).json(), [])
})

test('the same holds for a disabled caller, and after an administrator has set their password (D5.3)', async () => {
  for (const loseIt of [{ disabled: true }, { password: NEXT_PASSWORD }]) {
    const { id, visitor } = await newUser(service, admin)
    const context = await newContext(admin, [id])
    const entry = await newEntry(visitor, context)
    const metadata = await begin(visitor, 'PUT', `${context}/metadata/${entry}`, {})
    const upload = await begin(visitor, 'PUT', `${context}/resource/${entry}`, 'a file', 'text/plain')
    const creation = await begin(visitor, 'POST', context, {})
    assert.equal((await admin.put(asUser(id), loseIt)).status, 204)
    assert.deepEqual([await metadata(), await upload(), await creation()], [401, 401, 401], JSON.stringify(loseIt))
    assert.equal((await admin.get(`${context}/resource/${entry}`)).status, 204)
  }
})

test('whose login has ended does not go on as a guest either, where guests may write', async () => {
  const { id, visitor } = await newUser(service, admin)
  const context = await newContext(admin, ['_guest'])
  const entry = await newEntry(visitor, context)
  const creation = await begin(visitor, 'POST', context, {})
  const metadata = await begin(visitor, 'PUT', `${context}/metadata/${entry}`, {})
  assert.equal((await admin.put(asUser(id), { disabled: true })).status, 204)
  assert.deepEqual([await creation(), await metadata()], [401, 401])
  assert.equal((await service.visitor().post(context)).status, 201)
})

test('a request of a session that is ended while its body comes changes nothing (D1.5)', async () => {
  const ways: Array<[how: string, end: (ended: Visitor, other: Visitor) => Promise<{ readonly status: number }>]> = [
    ['sign-out', ended => ended.get('auth/logout')],
    ['everywhere else', (_, other) => other.ask('auth/tokens', { method: 'DELETE', json: { scope: 'others' } })],
    ['all', ended => ended.ask('auth/tokens', { method: 'DELETE', json: { scope: 'all' } })],
  ]
  for (const [how, end] of ways) {
    const { id, name, password, visitor } = await newUser(service, admin)
    await setAdmins([id])
    const context = await newContext(admin, [id])
    const entry = await newEntry(visitor, context)
    const list = await newEntry(visitor, context, '?graphtype=list')
    const requests: Array<[method: string, path: string, body: unknown, type?: string]> = [
      ['PUT', '_principals/resource/_admins', ['_admin']],
      ['PUT', asUser(id), { language: 'sv' }],
      ['POST', context, {}],
      ['PUT', `${context}/entry/${entry}`, {}],
      ['PUT', `${context}/metadata/${entry}`, {}],
      ['PUT', `${context}/resource/${entry}`, 'a file', 'text/plain'],
      ['PUT', `${context}/resource/${list}`, [entry]],
    ]
    const begun = []
    for (const [method, path, body, type] of requests) begun.push(await begin(visitor, method, path, body, type))
    const other = service.visitor()
    await other.signIn(name, password)
    const { status } = await end(visitor, other)
    assert.ok(status < 300, `${how}: ${status}`)
    for (const [index, finish] of begun.entries())
      assert.equal(await finish(), 401, `${how}: ${requests[index]?.join(' ')}`)
    assert.deepEqual(
      (await admin.get('_principals/resource/_admins')).json<{ children: unknown[] }>().children.length,
      2,
    )
  }
  await setAdmins([])
})

test('users who change their own password meanwhile keep that session only (D5.3)', async () => {
  const { id, name, password, visitor } = await newUser(service, admin)
  const context = await newContext(admin, [id])
  const entry = await newEntry(visitor, context)
  const elsewhere = service.visitor()
  await elsewhere.signIn(name, password)
  const own = await begin(visitor, 'PUT', `${context}/resource/${entry}`, 'mine', 'text/plain')
  const others = await begin(elsewhere, 'PUT', `${context}/resource/${entry}`, 'not mine', 'text/plain')
  const change = { password: NEXT_PASSWORD, currentPassword: password }
  assert.equal((await visitor.put(asUser(id), change)).status, 204)
  assert.deepEqual([await own(), await others()], [201, 401])
  assert.equal((await visitor.get(`${context}/resource/${entry}`)).text, 'mine')
})

test('a change of password that is sent twice is done once, and its sender stays signed in (D5.3)', async () => {
  const { id, name, password, visitor } = await newUser(service, admin)
  const change = { password: NEXT_PASSWORD, currentPassword: password }
  const both = await Promise.all([visitor.put(asUser(id), change), visitor.put(asUser(id), change)])
  assert.deepEqual(new Set(both.map(({ status }) => status)), new Set([204, 403]))
  assert.equal((await visitor.get('auth/user')).json()['user'], name)
})

test('an entry that is made again under its id while the body comes is another one', async () => {
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  const finish = await begin(admin, 'PUT', `${context}/metadata/${id}`, {})
  assert.equal((await admin.delete(`${context}/entry/${id}`)).status, 204)
  service.system.pass(1)
  assert.equal((await admin.post(`${context}?id=${id}`)).status, 201)
  assert.equal(await finish(), 404)
})

/** Lets a user write to a context that only administrators could write to, for the time of the work. */
async function whileWritable(context: string, id: string, work: () => Promise<void>): Promise<void> {
  const writer = [{ type: 'uri', value: `${admin.base}${asUser(id)}` }]
  const info = { [`${admin.base}${context}`]: { 'http://entrystore.org/terms/write': writer } }
  assert.equal((await admin.put(`_contexts/entry/${context}`, info)).status, 204)
  await work()
  assert.equal((await admin.put(`_contexts/entry/${context}`, {})).status, 204)
}

test('creating a user in a group needs the right to change the group', async () => {
  const { id, visitor } = await newUser(service, admin)
  const make = (name: string, query = '') => visitor.post(`_principals?graphtype=user${query}`, { resource: { name } })
  await whileWritable('_principals', id, async () => {
    assert.equal((await make('plain')).status, 201)
    assert.equal((await make('sly', `&groupURI=${groupUri(admin.base)}`)).status, 403)
    assert.equal((await admin.get('management/users?query=sly')).json()['results'], 0)
  })
})

test('the right to create contexts does not include their quota (I2.6)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const make = (resource: unknown) => visitor.post('_contexts?graphtype=context', { resource })
  await whileWritable('_contexts', id, async () => {
    assert.equal((await make({ name: 'theirs' })).status, 201)
    assert.equal((await make({ name: 'endless', quota: -1 })).status, 403)
    assert.equal((await admin.get('_contexts?entryname=endless')).text, '[]')
  })
  assert.equal((await admin.post('_contexts?graphtype=context', { resource: { quota: 5 } })).status, 201)
})

test('an upload whose file was replaced while its body arrived fails its If-Match (D7.4)', async () => {
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const path = `${context}/resource/${entry}`
  const upload = (body: string) => admin.ask(path, { method: 'PUT', body, headers: { 'content-type': 'text/plain' } })
  const first = await upload('first')
  const tag = String(first.headers.etag)
  const finish = await begin(admin, 'PUT', path, 'third', 'text/plain', { 'if-match': tag })
  assert.equal((await upload('second')).status, 201)
  assert.equal(await finish(), 412)
  assert.equal((await admin.get(path)).text, 'second')
})

test('an administrator who is demoted while the body arrives keeps only the rights of the access list', async () => {
  const { id: other, name } = await newUser(service, admin)
  for (const wish of [{ name: 'taken-over' }, { password: NEXT_PASSWORD }, { disabled: true }]) {
    const { id, visitor, demote } = await newAdministrator()
    // The access list still lets the former administrator write to the user, which these changes need more than.
    const write = { type: 'uri', value: `${admin.base}${asUser(id)}` }
    const acl = { [`${admin.base}${asUser(other)}`]: { 'http://entrystore.org/terms/write': [write] } }
    assert.equal((await admin.put(`_principals/entry/${other}`, acl)).status, 204)
    const refused = await begin(visitor, 'PUT', asUser(other), wish)
    const allowed = await begin(visitor, 'PUT', asUser(other), { language: 'sv' })
    await demote()
    assert.deepEqual([await refused(), await allowed()], [403, 204], JSON.stringify(wish))
  }
  const user = (await admin.get(asUser(other))).json()
  assert.deepEqual([user['name'], user['disabled'], user['language']], [name, undefined, 'sv'])
})
