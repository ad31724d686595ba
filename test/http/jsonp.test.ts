import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { test } from 'node:test'
import { asScript, callbackOf } from '../../src/http/protocol/jsonp.ts'
import { Parameters } from '../../src/http/protocol/parameters.ts'

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
