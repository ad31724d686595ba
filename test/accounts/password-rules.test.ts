import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PasswordRuleOptions, PasswordRules, withNistProfile } from '../../src/accounts/password-rules.ts'
import { InvalidInput } from '../../src/base/errors.ts'

const none: PasswordRuleOptions = {
  lowercase: false,
  uppercase: false,
  number: false,
  symbol: false,
  minLength: 1,
  custom: [],
}

test('all rules are listed in one order, each with what a page needs to show it (D5.2)', () => {
  const all = { lowercase: true, uppercase: true, number: true, symbol: true, minLength: 10 }
  const rules = new PasswordRules({
    ...all,
    custom: ['a', 'b+'],
    common: new Set(),
    added: [{ name: 'breached', kind: 'breached', holds: () => true, close: () => {} }],
  })
  assert.deepEqual(rules.all, [
    { name: 'min-length (10)', kind: 'min-length', value: 10 },
    { name: 'lowercase', kind: 'lowercase' },
    { name: 'uppercase', kind: 'uppercase' },
    { name: 'number', kind: 'number' },
    { name: 'symbol', kind: 'symbol' },
    { name: 'custom.1', kind: 'custom', value: 'a' },
    { name: 'custom.2', kind: 'custom', value: 'b+' },
    { name: 'common', kind: 'common' },
    { name: 'context', kind: 'context' },
    { name: 'breached', kind: 'breached' },
  ])
  assert.deepEqual(new PasswordRules(none).all, [{ name: 'min-length (1)', kind: 'min-length', value: 1 }])
})

test('each class of characters is asked for by its own rule, and only where it is on (D5.2)', () => {
  const broken = (part: Partial<PasswordRuleOptions>, password: string) =>
    new PasswordRules({ ...none, ...part }).broken(password)
  for (const [rule, good, bad] of [
    ['lowercase', 'A1a!', 'A1!'],
    ['uppercase', 'a1A!', 'a1!'],
    ['number', 'aA1!', 'aA!'],
    ['symbol', 'aA1!', 'aA1'],
  ] as const) {
    assert.deepEqual(broken({ [rule]: true }, good), [])
    assert.deepEqual(broken({ [rule]: true }, bad), [rule])
    assert.deepEqual(broken({}, bad), [])
  }
  const long = { minLength: 4 }
  assert.deepEqual([broken(long, '🗝🗝🗝🗝'), broken(long, '🗝🗝🗝')], [[], ['min-length (4)']])
  const custom = { custom: ['^x', '\\d$'] }
  assert.deepEqual(
    [broken(custom, 'x1'), broken(custom, 'x'), broken(custom, 'y')],
    [[], ['custom.2'], ['custom.1', 'custom.2']],
  )
})

test('common passwords are refused in any case, and as repetitions; so is the repetition of less than 8 characters', () => {
  const rules = new PasswordRules({ ...none, common: new Set(['password', 'abc', 'correct horse']) })
  for (const password of [
    'password',
    'PassWord',
    'passwordpassword',
    'abcABCabc',
    'Correct Horse',
    'xyxy',
    '11',
    '12345671234567',
  ])
    assert.deepEqual(rules.broken(password), ['common'], password)
  for (const password of ['passwordx', 'passwordpasswor', 'xyx', 'x', '1234567812345678'])
    assert.deepEqual(rules.broken(password), [], password)
})

test('a password must not contain the name of the service, nor a word of the user with four characters', () => {
  const rules = new PasswordRules({ ...none, common: new Set() })
  const broken = (password: string, words: ReadonlyArray<string | undefined> = []) => rules.broken(password, words)
  assert.deepEqual(broken('my Stowage 1'), ['context'])
  assert.deepEqual(broken('I am NORA!', ['Nora']), ['context'])
  assert.deepEqual(broken('I am nora!', [undefined, 'bert', 'nora']), ['context'])
  assert.deepEqual(broken('I am eva!', ['eva', undefined]), [])
  assert.deepEqual(broken('I am nor', ['nora']), [])
  assert.deepEqual(new PasswordRules(none).broken('my stowage nora', ['nora']), [], 'only with the common passwords')
})

test('a rule of a feature gets the password as it is, and is closed with the others', () => {
  const seen: string[] = []
  const holds = (password: string) => seen.push(password) > 0 && password !== 'Leaked'
  const rules = new PasswordRules({
    ...none,
    added: [{ name: 'breached', kind: 'breached', holds, close: () => seen.push('closed') }],
  })
  assert.deepEqual([rules.broken('Leaked'), rules.broken('leaked')], [['breached'], []])
  rules.close()
  assert.deepEqual(seen, ['Leaked', 'leaked', 'closed'])
})

test('a refusal lists all rules that are broken; what cannot be a password is refused before (D5.2)', () => {
  const rules = new PasswordRules({ ...none, minLength: 10, number: true, common: new Set() })
  rules.require('long enough 1', ['nora'])
  assert.throws(() => rules.require('nora!', ['nora']), {
    constructor: InvalidInput,
    code: 'password-rules',
    message: 'The password breaks these rules: min-length (10), number, context.',
    extra: { rules: ['min-length (10)', 'number', 'context'] },
  })
  assert.throws(() => rules.require(''), { code: 'password-missing', message: 'The password is empty.' })
  assert.throws(() => rules.require('x'.repeat(2049)), {
    code: 'password-too-long',
    message: 'The password must have at most 2048 characters.',
  })
})

test('the profile nist requires length, ignores the classes of characters, and rejects common passwords (D5.2)', async () => {
  const classes = { lowercase: true, uppercase: true, number: true, symbol: true }
  const { common = new Set(), ...rules } = await withNistProfile({ ...none, ...classes, custom: ['^x'], minLength: 10 })
  assert.deepEqual(rules, { ...none, custom: ['^x'], minLength: 15 })
  assert.equal((await withNistProfile({ ...none, minLength: 20 })).minLength, 20)
  assert.ok(common.size > 40_000)
  for (const password of ['password', '123456', 'qwertyuiop']) assert.ok(common.has(password), password)
  for (const password of common) assert.equal(password, password.toLowerCase())
})
