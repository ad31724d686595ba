import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { absoluteUrl, blobPlace, cidr, domain, host, mediaType, origin } from '../../src/config/address-kinds.ts'
import { valueOf } from './parsing.ts'

const help = ''

test('a base address is absolute http(s) and gets a slash at its end (D1.1)', () => {
  const row = absoluteUrl({ folder: true, help })
  assert.equal(valueOf(row, 'https://H.example'), 'https://h.example/')
  assert.equal(valueOf(row, ' http://h.example:8080/store '), 'http://h.example:8080/store/')
  assert.equal(valueOf(row, 'https://h.example/store/'), 'https://h.example/store/')
  assert.equal(valueOf(row, 'http://[::1]:8080/'), 'http://[::1]:8080/')
})

test('a base address with query, fragment, user name, or another scheme is refused', () => {
  const row = absoluteUrl({ folder: true, help })
  const refused = [
    'h.example',
    '/store/',
    'http:h.example',
    'http:///h.example',
    'http:/\\h.example',
    'https://h.example\\@evil.example/',
    'ftp://h.example/',
    'javascript://h.example/%0aalert(1)',
    'https://h.example/?',
    'https://h.example/#',
    'https://me@h.example/',
    'https://@h.example/',
    'https://me:pw@h.example/',
    'https://h.exa\tmple/',
    'https://h.example/a b',
    'http://h.example:99999/',
    'https://',
    '',
  ]
  for (const written of refused) assert.equal(valueOf(row, written), undefined, written)
})

test('other URLs stay as they are written', () => {
  const row = absoluteUrl({ help })
  assert.equal(valueOf(row, 'https://H.example?a=b#c'), 'https://H.example?a=b#c')
})

test('a file URL has no host, all others have one', () => {
  const row = absoluteUrl({ protocols: ['https', 'file'], help })
  assert.equal(valueOf(row, 'file:///etc/idp.xml'), 'file:///etc/idp.xml')
  assert.equal(valueOf(row, 'file://server/idp.xml'), undefined)
  assert.equal(valueOf(row, 'http://h.example/idp.xml'), undefined)
})

test('a URL that may hold a password is a secret', () => {
  const row = absoluteUrl({ protocols: ['postgres'], credentials: true, help })
  assert.equal(valueOf(row, 'postgres://me:pw@db.example/stowage'), 'postgres://me:pw@db.example/stowage')
  assert.equal(row.kind.secret, true)
  assert.equal(absoluteUrl({ help }).kind.secret, false)
})

test('a URL with a password that is not escaped is refused, so that no part of it counts as host, port or path', () => {
  const row = absoluteUrl({ protocols: ['postgres'], credentials: true, help })
  for (const password of ['12/ss', '12?ss', '12#ss', '1%', '1%2', '/', 'p/ss@w'])
    assert.equal(valueOf(row, `postgres://me:${password}@db.example/stowage`), undefined, password)
  for (const password of ['12%2Fss', 'p*w', 'p@w', 'p:w', '100%25', ''])
    assert.ok(valueOf(row, `postgres://me:${password}@db.example/stowage`), password)
})

test('an origin has scheme, host and port only', () => {
  const row = origin({ help })
  assert.equal(valueOf(row, 'https://App.example/'), 'https://app.example')
  assert.equal(valueOf(row, 'http://localhost:3000'), 'http://localhost:3000')
  assert.equal(valueOf(row, '*'), '*')
  for (const written of [
    'app.example',
    'https://app.example/a',
    'https://*.example',
    'null',
    'https://me@app.example',
  ]) {
    assert.equal(valueOf(row, written), undefined, written)
  }
})

test('a domain is lower-cased, in ASCII form, and nothing but a domain', () => {
  const row = domain({ help })
  assert.equal(valueOf(row, 'Example.COM'), 'example.com')
  assert.equal(valueOf(row, 'Bücher.example'), 'xn--bcher-kva.example')
  assert.equal(valueOf(row, 'localhost'), 'localhost')
  for (const written of [
    '',
    'a/b',
    '*.example.com',
    'a..b',
    'example.com.',
    'x@example.com',
    'a:80',
    '-a.com',
    'a_b.c',
  ]) {
    assert.equal(valueOf(row, written), undefined, written)
  }
})

