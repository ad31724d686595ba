import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { test } from 'node:test'
import { codeOf, GOOD_PASSWORD, NEXT_PASSWORD, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import type { Visitor } from '../support/http-client.ts'
import { addApp, enrol, signInWith } from '../support/second-factors.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const { system } = service
const admin = await service.admin()
const nameOf = async (visitor: Visitor): Promise<unknown> => (await visitor.get('auth/user')).json()['user']

/** An upload whose beginning the service has read; resolves, once the rest is sent, to the status. */
async function beginUpload(visitor: Visitor, path: string): Promise<() => Promise<number>> {
  const request = httpRequest(visitor.base + path, {
    method: 'PUT',
    agent: false,
    headers: { cookie: `auth_token=${visitor.cookie ?? ''}`, 'content-type': 'text/plain', expect: '100-continue' },
  })
  const answered = once(request, 'response')
  request.flushHeaders()
  // It is sent when the service reads the body.
  await once(request, 'continue')
  return async () => {
    request.end('bytes')
    const [answer] = (await answered) as [IncomingMessage]
    answer.resume()
    return answer.statusCode ?? 0
  }
}

test('an upload in the session that adds the first factor goes on; one in another session is refused at its end (D28.4)', async () => {
  const user = await newUser(service, admin)
  const context = await newContext(admin, [user.id])
  const entry = (): Promise<string> => newEntry(user.visitor, context)
  const other = service.visitor()
  assert.equal((await other.signIn(user.name, user.password)).status, 200)
  const own = await beginUpload(user.visitor, `${context}/resource/${await entry()}`)
  const theirs = await beginUpload(other, `${context}/resource/${await entry()}`)
  // No time may pass here: uploads without progress end.
  const app = await enrol(user.visitor, system)
  assert.equal((await user.visitor.post(`auth/factors/${app.id}/confirm`, { code: app.code() })).status, 200)
  assert.equal(await own(), 201)
  assert.equal(await theirs(), 401)
  assert.equal(await nameOf(user.visitor), user.name)
})

test('a session that has proven a factor ends when another one adds a first factor again (D28.4)', async () => {
  const user = await newUser(service, admin)
  const thief = service.visitor()
  assert.equal((await thief.signIn(user.name, user.password)).status, 200)
  const { app } = await addApp(thief, system)
  assert.equal((await thief.delete(`auth/factors/${app.id}`)).status, 204)
  const owner = service.visitor()
  assert.equal((await owner.signIn(user.name, user.password)).status, 200)
  await addApp(owner, system)
  assert.equal(await nameOf(thief), 'guest')
  assert.equal(await nameOf(owner), user.name)
})

test('an enrolment that fails leaves no mark: the session is not one with a factor (D28.4)', async () => {
  const user = await newUser(service, admin)
  const thief = service.visitor()
  assert.equal((await thief.signIn(user.name, user.password)).status, 200)
  const app = await enrol(thief, system)
  assert.equal((await thief.post(`auth/factors/${app.id}/confirm`, { code: app.wrongCode() })).status, 403)
  await addApp(user.visitor, system)
  assert.equal(await nameOf(thief), 'guest')
})

test('after the first factor the session goes on as one with a factor, until the password changes elsewhere (D28.4)', async () => {
  const user = await newUser(service, admin)
  const { app } = await addApp(user.visitor, system)
  const other = service.visitor()
  assert.equal((await signInWith(other, user, app.code())).status, 200)
  assert.deepEqual([await nameOf(user.visitor), await nameOf(other)], [user.name, user.name])
  assert.equal((await user.visitor.post('auth/access-tokens', tokenFor('a'))).status, 201, 'its proof is recent')
  system.pass(300_001)
  const asked = await user.visitor.post('auth/access-tokens', tokenFor('b'))
  assert.deepEqual([asked.status, codeOf(asked)], [403, 'fresh-sign-in-required'])
  assert.equal((await other.post('auth/fresh', { code: app.code() })).status, 204)
  const change = { password: NEXT_PASSWORD, currentPassword: GOOD_PASSWORD }
  assert.equal((await other.put(userPath(user.id), change)).status, 204)
  assert.deepEqual([await nameOf(user.visitor), await nameOf(other)], ['guest', user.name])
})

const tokenFor = (name: string) => ({
  name,
  expires: new Date(system.now() + 86_400_000).toISOString(),
  scopes: ['read'],
})
