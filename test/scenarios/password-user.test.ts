import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addUser, codeOf, GOOD_PASSWORD, NEXT_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

const look = async (id: string): Promise<Record<string, unknown>> => (await admin.get(userPath(id))).json()
/** The user and the entry, to see that a refusal has left no trace. */
async function everything(id: string): Promise<string> {
  const resource = await admin.get(userPath(id))
  const entry = await admin.get(`_principals/entry/${id}?includeAll`)
  return JSON.stringify([resource.text, entry.text, resource.headers['etag'], entry.headers['last-modified']])
}

test('a PUT sets name, password, language, home context, disabled and custom properties together (D5.4, D18.31)', async () => {
  const { id } = await addUser(admin, 'whole')
  const homecontext = await newContext(admin)
  const all = {
    name: ' Whole-2 ',
    language: 'de',
    homecontext,
    disabled: true,
    customProperties: { a: '1', Beta: '2' },
  }
  assert.equal((await admin.put(userPath(id), { ...all, password: NEXT_PASSWORD })).status, 204)
  const customProperties = { a: '1', beta: '2' }
  assert.deepEqual(await look(id), { ...all, name: 'whole-2', customProperties })
  assert.equal((await admin.put(userPath(id), { disabled: false, language: '', homecontext: '' })).status, 204)
  assert.deepEqual(await look(id), { name: 'whole-2', customProperties })
  assert.equal((await service.visitor().signIn('whole-2', NEXT_PASSWORD)).status, 200)
})

