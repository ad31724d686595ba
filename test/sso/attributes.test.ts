import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type AttributeRules,
  attributesOf,
  attributesUsed,
  readGroups,
  readProfile,
  requireValues,
  valueAt,
  valuesOf,
} from '../../src/features/sso/attributes.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'

/** As the schemas of eduPerson, inetOrgPerson, SCHAC and Active Directory number them. */
const numbers: Readonly<Record<string, string>> = {
  cn: '2.5.4.3',
  displayName: '2.16.840.1.113730.3.1.241',
  eduPersonAffiliation: '1.3.6.1.4.1.5923.1.1.1.1',
  eduPersonAssurance: '1.3.6.1.4.1.5923.1.1.1.11',
  eduPersonEntitlement: '1.3.6.1.4.1.5923.1.1.1.7',
  eduPersonPrimaryAffiliation: '1.3.6.1.4.1.5923.1.1.1.5',
  eduPersonPrincipalName: '1.3.6.1.4.1.5923.1.1.1.6',
  eduPersonScopedAffiliation: '1.3.6.1.4.1.5923.1.1.1.9',
  givenName: '2.5.4.42',
  isMemberOf: '1.3.6.1.4.1.5923.1.5.1.1',
  mail: '0.9.2342.19200300.100.1.3',
  memberOf: '1.2.840.113556.1.2.102',
  o: '2.5.4.10',
  ou: '2.5.4.11',
  preferredLanguage: '2.16.840.1.113730.3.1.39',
  schacHomeOrganization: '1.3.6.1.4.1.25178.1.2.9',
  sn: '2.5.4.4',
  telephoneNumber: '2.5.4.20',
  uid: '0.9.2342.19200300.100.1.1',
}

test('each attribute of a federation is found under its number (D27.1)', () => {
  for (const [name, number] of Object.entries(numbers))
    assert.deepEqual(valuesOf({ [`urn:oid:${number}`]: ['x'] }, name), ['x'], name)
  assert.equal(valueAt({ 'urn:oid:2.5.4.4': 'by number', sn: 'by name' }, 'sn'), 'by name')
  assert.equal(valueAt({ undefined: 'x' }, 'other'), undefined)
})

test('dots separate the members of a path, unless an attribute has the whole name (D27.1)', () => {
  const attributes = { 'a.b': 'whole', realm: { roles: ['x'], list: [{ name: 'y' }], nothing: null, text: 'abc' } }
  assert.equal(valueAt(attributes, 'a.b'), 'whole')
  assert.deepEqual(valueAt(attributes, 'realm.roles'), ['x'])
  for (const path of [
    'realm.other',
    'realm.list.0',
    'realm.list.length',
    'realm.nothing.x',
    'realm.text.length',
    'realm.toString',
    'other.roles',
    'realm.',
  ])
    assert.equal(valueAt(attributes, path), undefined, path)
})

test('values are texts, numbers and booleans; the first 10,000 of them are read (D27.1)', () => {
  assert.deepEqual(valuesOf({ a: ['x', 0, false, null, {}, ['y'], undefined] }, 'a'), ['x', '0', 'false'])
  assert.deepEqual(valuesOf({ a: true }, 'a'), ['true'])
  const many = Array.from({ length: 10_001 }, (_, at) => `v${at}`)
  assert.equal(valuesOf({ a: many }, 'a').length, 10_000)
  assert.equal(valuesOf({ a: many }, 'a').at(-1), 'v9999')
})

test('several pairs of one name become a list, in their order', () => {
  const pairs = [
    ['a', '1'],
    ['b', '2'],
    ['a', '3'],
  ] as const
  assert.deepEqual({ ...attributesOf(pairs) }, { a: ['1', '3'], b: ['2'] })
})

test('the attributes that rules read are those of conditions, of the profile and of groups (D27.1)', () => {
  const rules: AttributeRules = {
    required: new Map([['affiliation', 'staff']]),
    map: new Map([['email', 'mail']]),
    groups: { attribute: 'memberOf', prefix: 'x-', adminValue: undefined, provisions: false },
  }
  assert.deepEqual(attributesUsed(rules), ['affiliation', 'mail', 'memberOf'])
  assert.deepEqual(attributesUsed({ ...rules, groups: undefined }), ['affiliation', 'mail'])
  assert.deepEqual(attributesUsed(undefined), [])
})

