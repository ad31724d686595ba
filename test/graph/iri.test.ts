import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isAbsoluteIri, toAbsolute, toRelative } from '../../src/graph/graph.ts'

const BASE = 'https://h.example/store/'

test('an IRI under the base is relative inside, any other is kept', () => {
  assert.equal(toRelative(BASE, `${BASE}3/entry/7`), './3/entry/7')
  assert.equal(toRelative(BASE, BASE), './')
  assert.equal(toRelative(BASE, 'https://h.example/storeroom'), 'https://h.example/storeroom')
  assert.equal(toRelative(BASE, 'https://other.example/store/3'), 'https://other.example/store/3')
  assert.equal(toRelative(BASE, `http://x.example/?u=${BASE}`), `http://x.example/?u=${BASE}`)
})

test('what goes in comes out the same, and another base only changes what lies under it', () => {
  const path = fc.webPath()
  fc.assert(
    fc.property(
      fc.oneof(
        path.map(path => BASE + path.slice(1)),
        fc.webUrl(),
      ),
      iri => {
        assert.equal(toAbsolute(BASE, toRelative(BASE, iri)), iri)
        const moved = toAbsolute('http://new.example/', toRelative(BASE, iri))
        assert.equal(moved, iri.startsWith(BASE) ? `http://new.example/${iri.slice(BASE.length)}` : iri)
      },
    ),
  )
})

test('absolute IRIs have a scheme, no blanks, angle brackets or control characters', () => {
  const good = [
    'http://ex.org/a',
    'urn:isbn:1',
    'mailto:a@b.example',
    `${BASE}_principals/resource/${BASE}_principals/entry/admin`,
    'http://ex.org/ü?q=%20#x',
    'http://ex.org/...',
    'http://ex.org/a/.',
  ]
  const bad = ['', './3', '/3', 'ex.org', '1a:b', 'http://ex.org/a b', 'http://ex.org/<', 'a:\u0000']
  for (const iri of good) assert.ok(isAbsoluteIri(iri), iri)
  for (const iri of [...bad, 'http://ex.org/a\n', 'http://ex.org/"', 'http://ex.org/\ud800'])
    assert.ok(!isAbsoluteIri(iri), JSON.stringify(iri))
})
