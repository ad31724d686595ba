import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowedMethods, KnownAddresses } from '../../src/http/allowed-methods.ts'
import type { Method } from '../../src/http/bound-route.ts'

const route = (method: Method, url: string) => ({ method, url })

test('an address that matches several routes has the methods of the most specific one', () => {
  const known = new KnownAddresses([
    route('GET', '/:context'),
    route('PUT', '/:context/entry/:entry'),
    route('GET', '/ui/*'),
    route('DELETE', '/ui/assets/:name'),
    route('POST', '/auth/cookie'),
    route('GET', '/:context/:kind'),
    route('POST', '/:context/:kind'),
    { ...route('GET', '/files/:ticket'), onContentOrigin: true as const },
  ])
  for (const [path, allowed] of [
    ['/7', ['GET', 'HEAD']],
    ['/7/entry/1', ['PUT']],
    ['/auth/cookie', ['POST']],
    ['/%61uth/cookie', ['POST']],
    ['/auth/other', ['GET', 'POST', 'HEAD']],
    ['/ui/contexts/7/files', ['GET', 'HEAD']],
    ['/ui/', ['GET', 'HEAD']],
    ['/ui/assets/app.js', ['DELETE']],
    ['/7/entry/1/more', undefined],
    ['/7/entry/%zz/more', undefined],
    ['/files/x', ['GET', 'POST', 'HEAD']],
  ] as const)
    assert.deepEqual(known.find(path, false), allowed, path)
  assert.deepEqual(known.find('/files/x', true), ['GET', 'HEAD'])
  assert.equal(known.find('/7', true), undefined)
})

test('an address with a rest does not include the address before the rest', () => {
  const known = new KnownAddresses([route('PUT', '/ui/*'), route('GET', '/:context')])
  assert.deepEqual(known.find('/ui', false), ['GET', 'HEAD'])
  assert.deepEqual(known.find('/ui/', false), ['PUT'])
})

test('the methods of an address are in one order, and GET brings HEAD', () => {
  assert.deepEqual(allowedMethods([route('DELETE', '/a'), route('PUT', '/a'), route('GET', '/a')]), [
    'GET',
    'PUT',
    'DELETE',
    'HEAD',
  ])
})
