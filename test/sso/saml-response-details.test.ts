import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExpectedResponse, VerifiedAssertion } from '../../src/features/saml/response.ts'
import { verify } from '../support/saml-checks.ts'
import { encryptAssertion } from '../support/saml-encryption.ts'
import { buildResponse, edit, encode, expected, IDP, keyNamed, NAME, NOW, signResponse } from '../support/saml-idp.ts'

const plain = buildResponse()
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
const PASSWORD = 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password'
const TOKEN = 'urn:oasis:names:tc:SAML:2.0:ac:classes:TimeSyncToken'
const SKEW = 60_000
const iso = (time: number): string => new Date(time).toISOString()

/** What is read from the response that the tests build. */
const plainly: VerifiedAssertion = {
  id: '_assertion',
  issuer: IDP,
  name: NAME,
  nameId: { text: NAME, attributes: { Format: EMAIL_FORMAT } },
  attributes: { mail: [NAME] },
  until: NOW + 300_000 + SKEW,
  sessionEnds: undefined,
  authenticated: NOW - 30_000,
  authnContext: PASSWORD,
  sessionIndex: '_s',
}

async function outcomeOf(xml: string, changes: Partial<ExpectedResponse> = {}) {
  const outcome = await verify({ encoded: encode(signResponse(xml)), expected: expected(changes) })
  if ('failed' in outcome) return outcome
  return { ...outcome.assertion, attributes: { ...outcome.assertion.attributes } }
}

const statement = (attributes: string, context = PASSWORD): string =>
  `<saml:AuthnStatement ${attributes}><saml:AuthnContext><saml:AuthnContextClassRef>${context}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`
const STATEMENT = /<saml:AuthnStatement .*<\/saml:AuthnStatement>/
const attribute = (name: string, ...values: readonly string[]): string =>
  `<saml:Attribute Name="${name}" FriendlyName="admin">${values.map(value => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`
const ATTRIBUTE = /<saml:Attribute .*<\/saml:Attribute>/

interface Case {
  readonly xml: string
  readonly expected?: Partial<ExpectedResponse>
  readonly read: Partial<VerifiedAssertion>
}

