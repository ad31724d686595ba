import { deflateRawSync, gzipSync } from 'node:zlib'
import { DSIG, NAME, XENC, buildResponse, edit, keyNamed, signResponse } from '../../support/saml-idp.ts'
import { encryptAssertion, encryptedKeyFor, encryptXml, type Encrypting } from '../../support/saml-encryption.ts'
import { type Attack, EVIL, issued, tampered } from './attack.ts'

const signed = (): string => signResponse(buildResponse(), 'both')
const places: ReadonlyArray<readonly [string, RegExp]> = [
  ['NameID', /(?<=<saml:NameID [^>]*>anna)/],
  ['Issuer', /(?<=<saml:Issuer>https)/],
  ['Audience', /(?<=<saml:Audience>urn)/],
  ['AttributeValue', /(?<=<saml:AttributeValue>anna)/],
  ['DigestValue', /(?<=<ds:DigestValue>..)/],
  ['SignatureValue', /(?<=<ds:SignatureValue>..)/],
  ['SignedInfo', /(?<=<ds:SignedInfo[^>]*>)/],
]
const intruders = {
  comment: ['a comment', '<!--x-->'],
  'processing-instruction': ['a processing instruction', '<?x y?>'],
  markup: ['a CDATA section', '<![CDATA[x]]>'],
} as const
/** In front of everything, or behind. */
const around = (title: string, check: string, before: string, after = ''): Attack => ({
  title,
  check: `xml-${check}`,
  xml: () => before + signed() + after,
})
const broken = (title: string, from: string | RegExp, to: string, check = 'xml-xml'): Attack =>
  tampered(title, check, [[from, to]])
const DOCTYPE = '<!DOCTYPE r [<!ENTITY e "x">]>'
const bomb = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('')