test('one bad member refuses the whole PUT and leaves no trace, not even a date (D1.5, D5.4)', async () => {
  const { id } = await addUser(admin, 'steady')
  await addUser(admin, 'taken')
  const good = { name: 'other', password: NEXT_PASSWORD, language: 'sv', customProperties: { x: 'y' } }
  const before = await everything(id)
  service.system.pass(5000)
  for (const [bad, status] of [
    [{ password: 'weak' }, 400],
    [{ name: '' }, 400],
    [{ name: 'line\nbreak' }, 400],
    [{ name: 'taken' }, 400],
    [{ name: ' TAKEN ' }, 400],
    [{ name: 'admins' }, 400],
    [{ name: 12 }, 400],
    [{ language: 'not a tag' }, 400],
    [{ language: 12 }, 400],
    [{ homecontext: 'none-such' }, 400],
    [{ homecontext: 12 }, 400],
    [{ disabled: 'maybe' }, 400],
    [{ disabled: 1 }, 400],
    [{ customProperties: 'text' }, 400],
    [{ customProperties: [] }, 400],
    [{ customProperties: null }, 400],
    [{ customProperties: { a: 1 } }, 400],
    [{ customProperties: { a: null } }, 400],
    [{ customProperties: { a: { b: 'c' } } }, 400],
    [{ unknown: 'member' }, 400],
  ] as const) {
    const answer = await admin.put(userPath(id), { ...good, ...bad })
    assert.equal(answer.status, status, `${JSON.stringify(bad)}: ${answer.text}`)
    assert.equal(await everything(id), before, JSON.stringify(bad))
  }
  for (const body of ['[]', '"x"', 'null', '12', '{', '']) {
    const answer = await admin.ask(userPath(id), {
      method: 'PUT',
      body,
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(answer.status, 400, body)
  }
  const form = await admin.ask(userPath(id), { method: 'PUT', form: { password: NEXT_PASSWORD } })
  assert.equal(form.status, 415)
  assert.equal(await everything(id), before)
  assert.equal((await service.visitor().signIn('steady', GOOD_PASSWORD)).status, 200, 'the password stands too')
})

test('of two users who request a name at once, exactly one gets it (D1.7, D18.31)', async () => {
  const ids = await Promise.all(['red', 'blue', 'green'].map(async name => (await addUser(admin, name)).id))
  const answers = await Promise.all(ids.map(id => admin.put(userPath(id), { name: 'violet' })))
  const statuses = answers.map(({ status }) => status).join(' ')
  assert.match(statuses, /^(204 400 400|400 204 400|400 400 204)$/)
})

test('only administrators rename and disable users; users change their other data (D5.4)', async () => {
  const { id, name, visitor } = await newUser(service, admin)
  for (const wish of [{ name: 'renamed' }, { disabled: true }]) {
    const answer = await visitor.put(userPath(id), { ...wish, language: 'fi' })
    assert.deepEqual([answer.status, codeOf(answer)], [403, 'not-allowed'], JSON.stringify(wish))
    assert.equal((await service.visitor().put(userPath(id), wish)).status, 401)
  }
  assert.deepEqual(await look(id), { name, customProperties: {} })
  const same = { name: name.toUpperCase(), disabled: false, language: 'fi', customProperties: { theme: 'dark' } }
  assert.equal((await visitor.put(userPath(id), same)).status, 204, 'naming what is so already is no change')
  assert.deepEqual(await look(id), { name, language: 'fi', customProperties: { theme: 'dark' } })
})

test('administrators cannot disable themselves or a system user, but other administrators (W3.8)', async () => {
  const deputy = await newUser(service, admin)
  await admin.put('_principals/resource/_admins', [deputy.id])
  const refused = async (visitor: Visitor, id: string): Promise<void> => {
    const answer = await visitor.put(userPath(id), { disabled: true })
    assert.deepEqual([answer.status, codeOf(answer)], [400, 'invalid-value'])
  }
  await refused(deputy.visitor, deputy.id)
  await refused(admin, '_admin')
  await refused(deputy.visitor, '_admin')
  await refused(admin, '_guest')
  assert.equal((await admin.put(userPath(deputy.id), { disabled: true })).status, 204)
  assert.equal((await deputy.visitor.get('auth/user')).json()['user'], 'guest')
  assert.equal((await admin.put(userPath(deputy.id), { disabled: false })).status, 204)
})

test('disabling ends the sessions, enabling does not bring them back, and the text `true` is taken too', async () => {
  const { id, name, visitor } = await newUser(service, admin)
  assert.equal((await admin.put(userPath(id), { disabled: 'true' })).status, 204)
  assert.equal((await visitor.get('auth/user')).json()['user'], 'guest')
  const response = await service.visitor().signIn(name, GOOD_PASSWORD)
  assert.deepEqual([response.status, codeOf(response)], [403, 'account-disabled'])
  assert.equal((await admin.put(userPath(id), { disabled: 'false' })).status, 204)
  assert.equal((await visitor.get('auth/user')).json()['user'], 'guest')
  assert.equal((await service.visitor().signIn(name, GOOD_PASSWORD)).status, 200)
})

test('a rename keeps the sessions and frees the old name (D1.7)', async () => {
  const { id, name, visitor } = await newUser(service, admin)
  assert.equal((await admin.put(userPath(id), { name: `${name}-renamed` })).status, 204)
  assert.equal((await visitor.get('auth/user')).json()['user'], `${name}-renamed`)
  assert.equal((await service.visitor().signIn(name, GOOD_PASSWORD)).status, 401)
  const other = await addUser(admin, name, NEXT_PASSWORD)
  assert.notEqual(other.id, id)
  assert.equal((await visitor.get('auth/user')).json()['id'], id)
})

test('the names of system users stay; their other members may change', async () => {
  for (const id of ['_admin', '_guest']) {
    const answer = await admin.put(userPath(id), { name: 'root' })
    assert.deepEqual([answer.status, codeOf(answer)], [403, 'not-allowed'])
  }
  assert.equal((await admin.put(userPath('_admin'), { language: 'en' })).status, 204)
})

test('custom properties: a member `__proto__` is data like any other and pollutes nothing (D5.4)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const body = '{"customProperties":{"__proto__":"x","constructor":"y","toString":"z","":"empty","ключ":"значение"}}'
  const put = await visitor.ask(userPath(id), { method: 'PUT', body, headers: { 'content-type': 'application/json' } })
  assert.equal(put.status, 204, put.text)
  const { text } = await visitor.get(userPath(id))
  for (const member of ['"__proto__":"x"', '"constructor":"y"', '"tostring":"z"', '"ключ":"значение"']) {
    assert.ok(text.includes(member), `${member} in ${text}`)
  }
  const nested = '{"customProperties":{"__proto__":{"polluted":"yes"}}}'
  const headers = { 'content-type': 'application/json' }
  assert.equal((await visitor.ask(userPath(id), { method: 'PUT', body: nested, headers })).status, 400)
  const outer = '{"__proto__":{"disabled":true}}'
  assert.equal((await visitor.ask(userPath(id), { method: 'PUT', body: outer, headers })).status, 400)
  assert.equal('polluted' in {}, false)
})

test('custom properties replace all, hold 64 KiB at most, and an empty object clears them', async () => {
  const { id, visitor } = await newUser(service, admin)
  const put = (customProperties: unknown) => visitor.put(userPath(id), { customProperties })
  assert.equal((await put({ first: '1' })).status, 204)
  assert.equal((await put({ second: 'x'.repeat(65_000) })).status, 204)
  assert.equal((await put({ third: 'x'.repeat(66_000) })).status, 400)
  assert.equal((await put({ third: '€'.repeat(22_000) })).status, 400, 'bytes count, not characters')
  assert.deepEqual(Object.keys((await look(id))['customProperties'] as object), ['second'])
  assert.equal((await put({})).status, 204)
  assert.deepEqual((await look(id))['customProperties'], {})
})

test('a user created with a language has it', async () => {
  const resource = { name: 'linda', password: 'Good-Password-12', language: 'sv' }
  const created = await admin.post('_principals?graphtype=user', { resource })
  assert.equal(created.status, 201, created.text)
  const linda = service.visitor()
  await linda.signIn('linda', 'Good-Password-12')
  assert.equal((await linda.get('auth/user')).json()['language'], 'sv')
  const wrong = await admin.post('_principals?graphtype=user', { resource: { ...resource, name: 'l2', language: '?' } })
  assert.equal(wrong.status, 400)
})
