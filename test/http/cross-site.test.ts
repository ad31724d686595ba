import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { test } from 'node:test'
import { asScript, callbackOf, Cors, refuseCrossSite } from '../../src/http/protocol/sender.ts'
import { Parameters } from '../../src/http/protocol/body.ts'

const OTHER = 'https://other.example'
const LISTED = 'https://app.example'
const exposed =
  'Location, Last-Modified, ETag, Content-Disposition, Retry-After, X-Request-Id, ' +
  'Tus-Resumable, Tus-Version, Upload-Length, Upload-Offset, Upload-Expires, Upload-Concat'
const corsOf = (origins: readonly string[], enabled = true): Cors => new Cors({ enabled, origins, maxAge: 600 })

test('pages of listed origins read with credentials, those of others not at all (W3.0.5)', () => {
  const cors = corsOf([LISTED])
  assert.deepEqual(cors.headers(LISTED), {
    vary: 'Origin',
    'access-control-allow-origin': LISTED,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': exposed,
  })
  for (const origin of [OTHER, `${LISTED}:8443`, 'http://app.example', `${LISTED}/`, 'null', '*', '', undefined]) {
    assert.deepEqual(cors.headers(origin), { vary: 'Origin' }, String(origin))
    assert.equal(cors.trusts(origin ?? ''), false, String(origin))
  }
  assert.equal(cors.trusts(LISTED), true)
})

test('with * every page reads as a guest, and only listed ones with credentials (D2.9)', () => {
  const cors = corsOf([LISTED, '*'])
  const ofAll = { vary: 'Origin', 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
  for (const origin of [OTHER, '*', undefined]) assert.deepEqual(cors.headers(origin), ofAll, origin)
  assert.equal(cors.headers(LISTED)['access-control-allow-origin'], LISTED)
  assert.deepEqual([cors.trusts('*'), cors.trusts(OTHER), cors.trusts(LISTED)], [false, false, true])
})

test('when CORS is off no page of another site reads anything, whatever is listed', () => {
  const cors = corsOf([LISTED, '*'], false)
  for (const origin of [LISTED, OTHER, undefined]) assert.deepEqual(cors.headers(origin), {})
  assert.equal(cors.trusts(LISTED), false)
  assert.equal(cors.isPreflight('OPTIONS', { origin: LISTED, 'access-control-request-method': 'PUT' }), false)
})

test('a preflight is OPTIONS with an origin and the method that is asked for, and says what is possible', () => {
  const cors = corsOf([LISTED])
  const headers = { origin: LISTED, 'access-control-request-method': 'PUT' }
  assert.equal(cors.isPreflight('OPTIONS', headers), true)
  assert.equal(cors.isPreflight('GET', headers), false)
  assert.equal(cors.isPreflight('OPTIONS', { origin: LISTED }), false)
  assert.equal(cors.isPreflight('OPTIONS', { 'access-control-request-method': 'PUT' }), false)
  assert.deepEqual(cors.preflightHeaders(), {
    'access-control-allow-methods': 'HEAD, GET, PUT, POST, PATCH, DELETE, OPTIONS',
    'access-control-allow-headers':
      'Accept, Content-Type, Content-Disposition, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, X-Requested-With, ' +
      'Tus-Resumable, Upload-Length, Upload-Offset, Upload-Metadata, Upload-Checksum, Upload-Concat',
    'access-control-max-age': '600',
  })
})

test('a page of another site changes nothing with the cookie of a user; reading changes nothing (D2.9)', () => {
  const isAllowed = (origin: string): boolean => origin === LISTED
  const allowed: ReadonlyArray<Record<string, string>> = [
    {},
    { origin: LISTED },
    { origin: LISTED, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]
  const refused: ReadonlyArray<readonly [headers: Record<string, string>, who: string]> = [
    [{ origin: OTHER }, OTHER],
    [{ origin: 'null' }, 'null'],
    [{ origin: OTHER, 'sec-fetch-site': 'same-origin' }, OTHER],
    [{ 'sec-fetch-site': 'cross-site' }, 'another site'],
  ]
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'get']) {
    for (const headers of allowed) refuseCrossSite(method, headers, isAllowed)
    for (const [headers, who] of refused) {
      const message = `A page of ${who} may not change anything here.`
      assert.throws(() => refuseCrossSite(method, headers, isAllowed), { code: 'cross-site-request', message })
    }
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) refuseCrossSite(method, { origin: OTHER }, isAllowed)
})

const requestOf = (query: string, method = 'GET', url = '/3/entry/1', route: string | undefined = url) =>
  ({
    method,
    url,
    route: { url: route },
    parameters: Parameters.parse(query, 'invalid-query'),
  }) as FastifyRequest

test('a callback is the name of a function or of a member, of at most 128 characters (W3.0.4)', () => {
  for (const name of ['f', '_', '$', 'jQuery1_2', 'a.b.c', 'a$.b_1', 'f'.repeat(128)])
    assert.equal(callbackOf(requestOf(`callback=${name}`)), name)
  const wrong = [
    '',
    '1',
    'a.',
    '.a',
    'a..b',
    'a.1',
    'f()',
    'a b',
    'a[0]',
    'alert;',
    '%0Af',
    'f%0A',
    'ä',
    'f'.repeat(129),
  ]
  for (const name of wrong) {
    assert.throws(
      () => callbackOf(requestOf(`callback=${name}`)),
      { code: 'invalid-query', message: '`callback` is not the name of a function.' },
      name,
    )
  }
  assert.equal(callbackOf(requestOf('other=1')), undefined)
})

test('a callback counts where something is read, and never below /auth/ (D2.9)', () => {
  assert.equal(callbackOf(requestOf('callback=f', 'HEAD')), 'f')
  for (const method of ['POST', 'PUT', 'DELETE']) assert.equal(callbackOf(requestOf('callback=f', method)), undefined)
  assert.equal(callbackOf(requestOf('callback=f', 'GET', '/auth/user')), undefined)
  assert.equal(callbackOf(requestOf('callback=f', 'GET', '/%61uth/user', '/auth/user')), undefined)
  assert.equal(callbackOf(requestOf('callback=(', 'GET', '/auth/user')), undefined)
})

function script(payload: unknown, { callback = 'f', type = 'application/json', status = 200 } = {}) {
  let sent = type
  const reply = {
    statusCode: status,
    getHeader: (name: string) => (name === 'content-type' ? sent : undefined),
    type: (text: string) => (sent = text),
  } as unknown as FastifyReply
  return { body: asScript(reply, payload, callback === '' ? undefined : callback), type: sent }
}

test('a successful JSON response becomes a call of the function, and nothing else does (W3.0.4)', () => {
  const isScript = { body: '/**/f({"a":1});', type: 'application/javascript; charset=utf-8' }
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/ld+json',
    'application/x.y+json',
  ])
    assert.deepEqual(script('{"a":1}', { type }), isScript, type)
  for (const type of ['text/html', 'application/jsonx', 'text/json', 'x application/json', 'application/1+json'])
    assert.deepEqual(script('{"a":1}', { type }), { body: '{"a":1}', type }, type)
  for (const status of [201, 404, 500]) assert.equal(script('{}', { status }).body, '{}')
  assert.equal(script('{}', { callback: '' }).body, '{}')
  const bytes = Buffer.from('{}')
  assert.equal(script(bytes).body, bytes)
})

test('line ends that only scripts know are escaped', () => {
  assert.equal(script('"\u2028a\u2029\u2028"').body, '/**/f("\\u2028a\\u2029\\u2028");')
})
