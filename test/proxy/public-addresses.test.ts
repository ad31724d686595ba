import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isPublicAddress } from '../../src/features/proxy/target.ts'

const closed: Readonly<Record<string, readonly string[]>> = {
  'this machine': ['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '::1', '::'],
  'private networks': ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fd12:3456::1', 'fec0::1'],
  'carriers’ networks': ['100.64.0.1', '100.127.255.255'],
  'the link': ['169.254.0.1', 'fe80::1', 'febf::1', 'fe80::1%eth0', '2001:4860:4860::8888%1'],
  'metadata of clouds': ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254'],
  'multicast and broadcast': ['224.0.0.1', '239.255.255.255', '255.255.255.255', '240.0.0.1', 'ff02::1', 'ff0e::1'],
  'IPv4 within IPv6': ['::ffff:8.8.8.8', '::ffff:127.0.0.1', '::ffff:7f00:1', '::127.0.0.1', '64:ff9b::7f00:1'],
  'translation and tunnels': ['64:ff9b:1::1', '2002:7f00:1::', '2001::1', '2001:0:4136:e378::1', '192.88.99.1'],
  'documentation and tests': ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1', '3fff::1'],
  'no address': ['', 'localhost', '127.1', '0x7f000001', '2130706433', '1.2.3.4.5', '1.2.3.4/8', '[::1]', '01.2.3.4'],
}
for (const [what, addresses] of Object.entries(closed)) {
  test(`not public: ${what} (W3.15)`, () => {
    for (const address of addresses) assert.equal(isPublicAddress(address), false, address)
  })
}

test('what lies just outside of closed ranges is public', () => {
  for (const address of ['8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '172.15.255.255'])
    assert.equal(isPublicAddress(address), true, address)
  for (const address of ['172.32.0.0', '192.167.255.255', '223.255.255.255', '2001:4860:4860::8888', '2a00:1450::1'])
    assert.equal(isPublicAddress(address), true, address)
})

test('no IPv4 address in the clothes of IPv6 is public', () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.constantFrom('::ffff:', '::', '64:ff9b::', '::ffff:0:'), (address, prefix) => {
      assert.equal(isPublicAddress(prefix + address), false)
    }),
  )
})
