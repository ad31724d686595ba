import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { type CasVersion, verifyReply } from '../../src/features/cas/reply.ts'
import { Refusals } from '../support/refusals.ts'

const expected = { serviceUrl: 'https://store.example/auth/cas', now: Date.UTC(2026, 10, 21, 10), clockSkew: 60_000 }

const nameIn = (version: CasVersion, text: string): string => verifyReply(version, text, expected).name

/** The check that refuses the reply. */
function refusal(version: CasVersion, text: string): SsoRefused['failed'] {
  try {
    assert.fail(`accepted as ${JSON.stringify(nameIn(version, text))}: ${text}`)
  } catch (error) {
    if (error instanceof SsoRefused) return error.failed
    throw error
  }
}

const response = (inner: string): string =>
  `<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas">${inner}</cas:serviceResponse>`
const success = (inner: string): string => `<cas:authenticationSuccess>${inner}</cas:authenticationSuccess>`
const failure = '<cas:authenticationFailure code="INVALID_TICKET">no such ticket</cas:authenticationFailure>'
const ANNA = '<cas:user>anna</cas:user>'
const EVE = '<cas:user>eve</cas:user>'

const valid: Readonly<Record<string, string>> = {
  plain: response(success(ANNA)),
  'with an XML declaration and line breaks': `<?xml version="1.0" encoding="UTF-8"?>\n${response(success(ANNA))}\n`,
  'padded with tabs and newlines': response(`\r\n\t${success('\n\t<cas:user>\n\t anna \t\r\n</cas:user>\n')}\n`),
  'with attributes, which do not count': response(
    success(`${ANNA}<cas:attributes><cas:user>eve</cas:user><cas:mail>a@b</cas:mail></cas:attributes>`),
  ),
  'with attributes of another style': response(success(`${ANNA}<cas:attribute name="user" value="eve"/>`)),
  'without prefixes':
    '<serviceResponse xmlns="http://www.yale.edu/tp/cas"><authenticationSuccess><user>anna</user></authenticationSuccess></serviceResponse>',
  'with another prefix':
    '<x:serviceResponse xmlns:x="http://www.yale.edu/tp/cas"><x:authenticationSuccess><x:user>anna</x:user></x:authenticationSuccess></x:serviceResponse>',
  'with a character reference': response(success('<cas:user>&#97;nna</cas:user>')),
  'with CDATA': response(success('<cas:user><![CDATA[an]]>na</cas:user>')),
  'with comments': `<!-- CAS -->${response(success(`${ANNA.replace('nn', 'n<!-- eve -->n')}<!-- ${EVE} -->`))}<!-- -->`,
  'with a processing instruction': `<?xml version="1.0"?><?a <b> ?>${response(success(ANNA))}`,
  'with a byte order mark': `\uFEFF${response(success(ANNA))}`,
  'with a byte order mark and a declaration': `\uFEFF<?xml version="1.0"?>\r\n${response(success(ANNA))}`,
  'with attributes that are named like parts of the protocol': response(
    success(
      `${ANNA}<cas:attributes><cas:proxy>x</cas:proxy><cas:proxies>y</cas:proxies><cas:proxyGrantingTicket>z</cas:proxyGrantingTicket></cas:attributes>`,
    ),
  ),
}

for (const [shape, text] of Object.entries(valid)) {
  test(`CAS 2 and 3: a reply ${shape} is accepted (D9.2)`, () => {
    assert.equal(nameIn('cas2', text), 'anna')
    assert.equal(nameIn('cas3', text), 'anna')
  })
}

