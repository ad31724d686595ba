import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { verifyReply } from '../../src/features/cas/reply.ts'
import { Refusals } from '../support/refusals.ts'

const SERVICE = 'https://store.example/auth/cas'
const NOW = Date.UTC(2026, 10, 21, 10)
const SKEW = 60_000

const judge = (text: string): string =>
  verifyReply('saml11', text, { serviceUrl: SERVICE, now: NOW, clockSkew: SKEW }).name

function refusal(text: string): SsoRefused['failed'] {
  try {
    assert.fail(`accepted as ${judge(text)}`)
  } catch (error) {
    if (error instanceof SsoRefused) return error.failed
    throw error
  }
}

const time = (fromNow: number): string => new Date(NOW + fromNow).toISOString()
const subject = (name: string): string =>
  `<Subject><NameIdentifier>${name}</NameIdentifier><SubjectConfirmation><ConfirmationMethod>urn:oasis:names:tc:SAML:1.0:cm:artifact</ConfirmationMethod></SubjectConfirmation></Subject>`
const authentication = (name: string): string =>
  `<AuthenticationStatement AuthenticationMethod="urn:oasis:names:tc:SAML:1.0:am:password">${subject(name)}</AuthenticationStatement>`
const attributes = (name: string): string =>
  `<AttributeStatement>${subject(name)}<Attribute AttributeName="uid" AttributeNamespace="n"><AttributeValue>eve</AttributeValue></Attribute></AttributeStatement>`
const audience = (address: string): string =>
  `<AudienceRestrictionCondition><Audience>\n    ${address}\n  </Audience></AudienceRestrictionCondition>`
const conditions = (from: string, to: string, inner: string): string =>
  `<Conditions NotBefore="${from}" NotOnOrAfter="${to}">${inner}</Conditions>`
const assertion = (inner: string, version = '1'): string =>
  `<Assertion xmlns="urn:oasis:names:tc:SAML:1.0:assertion" AssertionID="_1" Issuer="localhost" MajorVersion="${version}" MinorVersion="1">${inner}</Assertion>`
const SUCCESS = '<Status><StatusCode Value="samlp:Success">\n</StatusCode></Status>'
const reply = (inner: string, version = '1'): string =>
  `<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Header/><SOAP-ENV:Body><Response xmlns="urn:oasis:names:tc:SAML:1.0:protocol" MajorVersion="${version}" MinorVersion="1" ResponseID="_2">${inner}</Response></SOAP-ENV:Body></SOAP-ENV:Envelope>`

const FITS = conditions(time(-1000), time(30_000), audience(SERVICE))
const good = (conditionsXml = FITS, statements = attributes('anna') + authentication('anna')): string =>
  reply(SUCCESS + assertion(conditionsXml + statements))

const valid: Readonly<Record<string, string>> = {
  'with padded audience and a statement of attributes': good(),
  'with the authentication first': good(FITS, authentication('anna') + attributes('anna')),
  'with microseconds and an offset': good(
    conditions('2026-11-21T10:59:59.371047+01:00', '2026-11-21T10:01:00.371047+00:00', audience(SERVICE)),
  ),
  'with a clock that is ahead within the tolerance': good(conditions(time(60_000), time(90_000), audience(SERVICE))),
  'that ended within the tolerance': good(conditions(time(-90_000), time(-59_999), audience(SERVICE))),
  'with a padded name': good(FITS, authentication('\n\t anna\n')),
  'with another prefix in the status': good().replace('samlp:Success', 'saml1p:Success'),
  'with a status without a prefix': good().replace('samlp:Success', 'Success'),
  'with comments and CDATA': `\uFEFF<!-- a -->${good(FITS, authentication('an<!-- eve --><![CDATA[na]]>'))}`,
  'with the audience in several': good(
    conditions(
      time(0),
      time(1000),
      audience(SERVICE).replace('<Audience>', '<Audience>https://other</Audience><Audience>'),
    ),
  ),
}

for (const [shape, text] of Object.entries(valid)) {
  test(`SAML 1.1: a reply ${shape} is accepted (D9.2)`, () => assert.equal(judge(text), 'anna'))
}

