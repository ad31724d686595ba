import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusals } from '../../support/refusals.ts'
import { claimAttacks, userAttacks } from './claims.ts'
import { honestExchange, outcomeOf, providerOf, refusalOr, sign } from './exchange.ts'
import { honestVariants } from './honest.ts'
import { honestLogouts, type LogoutCase, logoutAttacks } from './logout.ts'
import { responseAttacks } from './responses.ts'
import { algorithmAttacks, formAttacks, signatureAttacks } from './signature.ts'

const corpus = [algorithmAttacks, signatureAttacks, formAttacks, claimAttacks, userAttacks, responseAttacks].flat()

const known = { logins: new Refusals('oidc-logins'), logouts: new Refusals('oidc-logout-tokens') }

for (const { title, check, change } of corpus) {
  test(`refused: ${title} (D26.7)`, async () => {
    const exchange = honestExchange()
    change(exchange)
    const outcome = await outcomeOf(exchange)
    assert.ok('refused' in outcome, `accepted as ${JSON.stringify(outcome)}`)
    assert.equal(outcome.refused.check, check)
    known.logins.assertKnown(title, outcome.refused)
  })
}

for (const { title, change } of honestVariants) {
  test(`accepted: ${title} (D26.7)`, async () => {
    const exchange = honestExchange()
    change(exchange)
    const outcome = await outcomeOf(exchange)
    assert.ok('subject' in outcome, JSON.stringify(outcome))
    assert.equal(outcome.subject, exchange.claims['sub'])
  })
}

const readLogout = ({ header, claims, key }: LogoutCase) =>
  refusalOr(() => providerOf(honestExchange()).readLogout(sign(header, claims, key)))

for (const attack of logoutAttacks) {
  test(`refused logout token: ${attack.title} (D26.5)`, async () => {
    const outcome = await readLogout(attack)
    assert.ok('refused' in outcome, `accepted as ${JSON.stringify(outcome)}`)
    assert.equal(outcome.refused.check, attack.check)
    known.logouts.assertKnown(attack.title, outcome.refused)
  })
}

for (const variant of honestLogouts) {
  test(`accepted logout token: ${variant.title} (D26.5)`, async () => {
    const request = await readLogout(variant)
    assert.ok('once' in request, JSON.stringify(request))
    assert.deepEqual([request.subject, request.sid], [variant.claims['sub'], variant.claims['sid']])
  })
}

test('the corpus has at least 150 attacks and 40 honest variants, each with a title of its own', () => {
  for (const [titles, least] of [
    [[...corpus, ...logoutAttacks].map(({ title }) => title), 150],
    [[...honestVariants, ...honestLogouts].map(({ title }) => title), 40],
  ] as const) {
    assert.equal(new Set(titles).size, titles.length)
    assert.ok(titles.length >= least, String(titles.length))
  }
})
