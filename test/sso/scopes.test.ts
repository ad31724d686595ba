import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SsoRefused } from '../../src/sso/refusal.ts'
import { requireScopes } from '../../src/sso/saml/scopes.ts'

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
