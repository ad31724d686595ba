import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExpectedLogout, ReceivedLogout, VerifiedLogout } from '../../../src/features/saml/logout-message.ts'
import { checkLogout } from '../../support/saml-checks.ts'
import { Refusals } from '../../support/refusals.ts'
import { DSIG_MORE, edit, keyNamed, NAME, NOW } from '../../support/saml-idp.ts'
import {
  buildLogoutRequest,
  buildLogoutResponse,
  expectedLogout,
  PARTIAL,
  posted,
  redirected,
  SUCCESS,
} from '../../support/saml-logout.ts'
import { decrypting, encryptedId, signatureAttacks, statementAttacks, wrappingAttacks } from './attacks.ts'
import { responseAttacks, xmlAttacks } from './responses.ts'

const corpus = { signatureAttacks, wrappingAttacks, statementAttacks, responseAttacks, xmlAttacks }

const known = new Refusals('logout-messages')

for (const attacks of Object.values(corpus)) {
  for (const { title, check, received, expected } of attacks) {
    test(`refused logout message: ${title} (D30.1)`, async () => {
      const outcome = await checkLogout({ received: received(), expected: expectedLogout(expected) })
      assert.ok('failed' in outcome, `accepted as ${JSON.stringify(outcome)}`)
      assert.equal(outcome.failed.check, check, JSON.stringify(outcome.failed))
      known.assertKnown(title, outcome.failed)
    })
  }
}

interface Honest {
  readonly received: () => ReceivedLogout
  readonly expected?: Partial<ExpectedLogout>
  readonly read?:
    | Partial<Extract<VerifiedLogout, { kind: 'request' }>>
    | Partial<Extract<VerifiedLogout, { kind: 'response' }>>
}

const request = buildLogoutRequest()
const ec = `${DSIG_MORE}ecdsa-sha256`
const byEc = { keys: [keyNamed('P-256').pem] }
const lowerCase = (value: string): string =>
  encodeURIComponent(value).replaceAll(/%[0-9A-F]{2}/g, code => code.toLowerCase())

