import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepsOf } from '../support/steps.ts'
import { PasswordRules } from '../../src/accounts/password-rules.ts'
import { StartupError } from '../../src/base/errors.ts'
import { loadSettings } from '../../src/config/load.ts'
import { addUser, codeOf, userPath } from '../support/accounts.ts'
import type { Answer } from '../support/http-client.ts'
import { startInProcess } from '../support/service.ts'

const spec = { lowercase: true, uppercase: true, number: true, symbol: false, minLength: 10, custom: [] }
const MIN = 'min-length (10)'

test('the default rules: lower, upper, digit by Unicode class, ten code points (I5.6, D5.2)', () => {
  const rules = new PasswordRules(spec)
  for (const [password, broken] of [
    ['Abcdefgh12', []],
    ['Abcdefgh1', [MIN]],
    ['abcdefgh12', ['uppercase']],
    ['ABCDEFGH12', ['lowercase']],
    ['Abcdefghij', ['number']],
    ['----------', ['lowercase', 'uppercase', 'number']],
    ['', [MIN, 'lowercase', 'uppercase', 'number']],
    ['Äöüßäöüß12', []],
    ['ÄÖÜÄÖÜÄÖ12', ['lowercase']],
    ['Ωαβγδεζηθ٣', []],
    ['Жабвгдежз५', []],
    ['Abcdefghi²', ['number']],
    ['Abcdefghi½', ['number']],
    ['日本語日本語日本語12', ['lowercase', 'uppercase']],
    ['Ab1\u{1F511}\u{1F511}\u{1F511}\u{1F511}\u{1F511}\u{1F511}', [MIN]],
    ['Ab1\u{1F511}\u{1F511}\u{1F511}\u{1F511}\u{1F511}\u{1F511}\u{1F511}', []],
    ['\u{10400}\u{10428}12345678', []],
    ['ǅabcdefg12', ['uppercase']],
  ] as const) {
    assert.deepEqual(rules.broken(password), broken, password)
  }
})

test('a symbol is what is neither letter nor digit (D5.2)', () => {
  const rules = new PasswordRules({
    ...spec,
    lowercase: false,
    uppercase: false,
    number: false,
    symbol: true,
    minLength: 1,
  })
  for (const symbol of ['!', ' ', '€', '\u{1F511}', '_', '½', '\u0301', '\t'])
    assert.deepEqual(rules.broken(symbol), [], symbol)
  for (const none of ['a', 'Z', '0', 'ß', '日', '٣', 'ª']) assert.deepEqual(rules.broken(none), ['symbol'], none)
})

test('custom rules match anywhere, all must, and are named by their number (D5.2)', () => {
  const none = { ...spec, lowercase: false, uppercase: false, number: false, minLength: 1 }
  const rules = new PasswordRules({ ...none, custom: ['[a-z]{3}', '^X', '\\d$', '\\p{Greek}'] })
  assert.deepEqual(rules.broken('X-abc-α-1'), [])
  assert.deepEqual(rules.broken('abc'), ['custom.2', 'custom.3', 'custom.4'])
  assert.deepEqual(rules.broken('-X-'), ['custom.1', 'custom.2', 'custom.3', 'custom.4'])
})

test('patterns that backtrack without end in other engines take linear work on 2048 characters (D5.2)', async () => {
  const nasty = ['(a+)+$', '(a|aa)+$', '(a|a?)+$', '(.*a){20}$', '^(([a-z])+.)+[A-Z]([a-z])+$']
  for (const pattern of nasty) {
    const rules = new PasswordRules({ ...spec, custom: [pattern] })
    const check = (length: number): Promise<number> =>
      stepsOf(() => assert.ok(rules.broken(`${'a'.repeat(length - 1)}!`).includes('uppercase')))
    await check(16)
    const [short, long] = [await check(256), await check(2048)]
    assert.ok(long < 10 * short, `${pattern}: ${short} steps for 256 characters, ${long} for 2048`)
  }
})

test('a custom rule that is not a pattern, or needs more than linear time, stops the start (D5.2)', () => {
  for (const pattern of ['(', '[a', 'a{2,1}', '*a', '(?=.*a)', '(a)\\1', '(?<!a)b']) {
    assert.throws(
      () => loadSettings({ overrides: [`service.auth.password.rule.custom.1=${pattern}`] }),
      (error: unknown) => error instanceof StartupError && error.message.includes('service.auth.password.rule.custom'),
      pattern,
    )
  }
})

const brokenBy = (answer: Answer): unknown => {
  assert.deepEqual([answer.status, codeOf(answer)], [400, 'password-rules'], answer.text)
  return answer.json()['rules']
}

