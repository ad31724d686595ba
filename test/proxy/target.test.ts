import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { Forbidden, InvalidInput, Unauthenticated } from '../../src/base/errors.ts'
import { type Hosts, checkTarget, readTarget } from '../../src/features/proxy/target.ts'

const guest = guestFrom({ address: '127.0.0.1', userAgent: '', device: undefined })
const user: Caller = { ...guest, user: { ...guest.user, id: '7', name: 'anna' } }
const noHosts: Hosts = { forGuests: [], private: [] }

const resolvesTo =
  (...addresses: readonly string[]) =>
  async () =>
    addresses.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))

test('only plain http and https URLs are read (D13.4)', () => {
  for (const text of [
    '',
    'example.org',
    '//example.org/',
    'ftp://example.org/',
    'file:///etc/passwd',
    'gopher://example.org/',
    'javascript:alert(1)',
    'http:example.org',
    'http:/example.org',
    'http:///example.org',
    'http://',
    'http://?a',
    'http://a b/',
    'http://a\n.org/',
    'http://example.org\\@127.0.0.1/',
    'http://example.org/\\x',
    'http://anna@example.org/',
    'http://anna:pw@example.org/',
    'http://@example.org/',
    'http://example.org:99999/',
    'http://[::1',
    'http://[fe80::1%25eth0]/',
    ' http://example.org/',
    `http://example.org/${'a'.repeat(8192)}`,
  ]) {
    assert.throws(() => readTarget(text), InvalidInput, text)
  }
  assert.equal(readTarget('HTTP://Example.ORG:80/a?b=c#d').href, 'http://example.org/a?b=c')
  assert.equal(readTarget('https://müller.example?x=%20').href, 'https://xn--mller-kva.example/?x=%20')
})

test('IP addresses in unusual notations are refused', () => {
  for (const host of ['127.1', '0x7f.0.0.1', '0177.0.0.1', '2130706433', '0x7f000001', '127.0.0.1.', '１２７.0.0.1'])
    assert.throws(() => readTarget(`http://${host}/`), InvalidInput, host)
  for (const host of ['127.0.0.%31', '127。0。0。1', '134744072', '8.8.8.010'])
    assert.throws(() => readTarget(`http://${host}/`), InvalidInput, host)
  assert.equal(readTarget('http://8.8.8.8:8080/').host, '8.8.8.8:8080')
})

test('every spelling of an address that is not public is refused, on any port', async () => {
  const octet = fc.nat({ max: 255 })
  const inner = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127), octet, octet, octet),
    fc.tuple(fc.constant(169), fc.constant(254), octet, octet),
    fc.tuple(fc.constant(192), fc.constant(168), octet, octet),
  )
  const hex = (n: number): string => n.toString(16)
  await fc.assert(
    fc.asyncProperty(inner, fc.nat({ max: 5 }), async ([a, b, c, d], form) => {
      const number = ((a * 256 + b) * 256 + c) * 256 + d
      const host = [
        `${a}.${b}.${c}.${d}`,
        String(number),
        `0x${hex(number)}`,
        `0${a.toString(8)}.${b}.${c}.${d}`,
        `[::ffff:${a}.${b}.${c}.${d}]`,
        `[2002:${hex(a * 256 + b)}:${hex(c * 256 + d)}::1]`,
      ][form]
      const checked = async () =>
        await checkTarget(readTarget(`http://${host}:8080/`), user, noHosts, resolvesTo('8.8.8.8'))
      await assert.rejects(checked, error => error instanceof Forbidden || error instanceof InvalidInput)
    }),
  )
})

test('a name is refused if any of its addresses is not public, and alike if it has none', async () => {
  const check = (...addresses: readonly string[]) =>
    checkTarget(readTarget('http://example.org/'), user, noHosts, resolvesTo(...addresses))
  assert.equal((await check('8.8.8.8', '2a00:1450::1')).addresses.length, 2)
  const details = new Set<string>()
  for (const addresses of [['127.0.0.1'], ['8.8.8.8', '10.0.0.1'], ['::ffff:8.8.8.8'], []]) {
    await assert.rejects(check(...addresses), (error: unknown) => {
      assert.ok(error instanceof Forbidden)
      details.add(error.message)
      return true
    })
  }
  assert.equal(details.size, 1, 'names of the inside cannot be told from such as there are not')
})

test('ports of other protocols are not connected to', async () => {
  const check = (port: number) =>
    checkTarget(readTarget(`http://example.org:${port}/`), user, noHosts, resolvesTo('8.8.8.8'))
  for (const port of [1, 22, 25, 110, 143, 587, 993, 1023]) await assert.rejects(check(port), Forbidden, String(port))
  for (const port of [80, 443, 1024, 8080, 65_535]) await check(port)
})

test('a private host is allowed by name and port, for signed-in users', async () => {
  const hosts: Hosts = {
    forGuests: [],
    private: ['inside.example', 'other.example:8081', '[::1]:8080'],
  }
  const check = async (url: string, caller = user) =>
    (await checkTarget(readTarget(url), caller, hosts, resolvesTo('10.0.0.1'))).addresses[0]?.address
  assert.equal(await check('http://inside.example/'), '10.0.0.1')
  assert.equal(await check('https://INSIDE.example/'), '10.0.0.1')
  assert.equal(await check('http://other.example:8081/'), '10.0.0.1')
  assert.equal(await check('http://[::1]:8080/'), '::1')
  for (const url of [
    'http://inside.example:8080/',
    'http://other.example/',
    'http://a.inside.example/',
    'http://[::1]/',
  ])
    await assert.rejects(check(url), Forbidden, url)
  await assert.rejects(check('http://inside.example/', guest), Unauthenticated)
})

test('guests have documents fetched from listed hosts only, and not from private ones', async () => {
  const hosts: Hosts = { forGuests: ['open.example', 'both.example'], private: ['both.example'] }
  const check = (host: string, address: string) =>
    checkTarget(readTarget(`http://${host}/`), guest, hosts, resolvesTo(address))
  await check('open.example', '8.8.8.8')
  await check('both.example', '10.0.0.1')
  await assert.rejects(check('open.example', '10.0.0.1'), Forbidden)
  await assert.rejects(check('closed.example', '8.8.8.8'), Unauthenticated)
})
