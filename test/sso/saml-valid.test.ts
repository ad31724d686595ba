import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ExpectedResponse } from '../../src/features/saml/response.ts'
import { verify } from '../support/saml-checks.ts'
import { encryptAssertion, encryptedKeyFor } from '../support/saml-encryption.ts'
import {
  DSIG,
  buildResponse,
  DSIG_MORE,
  edit,
  encode,
  ENVELOPED,
  EXCLUSIVE,
  expected,
  keyNamed,
  NAME,
  NOW,
  signElement,
  signResponse,
  SP,
  WITH_COMMENTS,
  XENC,
} from '../support/saml-idp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface Shape {
  readonly xml: () => string | Uint8Array
  readonly expected?: Partial<ExpectedResponse>
  readonly name?: string
  /** The form field, when it is not just the base64. */
  readonly field?: (encoded: string) => string
}

const plain = buildResponse()
const PSS = 'http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1'
const CONFIRMATION = /<saml:SubjectConfirmation .*<\/saml:SubjectConfirmation>/
const others: ReadonlyArray<readonly [string | RegExp, string]> = [
  ['cm:bearer', 'cm:holder-of-key'],
  [/Recipient="[^"]*"/, 'Recipient="https://elsewhere.example/acs"'],
  [/InResponseTo="[^"]*"/, 'InResponseTo="_another"'],
  [/NotOnOrAfter="[^"]*"/, 'NotOnOrAfter="2020-01-01T00:00:00Z"'],
  [/<saml:SubjectConfirmationData [^>]*\/>/, ''],
]
const withKey = (...names: Parameters<typeof keyNamed>) => ({ keys: [keyNamed(...names).pem] })
const decrypting = {
  decryptionKeys: [keyNamed('service').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
}
const renamed = (xml: string, prefixes: Readonly<Record<string, string>>): string =>
  Object.entries(prefixes)
    .reduce(
      (text, [from, to]) =>
        text
          .replaceAll(`${from}:`, to === '' ? '' : `${to}:`)
          .replaceAll(`xmlns:${from}=`, to === '' ? 'xmlns=' : `xmlns:${to}=`),
      xml.replaceAll('names:tc:SAML', 'names:tc:XXXX'),
    )
    .replaceAll('names:tc:XXXX', 'names:tc:SAML')
const wrapped = (base64: string): string => `\n${base64.replaceAll(/.{60}/g, '$&\n\t')}\n  `

const shapes: Readonly<Record<string, Shape>> = {
  'the response is signed': { xml: () => signResponse(plain, 'response') },
  'the assertion is signed': { xml: () => signResponse(plain, 'assertion') },
  'both are signed': { xml: () => signResponse(plain, 'both') },
  'RSA with SHA-384': {
    xml: () => signResponse(plain, 'both', { method: `${DSIG_MORE}rsa-sha384`, digest: `${DSIG_MORE}sha384` }),
  },
  'RSA with SHA-512': {
    xml: () => signResponse(plain, 'both', { method: `${DSIG_MORE}rsa-sha512`, digest: `${XENC}sha512` }),
  },
  'RSA-PSS': { xml: () => signResponse(plain, 'both', { method: PSS }) },
  ...Object.fromEntries(
    ['sha384', 'sha512'].map(hash => [
      `RSA-PSS with ${hash}`,
      { xml: () => signResponse(plain, 'both', { method: PSS.replace('sha256', hash) }) },
    ]),
  ),
  'canonical XML with comments, of which there are none': {
    xml: () =>
      signResponse(plain, 'both', {
        transforms: [ENVELOPED, WITH_COMMENTS],
        inclusive: ['xs'],
        signedInfo: info => edit(info, `Algorithm="${EXCLUSIVE}"`, `Algorithm="${WITH_COMMENTS}"`),
      }),
  },
  'the confirmation twice': { xml: () => signResponse(edit(plain, CONFIRMATION, found => found + found)) },
  ...Object.fromEntries(
    others.map(([from, to]) => [
      `a second confirmation that does not fit (${to})`,
      {
        xml: () =>
          signResponse(edit(plain, CONFIRMATION, found => edit(found, from, to) + found + edit(found, from, to))),
      },
    ]),
  ),
  'ECDSA on P-256 with SHA-256': {
    xml: () => signResponse(plain, 'both', { method: `${DSIG_MORE}ecdsa-sha256`, key: keyNamed('P-256') }),
    expected: withKey('P-256'),
  },
  'ECDSA on P-384 with SHA-384': {
    xml: () => signResponse(plain, 'both', { method: `${DSIG_MORE}ecdsa-sha384`, key: keyNamed('P-384') }),
    expected: withKey('P-384'),
  },
  'other prefixes': {
    xml: () =>
      renamed(plain, { samlp: 'ns0', saml: 'ns1' }).replace(/^[^]*$/, xml =>
        signElement(signElement(xml, '_assertion', { prefix: 'ns2' }), '_response', { prefix: 'ns2' }),
      ),
  },
  'the protocol as the default namespace': { xml: () => signResponse(renamed(plain, { samlp: '' }), 'both') },
  'namespaces declared at the assertion': {
    xml: () => {
      const saml = ' xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"'
      const moved = plain.replace(saml, '').replaceAll(/<saml:(Issuer|Assertion)/g, `<saml:$1${saml}`)
      return signResponse(moved.replace(`</saml:Issuer>\n<saml:Subject`, '</saml:Issuer>\n<saml:Subject'), 'both')
    },
  },
  'line breaks and tabs in base64 values': { xml: () => signResponse(plain, 'both', { wrap: wrapped }) },
  'a wrapped certificate': {
    xml: () => {
      const lines = wrapped(keyNamed('idp').base64)
      return signResponse(plain, 'both', {
        keyInfo: `<ds:X509Data><ds:X509Certificate>${lines}</ds:X509Certificate></ds:X509Data>`,
      })
    },
  },
  'no KeyInfo': { xml: () => signResponse(plain, 'both', { keyInfo: '' }) },
  'a KeyInfo with a name only': { xml: () => signResponse(plain, 'both', { keyInfo: '<ds:KeyName>k</ds:KeyName>' }) },
  InclusiveNamespaces: {
    xml: () => {
      const typed = edit(plain, 'ID="_response"', 'xmlns:xs="http://www.w3.org/2001/XMLSchema" ID="_response"')
      return signResponse(typed, 'assertion', { inclusive: ['xs'] })
    },
  },
  'attributes with types': {
    xml: () =>
      signResponse(
        edit(
          plain,
          '<saml:AttributeValue>',
          '<saml:AttributeValue xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="xs:string">',
        ),
        'both',
      ),
  },
  'a session of the provider that goes on': {
    xml: () =>
      signResponse(
        edit(plain, 'SessionIndex', `SessionNotOnOrAfter="${new Date(NOW + 1).toISOString()}" SessionIndex`),
      ),
  },
  'several audiences': {
    xml: () =>
      signResponse(edit(plain, '<saml:Audience>', '<saml:Audience>urn:another</saml:Audience><saml:Audience>')),
  },
  'an audience, an issuer and a NameID with white space around': {
    xml: () =>
      signResponse(
        plain
          .replace(`<saml:Audience>${SP}`, `<saml:Audience>\n\t${SP}\n`)
          .replace(`>${NAME}</saml:NameID`, `>\n  ${NAME}\t</saml:NameID`)
          .replace(/<saml:Issuer>([^<]*)/, '<saml:Issuer>\n$1 '),
      ),
  },
  'several AudienceRestrictions that all name us': {
    xml: () =>
      signResponse(edit(plain, /<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, found => found + found)),
  },
  'OneTimeUse and ProxyRestriction': {
    xml: () =>
      signResponse(
        edit(plain, '</saml:Conditions>', '<saml:OneTimeUse/><saml:ProxyRestriction Count="0"/></saml:Conditions>'),
      ),
  },
  'a clock 59 s behind ours': { xml: () => signResponse(buildResponse({ now: NOW - 359_000 })) },
  'a clock 90 s before ours, of which 30 s are its own tolerance': {
    xml: () => signResponse(buildResponse({ now: NOW + 90_000 })),
  },
  'times with an offset and without fractions': {
    xml: () =>
      signResponse(
        plain.replaceAll(
          /2026-11-21T(\d\d):(\d\d:\d\d)\.\d{3}Z/g,
          (_, hour: string, rest: string) => `2026-11-21T${String(Number(hour) + 2).padStart(2, '0')}:${rest}+02:00`,
        ),
      ),
  },
  'times to the ten-thousandth of a millisecond': { xml: () => signResponse(plain.replaceAll('.000Z', '.0000001Z')) },
  'the second of two keys': {
    xml: () => signResponse(plain),
    expected: { keys: [keyNamed('other').pem, keyNamed('idp').pem] },
  },
  'keys of another kind beside the right one': {
    xml: () => signResponse(plain),
    expected: { keys: [keyNamed('P-256').pem, keyNamed('idp').pem] },
  },
  'the assertion signed by one key, the response by another': {
    xml: () => signElement(signElement(plain, '_assertion', { key: keyNamed('other') }), '_response'),
    expected: { keys: [keyNamed('other').pem, keyNamed('idp').pem] },
  },
  'an XML declaration and a byte order mark': {
    xml: () => `\uFEFF<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${signResponse(plain)}\n`,
  },
  'an Issuer with its format': {
    xml: () =>
      signResponse(
        plain.replaceAll('<saml:Issuer>', '<saml:Issuer Format="urn:oasis:names:tc:SAML:2.0:nameid-format:entity">'),
      ),
  },
  'a response without an Issuer of its own': {
    xml: () => signResponse(edit(plain, /<saml:Issuer>[^<]*<\/saml:Issuer>\n/, ''), 'assertion'),
  },
  'no Destination where only the assertion is signed': {
    xml: () => signResponse(edit(plain, / Destination="[^"]*"/, ''), 'assertion'),
  },
  'a name with letters of all kinds': {
    xml: () => signResponse(buildResponse({ name: 'jürgen.müßig@a.example' }), 'both'),
    name: 'jürgen.müßig@a.example',
  },
  'a name with signs that XML escapes': {
    xml: () => signResponse(buildResponse({ name: `o'neil&"<x>@a.example` }), 'both'),
    name: `o'neil&"<x>@a.example`,
  },
  'a NameID without a format': { xml: () => signResponse(edit(plain, / Format="[^"]*emailAddress"/, '')) },
  'an unspecified NameID': {
    xml: () => signResponse(edit(plain, 'nameid-format:emailAddress', 'nameid-format:unspecified')),
  },
  'a NameID with qualifiers': {
    xml: () =>
      signResponse(edit(plain, '<saml:NameID ', `<saml:NameID SPNameQualifier="${SP}" NameQualifier="urn:x" `)),
  },
  'a language of the XML standard': {
    xml: () => signResponse(edit(plain, '<saml:AttributeValue>', '<saml:AttributeValue xml:lang="de">'), 'both'),
  },
  'no attributes': {
    xml: () => signResponse(edit(plain, /<saml:AttributeStatement>.*<\/saml:AttributeStatement>\n/, '')),
  },
  'single quotes and spaces in tags': {
    xml: () =>
      signResponse(
        edit(plain, /Version="2.0" IssueInstant="([^"]*)" Dest/, found =>
          found.replaceAll('"', "'").replace(' Dest', '\n   Dest'),
        ),
        'both',
      ),
  },
  'a login that was begun at the provider': {
    xml: () => signResponse(buildResponse({ requestId: undefined })),
    expected: { requestId: undefined },
  },
  'base64 in lines': { xml: () => signResponse(plain), field: encoded => encoded.replaceAll(/.{76}/g, '$&\r\n') },
  'carriage returns, which canonical XML writes as references': {
    xml: () => signResponse(edit(plain, 'Password<', 'Password&#13;\r\n<'), 'both'),
  },
  'an encrypted assertion that is signed inside': {
    xml: () => encryptAssertion(signResponse(plain, 'assertion')),
    expected: decrypting,
  },
  'an encrypted assertion in a signed response': {
    xml: () => signResponse(encryptAssertion(plain)),
    expected: decrypting,
  },
  'an encrypted assertion signed inside and outside': {
    xml: () => signElement(encryptAssertion(signResponse(plain, 'assertion')), '_response'),
    expected: decrypting,
  },
  'encrypted with OAEP and SHA-1 by its name': {
    xml: () =>
      edit(
        encryptAssertion(signResponse(plain, 'assertion')),
        'rsa-oaep-mgf1p">',
        `rsa-oaep-mgf1p"><ds:DigestMethod Algorithm="${DSIG}sha1"/>`,
      ),
    expected: decrypting,
  },
  'encrypted with OAEP and SHA-256': {
    xml: () => encryptAssertion(signResponse(plain, 'assertion'), { wrapping: 'rsa-oaep' }),
    expected: decrypting,
  },
  ...Object.fromEntries(
    (['sha384', 'sha512'] as const).map(hash => [
      `encrypted with OAEP and ${hash}`,
      {
        xml: () => encryptAssertion(signResponse(plain, 'assertion'), { wrapping: 'rsa-oaep', hash }),
        expected: decrypting,
      },
    ]),
  ),
  '4,000 groups in 250 KiB of attributes': {
    xml: () => {
      const group = (_: unknown, n: number) => `<saml:AttributeValue>cn=group-${n},dc=a</saml:AttributeValue>`
      const groups = Array.from({ length: 4000 }, group).join('')
      return signResponse(edit(plain, /<saml:AttributeValue>.*<\/saml:AttributeValue>/, groups), 'both')
    },
  },
  ...Object.fromEntries(
    [true, false].map(keyBeside => [
      `encrypted for several recipients, the keys ${keyBeside ? 'beside' : 'in'} the data`,
      {
        xml: () =>
          edit(
            encryptAssertion(signResponse(plain, 'assertion'), { keyBeside }),
            /<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/,
            key => [encryptedKeyFor(keyNamed('other')), encryptedKeyFor(keyNamed('other'), 'rsa-1_5'), key].join(''),
          ),
        expected: decrypting,
      },
    ]),
  ),
  'encrypted, the key beside the data, which has no KeyInfo': {
    xml: () =>
      edit(
        encryptAssertion(signResponse(plain, 'assertion'), { keyBeside: true }),
        /(?<=EncryptionMethod [^>]*>)<ds:KeyInfo [^]*?<\/ds:KeyInfo>/,
        '',
      ),
    expected: decrypting,
  },
  'encrypted, the key beside the data': {
    xml: () => encryptAssertion(signResponse(plain, 'assertion'), { keyBeside: true }),
    expected: decrypting,
  },
  ...Object.fromEntries(
    (['aes128-gcm', 'aes192-gcm', 'aes256-gcm', 'aes128-cbc', 'aes192-cbc', 'aes256-cbc'] as const).map(cipher => [
      `encrypted with ${cipher}`,
      { xml: () => encryptAssertion(signResponse(plain, 'assertion'), { cipher }), expected: decrypting },
    ]),
  ),
}

for (const [title, { xml, expected: changes, name = NAME, field = (text: string) => text }] of Object.entries(shapes)) {
  test(`accepted: ${title} (D8.3)`, async () => {
    const outcome = await verify({ encoded: field(encode(xml())), expected: expected(changes) })
    assert.ok('assertion' in outcome, JSON.stringify(outcome))
    assert.equal(outcome.assertion.name, name)
    assert.equal(outcome.assertion.id, '_assertion')
  })
}

test('an assertion is kept in mind until its confirmation and the tolerance are over (D8.3)', async () => {
  const outcome = await verify({ encoded: encode(signResponse(plain)), expected: expected() })
  assert.deepEqual('assertion' in outcome && outcome.assertion.until, NOW + 300_000 + 60_000)
})

test('of several confirmations that fit, the last end decides how long an assertion is kept in mind (D8.3)', async () => {
  const later = (found: string): string =>
    edit(found, /NotOnOrAfter="[^"]*"/, `NotOnOrAfter="${new Date(NOW + 900_000).toISOString()}"`)
  const notYet = (found: string): string =>
    edit(later(found), ' NotOnOrAfter', ` NotBefore="${new Date(NOW + 800_000).toISOString()}" NotOnOrAfter`)
  for (const other of [later, notYet]) {
    const xml = signResponse(edit(plain, CONFIRMATION, found => other(found) + found))
    const outcome = await verify({ encoded: encode(xml), expected: expected() })
    assert.deepEqual('assertion' in outcome && outcome.assertion.until, NOW + 900_000 + 60_000)
  }
})

test('another tool finds the signatures of these tests good', async t => {
  try {
    execFileSync('xmlsec1', ['--version'])
  } catch {
    return t.skip('xmlsec1 is not installed')
  }
  const folder = await temporaryFolder()
  const rsa = signResponse(plain, 'response', { wrap: wrapped })
  const ec = signResponse(plain, 'response', { method: `${DSIG_MORE}ecdsa-sha384`, key: keyNamed('P-384') })
  for (const [xml, key] of [
    [rsa, keyNamed('idp')],
    [ec, keyNamed('P-384')],
  ] as const) {
    const [message, pem] = [join(folder, 'response.xml'), join(folder, 'key.pem')]
    await writeFile(message, xml)
    await writeFile(pem, key.pem)
    const ids = ['--id-attr:ID', 'urn:oasis:names:tc:SAML:2.0:protocol:Response']
    execFileSync('xmlsec1', ['--verify', '--pubkey-pem', pem, '--enabled-key-data', 'key-name', ...ids, message], {
      stdio: 'pipe',
    })
  }
})
