import assert from 'node:assert/strict'
import { test } from 'node:test'
import { networkOf } from '../../src/accounts/network.ts'

test('addresses of one IPv6 customer count as one network', () => {
  assert.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:DB8:1:2:ffff:0:0:9'))
  assert.equal(networkOf('2001:db8::1'), '2001:db8:0:0::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.notEqual(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7')
})

test('each spelling of an IPv6 address counts as the network that it is in', () => {
  const networks: ReadonlyArray<readonly [address: string, network: string]> = [
    ['1:2:3:4:5:6:7:8', '1:2:3:4::/64'],
    ['0001:0020:0300:4000::', '1:20:300:4000::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['1::3:4:5:6:7:8', '1:0:3:4::/64'],
    ['1:2:3::6:7:8', '1:2:3:0::/64'],
    ['a:B:c:d:e:f:a::', 'a:b:c:d::/64'],
    ['::', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['fe80::1:2:3:4%1', 'fe80:0:0:0::/64'],
    ['::ffff:192.0.2.7', '0:0:0:0::/64'],
    ['64:ff9b:1:2:3::192.0.2.7', '64:ff9b:1:2::/64'],
    ['64:ff9b:1:2:3:4:192.0.2.7', '64:ff9b:1:2::/64'],
  ]
  for (const [address, network] of networks) assert.equal(networkOf(address), network, address)
})