test('a violation is 400 password-rules with the list, when a user is made and when one changes (D5.2)', async t => {
  const service = await startInProcess(t, {
    settings: { 'service.auth.password.rule.symbol': 'true', 'service.auth.password.rule.custom.1': '(a+)+$' },
  })
  const admin = await service.admin()
  const bad = await admin.post('_principals?graphtype=user', { resource: { name: 'bob', password: 'short' } })
  assert.deepEqual(brokenBy(bad), [MIN, 'uppercase', 'number', 'symbol', 'custom.1'])
  const { id } = await addUser(admin, 'bob', 'Right-Password-1a')
  const set = (password: unknown) => admin.put(userPath(id), { password })
  assert.deepEqual(brokenBy(await set('Right-Password-12')), ['custom.1'])
  assert.deepEqual(brokenBy(await set(`${'a'.repeat(2047)}!`)), ['uppercase', 'number', 'custom.1'])
  assert.equal((await service.visitor().signIn('bob', 'Right-Password-1a')).status, 200, 'the old one stands')

  for (const [password, code] of [
    ['', 'password-missing'],
    [`Aa1-${'a'.repeat(2045)}`, 'password-too-long'],
    [`Aa1-${'\u{1F511}'.repeat(2045)}a`, 'password-too-long'],
    [12345, 'invalid-value'],
    [null, 'invalid-value'],
    ['\ud800-lone-Surrogate-1a', 'invalid-value'],
  ] as const) {
    const answer = await set(password)
    assert.deepEqual([answer.status, codeOf(answer)], [400, code], JSON.stringify(password)?.slice(0, 30))
  }
  const longest = `Aa1-${'\u{1F511}'.repeat(2043)}a`
  assert.equal([...longest].length, 2048)
  assert.equal((await set(longest)).status, 204)
  assert.equal((await service.visitor().signIn('bob', longest)).status, 200)
  const answer = await service.visitor().signIn('bob', `${longest}a`)
  assert.equal(answer.status, 400, 'one more is refused before any hashing')
})

test('the profile nist asks for 15 characters, no classes, nothing common, repeated or in context', async t => {
  const service = await startInProcess(t, { settings: { 'service.auth.password.profile': 'nist' } })
  const admin = await service.admin()
  const { id } = await addUser(admin, 'theodora@example.org', 'correct horse battery')
  const set = (password: string, more: object = {}) => admin.put(userPath(id), { password, ...more })
  for (const [password, rules] of [
    ['fourteen chars', ['min-length (15)']],
    ['passwordpassword', ['common']],
    ['PASSWORDpasswordPassword', ['common']],
    ['aaaaaaaaaaaaaaaa', ['common']],
    ['xq7xq7xq7xq7xq7xq7', ['common']],
    ['my stowage secret', ['context']],
    ['I am theodora@example.org!', ['context']],
    ['short', ['min-length (15)', 'common']],
  ] as const) {
    assert.deepEqual(brokenBy(await set(password)), rules, password)
  }
  assert.deepEqual(brokenBy(await set('the new name is rosalind', { name: 'Rosalind' })), ['context'])
  for (const good of [
    'fifteen chars !',
    'nur kleine buchstaben',
    '日本語日本語のパスワードは長い方がいい',
    '9182736450918273',
  ]) {
    assert.equal((await set(good)).status, 204, good)
  }
  const created = await admin.post('_principals?graphtype=user', {
    resource: { name: 'hildegard', password: 'hildegard is great' },
  })
  assert.deepEqual(brokenBy(created), ['context'])
})

test('in the profile nist a longer minimum and custom rules hold, a shorter minimum does not', async t => {
  for (const [minimum, needed] of [
    ['20', 20],
    ['8', 15],
  ] as const) {
    const service = await startInProcess(t, {
      settings: {
        'service.auth.password.profile': 'nist',
        'service.auth.password.rule.min-length': minimum,
        'service.auth.password.rule.custom.1': 'z',
      },
    })
    const admin = await service.admin()
    const short = await admin.post('_principals?graphtype=user', { resource: { name: 'a', password: 'brief words' } })
    assert.deepEqual(brokenBy(short), [`min-length (${needed})`, 'custom.1'])
    await service.close()
  }
})

test('a password known from a leak is refused with its rule, and the rule is listed (D32.2)', async t => {
  const service = await startInProcess(t, { settings: { 'service.auth.password.rule.breached': 'included' } })
  const admin = await service.admin()
  const { rules } = (await admin.get('auth/password-rules')).json<{ rules: Array<{ name: string; kind: string }> }>()
  assert.deepEqual(rules.at(-1), { name: 'breached', kind: 'breached' })
  const create = (name: string, password: string): Promise<Answer> =>
    admin.post('_principals?graphtype=user', { resource: { name, password } })
  const refused = await create('ann', 'Password123')
  assert.deepEqual([refused.status, codeOf(refused), refused.json()['rules']], [400, 'password-rules', ['breached']])
  assert.equal((await create('ann', 'Password123-by-Ann')).status, 201)
  const own = { resource: { name: 'ben', password: 'Qwertyuiop1' } }
  assert.deepEqual((await admin.post('_principals?graphtype=user', own)).json()['rules'], ['breached'])
})
