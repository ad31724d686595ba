import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from '../../src/accounts/caller.ts'

test('addresses of one IPv6 customer count as one network', () => {
  assert.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:DB8:1:2:ffff:0:0:9'))
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
})
