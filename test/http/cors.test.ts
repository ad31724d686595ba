import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cors } from '../../src/http/protocol/cors.ts'

const OTHER = 'https://other.example'
const LISTED = 'https://app.example'
const exposed = 'Location, Last-Modified, ETag, Content-Disposition, Retry-After, X-Request-Id, X-Read'
const others = [{ sent: ['X-Sent', 'X-Also'], read: ['X-Read'] }]
const corsOf = (origins: readonly string[], enabled = true): Cors => new Cors({ enabled, origins }, others)

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
  assert.deepEqual(cors.preflightHeaders(OTHER), {
    'access-control-allow-methods': 'HEAD, GET, PUT, POST, PATCH, DELETE, OPTIONS',
    'access-control-allow-headers':
      'Accept, Content-Type, Content-Disposition, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, Range, X-Requested-With, ' +
      'X-Request-Id, X-Sent, X-Also',
    'access-control-max-age': '7200',
  })
  const { 'access-control-allow-headers': toListed = '' } = cors.preflightHeaders(LISTED)
  assert.match(toListed, /, X-Also, Authorization$/)
})
