import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { requireScopes } from '../../src/features/saml/provider.ts'

const scopes = {
  entityId: 'https://idp.uni.example/idp',
  scopes: ['uni.example'],
  scopePatterns: [String.raw`.+\.uni\.example`, '('],
}
const NAME = 'anna@uni.example'

const scoped = [
  ...['eduPersonPrincipalName', 'eduPersonScopedAffiliation', 'eduPersonUniqueId'].flatMap(name => [
    name,
    `urn:mace:dir:attribute-def:${name}`,
  ]),
  ...[6, 9, 13].map(number => `urn:oid:1.3.6.1.4.1.5923.1.1.1.${number}`),
  'urn:oasis:names:tc:SAML:attribute:subject-id',
  'urn:oasis:names:tc:SAML:attribute:pairwise-id',
]

for (const attribute of scoped) {
  test(`${attribute} must have a scope that the provider publishes, in each of its values (D31.4)`, () => {
    requireScopes(NAME, { [attribute]: 'x@uni.example' }, scopes)
    requireScopes(NAME, { [attribute]: ['x@UNI.example', 'x@a.uni.example'] }, scopes)
    for (const value of [
      'x@evil.example',
      ['x@uni.example', 'x@evil.example'],
      'x',
      'x@',
      '@uni.example',
      'x@y@uni.example',
    ])
      assert.throws(() => requireScopes(NAME, { [attribute]: value }, scopes), SsoRefused, String(value))
  })
}

test('the user name must have such a scope too, and other attributes need none (D31.4)', () => {
  requireScopes(NAME, { mail: 'x@evil.example' }, scopes)
  for (const name of ['anna', 'anna@evil.example', 'anna@uni.example.evil.example', 'anna@xuni.example'])
    assert.throws(() => requireScopes(name, {}, scopes), SsoRefused, name)
})

test('a refusal names the value, where it stands and the first ten scopes that are published (D31.4)', () => {
  const refusal = (expected: string, received: string) => ({ failed: { check: 'scope', expected, received } })
  const published = `a scope of ${scopes.entityId}: uni.example, .+\\.uni\\.example, (`
  assert.throws(
    () => requireScopes(NAME, { eduPersonUniqueId: 'x@evil.example' }, scopes),
    refusal(published, 'x@evil.example in eduPersonUniqueId'),
  )
  const oid = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.6'
  const named = refusal(published, `x@evil.example in ${oid}`)
  assert.throws(() => requireScopes(NAME, { [oid]: 'x@evil.example' }, scopes), named)
  assert.throws(() => requireScopes('anna', {}, scopes), refusal(published, 'anna in the user name'))
  const none = { ...scopes, scopes: [], scopePatterns: [] }
  const nothing = refusal(`a scope of ${scopes.entityId}: it publishes none`, `${NAME} in the user name`)
  assert.throws(() => requireScopes(NAME, {}, none), nothing)
  const many = { ...none, scopes: Array.from({ length: 9 }, (_, at) => `s${at}`), scopePatterns: ['p0', 'p1'] }
  const first = 's0, s1, s2, s3, s4, s5, s6, s7, s8, p0'
  const some = refusal(`a scope of ${scopes.entityId}: ${first}`, `${NAME} in the user name`)
  assert.throws(() => requireScopes(NAME, {}, many), some)
})

test('a pattern for anything accepts no empty scope (D31.4)', () => {
  const anything = { ...scopes, scopePatterns: ['.*'] }
  requireScopes('x@y', {}, anything)
  assert.throws(() => requireScopes('x@', {}, anything), SsoRefused)
})