const hostile: ReadonlyArray<readonly [what: string, check: string, text: string]> = [
  ['a failure', 'cas-failure', response(failure)],
  [
    'a failure without a code',
    'cas-failure',
    response('<cas:authenticationFailure> no \n</cas:authenticationFailure>'),
  ],
  [
    'a failure without a text',
    'cas-failure',
    response('<cas:authenticationFailure code="INVALID"> </cas:authenticationFailure>'),
  ],
  ['another element of CAS', 'cas-reply', response(success(ANNA)).replaceAll('serviceResponse', 'otherResponse')],
  ['success inside failure', 'cas-reply', response(failure.replace('no such ticket', success(ANNA)))],
  ['failure inside success', 'cas-reply', response(success(ANNA + failure))],
  ['success beside failure', 'cas-reply', response(success(ANNA) + failure)],
  ['failure beside success', 'cas-reply', response(failure + success(ANNA))],
  ['two successes', 'cas-reply', response(success(ANNA) + success(EVE))],
  ['a success inside another', 'cas-reply', response(success(ANNA + success(EVE)))],
  [
    'a success deep inside attributes',
    'cas-reply',
    response(success(`${ANNA}<cas:attributes>${success(EVE)}</cas:attributes>`)),
  ],
  ['a response inside a response', 'cas-reply', response(response(success(ANNA)))],
  ['no outcome', 'cas-reply', response('')],
  ['a foreign root', 'cas-reply', `<html>${response(success(ANNA))}</html>`],
  ['another namespace', 'cas-reply', response(success(ANNA)).replace('yale.edu', 'evil.example')],
  [
    'no namespace',
    'cas-reply',
    '<serviceResponse><authenticationSuccess><user>a</user></authenticationSuccess></serviceResponse>',
  ],
  ['a success of another namespace', 'cas-reply', response(`<authenticationSuccess>${ANNA}</authenticationSuccess>`)],
  ['a user of another namespace', 'cas-reply', response(success('<user>anna</user>'))],
  ['two users', 'cas-reply', response(success(ANNA + EVE))],
  ['no user', 'cas-reply', response(success('<cas:attributes/>'))],
  ['a user among the attributes only', 'cas-reply', response(success(`<cas:attributes>${ANNA}</cas:attributes>`))],
  ['an element in the user', 'cas-reply', response(success('<cas:user>an<b/>na</cas:user>'))],
  ['an empty user', 'cas-reply', response(success('<cas:user/>'))],
  ['a user of blanks', 'cas-reply', response(success('<cas:user> \n\t</cas:user>'))],
  ['a comment for a user', 'cas-reply', response(success(`<!-- ${ANNA} -->`))],
  ['a success in CDATA', 'cas-reply', response(`<![CDATA[${success(ANNA)}]]>`)],
  [
    'a user in CDATA of an attribute',
    'cas-reply',
    response(success(`<cas:attributes><![CDATA[${ANNA}]]></cas:attributes>`)),
  ],
  ['blanks in CDATA for a user', 'cas-reply', response(success('<cas:user><![CDATA[ \n]]></cas:user>'))],
  ['CDATA that does not end', 'cas-reply', response(success(`<![CDATA[x${ANNA}`))],
  ['a proxy beside the user', 'cas-proxy', response(success(`${ANNA}<cas:proxy>https://p.example</cas:proxy>`))],
  ['a DOCTYPE', 'cas-reply', `<!DOCTYPE x [<!ENTITY u "anna">]>${response(success('<cas:user>&u;</cas:user>'))}`],
  ['an undeclared entity', 'cas-reply', response(success('<cas:user>&u;</cas:user>'))],
  [
    'an attribute value that was not escaped',
    'cas-reply',
    response(success(`${ANNA}<cas:attributes><cas:o>A & B</cas:o></cas:attributes>`)),
  ],
  ['text before the root', 'cas-reply', `yes\n${response(success(ANNA))}`],
  ['two roots', 'cas-reply', response(success(ANNA)) + response(success(EVE))],
  [
    'proxies',
    'cas-proxy',
    response(success(`${ANNA}<cas:proxies><cas:proxy>https://p.example</cas:proxy></cas:proxies>`)),
  ],
  ['an empty list of proxies', 'cas-proxy', response(success(`${ANNA}<cas:proxies/>`))],
  [
    'a proxy-granting ticket',
    'cas-proxy',
    response(success(`${ANNA}<cas:proxyGrantingTicket>PGTIOU-1</cas:proxyGrantingTicket>`)),
  ],
  [
    'a proxy success',
    'cas-reply',
    response('<cas:proxySuccess><cas:proxyTicket>PT-1</cas:proxyTicket></cas:proxySuccess>'),
  ],
  ['a login page', 'cas-reply', '<!doctype html><html><body>Sign in</body></html>'],
  ['a CAS 1 reply', 'cas-reply', 'yes\nanna\n'],
  ['nothing', 'cas-reply', ''],
]

const known = new Refusals('cas')

