import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allRoutes } from '../../src/assembly/routes.ts'
import { after } from '../support/after.ts'
import type { Answer } from '../support/http-client.ts'
import { ask } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'

const everything = {
  'service.data.quota': 'on',
  'service.auth.http-basic': 'on',
  'service.auth.password-reset': 'on',
  'service.smtp.host': 'mail.example.org',
  'service.smtp.from': 'stowage@example.org',
}
const service = await startInProcess({ after }, { settings: everything })
const admin = await service.admin()

/** Signing in and out, pages and health: whatever credentials come along do not count. */
const forEverybody =
  /^\/(openapi\.json|auth\/(cookie|login|logout|pwreset|cas|saml|oidc|link|factor|new-password)|ui|healthz|readyz|management\/(health|ready))(\/|$)/
/** Changes nothing, and is a POST because of its body. */
const readsByPost = ['POST /echo', 'POST /validator']
const ofTokens = [
  'GET /auth/user',
  'GET /auth/user/contexts',
  'GET /auth/principals',
  'GET /auth/basic',
  'GET /auth/uploads',
]
const isOfQuotas = (name: string): boolean => /^(GET|PUT|DELETE) \/(:context\/quota|quota(\/.*)?)$/.test(name)

const operations = allRoutes
  .map(({ method, url }) => ({ method, url, name: `${method} ${url}` }))
  // With quotas off, other methods refuse at their address.
  .filter(({ name }) => !/^(POST|PATCH) \/(:context\/quota|quota(\/.*)?)$/.test(name))
  // What the server can do is for everybody.
  .filter(({ method }) => method !== 'OPTIONS')
  .filter(({ url, name }, index, all) => !forEverybody.test(url) && all.findIndex(one => one.name === name) === index)

async function tokenFor(scopes: readonly string[]): Promise<string> {
  const expires = new Date(service.system.now() + 86_400_000).toISOString()
  const answer = await admin.post('auth/access-tokens', { name: scopes.join(), expires, scopes })
  assert.equal(answer.status, 201, answer.text)
  return answer.json<{ token: string }>().token
}

const send = (token: string, { method, url }: { readonly method: string; readonly url: string }): Promise<Answer> =>
  ask(service.base + url.slice(1).replaceAll(/:\w+/g, 'none').replace('*', 'none'), {
    method,
    headers: { authorization: `Bearer ${token}` },
  })

/** Whether the scope of the token is why the request is refused. An operation that is switched off is not found. */
async function isOutOfScope(token: string, operation: { readonly method: string; readonly url: string }) {
  const answer = await send(token, operation)
  if (answer.status !== 403) return false
  return answer.json<{ code: string }>().code === 'access-token-scope'
}

async function outOfScope(token: string): Promise<readonly string[]> {
  const found = []
  for (const operation of operations) if (await isOutOfScope(token, operation)) found.push(operation.name)
  return found
}

const isRead = (name: string): boolean => name.startsWith('GET ')
const isOfAccount = (name: string): boolean => name.includes(' /auth/')
/** Absent here: their settings are off. */
const switchedOff = async (): Promise<ReadonlySet<string>> => {
  const off = new Set<string>()
  for (const operation of operations) {
    const answer = await ask(service.base + operation.url.slice(1).replaceAll(/:\w+/g, 'none').replace('*', 'none'), {
      method: operation.method,
    })
    const isAbsent = [405, 404].includes(answer.status) && !operation.url.includes(':') && !operation.url.includes('*')
    if (isAbsent) off.add(operation.name)
  }
  return off
}

test('a token that may only read is refused by every route that changes something (D24.4)', async () => {
  const off = await switchedOff()
  const refused = new Set(await outOfScope(await tokenFor(['read'])))
  const expected = operations
    .map(({ name }) => name)
    .filter(name => (isRead(name) ? isOfAccount(name) && !ofTokens.includes(name) : !readsByPost.includes(name)))
    .filter(name => name !== 'GET /:context/quota' && !off.has(name))
  assert.ok(expected.length > 20, 'the routes were not found')
  assert.deepEqual([...refused].sort(), expected.sort())
})

test('a token for quotas is refused by every other route, and no token manages an account (D24.4, D24.5)', async () => {
  const off = await switchedOff()
  const quota = new Set(await outOfScope(await tokenFor(['quota'])))
  const names = operations.map(({ name }) => name).filter(name => !off.has(name))
  // The ticket in the address decides about a file with active content; the content origin looks at no token.
  const open = ['GET /auth/user', 'GET /auth/basic', 'GET /files/:ticket']
  assert.deepEqual(
    names.filter(name => !quota.has(name)),
    names.filter(name => open.includes(name) || isOfQuotas(name)),
  )
  const all = await outOfScope(await tokenFor(['admin']))
  // A public link would outlive the token, and a message is a person's.
  const others = ['POST /:context/links/:entry', 'POST /:context/messages/:entry', 'DELETE /management/lockouts']
  const isOfLogin = (name: string): boolean => isOfAccount(name) || others.includes(name)
  assert.deepEqual([...all].sort(), names.filter(name => isOfLogin(name) && !ofTokens.includes(name)).sort())
})
