import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { accessTokenKind, tokenText } from '../../src/features/tokens/access-tokens.ts'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { LockedOut, Unauthenticated } from '../../src/base/errors.ts'
import { recogniseCaller } from '../../src/http/caller.ts'
import { Parameters } from '../../src/http/protocol/parameters.ts'
import { AuthCookie, RequestCookies } from '../../src/http/protocol/cookies.ts'

const client = { address: '192.0.2.7', userAgent: '' }
const guest = guestFrom(client)
const nora = { ...guest.user, id: '7', name: 'nora', epoch: 2 }
const token = tokenText(new Uint8Array(32))
const encoded = (name: string, password: string): string =>
  `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`
const sessionToken = (n: number): string => `session-number-${n}`.padEnd(20, 'x')

interface Asked {
  readonly readsBearerToken?: boolean
  readonly authorization?: string
  readonly cookies?: readonly string[]
  readonly query?: string
  readonly invalidTokenIsError?: boolean
  readonly hasTokens?: boolean
  readonly hasBasic?: boolean
  /** What the check of an access token or of Basic credentials throws. */
  readonly error?: Error
  /** The user whose session each token of a cookie belongs to, by token. */
  readonly sessions?: ReadonlyMap<string, { readonly userId: string; readonly epoch: number }>
  readonly user?: typeof nora
}

/** Recognises the caller of a request, and keeps what was looked up, ended and sent. */
async function recognise(asked: Asked) {
  const { authorization, cookies, query = '', hasTokens = true, hasBasic = true, error, user = nora } = asked
  const sent = new Map<string, unknown>()
  const checked: string[] = []
  /** How many tokens had been looked up when the question was asked. */
  const ended: string[] = []
  const found = async (text: string): Promise<Caller> => {
    checked.push(text)
    if (error) throw error
    return { ...guest, user: nora }
  }
  const deps = {
    credentials: hasTokens
      ? [accessTokenKind({ caller: (text, _client, name) => found(`${name}|${text}`), isStillValid: async () => true })]
      : [],
    basic: hasBasic
      ? { user: ({ name, password }: { name: string; password: string }) => found(`${name}:${password}`) }
      : undefined,
    cookie: new AuthCookie({ path: '/', httpOnly: true, secure: false, sameSite: 'lax', hostPrefix: false }),
    options: { invalidTokenIsError: asked.invalidTokenIsError ?? false },
    sessions: {
      find: (text: string) => {
        checked.push(text)
        return asked.sessions?.get(text)
      },
      end: async (text: string) => void ended.push(text),
    },
    users: {
      find: (id: string) => (id === user.id ? { user, groups: [] } : undefined),
    },
  }
  const cookie = cookies && cookies.map(text => `auth_token=${text}`).join('; ')
  const request = {
    headers: { authorization },
    route: { readsBearerToken: asked.readsBearerToken },
    caller: guest,
    cookies: RequestCookies.parse(cookie),
    parameters: query === '' ? Parameters.none : Parameters.parse(query, 'invalid-query'),
  }
  const reply = {
    header: (name: string, value: unknown) => sent.set(name, value),
    getHeader: (name: string) => sent.get(name),
    removeHeader: (name: string) => sent.delete(name),
  }
  const result = await Promise.resolve()
    .then(() => recogniseCaller(deps as never, request as unknown as FastifyRequest, reply as unknown as FastifyReply))
    .catch((thrown: unknown) => thrown)
  return { result, user: (result as Partial<Caller>).user?.id, sent, checked, ended }
}

const wrong = new Unauthenticated('wrong-credentials', 'no')

test('an access token comes as a bearer token, or as the password of HTTP Basic with the name of its owner', async () => {
  for (const authorization of [`Bearer ${token}`, `bearer   ${token}`]) {
    const { user, checked } = await recognise({ authorization })
    assert.deepEqual([user, checked], ['7', [`|${token}`]])
  }
  const { checked } = await recognise({ authorization: encoded(' Nora', token) })
  assert.deepEqual(checked, [`nora|${token}`])
})

test('a refused access token is answered by the challenge of its own scheme (RFC 6750 3)', async () => {
  const refused = new Unauthenticated('invalid-access-token', 'no')
  const challengeOf = async (authorization: string, query?: string): Promise<unknown> => {
    const { result, sent } = await recognise({ authorization, error: refused, ...(query && { query }) })
    assert.equal(result, refused)
    return sent.get('www-authenticate')
  }
  assert.equal(await challengeOf(`Bearer ${token}`), 'Bearer realm="Stowage", error="invalid_token"')
  assert.equal(await challengeOf(encoded('nora', token)), 'Basic realm="Stowage", charset="UTF-8"')
  assert.equal(await challengeOf(encoded('nora', token), 'auth_challenge=false'), undefined)
})

test('a refusal for another reason than the credentials carries no challenge', async () => {
  for (const authorization of [`Bearer ${token}`, encoded('nora', token), encoded('nora', 'secret')]) {
    for (const error of [new LockedOut(60), new Error('broken')]) {
      const { result, sent } = await recognise({ authorization, error })
      assert.equal(result, error)
      assert.equal(sent.has('www-authenticate'), false)
    }
  }
})