export const xmlAttacks: readonly Attack[] = [
  ...places.flatMap(([place, where]) =>
    Object.entries(intruders).map(([reason, [what, text]]) =>
      tampered(`${what} in ${place}`, `xml-${reason}`, [[where, text]]),
    ),
  ),
  issued('a comment that splits the NameID, validly signed', 'xml-comment', [
    [`>${NAME}</saml:NameID>`, '>admin@a.example<!---->.evil.example</saml:NameID>'],
  ]),
  issued('a processing instruction in the NameID, validly signed', 'xml-processing-instruction', [
    [`>${NAME}</saml:NameID>`, '><?p not-an-?>admin@a.example</saml:NameID>'],
  ]),
  around('a DOCTYPE', 'doctype', '<!DOCTYPE x>'),
  around('a DOCTYPE with entities', 'doctype', DOCTYPE),
  around('a DOCTYPE in small letters', 'doctype', '<!doctype x>'),
  around('a DOCTYPE with a file', 'doctype', '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
  around('a billion laughs', 'doctype', `<!DOCTYPE r [<!ENTITY l0 "lol">${bomb}]>`),
  tampered('a DOCTYPE inside', 'xml-doctype', [['<samlp:Status>', `${DOCTYPE}<samlp:Status>`]]),
  tampered('a DOCTYPE inside the NameID', 'xml-doctype', [[NAME, `${DOCTYPE}${NAME}`]]),
  around('a comment before the root', 'comment', '<!-- x -->'),
  around('a comment behind the root', 'comment', '', '<!-- x -->'),
  around('a stylesheet before the root', 'processing-instruction', '<?xml-stylesheet href="x"?>'),
  around('a processing instruction behind the root', 'processing-instruction', '', '<?x?>'),
  around('two XML declarations', 'processing-instruction', '<?xml version="1.0"?><?xml version="1.0"?>'),
  around('an XML declaration that is not at the start', 'processing-instruction', 'x<?xml version="1.0"?>'),
  around('text before the root', 'xml', 'x'),
  around('text behind the root', 'xml', '', 'x'),
  around('two roots', 'xml', '', '<x/>'),
  around('a null byte behind', 'characters', '', '\u0000'),
  tampered('an entity of nobody', 'xml-xml', [[NAME, '&x;']]),
  tampered('an entity of HTML', 'xml-xml', [[NAME, 'anna&nbsp;']]),
  tampered('a bare ampersand', 'xml-xml', [[NAME, 'a & b']]),
  tampered('a reference without its semicolon', 'xml-xml', [[NAME, '&#97']]),
  tampered('a control character', 'xml-characters', [[NAME, 'a\u0001']]),
  tampered('a reference to a null byte', 'xml-characters', [[NAME, 'a&#0;']]),
  tampered('a reference to a control character', 'xml-characters', [[NAME, 'a&#x1;']]),
  tampered('a reference to half a character', 'xml-characters', [[NAME, 'a&#xD800;']]),
  tampered('a reference to a character that does not exist', 'xml-characters', [[NAME, 'a&#x110000;']]),
  tampered('a reference to a character of a billion', 'xml-characters', [[NAME, 'a&#9999999999;']]),
  broken('an end tag is missing', '</saml:NameID>', ''),
  broken('end tags are crossed', '</saml:Subject>', '</saml:Conditions>'),
  broken('the root is not closed', '</samlp:Response>', ''),
  broken('an end tag too many', '</samlp:Response>', '</samlp:Response></samlp:Response>'),
  broken('an undeclared prefix of an element', '<samlp:Status>', '<evil:x/><samlp:Status>'),
  broken('an undeclared prefix of an attribute', '<samlp:Status>', '<samlp:Status evil:x="1">'),
  broken('an attribute twice', '<samlp:Status>', '<samlp:Status x="1" x="2">'),
  broken(
    'an attribute twice by its namespace',
    '<samlp:Status>',
    '<samlp:Status xmlns:a="urn:x" xmlns:b="urn:x" a:y="1" b:y="2">',
  ),
  broken('the ID of the response twice', ' ID="_response"', ' ID="_response" ID="_other"'),
  broken('an attribute without quotes', '<samlp:Status>', '<samlp:Status x=1>'),
  broken('an attribute without a value', '<samlp:Status>', '<samlp:Status x>'),
  broken('an attribute with a bracket', '<samlp:Status>', '<samlp:Status x="<">'),
  broken('a relative namespace', '<samlp:Status>', '<samlp:Status xmlns:r="1">'),
  broken('a relative namespace as the default', '<samlp:Status>', '<samlp:Status xmlns="../x">'),
  broken('a prefix bound to nothing', '<samlp:Status>', '<samlp:Status xmlns:r="">'),
  broken('the prefix xml bound to something else', '<samlp:Status>', '<samlp:Status xmlns:xml="urn:x">'),
  broken('the prefix xmlns declared', '<samlp:Status>', '<samlp:Status xmlns:xmlns="urn:x">'),
  broken('a name with two colons', '<samlp:Status>', '<samlp:a:b/><samlp:Status>'),
  broken('a blank before a name', '<samlp:Status>', '< samlp:Status>'),

  { title: 'nothing', check: 'base64', xml: () => '' },
  { title: 'not base64', check: 'base64', xml: signed, field: () => '<Response/>' },
  { title: 'base64 for addresses', check: 'base64', xml: signed, field: encoded => encoded.replaceAll(/\w/g, '-') },
  { title: 'base64 with something behind its end', check: 'base64', xml: signed, field: encoded => `${encoded}==AAAA` },
  {
    title: 'base64 of base64',
    check: 'xml-xml',
    xml: signed,
    field: encoded => Buffer.from(encoded).toString('base64'),
  },
  {
    title: 'not UTF-8',
    check: 'utf-8',
    xml: () => Buffer.from(signed().replace(NAME, '\u00E4nna@a.example'), 'latin1'),
  },
  { title: 'UTF-16', check: 'utf-8', xml: () => Buffer.from(`\uFEFF${signed()}`, 'utf16le') },
  {
    title: 'an overlong encoding',
    check: 'utf-8',
    xml: () => Buffer.concat([Buffer.from([0xc0, 0xbc]), Buffer.from(signed())]),
  },
  { title: 'deflated, as in a redirect', check: 'utf-8', xml: () => deflateRawSync(signed()) },
  { title: 'compressed', check: 'utf-8', xml: () => gzipSync(signed()) },
  { title: 'just text', check: 'xml-xml', xml: () => 'Anna, a.example' },
  { title: 'JSON', check: 'xml-xml', xml: () => '{"NameID":"admin"}' },
  { title: 'HTML', check: 'xml-doctype', xml: () => '<!doctype html><p>Sign in' },
]

const signedInside = (encrypting: Encrypting = {}): string =>
  encryptAssertion(signResponse(buildResponse(), 'assertion'), encrypting)
const decrypting = {
  decryptionKeys: [keyNamed('service').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
}
const cipherAttack = (title: string, encrypting: Encrypting): Attack => ({
  title: `encrypted: ${title}`,
  check: 'decryption',
  xml: () => signedInside(encrypting),
  expected: decrypting,
})
const flip = (at: number) => (bytes: Buffer) => {
  const copy = Buffer.from(bytes)
  const index = (at + copy.length) % copy.length
  copy.writeUInt8(copy.readUInt8(index) ^ 1, index)
  return copy
}

/** A signature that no check reads, where the content of an attribute is expected. */
const withNestedSignature = (xml: string): string =>
  edit(
    xml,
    '</saml:AttributeStatement>',
    found =>
      `<saml:Attribute Name="x"><saml:AttributeValue><ds:Signature xmlns:ds="${DSIG}"></ds:Signature>` +
      `</saml:AttributeValue></saml:Attribute>${found}`,
  )

export const encryptionAttacks: readonly Attack[] = [
  { title: 'encrypted, and there is no key to open it', check: 'decryption', xml: () => signedInside() },
  cipherAttack('for another recipient', { recipient: keyNamed('other') }),
  cipherAttack('with RSA 1.5', { wrapping: 'rsa-1_5' }),
  {
    title: 'encrypted: with more keys than are tried',
    check: 'decryption',
    xml: () =>
      edit(
        signedInside(),
        '</ds:KeyInfo>',
        found => Array.from({ length: 10 }, () => encryptedKeyFor(keyNamed('other'))).join('') + found,
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: with several keys, none of them ours',
    check: 'decryption',
    xml: () =>
      edit(
        signedInside({ recipient: keyNamed('other') }),
        '</ds:KeyInfo>',
        found => encryptedKeyFor(keyNamed('other')) + found,
      ),
    expected: decrypting,
  },
  cipherAttack('with Triple DES', { cipher: 'tripledes-cbc' }),
  cipherAttack('tampered with, GCM', { damage: flip(100) }),
  cipherAttack('another tag, GCM', { damage: flip(-1) }),
  cipherAttack('tampered with at the start, CBC', { cipher: 'aes128-cbc', damage: flip(20) }),
  cipherAttack('another padding, CBC', { cipher: 'aes256-cbc', damage: flip(-17) }),
  cipherAttack('cut off, CBC', { cipher: 'aes256-cbc', damage: bytes => bytes.subarray(0, 40) }),
  cipherAttack('nothing', { damage: bytes => bytes.subarray(0, 0) }),
  {
    title: 'encrypted: a mask for an algorithm that has no choice',
    check: 'decryption',
    xml: () =>
      edit(
        signedInside(),
        'rsa-oaep-mgf1p">',
        'rsa-oaep-mgf1p"><m:MGF xmlns:m="http://www.w3.org/2009/xmlenc11#" Algorithm="http://www.w3.org/2009/xmlenc11#mgf1sha1"/>',
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: an unknown cipher',
    check: 'decryption',
    xml: () => edit(signedInside(), 'aes256-gcm', 'x'),
    expected: decrypting,
  },
  {
    title: 'encrypted: an unknown digest',
    check: 'decryption',
    xml: () => edit(signedInside({ wrapping: 'rsa-oaep' }), `${XENC}sha256"/>`, `${XENC}ripemd160"/>`),
    expected: decrypting,
  },
  {
    title: 'encrypted: a digest without a name',
    check: 'decryption',
    xml: () =>
      edit(
        signedInside({ wrapping: 'rsa-oaep' }),
        `<ds:DigestMethod Algorithm="${XENC}sha256"/>`,
        '<ds:DigestMethod/>',
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: an unknown mask',
    check: 'decryption',
    xml: () => edit(signedInside({ wrapping: 'rsa-oaep' }), 'mgf1sha256', 'mgf1sha224'),
    expected: decrypting,
  },
  {
    title: 'encrypted: no EncryptedData',
    check: 'decryption',
    xml: () => edit(signedInside(), /<xenc:EncryptedData [^]*<\/xenc:EncryptedData>/, ''),
    expected: decrypting,
  },
  {
    title: 'encrypted: two EncryptedData',
    check: 'decryption',
    xml: () =>
      edit(
        signedInside(),
        /<xenc:EncryptedData [^]*<\/xenc:EncryptedData>/,
        found => found + found.replace(/ Id="[^"]*"/, ''),
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: no wrapped key',
    check: 'decryption',
    xml: () => edit(signedInside(), /<ds:KeyInfo[^]*?<\/ds:KeyInfo>/, ''),
    expected: decrypting,
  },
  {
    title: 'encrypted, and nothing is signed',
    check: 'decryption',
    xml: () => encryptAssertion(buildResponse()),
    expected: decrypting,
  },
  {
    title: 'encrypted: a forged assertion, which anybody can encrypt for us',
    check: 'decryption',
    xml: () =>
      encryptAssertion(signResponse(buildResponse({ name: EVIL }), 'assertion', { key: keyNamed('attacker') })),
    expected: decrypting,
  },
  {
    title: 'encrypted: a forged assertion in place of the one that the response was signed with',
    check: 'signature',
    xml: () => {
      const xml = signResponse(encryptAssertion(buildResponse()))
      const forged = encryptAssertion(buildResponse({ name: EVIL }))
      return edit(
        xml,
        /<saml:EncryptedAssertion[^]*<\/saml:EncryptedAssertion>/,
        /<saml:EncryptedAssertion[^]*<\/saml:EncryptedAssertion>/.exec(forged)?.[0] ?? '',
      )
    },
    expected: decrypting,
  },
  {
    title: 'encrypted: tampered with inside',
    check: 'decryption',
    xml: () => encryptAssertion(signResponse(buildResponse(), 'assertion').replaceAll(NAME, EVIL)),
    expected: decrypting,
  },
  {
    title: 'encrypted: not an assertion',
    check: 'decryption',
    xml: () => signResponse(buildResponse().replace(/<saml:Assertion [^]*<\/saml:Assertion>/, encryptXml('<x/>'))),
    expected: decrypting,
  },
  {
    title: 'encrypted: two assertions',
    check: 'decryption',
    xml: () =>
      signResponse(
        buildResponse().replace(/<saml:Assertion [^]*<\/saml:Assertion>/, a => {
          const one = a
            .replace('<saml:A', '<saml:A')
            .replace('<saml:Assertion', '<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"')
          return encryptXml(one + one)
        }),
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: another signature inside the assertion, in a signed response',
    check: 'signature-shape',
    xml: () => signResponse(encryptAssertion(withNestedSignature(buildResponse()))),
    expected: decrypting,
  },
  {
    title: 'another signature inside the assertion of a signed response',
    check: 'signature-shape',
    xml: () => signResponse(withNestedSignature(buildResponse())),
  },
  {
    title: 'encrypted: an assertion with a comment',
    check: 'decryption',
    xml: () => signResponse(encryptAssertion(edit(buildResponse(), NAME, 'anna<!---->@a.example'))),
    expected: decrypting,
  },
  {
    title: 'encrypted: an assertion with a DOCTYPE',
    check: 'decryption',
    xml: () =>
      signResponse(buildResponse().replace(/<saml:Assertion [^]*<\/saml:Assertion>/, a => encryptXml(DOCTYPE + a))),
    expected: decrypting,
  },
  {
    title: 'encrypted and plain',
    check: 'assertion-count',
    xml: () =>
      edit(signResponse(buildResponse(), 'assertion'), '</samlp:Response>', `${encryptXml('<x/>')}</samlp:Response>`),
    expected: decrypting,
  },
  {
    title: 'encrypted twice',
    check: 'assertion-count',
    xml: () => edit(signedInside(), '</samlp:Response>', `${encryptXml('<x/>')}</samlp:Response>`),
    expected: decrypting,
  },
  {
    title: 'encrypted: an assertion inside the assertion',
    check: 'assertion-count',
    xml: () =>
      signResponse(
        encryptAssertion(
          edit(buildResponse(), '</saml:Conditions>', '</saml:Conditions><saml:Advice><saml:Assertion/></saml:Advice>'),
        ),
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: a second signature deeper in the assertion',
    check: 'decryption',
    xml: () =>
      encryptAssertion(
        signResponse(
          edit(
            buildResponse(),
            '</saml:Conditions>',
            '</saml:Conditions><saml:Advice><ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/></saml:Advice>',
          ),
          'assertion',
        ),
      ),
    expected: decrypting,
  },
  {
    title: 'encrypted: one id twice in the assertion',
    check: 'duplicate-id',
    xml: () =>
      signResponse(
        encryptAssertion(
          edit(buildResponse(), '<saml:AttributeStatement>', '<saml:AttributeStatement ID="_assertion">'),
        ),
      ),
    expected: decrypting,
  },
]
