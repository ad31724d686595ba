import assert from 'node:assert/strict'
import type { FastifyRequest } from 'fastify'
import { test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import type { TokenScope } from '../../src/accounts/token-scopes.ts'
import type { User } from '../../src/accounts/users.ts'
import { BaseAddress } from '../../src/http/base-address.ts'
import { basicCredentials, describeCaller, expiryOf, noteAccess, requireTokenScope } from '../../src/http/caller.ts'

const encoded = (text: string | Uint8Array): string => Buffer.from(text).toString('base64')
const guest = guestFrom({ address: '192.0.2.7', userAgent: '' })
const nora = { ...guest.user, id: '7', name: 'nora@example.org' }

test('name and password come from well-formed HTTP Basic in UTF-8 or Latin-1, and from nothing else (RFC 7617)', () => {
  const read: ReadonlyArray<readonly [header: string, name: string, password: string]> = [
    [`Basic ${encoded('nora:secret')}`, 'nora', 'secret'],
    [`basic   ${encoded('nora:a:b')}`, 'nora', 'a:b'],
    [`BASIC ${encoded(':')}`, '', ''],
    [`Basic ${encoded('åsa:pässwörd')}`, 'åsa', 'pässwörd'],
    [`Basic ${encoded(Buffer.from('åsa:pässwörd', 'latin1'))}`, 'åsa', 'pässwörd'],
  ]
  for (const [header, name, password] of read) assert.deepEqual(basicCredentials(header), { name, password }, header)
  const good = encoded('nora:secret')
  const wrong = [
    undefined,
    '',
    'Basic',
    'Basic ',
    `Basic${good}`,
    `Bearer ${good}`,
    `x Basic ${good}`,
    `Basic ${good} x`,
    `Basic ${good}===`,
    'Basic a*b=',
    `Basic ${encoded('nora')}`,
  ]
  for (const header of wrong) assert.equal(basicCredentials(header), undefined, header)
})

interface Asked {
  readonly method?: string
  readonly url?: string | undefined
  readonly declared?: readonly TokenScope[]
  readonly scopes?: readonly TokenScope[]
}

const ask = ({ method = 'GET', declared, scopes = [], ...rest }: Asked): void =>
  requireTokenScope({
    method,
    caller: { ...guest, grant: { tokenId: 't', scopes } },
    route: { url: 'url' in rest ? rest.url : '/:context', tokenScopes: declared },
  } as unknown as FastifyRequest)

test('a token reads with `read` and changes with `write`, where the route says nothing else (D24.4)', () => {
  for (const method of ['GET', 'HEAD']) {
    for (const scope of ['read', 'write', 'admin'] as const) ask({ method, scopes: [scope] })
    assert.throws(() => ask({ method, scopes: ['quota'] }), {
      code: 'access-token-scope',
      message: 'This access token does not permit this request. It needs the scope read.',
    })
  }
  for (const method of ['PUT', 'POST', 'DELETE', 'OPTIONS']) {
    for (const scope of ['write', 'admin'] as const) ask({ method, scopes: [scope] })
    for (const scope of ['read', 'quota'] as const)
      assert.throws(() => ask({ method, scopes: [scope] }), /It needs the scope write\.$/)
  }
})

test('a route may name the scopes of which one is enough (D24.4)', () => {
  const declared = ['quota', 'admin'] as const
  for (const scope of declared) ask({ method: 'PUT', declared, scopes: [scope] })
  assert.throws(() => ask({ method: 'PUT', declared, scopes: ['write'] }), /It needs the scope quota or admin\.$/)
  assert.throws(() => ask({ declared: [], scopes: ['admin'] }), /does not permit this request\. Sign in instead\.$/)
})

test('below /auth/ no token counts unless the route says so; an unknown address is not judged (D24.5)', () => {
  for (const method of ['GET', 'POST'])
    assert.throws(() => ask({ method, url: '/auth/tokens', scopes: ['admin'] }), /Sign in instead\.$/)
  ask({ url: '/auth/user', declared: ['read'], scopes: ['read'] })
  ask({ url: '/other/auth/', scopes: ['read'] })
  ask({ url: undefined })
})

test('callers without a token are not judged by scopes', () => {
  requireTokenScope({ method: 'PUT', caller: guest, route: { url: '/auth/tokens' } } as unknown as FastifyRequest)
})

test('the current user is described as clients expect (I2.2, D3.1)', () => {
  const base = new BaseAddress('https://store.example/a/')
  const expires = Date.UTC(2026, 10, 2, 9, 5, 7)
  const of = (user: User, end?: number) => describeCaller({ user, expires: end }, undefined, base)
  const { clientAcceptLanguage, ...described } = of({ ...nora, language: 'sv', homeContext: './3' }, expires)
  assert.deepEqual(described, {
    id: '7',
    user: 'nora@example.org',
    uri: 'https://store.example/a/_principals/entry/7',
    language: 'sv',
    homecontext: './3',
    authTokenExpires: 'Mon Nov 02 09:05:07 UTC 2026',
  })
  assert.equal(of(nora)['authTokenExpires'], undefined)
  const uri = 'https://store.example/a/_principals/entry/_guest'
  assert.deepEqual(of(guest.user, expires), { id: '_guest', user: 'guest', uri, clientAcceptLanguage })
})

const session = { token: 'T', id: 'session' }

/** Notes the access of a request that was answered, and keeps what was sent and logged. */
async function noted({
  status = 200,
  present,
  note = () => session,
  isSignedIn = true,
}: {
  readonly status?: number
  readonly present?: string
  readonly note?: () => unknown
  readonly isSignedIn?: boolean
}) {
  const asked: unknown[][] = []
  const logged: unknown[][] = []
  let cookie: unknown = present
  const deps = {
    sessions: {
      noteAccess: (...given: unknown[]) => {
        asked.push(given)
        return note()
      },
      cookieMaxAge: (renewed: { readonly token: string }) => (renewed.token === 'T' ? 60 : undefined),
    },
    cookie: { set: (token: string, life: number) => `auth_token=${token}; Max-Age=${life}` },
    log: { error: (...given: unknown[]) => logged.push(given) },
  }
  const reply = {
    statusCode: status,
    getHeader: () => cookie,
    removeHeader: () => (cookie = undefined),
    header: (_name: string, value: unknown) => (cookie = value),
  }
  const request = { route: {}, caller: { ...guest, ...(isSignedIn && { session }) } }
  await noteAccess(deps as never, request as unknown as FastifyRequest, reply as never)
  return { asked, logged, cookie }
}

test('a request below status 400 is a successful access, and a renewed session gets its cookie (D2.5, D2.6)', async () => {
  const renewed = 'auth_token=T; Max-Age=60'
  for (const [status, isSuccessful] of [
    [200, true],
    [399, true],
    [400, false],
    [500, false],
  ] as const) {
    const { asked } = await noted({ status })
    assert.deepEqual(asked, [[session, isSuccessful]])
  }
  for (const note of [() => session, async () => session]) assert.equal((await noted({ note })).cookie, renewed)
  for (const note of [() => undefined, async () => undefined]) assert.equal((await noted({ note })).cookie, undefined)
  assert.deepEqual((await noted({ present: 'other=1' })).cookie, ['other=1', renewed])
  // The answer itself signs in or out.
  assert.equal((await noted({ present: 'auth_token=; Max-Age=0' })).cookie, 'auth_token=; Max-Age=0')
  assert.deepEqual(await noted({ isSignedIn: false }), { asked: [], logged: [], cookie: undefined })
})

test('an access that cannot be recorded is logged, and the request has succeeded all the same', async () => {
  const error = new Error('away')
  const broken = [
    () => {
      throw error
    },
    async () => await Promise.reject(error),
  ]
  for (const note of broken) {
    const { logged, cookie } = await noted({ note })
    assert.deepEqual([logged, cookie], [[[{ err: error }, 'recording an access failed']], undefined])
  }
})

test('the end of a login is the one that this request leaves; callers without a session have none', () => {
  const sessions = { expiryAfterAccess: (asked: unknown) => (asked === session ? 5 : 0) } as never
  assert.equal(expiryOf({ ...guest, session } as never, sessions), 5)
  assert.equal(expiryOf(guest, sessions), undefined)
})
