import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verify } from '../../support/saml-checks.ts'
import { Refusals } from '../../support/refusals.ts'
import { encode, expected } from '../../support/saml-idp.ts'
import { signatureAttacks } from './signature.ts'
import { statementAttacks } from './statements.ts'
import { wrappingAttacks } from './wrapping.ts'
import { encryptionAttacks, xmlAttacks } from './xml.ts'

const corpus = { wrappingAttacks, signatureAttacks, statementAttacks, xmlAttacks, encryptionAttacks }

const known = new Refusals('responses')

for (const attacks of Object.values(corpus)) {
  for (const { title, check, xml, field = (text: string) => text, expected: changes } of attacks) {
    test(`refused: ${title} (D8.3)`, async () => {
      const outcome = await verify({ encoded: field(encode(xml())), expected: expected(changes) })
      assert.ok('failed' in outcome, `accepted as ${JSON.stringify(outcome)}`)
      assert.equal(outcome.failed.check, check, JSON.stringify(outcome.failed))
      known.assertKnown(title, outcome.failed)
    })
  }
}

test('administrators see why a decrypted assertion was refused, the user only that it was (D8.5)', async () => {
  const attack = encryptionAttacks.find(({ title }) => title === 'encrypted: tampered with inside')
  assert.ok(attack)
  const outcome = await verify({ encoded: encode(attack.xml()), expected: expected(attack.expected) })
  assert.equal('failed' in outcome && outcome.failed.check, 'decryption')
  assert.match(('failed' in outcome && outcome.failed.received) || '', /^signature: certificate with SHA-256 /)
})

test('the corpus has more than 100 attacks, each with a title of its own', () => {
  const titles = Object.values(corpus).flatMap(attacks => attacks.map(({ title }) => title))
  assert.equal(new Set(titles).size, titles.length)
  assert.ok(titles.length >= 100)
})
