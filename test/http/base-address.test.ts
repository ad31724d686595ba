import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BaseAddress } from '../../src/http/base-address.ts'

const table: ReadonlyArray<readonly [base: string, asked: string, route: string]> = [
  ['http://h/', '/auth/user', '/auth/user'],
  ['http://h/', '/store/auth/user', '/auth/user'],
  ['http://h/', '/store/auth/user?a=/store/x', '/auth/user?a=/store/x'],
  ['http://h/', '/store', '/'],
  ['http://h/', '/store?x', '/?x'],
  ['http://h/', '/store/', '/'],
  ['http://h/', '/stores/entry/1', '/stores/entry/1'],
  ['http://h/', '/store/store/x', '/store/x'],
  ['http://h/store/', '/store/auth/user', '/auth/user'],
  ['http://h/store/', '/auth/user', '/auth/user'],
  ['http://h/a/b/', '/a/b/auth/user', '/auth/user'],
  ['http://h/a/b/', '/store/auth/user', '/auth/user'],
  ['http://h/a/b/', '/auth/user', '/auth/user'],
  ['http://h/a/b/', '/a/b', '/'],
  ['http://h/a/b/', '/a/b?x', '/?x'],
  ['http://h/a/b/', '/a/bc/x', '/a/bc/x'],
  ['http://h/a/b/', '/x?u=/a/b/auth/user', '/x?u=/a/b/auth/user'],
  ['http://h/', 'http://h/auth/user', '/auth/user'],
  ['http://h/a/b/', 'http://other:99/a/b/auth/user?x=1', '/auth/user?x=1'],
  ['http://h/', 'https://h', '/'],
  ['http://h/', 'http://h?x', '/?x'],
]
for (const [base, asked, route] of table) {
  test(`with the base ${base}, ${asked} is the address ${route} (D1.2)`, () => {
    assert.equal(new BaseAddress(base).route(asked), route)
  })
}

test('a base address is normalised to a folder with an origin (D1.1)', () => {
  const base = new BaseAddress('HTTPS://Store.Example:443/a')
  assert.equal(base.href, 'https://store.example/a/')
  assert.equal(base.path, '/a/')
  assert.equal(base.origin, 'https://store.example')
  assert.equal(base.isHttps, true)
  assert.equal(base.at('auth/login'), 'https://store.example/a/auth/login')
  assert.equal(new BaseAddress('http://h/').isHttps, false)
})

test('an IRI under the base is relative inside and absolute outside; any other stays as it is (D1.1)', () => {
  const base = new BaseAddress('http://h/store/')
  assert.equal(base.toAbsolute(base.toRelative('http://h/store/7/entry/1')), 'http://h/store/7/entry/1')
  assert.notEqual(base.toRelative('http://h/store/7'), 'http://h/store/7')
  for (const other of ['http://h/stores/7', 'http://h/', 'https://h/store/7', 'http://h.evil/store/7', 'urn:x']) {
    assert.equal(base.toRelative(other), other)
    assert.equal(base.toAbsolute(other), other)
  }
})