test('an address range has a prefix length that fits; an address alone is a range of one (D1.3)', () => {
  const row = cidr({ help })
  assert.equal(valueOf(row, '10.0.0.0/8'), '10.0.0.0/8')
  assert.equal(valueOf(row, '127.0.0.1'), '127.0.0.1/32')
  assert.equal(valueOf(row, '::1'), '::1/128')
  assert.equal(valueOf(row, 'fd00::/8'), 'fd00::/8')
  for (const written of [
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '1.2.3.4/8/8',
    'fe80::1%eth0',
    'h',
  ]) {
    assert.equal(valueOf(row, written), undefined, written)
  }
})

test('every accepted address range is understood by Node', () => {
  const row = cidr({ help })
  const address = fc.oneof(
    fc.tuple(fc.ipV4(), fc.nat(40)).map(([ip, prefix]) => `${ip}/${prefix}`),
    fc.tuple(fc.ipV6(), fc.nat(140)).map(([ip, prefix]) => `${ip}/${prefix}`),
  )
  fc.assert(
    fc.property(address, written => {
      const [ip = '', prefix] = (valueOf(row, written) ?? '::/0').split('/')
      new BlockList().addSubnet(ip, Number(prefix), ip.includes(':') ? 'ipv6' : 'ipv4')
    }),
  )
})

test('a media type is lower-cased and has no parameters', () => {
  const row = mediaType({ help })
  assert.equal(valueOf(row, 'Application/PDF'), 'application/pdf')
  assert.equal(valueOf(row, 'image/svg+xml'), 'image/svg+xml')
  for (const written of ['pdf', 'text/html; charset=utf-8', 'text/*', '*/*', 'a/b/c', '']) {
    assert.equal(valueOf(row, written), undefined, written)
  }
})

test('a host is a name or an IP address, with a port or without, in the form of URLs', () => {
  const row = host({ help })
  assert.equal(valueOf(row, ' Example.ORG '), 'example.org')
  assert.equal(valueOf(row, 'example.org:443'), 'example.org:443')
  assert.equal(valueOf(row, 'example.org:80'), 'example.org:80')
  assert.equal(valueOf(row, 'größe.example:8443'), 'xn--gre-6ka8i.example:8443')
  assert.equal(valueOf(row, '127.0.0.1:8080'), '127.0.0.1:8080')
  assert.equal(valueOf(row, '[2001:DB8::0:1]:81'), '[2001:db8::1]:81')
  for (const written of [
    'http://example.org',
    'example.org/a',
    'a@example.org',
    'example.org:99999',
    'example.org:',
    'example.org.',
    '*.example.org',
    'a b',
    '::1',
    '[::1',
    '1.2.3.4.5',
    '',
  ]) {
    assert.equal(valueOf(row, written), undefined, written)
  }
})

test('files lie in the folder or in a bucket; what clients and servers would read differently is refused', () => {
  const row = blobPlace({ help })
  for (const [written, value] of [
    ['folder', 'folder'],
    ['FOLDER', 'folder'],
    ['s3://bucket', 's3://bucket'],
    ['s3://my.bucket-1/', 's3://my.bucket-1'],
    ['s3://bucket/a/B_c/', 's3://bucket/a/B_c'],
  ] as const)
    assert.equal(valueOf(row, written), value)
  const refused = [
    's3',
    's3:/bucket',
    's3://',
    's3://ab',
    's3://Bucket',
    's3://bucket//a',
    's3://bucket/../a',
    's3://bucket/./a',
    's3://bucket/a b',
    's3://bucket/a?b',
    's3://bucket/%2e',
    's3://key:secret@bucket',
    `s3://bucket/${'a'.repeat(901)}`,
    'https://bucket',
  ]
  for (const written of refused) assert.equal(valueOf(row, written), undefined, written)
})
