import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { normaliseName, requireName } from '../../src/accounts/users.ts'
import { InvalidInput } from '../../src/base/errors.ts'

/** Characters whose forms NFKC and lower case pull in different directions, and some that cannot be seen. */
const awkward = fc.constantFrom(
  'İ',
  'ſ',
  'K',
  'Å',
  'ẞ',
  'Ⅷ',
  'ﬁ',
  'Ａ',
  'ͅ',
  'ϓ',
  '̇',
  'ΐ',
  'ᾳ',
  'Σ',
  '\u200b',
  '\ufeff',
  '\u00ad',
  '\u2060',
  ' ',
  '\u3000',
  'ﷺ',
)
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.oneof(awkward, fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }))).map(parts => parts.join('')),
)

test('normalising a name twice changes nothing (D1.7)', () => {
  fc.assert(
    fc.property(text, raw => assert.equal(normaliseName(normaliseName(raw)), normaliseName(raw))),
    {
      numRuns: 3000,
    },
  )
})

test('case and compatibility forms never make two names of one (D1.7)', () => {
  fc.assert(
    fc.property(text, raw => {
      assert.equal(normaliseName(raw.normalize('NFKC')), normaliseName(raw))
      assert.equal(normaliseName(` ${raw}\n`), normaliseName(raw))
    }),
    { numRuns: 1000 },
  )
})

const sameAsAdmin: ReadonlyArray<readonly [what: string, raw: string]> = [
  ['capitals', 'ADMIN'],
  ['blanks around it', '  admin\t'],
  ['a no-break space', '\u00a0admin\u00a0'],
  ['full-width letters', 'ａｄｍｉｎ'],
  ['full-width capitals', 'ＡＤＭＩＮ'],
  ['mathematical bold letters', '𝐚𝐝𝐦𝐢𝐧'],
  ['a zero-width space', 'ad\u200bmin'],
  ['a zero-width joiner', 'ad\u200dmin'],
  ['a soft hyphen', 'ad\u00admin'],
  ['a byte order mark', '\ufeffadmin'],
  ['a right-to-left override', '\u202eadmin\u202c'],
  ['a tag character outside the basic plane', 'admin\u{e0061}'],
  ['a zero-width space between blanks', ' \u200b admin'],
]
for (const [what, raw] of sameAsAdmin) {
  test(`${what} does not make another admin (D1.7)`, () => assert.equal(normaliseName(raw), 'admin'))
}

test('what differs after normalising stays different: a Cyrillic a, a digit (D1.7)', () => {
  assert.notEqual(normaliseName('аdmin'), 'admin')
  assert.notEqual(normaliseName('adm1n'), 'admin')
})

test('a name that is empty once the invisible is gone, too long or with control characters is refused (D1.7)', () => {
  for (const raw of [
    '',
    '   ',
    '\u200b\u00ad',
    '_admin',
    ' \u200b_anna',
    'a\0b',
    'a\nb',
    'a\u2028b',
    'a\u007fb',
    '\ud800',
    'x'.repeat(256),
    'ﷺ'.repeat(20),
  ]) {
    assert.throws(
      () => requireName(raw),
      (error: unknown) => error instanceof InvalidInput && error.code === 'invalid-name',
      JSON.stringify(raw),
    )
  }
})

test('a name may have 255 characters, counted in code points after normalising', () => {
  assert.equal(requireName('x'.repeat(255)).length, 255)
  assert.equal([...requireName('𝒳'.repeat(255))].length, 255)
  assert.equal([...requireName('🗝'.repeat(255))].length, 255)
  assert.throws(() => requireName('🗝'.repeat(256)), InvalidInput)
})

test('a text far longer than any name is refused before it is normalised, which could make it 18 times as long', () => {
  assert.throws(() => requireName(`a${'\u200b'.repeat(20_000)}`), InvalidInput)
})