const hostile: ReadonlyArray<readonly [what: string, check: string, text: string]> = [
  [
    'a failure',
    'cas-failure',
    reply('<Status><StatusCode Value="samlp:RequestDenied">ticket unknown</StatusCode></Status>'),
  ],
  ['a failure and an assertion', 'cas-failure', good().replace('samlp:Success', 'samlp:Responder')],
  ['a code that ends like success', 'cas-failure', good().replace('samlp:Success', 'samlp:NotSuccess')],
  [
    'success around a failure',
    'cas-failure',
    good().replace('Success">\n<', 'Success"><StatusCode Value="samlp:Responder"/><'),
  ],
  ['two statuses', 'cas-reply', reply(SUCCESS + SUCCESS + assertion(FITS + authentication('anna')))],
  ['no status', 'cas-reply', reply(assertion(FITS + authentication('anna')))],
  ['an assertion that is over', 'expired', good(conditions(time(-90_000), time(-60_000), audience(SERVICE)))],
  ['an assertion that is not valid yet', 'not-before', good(conditions(time(60_001), time(90_000), audience(SERVICE)))],
  ['no end', 'cas-reply', good(FITS.replace(/ NotOnOrAfter="[^"]*"/, ''))],
  ['no beginning', 'cas-reply', good(FITS.replace(/ NotBefore="[^"]*"/, ''))],
  ['a time without zone', 'cas-reply', good(conditions('2026-11-21T10:00:00', time(1), audience(SERVICE)))],
  ['the 30th of February', 'cas-reply', good(conditions('2026-02-30T10:00:00Z', time(1), audience(SERVICE)))],
  ['a time that is none', 'cas-reply', good(conditions(time(0), '2026-13-45T10:00:00Z', audience(SERVICE)))],
  ['another audience', 'audience', good(conditions(time(0), time(1000), audience('https://other.example/auth/cas')))],
  [
    'an audience that begins alike',
    'audience',
    good(conditions(time(0), time(1000), audience(`${SERVICE}.evil.example`))),
  ],
  ['no audience', 'audience', good(conditions(time(0), time(1000), ''))],
  [
    'a second restriction to others',
    'audience',
    good(conditions(time(0), time(1000), audience(SERVICE) + audience('https://o'))),
  ],
  ['no conditions', 'cas-reply', good('')],
  ['two conditions', 'cas-reply', good(FITS + FITS)],
  [
    'two assertions',
    'cas-reply',
    reply(SUCCESS + assertion(FITS + authentication('anna')) + assertion(FITS + authentication('eve'))),
  ],
  [
    'an assertion inside another',
    'cas-reply',
    good(FITS, `<Advice>${assertion(FITS + authentication('eve'))}</Advice>${authentication('anna')}`),
  ],
  [
    'an assertion in the header',
    'cas-reply',
    good().replace(
      '<SOAP-ENV:Header/>',
      `<SOAP-ENV:Header>${assertion(FITS + authentication('eve'))}</SOAP-ENV:Header>`,
    ),
  ],
  ['no assertion', 'cas-reply', reply(SUCCESS)],
  ['two authentications', 'cas-reply', good(FITS, authentication('anna') + authentication('anna'))],
  ['attributes without authentication', 'cas-reply', good(FITS, attributes('anna'))],
  ['attributes of somebody else', 'cas-reply', good(FITS, attributes('eve') + authentication('anna'))],
  ['two names', 'cas-reply', good(FITS, authentication('anna</NameIdentifier><NameIdentifier>eve'))],
  ['an empty name', 'cas-reply', good(FITS, authentication(''))],
  ['an element in the name', 'cas-reply', good(FITS, authentication('an<b/>na'))],
  ['a comment for a name', 'cas-reply', good(FITS, authentication('<!-- anna -->'))],
  ['a SAML 2 version', 'cas-reply', reply(SUCCESS + assertion(FITS + authentication('anna')), '2')],
  ['a SAML 2 assertion', 'cas-reply', reply(SUCCESS + assertion(FITS + authentication('anna'), '2'))],
  ['two responses', 'cas-reply', good().replace('</SOAP-ENV:Body>', '<x/></SOAP-ENV:Body>')],
  ['two bodies', 'cas-reply', good().replace('</SOAP-ENV:Body>', '</SOAP-ENV:Body><SOAP-ENV:Body/>')],
  ['another envelope', 'cas-reply', good().replace('schemas.xmlsoap.org', 'evil.example')],
  ['no envelope', 'cas-reply', /<Response.*<\/Response>/s.exec(good())?.[0] ?? ''],
  ['an element of SOAP that is no envelope', 'cas-reply', good().replaceAll('SOAP-ENV:Envelope', 'SOAP-ENV:Fault')],
  ['a root without a namespace', 'cas-reply', '<Envelope/>'],
  ['an empty body', 'cas-reply', good().replace(/<Response.*<\/Response>/s, '')],
  ['a request in the body', 'cas-reply', good().replaceAll('Response', 'Request')],
  ['a response of SAML 2', 'cas-reply', good().replace('SAML:1.0:protocol', 'SAML:2.0:protocol')],
  ['no version', 'cas-reply', good().replace(' MajorVersion="1"', '')],
  ['no status code', 'cas-reply', reply('<Status/>' + assertion(FITS + authentication('anna')))],
  ['two status codes', 'cas-reply', good().replace('</StatusCode>', '</StatusCode><StatusCode Value="Success"/>')],
  ['a status code without a value', 'cas-failure', good().replace(' Value="samlp:Success"', '')],
  ['a code that begins like success', 'cas-failure', good().replace('samlp:Success', 'samlp:SuccessOrNot')],
  ['a code with two prefixes', 'cas-failure', good().replace('samlp:Success', 'a:b:Success')],
  [
    'two other audiences',
    'audience',
    good(conditions(time(0), time(1000), audience('https://a</Audience><Audience><b/></Audience><Audience>https://c'))),
  ],
  ['no subject', 'cas-reply', good(FITS, authentication('anna').replaceAll('Subject', 'Object'))],
  [
    'two subjects',
    'cas-reply',
    good(
      FITS,
      authentication('anna').replace('</AuthenticationStatement>', found => subject('anna') + found),
    ),
  ],
  ['no name', 'cas-reply', good(FITS, authentication('anna').replace(/<NameIdentifier>.*<\/NameIdentifier>/, ''))],
  ['an XML that is not one', 'cas-reply', good().replace('</Response>', '')],
]

const known = new Refusals('cas-saml11')

for (const [what, check, text] of hostile) {
  test(`SAML 1.1: a reply with ${what} is refused (D9.2)`, () => {
    const failed = refusal(text)
    assert.equal(failed.check, check)
    known.assertKnown(what, failed)
  })
}

test('SAML 1.1: a refusal contains the compared values, times in milliseconds (D8.5)', () => {
  const late = refusal(good(conditions(time(-200_000), time(-100_000), audience(SERVICE))))
  assert.equal(late.expected, '2026-11-21T10:00:00.000Z, give or take 60000 ms')
  assert.match(late.received ?? '', /^over since 100000 ms, 2026/)
  const denied = refusal(reply('<Status><StatusCode Value="samlp:RequestDenied">ticket unknown</StatusCode></Status>'))
  assert.equal(denied.received, 'samlp:RequestDenied: ticket unknown')
})

test('SAML 1.1: attributes are read by their name, without values that are empty or have elements (D27.6)', () => {
  const attribute = (name: string, ...values: readonly string[]): string =>
    `<Attribute AttributeName="${name}">${values.map(value => `<AttributeValue>${value}</AttributeValue>`).join('')}</Attribute>`
  const all = attribute('mail', ' a@b\n', '', '<x/>', 'c@d') + attribute('', 'x') + attribute('group', 'one')
  const statement = `<AttributeStatement>${subject('anna')}${all}<Other AttributeName="other"><AttributeValue>x</AttributeValue></Other></AttributeStatement>`
  const { attributes: read } = verifyReply('saml11', good(FITS, authentication('anna') + statement), {
    serviceUrl: SERVICE,
    now: NOW,
    clockSkew: SKEW,
  })
  assert.deepEqual({ ...read }, { mail: ['a@b', 'c@d'], group: ['one'] })
})

test('SAML 1.1: the time of the authentication is that of its statement, and unknown without a zone (D28.6)', () => {
  const stated = (instant: string) =>
    verifyReply(
      'saml11',
      good(FITS, authentication('anna').replace(' Auth', ` AuthenticationInstant="${instant}" Auth`)),
      {
        serviceUrl: SERVICE,
        now: NOW,
        clockSkew: SKEW,
      },
    ).authenticated
  assert.equal(stated(time(-5000)), NOW - 5000)
  for (const instant of [time(0).replace('Z', ''), 'now', '']) assert.equal(stated(instant), undefined, instant)
})