const honest: Readonly<Record<string, Honest>> = {
  'a request by redirect': { received: () => redirected(request), read: { name: NAME, sessionIndexes: ['_s'] } },
  'a request by POST': { received: () => posted(request), read: { name: NAME, sessionIndexes: ['_s'] } },
  'a request with a RelayState': { received: () => redirected(request, { relayState: 'a b+c/&=ü' }) },
  'an empty RelayState': { received: () => redirected(request, { relayState: '' }) },
  'percent-encoding in lower case': { received: () => redirected(request, { write: lowerCase }) },
  'percent-encoding of every character': {
    received: () =>
      redirected(request, {
        write: value =>
          value.replaceAll(/./gs, character => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`),
      }),
  },
  'line breaks in the base64 of the query': {
    received: () => {
      const message = decodeURIComponent(
        /SAMLRequest=([^&]*)/.exec((redirected(request) as { query: string }).query)?.[1] ?? '',
      )
      return redirected(request, { message: message.replaceAll(/.{76}/g, '$&\r\n') })
    },
  },
  'a parameter of the address before the message': {
    received: () => ({ binding: 'redirect', query: `tenant=1&${(redirected(request) as { query: string }).query}` }),
  },
  'the encoding by name': {
    received: () => ({
      binding: 'redirect',
      query: `${(redirected(request) as { query: string }).query}&SAMLEncoding=${encodeURIComponent('urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE')}`,
    }),
  },
  'RSA with SHA-512 by redirect': {
    received: () => redirected(request, { algorithm: `${DSIG_MORE}rsa-sha512` }),
  },
  'ECDSA by redirect': {
    received: () => redirected(request, { key: keyNamed('P-256'), algorithm: ec }),
    expected: byEc,
  },
  'ECDSA in DER by redirect': {
    received: () => redirected(request, { key: keyNamed('P-256'), algorithm: ec, der: true }),
    expected: byEc,
  },
  'ECDSA by POST': { received: () => posted(request, { key: keyNamed('P-256'), method: ec }), expected: byEc },
  'the second of two keys': {
    received: () => redirected(request),
    expected: { keys: [keyNamed('other').pem, keyNamed('idp').pem] },
  },
  'no SessionIndex: all sessions of the user': {
    received: () => posted(buildLogoutRequest({ sessionIndexes: [] })),
    read: { sessionIndexes: [] },
  },
  'several sessions': {
    received: () => redirected(buildLogoutRequest({ sessionIndexes: ['_s', '_t'] })),
    read: { sessionIndexes: ['_s', '_t'] },
  },
  'a NameID with format and qualifiers': {
    received: () =>
      redirected(edit(request, '<saml:NameID>', '<saml:NameID Format="urn:x" NameQualifier="a" SPNameQualifier="b">')),
    read: { name: NAME },
  },
  'white space around NameID and SessionIndex': {
    received: () => posted(buildLogoutRequest({ name: `\n ${NAME} `, sessionIndexes: [' _s\n'] })),
    read: { name: NAME, sessionIndexes: ['_s'] },
  },
  'an EncryptedID': {
    received: () => posted(edit(request, /<saml:NameID>.*<\/saml:NameID>/, encryptedId())),
    expected: decrypting(),
    read: { name: NAME },
  },
  'an end, a reason and a consent': {
    received: () =>
      posted(
        edit(
          request,
          ' Version',
          ` NotOnOrAfter="${new Date(NOW + 1).toISOString()}" Reason="urn:oasis:names:tc:SAML:2.0:logout:user" Consent="urn:oasis:names:tc:SAML:2.0:consent:unspecified" Version`,
        ),
      ),
  },
  extensions: {
    received: () =>
      posted(
        edit(
          request,
          '</saml:Issuer>',
          found =>
            `${found}<samlp:Extensions><aslo:Asynchronous xmlns:aslo="urn:oasis:names:tc:SAML:2.0:protocol:ext:async-slo"/></samlp:Extensions>`,
        ),
      ),
  },
  'a clock that is a minute off': { received: () => redirected(buildLogoutRequest({ now: NOW + 60_000 })) },
  'a response by redirect': {
    received: () => redirected(buildLogoutResponse(), { kind: 'SAMLResponse', relayState: 'x' }),
    read: { outcome: 'complete' },
  },
  'a response by POST': {
    received: () => posted(buildLogoutResponse(), { kind: 'SAMLResponse' }),
    read: { outcome: 'complete', status: SUCCESS },
  },
  'a response about a partial logout': {
    received: () => redirected(buildLogoutResponse({ codes: [SUCCESS, PARTIAL] }), { kind: 'SAMLResponse' }),
    read: { outcome: 'partial' },
  },
  'a response about a failure': {
    received: () =>
      redirected(buildLogoutResponse({ codes: ['urn:oasis:names:tc:SAML:2.0:status:Responder'] }), {
        kind: 'SAMLResponse',
      }),
    read: { outcome: 'failed' },
  },
}

for (const [title, { received, expected, read = {} }] of Object.entries(honest)) {
  test(`accepted logout message: ${title} (D30.1)`, async () => {
    const outcome = await checkLogout({ received: received(), expected: expectedLogout(expected) })
    assert.ok('logout' in outcome, JSON.stringify(outcome))
    assert.deepEqual({ ...outcome.logout, ...read }, outcome.logout)
  })
}

test('the corpus has at least 100 attacks and 25 honest variants, each with a title of its own (D30.1)', () => {
  const titles = Object.values(corpus).flatMap(attacks => attacks.map(({ title }) => title))
  assert.equal(new Set(titles).size, titles.length)
  assert.ok(titles.length >= 100, `${titles.length}`)
  assert.ok(Object.keys(honest).length >= 25)
})