test('wrong and malformed credentials of HTTP Basic have one code and a challenge (D4.1, D4.2)', async () => {
  for (const authorization of [encoded('nora', 'wrong'), 'Basic %', 'Bearer something', 'Digest x', '']) {
    for (const query of ['', 'auth_challenge=true', 'auth_challenge=false']) {
      const { result, sent } = await recognise({ authorization, query, error: wrong })
      assert.ok(result instanceof Unauthenticated, authorization)
      assert.equal(result.code, 'wrong-credentials')
      const expected = query === 'auth_challenge=false' ? undefined : 'Basic realm="Stowage", charset="UTF-8"'
      assert.equal(sent.get('www-authenticate'), expected)
    }
  }
})

test('a bearer token that is no access token is left to a route that reads it itself (D4.2)', async () => {
  const { result, checked } = await recognise({ authorization: 'Bearer something', readsBearerToken: true })
  assert.deepEqual([result, checked], [guest, []])
})

test('a header with anything around the token is no bearer token', async () => {
  for (const authorization of [`x Bearer ${token}`, `Bearer ${token} x`, `Bearer${token}`]) {
    const { result, checked } = await recognise({ authorization })
    assert.deepEqual([(result as Unauthenticated).code, checked], ['wrong-credentials', []], authorization)
  }
})

test('the refusals say what is wrong', async () => {
  const malformed = await recognise({ authorization: 'Basic %' })
  assert.equal((malformed.result as Error).message, 'The credentials are malformed.')
  const ended = await recognise({ cookies: [sessionToken(1)], invalidTokenIsError: true })
  assert.equal((ended.result as Error).message, 'The auth_token is unknown or expired. Sign in again.')
})

test('what is switched off is not looked at', async () => {
  const cookies = [sessionToken(1)]
  const sessions = new Map([[sessionToken(1), { userId: '7', epoch: 2 }]])
  const { user } = await recognise({ authorization: encoded('nora', 'x'), hasBasic: false, cookies, sessions })
  assert.equal(user, '7', 'the cookie counts')
  const { checked } = await recognise({ authorization: encoded('nora', token), hasTokens: false })
  assert.deepEqual(checked, [`nora:${token}`], 'an access token is a password like any other')
})

test('credentials in a header count instead of the cookie, also when they are wrong', async () => {
  const cookies = [sessionToken(1)]
  const sessions = new Map([[sessionToken(1), { userId: '7', epoch: 2 }]])
  for (const authorization of [`Bearer ${token}`, encoded('nora', token), encoded('nora', 'wrong')]) {
    const { result, checked } = await recognise({ authorization, cookies, sessions, error: wrong })
    assert.equal(result, wrong)
    assert.equal(checked.includes(sessionToken(1)), false)
  }
})

test('of several cookies the first with a live session counts, and at most five are looked up', async () => {
  const cookies = [1, 2, 3, 4, 5, 6].map(sessionToken)
  const live = (...numbers: number[]) => new Map(numbers.map(n => [sessionToken(n), { userId: '7', epoch: 2 }]))
  const second = await recognise({ cookies, sessions: live(2, 3) })
  assert.deepEqual([second.user, second.checked], ['7', cookies.slice(0, 2)])
  assert.equal(second.sent.has('set-cookie'), false)
  const fifth = await recognise({ cookies, sessions: live(5) })
  assert.deepEqual([fifth.user, fifth.checked], ['7', cookies.slice(0, 5)])
  const sixth = await recognise({ cookies, sessions: live(6) })
  assert.deepEqual([sixth.result, sixth.checked], [guest, cookies.slice(0, 5)])
})

test('a cookie without a live session makes the guest and is cleared; where the settings ask for it, it is refused (D2.7)', async () => {
  // The second one has not even the form of a token.
  for (const cookie of [sessionToken(1), 'x']) {
    for (const invalidTokenIsError of [false, true]) {
      const { result, sent } = await recognise({ cookies: [cookie], invalidTokenIsError })
      assert.match(String(sent.get('set-cookie')), /^auth_token=; Max-Age=0;/)
      if (invalidTokenIsError) assert.equal((result as Unauthenticated).code, 'invalid-token')
      else assert.equal(result, guest)
    }
  }
  const { result, sent } = await recognise({ invalidTokenIsError: true })
  assert.deepEqual([result, sent.size], [guest, 0])
})

test('the session of a user who is gone, disabled or signed out everywhere is ended (D3.5)', async () => {
  const cookies = [sessionToken(1)]
  const sessionOf = (userId: string, epoch: number) => new Map([[sessionToken(1), { userId, epoch }]])
  const dead = [
    { sessions: sessionOf('8', 2) },
    { sessions: sessionOf('7', 1) },
    { sessions: sessionOf('7', 2), user: { ...nora, disabled: true } },
  ]
  for (const asked of dead) {
    const { result, ended } = await recognise({ cookies, ...asked })
    assert.deepEqual([result, ended], [guest, cookies])
  }
  const { user, ended } = await recognise({ cookies, sessions: sessionOf('7', 2) })
  assert.deepEqual([user, ended], ['7', []])
})
