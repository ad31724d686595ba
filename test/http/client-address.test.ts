import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ClientAddresses } from '../../src/http/protocol/client-address.ts'

const PROXIES = ['10.0.0.0/8', '2001:db8:f::/48', '127.0.0.1']
const addresses = new ClientAddresses(PROXIES)

interface Row {
  readonly what: string
  readonly peer: string
  readonly xff?: string
  readonly is: string
}

const table: readonly Row[] = [
  { what: 'no proxy, no header', peer: '203.0.113.9', is: '203.0.113.9' },
  { what: 'a stranger who claims to be somebody', peer: '203.0.113.9', xff: '198.51.100.1', is: '203.0.113.9' },
  { what: 'a stranger who claims to be a proxy', peer: '203.0.113.9', xff: '1.1.1.1, 10.0.0.1', is: '203.0.113.9' },
  { what: 'a proxy that says nothing', peer: '10.0.0.1', is: '10.0.0.1' },
  { what: 'one hop', peer: '10.0.0.1', xff: '203.0.113.9', is: '203.0.113.9' },
  { what: 'one hop, an invented one to the left', peer: '10.0.0.1', xff: '6.6.6.6, 203.0.113.9', is: '203.0.113.9' },
  { what: 'an invented proxy to the left', peer: '10.0.0.1', xff: '10.0.0.7, 203.0.113.9', is: '203.0.113.9' },
  { what: 'two hops', peer: '10.0.0.1', xff: '203.0.113.9, 10.0.0.2', is: '203.0.113.9' },
  { what: 'an empty last element', peer: '10.0.0.1', xff: '6.6.6.6, 203.0.113.9, ', is: '203.0.113.9' },
  { what: 'empty elements between', peer: '10.0.0.1', xff: '203.0.113.9,, ,10.0.0.2,', is: '203.0.113.9' },
  { what: 'nothing but empty elements', peer: '10.0.0.1', xff: ' , ,', is: '10.0.0.1' },
  { what: 'two hops, spoofed', peer: '10.0.0.1', xff: '6.6.6.6, 203.0.113.9, 10.0.0.2', is: '203.0.113.9' },
  { what: 'three hops', peer: '127.0.0.1', xff: '203.0.113.9, 10.0.0.3, 10.0.0.2', is: '203.0.113.9' },
  {
    what: 'three hops of both families',
    peer: '127.0.0.1',
    xff: '6.6.6.6,2001:db8:1::9,10.0.0.3,2001:db8:f::2',
    is: '2001:db8:1::9',
  },
  { what: 'proxies all the way', peer: '10.0.0.1', xff: '10.0.0.3, 10.0.0.2', is: '10.0.0.3' },
  {
    what: 'an IPv4 peer on a socket for both families',
    peer: '::ffff:10.0.0.1',
    xff: '203.0.113.9',
    is: '203.0.113.9',
  },
  { what: 'a mapped stranger', peer: '::ffff:203.0.113.9', xff: '6.6.6.6', is: '203.0.113.9' },
  { what: 'a mapped address in the header', peer: '10.0.0.1', xff: '::ffff:203.0.113.9', is: '203.0.113.9' },
  { what: 'a port', peer: '10.0.0.1', xff: '203.0.113.9:4711', is: '203.0.113.9' },
  { what: 'IPv6 in brackets', peer: '10.0.0.1', xff: '[2001:db8::9]', is: '2001:db8::9' },
  { what: 'IPv6 in brackets with a port', peer: '10.0.0.1', xff: '[2001:db8::9]:4711', is: '2001:db8::9' },
  { what: 'IPv6 as it is', peer: '2001:db8:f::1', xff: '2001:db8::9', is: '2001:db8::9' },
  { what: 'a link-local peer with a zone', peer: 'fe80::1%eth0', xff: '6.6.6.6', is: 'fe80::1%eth0' },
  { what: 'a word instead of an address', peer: '10.0.0.1', xff: 'unknown', is: '10.0.0.1' },
  { what: 'a word between', peer: '10.0.0.1', xff: '6.6.6.6, unknown, 10.0.0.2', is: '10.0.0.2' },
  { what: 'an empty header', peer: '10.0.0.1', xff: '', is: '10.0.0.1' },
  { what: 'an octal-looking address', peer: '10.0.0.1', xff: '6.6.6.6, 010.0.0.2', is: '10.0.0.1' },
  { what: 'markup', peer: '10.0.0.1', xff: '<script>', is: '10.0.0.1' },
  { what: 'a port after long parts', peer: '10.0.0.1', xff: '203.111.113.219:4711', is: '203.111.113.219' },
  { what: 'a mapped address with long parts', peer: '10.0.0.1', xff: '::ffff:203.111.113.219', is: '203.111.113.219' },
  { what: 'quotes within an address', peer: '10.0.0.1', xff: '6.6.6.6, 20"3.0.113.9"', is: '10.0.0.1' },
  { what: 'quotes around a part', peer: '10.0.0.1', xff: '6.6.6.6, "203.0.113."9', is: '10.0.0.1' },
  { what: 'a mapped address with a port', peer: '10.0.0.1', xff: '6.6.6.6, ::ffff:203.0.113.9:80', is: '10.0.0.1' },
  { what: 'text before brackets', peer: '10.0.0.1', xff: '6.6.6.6, x[2001:db8::9]', is: '10.0.0.1' },
  { what: 'text after brackets', peer: '10.0.0.1', xff: '6.6.6.6, [2001:db8::9]x', is: '10.0.0.1' },
]
for (const { what, peer, xff, is } of table) {
  test(`client address, ${what}: ${is} (D1.3)`, () => {
    assert.equal(addresses.of(peer, { 'x-forwarded-for': xff }), is)
  })
}

test('`Forwarded` does not count, because proxies pass it on as the client wrote it (D1.3)', () => {
  const headers = { 'x-forwarded-for': '203.0.113.1', forwarded: 'for=6.6.6.6' }
  assert.equal(addresses.of('10.0.0.1', headers), '203.0.113.1')
  assert.equal(addresses.of('10.0.0.1', { forwarded: 'for=6.6.6.6' }), '10.0.0.1')
})

test('a header that came several times counts as one (D1.3)', () => {
  const headers = { 'x-forwarded-for': ['6.6.6.6', '203.0.113.9'] } as unknown as { 'x-forwarded-for': string }
  assert.equal(addresses.of('10.0.0.1', headers), '203.0.113.9')
})

test('without trusted proxies no header counts, not even from this machine (D1.3)', () => {
  const none = new ClientAddresses([])
  for (const peer of ['127.0.0.1', '::1', '10.0.0.1']) {
    assert.equal(none.of(peer, { 'x-forwarded-for': '6.6.6.6', forwarded: 'for=6.6.6.6' }), peer)
  }
})

const version4 = fc.ipV4().filter(address => !/^(?:10\.|127\.0\.0\.1$)/.test(address))

test('the address that the trusted proxy saw wins over addresses that the client sent (D1.3)', () => {
  fc.assert(
    fc.property(fc.string(), version4, fc.nat(3), (junk, real, hops) => {
      const chain = Array.from({ length: hops }, (_, index) => `10.0.0.${index + 2}`)
      const xForwardedFor = [junk, real, ...chain].join(', ')
      assert.equal(addresses.of('10.0.0.1', { 'x-forwarded-for': xForwardedFor }), real)
    }),
  )
})