const cases: Readonly<Record<string, Case>> = {
  'everything of a usual one': { xml: plain, read: {} },
  'each attribute of the NameID': {
    xml: edit(
      plain,
      / Format="[^"]*emailAddress"/,
      ' Format="urn:f" NameQualifier="n" SPNameQualifier="s" SPProvidedID="p"',
    ),
    read: {
      nameId: {
        text: NAME,
        attributes: { Format: 'urn:f', NameQualifier: 'n', SPNameQualifier: 's', SPProvidedID: 'p' },
      },
    },
  },
  'the earliest end of several sessions, and the first index': {
    xml: edit(
      plain,
      STATEMENT,
      statement(`SessionNotOnOrAfter="${iso(NOW + 9000)}"`, TOKEN) +
        statement(`SessionNotOnOrAfter="${iso(NOW + 5000)}" SessionIndex="_b"`) +
        statement('SessionIndex="_c"'),
    ),
    read: { sessionEnds: NOW + 5000 + SKEW, sessionIndex: '_b', authenticated: undefined, authnContext: TOKEN },
  },
  'a session that ended less than the tolerance ago': {
    xml: edit(plain, 'SessionIndex', `SessionNotOnOrAfter="${iso(NOW - SKEW + 1)}" SessionIndex`),
    read: { sessionEnds: NOW + 1 },
  },
  'a statement without index and context': {
    xml: edit(plain, STATEMENT, '<saml:AuthnStatement/>'),
    read: { sessionIndex: undefined, authenticated: undefined, authnContext: undefined },
  },
  'a context without a class': {
    xml: edit(plain, /<saml:AuthnContextClassRef>.*<\/saml:AuthnContextClassRef>/, ''),
    read: { authnContext: undefined },
  },
  'a context with white space, which is one of those that are accepted': {
    xml: edit(plain, STATEMENT, statement('', `\n ${TOKEN} `)),
    expected: { authnContexts: [PASSWORD, TOKEN] },
    read: { authenticated: undefined, authnContext: TOKEN, sessionIndex: undefined },
  },
  'the earliest time of several authentications': {
    xml: edit(plain, STATEMENT, found => found + statement(`AuthnInstant="${iso(NOW - 90_000)}"`)),
    read: { authenticated: NOW - 90_000 },
  },
  'attributes of several statements, without those that have no name or no text': {
    xml: edit(
      plain,
      /<saml:AttributeStatement>.*<\/saml:AttributeStatement>/,
      `<saml:AttributeStatement>${attribute('a', ' 1\n', '', '<x/>', '2')}${attribute('', 'x')}</saml:AttributeStatement>` +
        `<saml:AttributeStatement>${attribute('a', '3')}${attribute('b', '4')}</saml:AttributeStatement>`,
    ),
    read: { attributes: { a: ['1', '2', '3'], b: ['4'] } },
  },
  'the name in an attribute, with the NameID for a later logout': {
    xml: edit(plain, ATTRIBUTE, attribute('uid', 'bea')),
    expected: { nameAttribute: 'uid' },
    read: { name: 'bea', attributes: { uid: ['bea'] } },
  },
  'the name in an attribute and a transient NameID': {
    xml: edit(plain, EMAIL_FORMAT, 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient'),
    expected: { nameAttribute: 'mail' },
    read: {
      nameId: { text: NAME, attributes: { Format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' } },
    },
  },
  'the name in an attribute and no NameID': {
    xml: edit(plain, /<saml:NameID .*<\/saml:NameID>/, ''),
    expected: { nameAttribute: 'mail' },
    read: { nameId: undefined },
  },
  'an id of 256 characters': {
    xml: plain.replaceAll('"_assertion"', `"_${'x'.repeat(255)}"`),
    read: { id: `_${'x'.repeat(255)}` },
  },
  'conditions that begin at the end of the tolerance': {
    xml: edit(plain, /(?<=Conditions NotBefore=")[^"]*/, iso(NOW + SKEW)),
    read: {},
  },
  'conditions and a confirmation that ended just within the tolerance': {
    xml: plain.replaceAll(/(?<= NotOnOrAfter=")[^"]*/g, iso(NOW - SKEW + 1)),
    read: { until: NOW + 1 },
  },
}

for (const [what, { xml, expected: changes, read }] of Object.entries(cases)) {
  test(`a response is read with ${what} (D8.3)`, async () => {
    assert.deepEqual(await outcomeOf(xml, changes), { ...plainly, ...read })
  })
}

const refusals: Readonly<Record<string, readonly [xml: string, changes: Partial<ExpectedResponse>, failed: object]>> = {
  'an id of 257 characters': [
    plain.replaceAll('"_assertion"', `"_${'x'.repeat(256)}"`),
    {},
    { check: 'assertion-id', expected: 'an id', received: `_${'x'.repeat(256)}` },
  ],
  'a second authentication in another way than those that are accepted': [
    edit(plain, STATEMENT, statement('', PASSWORD) + statement('', TOKEN)),
    { authnContexts: [PASSWORD, 'urn:x'] },
    { check: 'authn-context', expected: `${PASSWORD} urn:x`, received: TOKEN },
  ],
  'no way of authentication where one is needed': [
    edit(plain, STATEMENT, '<saml:AuthnStatement/>'),
    { authnContexts: [PASSWORD] },
    { check: 'authn-context', expected: PASSWORD, received: 'nothing' },
  ],
  'a second session that is over': [
    edit(plain, STATEMENT, found => found + statement(`SessionNotOnOrAfter="${iso(NOW - SKEW)}"`)),
    {},
    { check: 'session-expired', expected: `before ${iso(NOW - SKEW)}`, received: `${iso(NOW)}, 60000 ms late` },
  ],
  'a confirmation that begins later': [
    edit(plain, '<saml:SubjectConfirmationData ', `<saml:SubjectConfirmationData NotBefore="${iso(NOW + SKEW + 1)}" `),
    {},
    {
      check: 'not-yet-valid',
      expected: `not before ${iso(NOW + SKEW + 1)}`,
      received: `${iso(NOW)}, 60001 ms early`,
    },
  ],
  'a confirmation without an end': [
    edit(plain, /(?<=ConfirmationData) NotOnOrAfter="[^"]*"/, ''),
    {},
    { check: 'expired', expected: 'a time until which the confirmation holds', received: 'none' },
  ],
  'a condition that is not known': [
    edit(plain, '</saml:Conditions>', '<saml:Condition/></saml:Conditions>'),
    {},
    { check: 'conditions', expected: 'AudienceRestriction, OneTimeUse, ProxyRestriction', received: 'saml:Condition' },
  ],
  'two values of the attribute with the name': [
    edit(plain, ATTRIBUTE, attribute('uid', 'a', 'b')),
    { nameAttribute: 'uid' },
    { check: 'name-attribute', expected: 'one value of uid', received: 'a, b' },
  ],
  'no value of the attribute with the name': [
    edit(plain, ATTRIBUTE, attribute('x', '1') + attribute('y', '2')),
    { nameAttribute: 'uid' },
    { check: 'name-attribute', expected: 'one value of uid', received: 'none; received x, y' },
  ],
  'an empty NameID': [
    edit(plain, `>${NAME}</saml:NameID`, '> </saml:NameID'),
    {},
    { check: 'name-id', expected: 'an e-mail address', received: 'nothing' },
  ],
  'an element in the NameID': [
    edit(plain, `>${NAME}</saml:NameID`, '><x/></saml:NameID'),
    {},
    { check: 'name-id', expected: 'an e-mail address', received: 'elements' },
  ],
  'a BaseID': [
    edit(plain, '</saml:Subject>', '<saml:BaseID/></saml:Subject>'),
    {},
    { check: 'name-id', expected: 'one NameID', received: 'saml:BaseID' },
  ],
}

for (const [what, [xml, changes, failed]] of Object.entries(refusals)) {
  test(`a response is refused with what was compared: ${what} (D8.5)`, async () => {
    assert.deepEqual(await outcomeOf(xml, changes), { failed })
  })
}

test('a message of up to 1.4 times its limit in base64 is decoded, white space not counted', async () => {
  const failedOf = async (encoded: string) => {
    const outcome = await verify({ encoded, expected: expected() })
    return 'failed' in outcome ? outcome.failed : undefined
  }
  const most = Math.floor((524_288 * 1.4) / 4) * 4
  assert.deepEqual(await failedOf('A'.repeat(most + 4)), { check: 'size', expected: '524288 bytes', received: 'more' })
  assert.notEqual((await failedOf('A'.repeat(most)))?.received, 'more')
  for (const text of ['', '=', 'AAAA===', 'AA=A', 'AA-A', 'ä'])
    assert.deepEqual(await failedOf(text), { check: 'base64', expected: 'base64', received: 'other characters' }, text)
  assert.deepEqual(await failedOf('/w=='), { check: 'utf-8', expected: 'UTF-8', received: 'other bytes' })
  const spaced = encode(signResponse(plain)).replaceAll(/.{9}/g, '$& \u00A0\r\n\t')
  assert.equal(await failedOf(spaced), undefined)
})

test('an encrypted assertion holds no other one and no other signature, and the refusal of an unsigned one has no details (D8.3)', async () => {
  const key = keyNamed('service').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const failedOf = async (advice: string, isSigned: boolean) => {
    const xml = encryptAssertion(
      edit(plain, '</saml:Assertion>', `<saml:Advice>${advice}</saml:Advice></saml:Assertion>`),
    )
    const encoded = encode(isSigned ? signResponse(xml) : xml)
    const outcome = await verify({ encoded, expected: expected({ decryptionKeys: [key] }) })
    assert.ok('failed' in outcome)
    const { check, expected: wanted, received } = outcome.failed
    return [check, wanted, received]
  }
  const another = 'another one inside'
  for (const name of ['Assertion', 'EncryptedAssertion']) {
    const advice = `<saml:${name}/>`
    assert.deepEqual(await failedOf(advice, true), ['assertion-count', 'one assertion', another])
    assert.deepEqual(await failedOf(advice, false), ['decryption', 'one assertion', `assertion-count: ${another}`])
  }
  const stray = '<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>'
  const shape = 'a signature of the assertion only'
  assert.deepEqual(await failedOf(stray, true), ['signature-shape', shape, another])
  assert.deepEqual(await failedOf(stray, false), ['decryption', shape, `signature-shape: ${another}`])
  const unsigned = ['decryption', 'a signed response or assertion', 'signature-missing: no signature']
  assert.deepEqual(await failedOf('', false), unsigned)
})