for (const [what, check, text] of hostile) {
  test(`CAS 2 and 3: a reply with ${what} is refused (D9.2)`, () => {
    const failed = refusal('cas2', text)
    assert.equal(failed.check, check)
    assert.deepEqual(refusal('cas3', text), failed)
    known.assertKnown(what, failed)
  })
}

test("CAS 2: a refusal names the server's code and text (D9.2)", () => {
  assert.equal(refusal('cas2', response(failure)).received, 'INVALID_TICKET: no such ticket')
})

test('CAS 1: yes, a line end, a name, and a line end that may be missing', () => {
  for (const text of ['yes\r\nanna\r\n', 'yes\r\nanna', 'yes\nanna\r\n', '\uFEFFyes\nanna\n'])
    assert.equal(nameIn('cas1', text), 'anna', JSON.stringify(text))
  assert.equal(nameIn('cas1', 'yes\nanna\n'), 'anna')
  assert.equal(nameIn('cas1', 'yes\nanna'), 'anna')
  assert.equal(nameIn('cas1', 'yes\nanna@uni.example\n'), 'anna@uni.example')
})

test('CAS 1: nothing else is a yes (D9.2)', () => {
  const replies = ['yes', 'yes\n', 'yes\n\n', 'yes\n \n', 'yes anna\n', 'Yes\nanna\n', ' yes\nanna\n', 'yes\nanna\n\n']
  const more = [
    'yes\r\nanna\r\neve\r\n',
    'yes\nanna\r',
    'yes\ranna',
    'yes\r\n\r\n',
    'yes\nanna\neve\n',
    'yes\nan\tna\n',
    'yes\nan\0na\n',
    'yes\n\uFEFF',
  ]
  for (const text of [...replies, ...more, '', '<html>yes\nanna\n</html>', 'maybe\nanna\n']) {
    const failed = refusal('cas1', text)
    assert.equal(failed.check, 'cas-reply', JSON.stringify(text))
    known.assertKnown(`CAS 1: ${JSON.stringify(text)}`, failed)
  }
  for (const [text, received] of [
    ['no\n\n', 'no'],
    ['no\n', 'no'],
    ['no\r\n\r\n', 'no'],
    ['no', 'no'],
    ['no\nanna\n', 'no\nanna'],
  ] as const)
    assert.deepEqual(refusal('cas1', text), { check: 'cas-failure', expected: 'yes', received })
  for (const text of ['yes and no', 'nobody', 'yes\nno\n\n']) assert.equal(refusal('cas1', text).check, 'cas-reply')
})

test('every text is accepted or refused, without any other error', () => {
  const part = fc.oneof(
    fc.constantFrom(
      ANNA,
      EVE,
      failure,
      '<cas:user>',
      '</cas:user>',
      success(ANNA),
      response(success(ANNA)),
      'yes\n',
      'no\n',
    ),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(part), fc.constantFrom<CasVersion>('cas1', 'cas2', 'cas3', 'saml11'), (parts, version) => {
      try {
        assert.notEqual(nameIn(version, parts.join('')), '')
      } catch (error) {
        assert.ok(error instanceof SsoRefused, String(error))
      }
    }),
  )
})

test('attributes are those of the namespace of CAS with a text', () => {
  const attributes =
    '<cas:mail>a@b</cas:mail><cas:group>one</cas:group><cas:group>two</cas:group><cas:empty> </cas:empty><cas:none/>' +
    '<x:mail xmlns:x="urn:x">evil@b</x:mail><cas:deep><cas:mail>evil@b</cas:mail></cas:deep>'
  const reply = response(success(`${ANNA}<cas:attributes>${attributes}</cas:attributes>`))
  assert.deepEqual({ ...verifyReply('cas3', reply, expected).attributes }, { mail: ['a@b'], group: ['one', 'two'] })
})

test('a second outcome around the element of the name is never accepted', () => {
  const pieces = fc.array(
    fc.constantFrom(ANNA, '</cas:authenticationSuccess>', '<cas:authenticationSuccess>', EVE, failure),
  )
  fc.assert(
    fc.property(pieces, injected => {
      // A server that does not escape an attribute lets its user write the rest of the reply.
      const text = response(success(`${ANNA}<cas:attributes>${injected.join('')}</cas:attributes>`))
      try {
        assert.equal(nameIn('cas3', text), 'anna')
      } catch (error) {
        assert.ok(error instanceof SsoRefused, String(error))
      }
    }),
  )
})
