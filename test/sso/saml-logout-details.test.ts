import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExpectedLogout, ReceivedLogout } from '../../src/features/saml/logout-message.ts'
import { checkLogout } from '../support/saml-checks.ts'
import { work } from '../../src/features/saml/verify-worker.ts'
import { edit, encode, IDP, NAME, NOW } from '../support/saml-idp.ts'
import {
  buildLogoutRequest,
  buildLogoutResponse,
  expectedLogout,
  PARTIAL,
  posted,
  redirected,
  SUCCESS,
} from '../support/saml-logout.ts'

const SKEW = 60_000
const TEN_MINUTES = 600_000
const iso = (time: number): string => new Date(time).toISOString()
const request = buildLogoutRequest()
const RESPONDER = 'urn:oasis:names:tc:SAML:2.0:status:Responder'

/** What is read from the request that the tests build. */
const plainly = {
  kind: 'request',
  id: '_logout',
  issuer: IDP,
  name: NAME,
  sessionIndexes: ['_s'],
  issued: NOW,
  until: NOW + TEN_MINUTES + SKEW,
}

async function outcomeOf(received: ReceivedLogout, changes: Partial<ExpectedLogout> = {}): Promise<object> {
  const outcome = await checkLogout({ received, expected: expectedLogout(changes) })
  return 'logout' in outcome ? outcome.logout : { failed: outcome.failed }
}
const issuedAt = (time: number): ReceivedLogout => redirected(buildLogoutRequest({ now: time }))
const ending = (time: number): ReceivedLogout =>
  redirected(edit(request, ' Version', ` NotOnOrAfter="${iso(time)}" Version`))

test('a request is read with its id, issuer, user, sessions and the time for which it is remembered (D30.1)', async () => {
  const indexes = Array.from({ length: 100 }, (_, at) => `_${at}`)
  const id = `_${'x'.repeat(255)}`
  const cases: ReadonlyArray<readonly [ReceivedLogout, object]> = [
    [redirected(request), {}],
    [posted(request), {}],
    [issuedAt(NOW + SKEW), { issued: NOW + SKEW, until: NOW + TEN_MINUTES + 2 * SKEW }],
    [issuedAt(NOW - TEN_MINUTES - SKEW + 1), { issued: NOW - TEN_MINUTES - SKEW + 1, until: NOW + 1 }],
    [ending(NOW - SKEW + 1), {}],
    [redirected(buildLogoutRequest({ sessionIndexes: indexes })), { sessionIndexes: indexes }],
    [redirected(buildLogoutRequest({ id })), { id }],
  ]
  for (const [received, read] of cases) assert.deepEqual(await outcomeOf(received), { ...plainly, ...read })
})

test('a request is refused a millisecond outside its time (D30.1)', async () => {
  assert.deepEqual(await outcomeOf(issuedAt(NOW + SKEW + 1)), {
    failed: { check: 'not-yet-valid', expected: `not before ${iso(NOW + SKEW + 1)}`, received: iso(NOW) },
  })
  assert.deepEqual(await outcomeOf(issuedAt(NOW - TEN_MINUTES - SKEW)), {
    failed: { check: 'expired', expected: `before ${iso(NOW - SKEW)}`, received: `${iso(NOW)}, 60000 ms late` },
  })
  assert.deepEqual(await outcomeOf(ending(NOW - SKEW)), {
    failed: { check: 'expired', expected: `before ${iso(NOW - SKEW)}`, received: `${iso(NOW)}, 60000 ms late` },
  })
})

test('a response is read with its outcome and everything that its status says (D30.1)', async () => {
  const answered = async (codes: readonly string[], message = '') => {
    const xml = buildLogoutResponse({ codes }).replace('</samlp:Status>', found => message + found)
    return await outcomeOf(redirected(xml, { kind: 'SAMLResponse' }))
  }
  const kind = 'response'
  assert.deepEqual(await answered([SUCCESS]), { kind, outcome: 'complete', status: SUCCESS })
  assert.deepEqual(await answered([SUCCESS, PARTIAL]), { kind, outcome: 'partial', status: `${SUCCESS} ${PARTIAL}` })
  assert.deepEqual(await answered([RESPONDER, PARTIAL], '<samlp:StatusMessage>no</samlp:StatusMessage>'), {
    kind,
    outcome: 'partial',
    status: `${RESPONDER} ${PARTIAL} no`,
  })
  assert.deepEqual(await answered([RESPONDER, SUCCESS]), {
    kind,
    outcome: 'failed',
    status: `${RESPONDER} ${SUCCESS}`,
  })
})

const issuerOf = async (received: ReceivedLogout) => await work({ kind: 'logout-issuer', received })

test('the stated issuer of a message is read before its signature, to find the keys (D31.5)', async () => {
  assert.deepEqual(await issuerOf(redirected(request)), { result: IDP })
  assert.deepEqual(await issuerOf(posted(request)), { result: IDP })
  assert.deepEqual(await issuerOf({ binding: 'post', kind: 'SAMLRequest', encoded: encode(request) }), { result: IDP })
  const long = 'x'.repeat(1024)
  assert.deepEqual(await issuerOf(redirected(buildLogoutRequest({ issuer: ` ${long}\n` }))), { result: long })
})

test('a message without a usable issuer is refused (D31.5)', async () => {
  const refused = (received: string) => ({ failed: { check: 'issuer', expected: 'an entity id', received } })
  assert.deepEqual(
    await issuerOf(redirected(buildLogoutRequest({ issuer: 'x'.repeat(1025) }))),
    refused('1025 characters'),
  )
  assert.deepEqual(await issuerOf(redirected(buildLogoutRequest({ issuer: ' ' }))), refused('none'))
  assert.deepEqual(await issuerOf(redirected(edit(request, /<saml:Issuer>.*<\/saml:Issuer>/, ''))), {
    failed: { check: 'issuer', expected: 'exactly one Issuer', received: 'none' },
  })
})

test('messages have smaller limits than responses (D30.1)', async () => {
  const withExtensions = (inner: string) =>
    posted(edit(request, '</saml:Issuer>', `</saml:Issuer><samlp:Extensions>${inner}</samlp:Extensions>`))
  const attributes = (count: number) => Array.from({ length: count }, (_, at) => ` a${at}=""`).join('')
  const names = (count: number) => Array.from({ length: count }, (_, at) => `<n${at}/>`).join('')
  const size = (received: string) => ({ failed: { check: 'xml-size', expected: 'plain XML', received } })
  const tooMany = size('is nested too deeply or has too many parts')
  assert.deepEqual(await outcomeOf(withExtensions('<x>'.repeat(18) + '</x>'.repeat(18))), plainly)
  assert.deepEqual(await outcomeOf(withExtensions('<x>'.repeat(19) + '</x>'.repeat(19))), tooMany)
  assert.deepEqual(await outcomeOf(withExtensions(`<x${attributes(50)}/>`)), plainly)
  assert.deepEqual(
    await outcomeOf(withExtensions(`<x${attributes(51)}/>`)),
    size('has an element with too many attributes'),
  )
  assert.deepEqual(await outcomeOf(withExtensions(names(60))), plainly)
  assert.deepEqual(await outcomeOf(withExtensions(names(100))), tooMany)
  assert.deepEqual(await outcomeOf(withExtensions(`<x${attributes(50)}/>`.repeat(80))), tooMany)
})
