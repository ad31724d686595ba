import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  attributesOf,
  type GroupRules,
  readGroups,
  readProfile,
  requireValues,
  valuesOf,
} from '../../src/features/sso/attributes.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'

const rules: GroupRules = { attribute: 'groups', prefix: 'sso-', adminValue: undefined, provisions: false }

const namesOf = (values: unknown, changes: Partial<GroupRules> = {}): readonly string[] => [
  ...readGroups({ groups: values }, { ...rules, ...changes }).names,
]

test('a value of the groups attribute means the group of that name with the prefix (D27.2)', () => {
  assert.deepEqual(namesOf(['staff', 'Staff ', 'sso-guests', 'SSO-Guests', 'å', 'a\u030A', 7]), [
    'sso-staff',
    'sso-guests',
    'sso-å',
    'sso-7',
  ])
  assert.deepEqual(namesOf('staff'), ['sso-staff'])
  assert.deepEqual(namesOf(undefined), [])
})

const hostileValues: ReadonlyArray<readonly [what: string, value: unknown]> = [
  ['an invisible character', 'sta\u200Bff'],
  ['a soft hyphen', 'sta\u00ADff'],
  ['wide letters', '\uFF53taff'],
  ['a ligature', 'sta\uFB00'],
  ['a line break', 'sta\nff'],
  ['a NUL', 'staff\0'],
  ['a line separator', 'sta\u2028ff'],
  ['a lone surrogate', 'staff\uD800'],
  ['a direction override', '\u202Estaff'],
  ['only the prefix', 'sso-'],
  ['nothing', ''],
  ['blanks', ' \t '],
  ['255 characters, too many with the prefix', 'x'.repeat(255)],
  ['an object', { name: 'staff' }],
  ['a list in a list', ['staff']],
]

for (const [what, value] of hostileValues) {
  test(`a group name with ${what} names no group (D27.2)`, () => {
    assert.deepEqual(namesOf([value]), [])
  })
}

test('no value leads out of the prefix, whatever it is (D27.2)', () => {
  const values = [
    'admins',
    'users',
    '_admins',
    '../admins',
    'sso',
    'other-staff',
    'uni-staff',
    '-',
    'ss\u006F-x',
    '\u0301x',
  ]
  for (const name of namesOf(values)) assert.ok(name.startsWith('sso-'), name)
  // A combining character would change the last letter of this prefix.
  assert.deepEqual(namesOf(['\u0301x'], { prefix: 'se' }), [])
})

test('the value for the admin group must be the very text, and counts only if a setting names it (D27.3)', () => {
  const isAdmin = (values: unknown, adminValue?: string): boolean =>
    readGroups({ groups: values }, { ...rules, adminValue }).isAdmin
  assert.ok(isAdmin(['x', 'store-admins'], 'store-admins'))
  for (const value of ['Store-Admins', 'store-admins ', 'store-\u200Badmins', '\uFF53tore-admins', 'store-admins\n']) {
    assert.ok(!isAdmin([value], 'store-admins'), value)
  }
  for (const value of ['admins', '_admins', 'admin', 'sso-admins']) assert.ok(!isAdmin([value]), value)
})

test('without a prefix no group is named (D27.2)', () => {
  assert.deepEqual(namesOf(['staff'], { prefix: undefined, adminValue: 'x' }), [])
})

test('a reference instead of the groups is refused: no groups would be wrong (D27.2)', () => {
  assert.throws(
    () => readGroups({ _claim_names: { groups: 'src1' }, _claim_sources: {} }, rules),
    (error: unknown) => error instanceof SsoRefused && error.failed.check === 'groups-overage',
  )
  assert.deepEqual([...readGroups({ _claim_names: { roles: 'src1' } }, rules).names], [])
})

test('an attribute of a federation is found by its short name and by its number (D27.1)', () => {
  const number = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.1'
  const attributes = attributesOf([
    [number, 'staff'],
    [number, 'member'],
    ['__proto__', 'x'],
  ])
  assert.deepEqual(valuesOf(attributes, 'eduPersonAffiliation'), ['staff', 'member'])
  assert.deepEqual(valuesOf(attributes, number), ['staff', 'member'])
  assert.deepEqual(valuesOf(attributes, '__proto__'), ['x'])
  for (const name of ['constructor', 'toString', 'length', 'hasOwnProperty', 'mail']) {
    assert.deepEqual(valuesOf(attributes, name), [], name)
  }
})

test('a required value is compared as a whole, and the refusal names the attribute (D27.5)', () => {
  const required = new Map([['eduPersonAffiliation', 'staff|faculty']])
  requireValues({ eduPersonAffiliation: ['member', 'faculty'] }, { required })
  for (const values of [[], ['xstaff'], ['staff\n'], ['STAFF'], ['staff faculty'], [{ staff: true }]]) {
    assert.throws(
      () => requireValues({ eduPersonAffiliation: values }, { required }),
      (error: unknown) =>
        error instanceof SsoRefused &&
        error.failed.check === 'required-claim' &&
        error.failed.missing === 'eduPersonAffiliation',
      JSON.stringify(values),
    )
  }
})

test('a profile holds the stated values that can be stored, and no others (D27.4)', () => {
  const map = new Map([
    ['name', 'displayName'],
    ['email', 'mail'],
    ['language', 'preferredLanguage'],
    ['property.phone', 'telephoneNumber'],
    ['property.office', 'room'],
  ])
  const stated = { displayName: [' Anna B. '], mail: ['a@b.example', 'x@y'], preferredLanguage: 'sv-SE, en;q=0.5' }
  assert.deepEqual(readProfile({ ...stated, telephoneNumber: ['1', '2'] }, { map }), {
    name: 'Anna B.',
    email: 'a@b.example',
    language: 'sv-SE',
    properties: { phone: '1, 2' },
  })
  const strange = { displayName: 'A\nB', mail: 'a@b <x>', preferredLanguage: '??', room: 'x'.repeat(5000) }
  assert.deepEqual(readProfile(strange, { map }), { properties: {} })
  for (const mail of ['a%zz@b', 'a@b#c', 'a{@b', '@b', 'a@', 'a@b@c']) {
    assert.equal(readProfile({ mail }, { map }).email, undefined, mail)
  }
})