test('a refusal for a lacking value says what is required, and what was received (D27.5)', () => {
  const rules = { required: new Map([['role', 'a|b']]) }
  const failedOf = (attributes: object) => {
    try {
      requireValues({ ...attributes }, rules)
      return undefined
    } catch (error) {
      if (error instanceof SsoRefused) return error.failed
      throw error
    }
  }
  assert.equal(failedOf({ role: ['x', 'b'] }), undefined)
  const common = { check: 'required-claim', expected: 'role: a|b', missing: 'role' }
  assert.deepEqual(failedOf({}), { ...common, received: 'none' })
  assert.deepEqual(failedOf({ role: ['x', 'y'] }), { ...common, received: 'x, y' })
})

const profileOf = (target: string, value: unknown) => {
  const { properties, ...profile } = readProfile({ value }, { map: new Map([[target, 'value']]) })
  return { ...profile, ...properties }
}

test('a profile accepts values up to the limits of what can be stored (D27.4)', () => {
  for (const [target, longest, tooLong] of [
    ['name', 'x'.repeat(255), 'x'.repeat(256)],
    ['email', `${'x'.repeat(252)}@y`, `${'x'.repeat(253)}@y`],
    ['property.p', 'x'.repeat(4096), 'x'.repeat(4097)],
  ] as const) {
    const key = target.replace('property.', '')
    assert.deepEqual(profileOf(target, longest), { [key]: longest })
    assert.deepEqual(profileOf(target, tooLong), {})
    assert.deepEqual(profileOf(target, ` ${longest}\n`), { [key]: longest }, 'blanks around do not count')
    for (const empty of ['', ' \t', [], undefined]) assert.deepEqual(profileOf(target, empty), {}, target)
  }
})

test('a name with characters that separate lines or are none is not stored (D27.4)', () => {
  for (const sign of ['\n', '\u0000', '\u007F', '\u2028', '\u2029', '\uD800'])
    assert.deepEqual(profileOf('name', `a${sign}b`), {}, JSON.stringify(sign))
})

test('an e-mail address has one sign between two parts, and no signs that an address in metadata cannot have (D27.4)', () => {
  for (const sign of [' ', '<', '>', '"', '{', '}', '|', '\\', '^', '`', '%', '#', '@']) {
    assert.deepEqual(profileOf('email', `a${sign}b@c.example`), {}, sign)
    assert.deepEqual(profileOf('email', `a@b${sign}c.example`), {}, sign)
    assert.deepEqual(profileOf('email', `${sign}a@b.example`.trimStart()), sign === ' ' ? { email: 'a@b.example' } : {})
    assert.deepEqual(profileOf('email', `a@b.example${sign}`.trimEnd()), sign === ' ' ? { email: 'a@b.example' } : {})
  }
})

test('the language is the first of a list by preference, if it is one (D27.4)', () => {
  for (const value of ['sv', 'sv,en', 'sv;q=1', ' sv ; q=1, en', ['sv', 'en']])
    assert.deepEqual(profileOf('language', value), { language: 'sv' }, String(value))
  for (const value of ['', ';sv', '*', 'a language', [], undefined])
    assert.deepEqual(profileOf('language', value), {}, String(value))
})

test('values that name no group are listed, but for the value of the admin group (D27.2)', () => {
  const rules = { attribute: 'groups', prefix: 'sso-', adminValue: 'boss', provisions: false }
  const unusable = ['bo\u200Bss', 'a ', '\u212Aa', '\u212Bo\u0308', 'ａ', 'ﬁo\u0308', '', 'sso-']
  const read = readGroups({ groups: ['A', 'O\u0308', ...unusable] }, rules)
  assert.deepEqual([...read.names], ['sso-a', 'sso-ö'])
  assert.deepEqual(read.unusable, unusable)
  assert.equal(read.isAdmin, false)
  const withoutPrefix = readGroups({ groups: ['boss', 'a'] }, { ...rules, prefix: undefined })
  assert.deepEqual([[...withoutPrefix.names], withoutPrefix.unusable, withoutPrefix.isAdmin], [[], ['a'], true])
})

test('a reference in place of the groups is refused with the name of the claim, unless the groups are there too (D27.2)', () => {
  const rules = { attribute: 'groups', prefix: 'sso-', adminValue: undefined, provisions: false }
  const reference = { _claim_names: { groups: 'src1' } }
  assert.throws(
    () => readGroups(reference, rules),
    (error: unknown) => {
      assert.ok(error instanceof SsoRefused)
      assert.deepEqual(error.failed, {
        check: 'groups-overage',
        expected: 'the claim groups',
        received: 'a reference to it',
      })
      return true
    },
  )
  assert.deepEqual([...readGroups({ ...reference, groups: ['a'] }, rules).names], ['sso-a'])
  for (const names of [null, 'groups', undefined])
    assert.deepEqual([...readGroups({ _claim_names: names }, rules).names], [])
})
