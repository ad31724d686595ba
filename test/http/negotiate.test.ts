import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import { acceptedCoding, acceptLanguage, preferenceAmong } from '../../src/http/protocol/negotiate.ts'

const table: ReadonlyArray<readonly [header: string | undefined, map: Record<string, number>]> = [
  [undefined, {}],
  ['', {}],
  ['sv', { sv: 1 }],
  ['sv-SE,sv;q=0.9,en;q=0.8', { 'sv-SE': 1, sv: 0.9, en: 0.8 }],
  ['en ; q = 0.5 , de', { en: 0.5, de: 1 }],
  ['*;q=0.1', { '*': 0.1 }],
  ['en;q=0', { en: 0 }],
  ['en;q=1.000', { en: 1 }],
  ['sv-SE;Q=0.5, EN; Q = 0', { 'sv-SE': 0.5, EN: 0 }],
  ['en;q=0.333', { en: 0.333 }],
  ['zh-Hant-TW', { 'zh-Hant-TW': 1 }],
  ['en;q=1.5,de', { de: 1 }],
  ['en;q=-1,en;q=NaN,en;q=1e9,de', { de: 1 }],
  ['en;q=,de', { de: 1 }],
  [',,,', {}],
  ['__proto__;q=0.5,constructor,en', { en: 1 }],
  ['<script>,en', { en: 1 }],
]
for (const [header, map] of table) {
  test(`Accept-Language ${JSON.stringify(header)} reads as ${JSON.stringify(map)} (D3.1)`, () => {
    assert.equal(JSON.stringify(acceptLanguage(header)), JSON.stringify(map))
  })
}

test('only the first fifty languages are reported (D3.1)', () => {
  const tags = Array.from({ length: 300 }, (_, index) => `x-${index}`)
  const map = acceptLanguage(tags.join(','))
  assert.deepEqual(Object.keys(map), tags.slice(0, 50))
})

test('no header reaches a prototype, and every weight lies between 0 and 1 (D3.1)', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(',', ';q=', '0.5', '1', '__proto__', 'toString', 'valueOf', 'en'))
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      const map = acceptLanguage(pieces.join(''))
      assert.equal(Object.getPrototypeOf(map), Object.prototype)
      assert.ok(Object.values(map).every(weight => weight >= 0 && weight <= 1))
      assert.equal(({} as Record<string, unknown>)['en'], undefined)
    }),
  )
})

test('an item of over 100 characters is skipped without parsing it (D3.1)', () => {
  const long = (length: number): string => `en;q=${' '.repeat(length - 8)}0.5`
  assert.deepEqual(acceptLanguage(`${long(100)},de`), { en: 0.5, de: 1 })
  assert.deepEqual(acceptLanguage(`${long(101)},de`), { de: 1 })
  assert.deepEqual(acceptLanguage(`${'a-'.repeat(200_000)}!`), {})
})

test('Accept chooses among what there is; of many ranges the first fifty count (D15.7)', () => {
  const preference = preferenceAmong(['application/json', 'text/turtle'])
  const preferred = (accept?: string): string | undefined => preference({ headers: { accept } } as FastifyRequest)
  const others = (count: number): string => Array.from({ length: count }, (_, n) => `text/x${n}`).join(',')
  assert.equal(preferred(), 'application/json')
  assert.equal(preferred('text/turtle;q=0.9, application/json;q=0.8'), 'text/turtle')
  assert.equal(preferred('application/json;Q=0.8, Text/Turtle;Q=0.9'), 'text/turtle')
  assert.equal(preferred(`${others(49)},text/turtle`), 'text/turtle')
  assert.equal(preferred(`${others(50)},text/turtle`), undefined)
})

test('each list of media types, and each header, has a preference of its own', () => {
  const [graphs, pages] = [
    preferenceAmong(['application/json', 'text/turtle']),
    preferenceAmong(['application/json', 'text/html']),
  ]
  const long = `${'text/other, '.repeat(40)}text/turtle`
  for (const [accept, graph, page] of [
    ['text/turtle', 'text/turtle', undefined],
    ['text/html, */*;q=0.1', 'application/json', 'text/html'],
    ['*/*', 'application/json', 'application/json'],
    ['image/png', undefined, undefined],
    ['', undefined, undefined],
    [long, 'text/turtle', undefined],
  ] as const) {
    const request = { headers: { accept } } as FastifyRequest
    assert.deepEqual([graphs(request), pages(request)], [graph, page], accept)
  }
})

const coding = (header?: string, available?: readonly ('br' | 'gzip')[]): string | undefined =>
  acceptedCoding({ headers: { 'accept-encoding': header } } as FastifyRequest, available)

test('the coding is the one with the highest quality that there is; the order here decides between equal ones (D14.7)', () => {
  assert.equal(coding(), undefined)
  assert.equal(coding(''), undefined)
  assert.equal(coding('gzip, deflate, br'), 'br')
  assert.equal(coding('gzip, deflate, br', ['gzip', 'br']), 'gzip')
  assert.equal(coding('gzip;q=0, br'), 'br')
  assert.equal(coding('BR;Q=0.1, GZIP;Q=0.2'), 'gzip')
  assert.equal(coding('br;q=0.1, gzip;q=1.0'), 'gzip')
  assert.equal(coding('br;q=0.1, gzip;q=1.0', ['br']), 'br')
  assert.equal(coding('gzip;q=0.1, br;q=0.2', ['gzip', 'br']), 'br')
  assert.equal(coding('*'), 'br')
  assert.equal(coding('*;q=0.5, br;q=0.1'), 'gzip')
  assert.equal(coding('*', ['gzip']), 'gzip')
})

test('an uncompressed body is one of the choices: it has the lowest quality unless the client states one (D14.7)', () => {
  assert.equal(coding('identity'), undefined)
  assert.equal(coding('identity;q=1, gzip;q=0.1'), undefined)
  assert.equal(coding('identity;q=0.5, gzip;q=0.6, br;q=0.4'), 'gzip')
  assert.equal(coding('identity, gzip'), 'gzip')
  assert.equal(coding('gzip;q=0.001'), 'gzip')
  assert.equal(coding('*;q=0.5, gzip;q=0.1', ['gzip']), undefined)
  assert.equal(coding('br, gzip', []), undefined)
  assert.equal(coding('*, identity;q=0', []), undefined)
})
