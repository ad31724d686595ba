import {
  buildResponse,
  cut,
  DSIG,
  DSIG_MORE,
  edit,
  ENVELOPED,
  EXCLUSIVE,
  keyNamed,
  NAME,
  newEcKey,
  newRsaKey,
  signElement,
  signResponse,
  WITH_COMMENTS,
  XENC,
} from '../../support/saml-idp.ts'
import { type Attack, EVIL, issued, tampered } from './attack.ts'

const REFERENCE = /<ds:Reference [^]*<\/ds:Reference>/
const XPATH = 'http://www.w3.org/TR/1999/REC-xpath-19991116'
const BASE64 = `${DSIG}base64`
const C14N = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
const signed = (what: 'response' | 'assertion' | 'both' = 'both'): string => signResponse(buildResponse(), what)
const transforms = (title: string, ...algorithms: string[]): Attack =>
  issued(`transforms: ${title}`, 'signature-transform', [], { transforms: algorithms })
const shape = (title: string, signedInfo: (xml: string) => string, check = 'signature-shape'): Attack => ({
  title,
  check,
  xml: () => signResponse(buildResponse(), 'response', { signedInfo }),
})
const hmac = (title: string, pem: () => string): Attack => ({
  title,
  check: 'signature-algorithm',
  xml: () =>
    signResponse(buildResponse({ name: EVIL }), 'both', {
      method: `${DSIG_MORE}hmac-sha256`,
      key: { ...keyNamed('idp'), pem: pem() },
    }),
})
const cases = (title: string, attribute: string): Attack => ({
  title,
  check: 'signature-shape',
  xml: () =>
    signElement(edit(buildResponse(), ' ID="_response"', ` ${attribute}="_response"`), '_response', {
      idAttribute: attribute,
    }),
})

export const signatureAttacks: readonly Attack[] = [
  { title: 'no signature anywhere', check: 'signature-missing', xml: () => buildResponse() },
  tampered(
    'the signature of the response stripped',
    'signature-missing',
    [[/<ds:Signature [^]*<\/ds:Signature>/, '']],
    { signed: 'response' },
  ),
  tampered(
    'the signature of the assertion stripped',
    'signature-missing',
    [[/<ds:Signature [^]*<\/ds:Signature>/, '']],
    { signed: 'assertion' },
  ),
  tampered('an empty Signature', 'signature-shape', [[/(?<=<ds:Signature [^>]*>)[^]*?(?=<\/ds:Signature>)/, '']], {
    signed: 'response',
  }),
  tampered(
    'a Signature of another namespace',
    'signature-missing',
    [[`xmlns:ds="${DSIG}"><ds:SignedInfo`, 'xmlns:ds="urn:x"><ds:SignedInfo']],
    { signed: 'response' },
  ),
  {
    title: 'signed by a foreign key that KeyInfo names',
    check: 'signature',
    xml: () => signResponse(buildResponse({ name: EVIL }), 'both', { key: keyNamed('attacker') }),
  },
  {
    title: 'signed by a foreign key, KeyInfo names the right one',
    check: 'signature',
    xml: () =>
      signResponse(buildResponse({ name: EVIL }), 'both', {
        key: keyNamed('attacker'),
        keyInfo: `<ds:X509Data><ds:X509Certificate>${keyNamed('idp').base64}</ds:X509Certificate></ds:X509Data>`,
      }),
  },
  {
    title: 'signed by a foreign key, KeyInfo holds its bare value',
    check: 'signature',
    xml: () =>
      signResponse(buildResponse({ name: EVIL }), 'both', {
        key: keyNamed('attacker'),
        keyInfo: '<ds:KeyValue><ds:RSAKeyValue><ds:Modulus>AQAB</ds:Modulus></ds:RSAKeyValue></ds:KeyValue>',
      }),
  },
  {
    title: 'signed by a foreign key that KeyInfo would have us fetch',
    check: 'signature',
    xml: () =>
      signResponse(buildResponse({ name: EVIL }), 'both', {
        key: keyNamed('attacker'),
        keyInfo: '<ds:RetrievalMethod URI="https://evil.example/key"/>',
      }),
  },
  {
    title: 'signed by a key of a kind that the provider does not have',
    check: 'signature-key',
    xml: () => signResponse(buildResponse(), 'both', { key: keyNamed('P-256'), method: `${DSIG_MORE}ecdsa-sha256` }),
  },
  {
    title: 'signed on a curve that the provider does not have',
    check: 'signature',
    xml: () => signResponse(buildResponse(), 'both', { key: newEcKey('P-256'), method: `${DSIG_MORE}ecdsa-sha256` }),
    expected: { keys: [keyNamed('P-384').pem] },
  },
  {
    title: 'signed by a weak key of the attacker',
    check: 'signature',
    xml: () => signResponse(buildResponse(), 'both', { key: newRsaKey(1024) }),
  },
  { title: 'no key is known at all', check: 'signature-key', xml: () => signed(), expected: { keys: [] } },
  {
    title: 'the assertion validly signed, the response by a foreign key',
    check: 'signature',
    xml: () => signElement(signed('assertion'), '_response', { key: keyNamed('attacker') }),
  },
  {
    title: 'the response validly signed over an assertion with a foreign signature',
    check: 'signature',
    xml: () => signElement(signElement(buildResponse(), '_assertion', { key: keyNamed('attacker') }), '_response'),
  },

  hmac('HMAC with the public key as its secret', () => keyNamed('idp').pem),
  hmac('HMAC with the certificate as its secret', () => keyNamed('idp').certificate),
  hmac('HMAC with the bare certificate as its secret', () => keyNamed('idp').base64),
  hmac('HMAC with nothing as its secret', () => ''),
  issued('HMAC-SHA1', 'signature-algorithm', [], { method: `${DSIG}hmac-sha1` }),
  issued('rsa-sha1', 'signature-algorithm', [], { method: `${DSIG}rsa-sha1` }),
  issued('ecdsa-sha1', 'signature-algorithm', [], { method: `${DSIG_MORE}ecdsa-sha1`, key: keyNamed('P-256') }),
  issued('rsa-md5', 'signature-algorithm', [], { method: `${DSIG_MORE}rsa-md5` }),
  issued('rsa-sha224', 'signature-algorithm', [], { method: `${DSIG_MORE}rsa-sha224` }),
  issued('dsa-sha256', 'signature-algorithm', [], { method: 'http://www.w3.org/2009/xmldsig11#dsa-sha256' }),
  issued('an algorithm that a JavaScript object has anyway', 'signature-algorithm', [], { method: 'constructor' }),
  issued('no algorithm', 'signature-algorithm', [], { method: '' }),
  issued('an algorithm with a blank behind', 'signature-algorithm', [], { method: `${DSIG_MORE}rsa-sha256 ` }),
  issued('a SHA-1 digest', 'signature-algorithm', [], { digest: `${DSIG}sha1` }),
  issued('an MD5 digest', 'signature-algorithm', [], { digest: `${DSIG_MORE}sha224` }),
  shape(
    'inclusive c14n of SignedInfo',
    xml => edit(xml, `Algorithm="${EXCLUSIVE}"`, `Algorithm="${C14N}"`),
    'signature-algorithm',
  ),
  shape(
    'an unknown c14n of SignedInfo',
    xml => edit(xml, `Algorithm="${EXCLUSIVE}"`, 'Algorithm="urn:x"'),
    'signature-algorithm',
  ),
  shape('no c14n of SignedInfo', xml => edit(xml, /<ds:CanonicalizationMethod .*<\/ds:CanonicalizationMethod>/, '')),
  shape('two methods', xml => edit(xml, /<ds:SignatureMethod .*<\/ds:SignatureMethod>/, found => found + found)),

  transforms('none of them'),
  transforms('enveloped only', ENVELOPED),
  transforms('exclusive c14n only', EXCLUSIVE),
  transforms('the other way round', EXCLUSIVE, ENVELOPED),
  transforms('one too many', ENVELOPED, EXCLUSIVE, EXCLUSIVE),
  transforms('with comments and without', ENVELOPED, WITH_COMMENTS, EXCLUSIVE),
  transforms('with comments only', WITH_COMMENTS),
  issued(
    'transforms: a comment in a document that is signed with comments',
    'xml-comment',
    [[NAME, 'admin<!-- -->@a.example']],
    {
      transforms: [ENVELOPED, WITH_COMMENTS],
    },
  ),
  tampered(
    'transforms: a comment added to a document that is signed with comments',
    'xml-comment',
    [[NAME, `<!-- -->${NAME}`]],
    {
      transforms: [ENVELOPED, WITH_COMMENTS],
    },
  ),
  transforms('inclusive c14n', ENVELOPED, C14N),
  transforms('c14n 1.1', ENVELOPED, 'http://www.w3.org/2006/12/xml-c14n11'),
  transforms('XSLT', ENVELOPED, 'http://www.w3.org/TR/1999/REC-xslt-19991116', EXCLUSIVE),
  transforms('XPath', ENVELOPED, XPATH, EXCLUSIVE),
  transforms('base64', ENVELOPED, BASE64),
  transforms('the XPath filter', 'http://www.w3.org/2002/06/xmldsig-filter2', EXCLUSIVE),
  shape('no Transforms', xml => edit(xml, /<ds:Transforms>.*<\/ds:Transforms>/, '')),
  shape('two Transforms', xml => edit(xml, /<ds:Transforms>.*<\/ds:Transforms>/, found => found + found)),

  issued('an empty URI', 'signature-shape', [], { uri: '' }),
  shape('no URI', xml => edit(xml, / URI="[^"]*"/, '')),
  issued('an XPointer to the root', 'signature-shape', [], { uri: '#xpointer(/)' }),
  issued('an XPointer to the id', 'signature-shape', [], { uri: "#xpointer(id('_response'))" }),
  issued('the address of another document', 'signature-shape', [], { uri: 'https://evil.example/#_response' }),
  issued('a file', 'signature-shape', [], { uri: 'file:///etc/passwd' }),
  issued('the id without its number sign', 'signature-shape', [], { uri: '_response' }),
  issued('a URI with a blank', 'signature-shape', [], { uri: '#_response ' }),
  issued('an XPath in the URI', 'signature-shape', [], { uri: "#_response' or '1'='1" }),
  issued('the signature of the response covers its assertion only', 'signature-shape', [], { uri: '#_assertion' }),
  {
    title: 'the signature of the assertion covers its Subject only',
    check: 'signature-shape',
    xml: () =>
      signElement(edit(buildResponse(), '<saml:Subject>', '<saml:Subject ID="_subject">'), '_assertion', {
        uri: '#_subject',
      }),
  },
  shape('two References', xml => edit(xml, REFERENCE, found => found + found)),
  shape('a second Reference to nowhere', xml =>
    edit(xml, REFERENCE, found => `${found}<ds:Reference URI="#_x"></ds:Reference>`),
  ),
  shape('something else in SignedInfo', xml => edit(xml, REFERENCE, found => `<ds:Object></ds:Object>${found}`)),
  shape('a Reference of another namespace in SignedInfo', xml =>
    edit(xml, REFERENCE, found => `<x:Reference xmlns:x="urn:x" URI="#_assertion"></x:Reference>${found}`),
  ),
  shape('something else in the Reference', xml =>
    edit(xml, '<ds:DigestMethod', found => `<ds:DigestMethods></ds:DigestMethods>${found}`),
  ),
  shape('no Reference', xml => edit(xml, REFERENCE, '')),
  shape('a Manifest instead', xml => edit(xml, REFERENCE, found => `<ds:Manifest>${found}</ds:Manifest>`)),
  cases('the response has an Id', 'Id'),
  cases('the response has an id', 'id'),
  {
    title: 'an id with the signs of XPath',
    check: 'signature-shape',
    xml: () => signElement(buildResponse({ responseId: "_a']|//*[@x='" }), "_a']|//*[@x='"),
  },
  {
    title: 'an id that begins with no letter',
    check: 'signature-shape',
    xml: () => signElement(buildResponse({ responseId: '-_a' }), '-_a'),
  },
  {
    title: 'an empty id',
    check: 'signature-shape',
    xml: () => signElement(buildResponse({ responseId: '' }), '', { uri: '#' }),
  },
  {
    title: 'two ids, one as ID and one as Id',
    check: 'duplicate-id',
    xml: () => edit(signed('assertion'), '<samlp:Status>', '<samlp:Status Id="_assertion">'),
  },
  {
    title: 'response and assertion have one id',
    check: 'duplicate-id',
    xml: () => signElement(buildResponse({ assertionId: '_response' }), '_response'),
  },
  {
    title: 'an id of SAML 1 that is there twice',
    check: 'duplicate-id',
    xml: () => edit(signed('assertion'), '<samlp:Status>', '<samlp:Status AssertionID="_assertion">'),
  },
  {
    title: 'an id in small letters that is there twice',
    check: 'duplicate-id',
    xml: () => edit(signed('assertion'), '<samlp:Status>', '<samlp:Status id="_assertion">'),
  },

  tampered('two SignedInfo, the forged one first', 'signature-shape', [
    [
      /<ds:SignedInfo [^]*?<\/ds:SignedInfo>/,
      found => found.replace(/<ds:DigestValue>[^<]*/, '<ds:DigestValue>AAAA') + found,
    ],
  ]),
  tampered('two SignedInfo, the forged one last', 'signature-shape', [
    [
      /<ds:SignedInfo [^]*?<\/ds:SignedInfo>/,
      found => found + found.replace(/<ds:DigestValue>[^<]*/, '<ds:DigestValue>AAAA'),
    ],
  ]),
  tampered('two SignatureValues', 'signature-shape', [
    [/<ds:SignatureValue>[^<]*<\/ds:SignatureValue>/, found => found + found],
  ]),
  tampered('an empty SignatureValue', 'signature-shape', [[/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>']]),
  tampered('elements in SignatureValue', 'signature-shape', [['<ds:SignatureValue>', '<ds:SignatureValue><ds:X/>']]),
  tampered('elements in DigestValue', 'signature-shape', [['<ds:DigestValue>', '<ds:DigestValue><ds:X/>']]),
  tampered('an empty DigestValue', 'signature-shape', [[/<ds:DigestValue>[^<]*/, '<ds:DigestValue>']]),
  tampered('two DigestValues', 'signature-shape', [
    [/<ds:DigestValue>[^<]*<\/ds:DigestValue>/, found => found + found],
  ]),
  tampered('two KeyInfo', 'signature-shape', [[/<ds:KeyInfo>[^]*?<\/ds:KeyInfo>/, found => found + found]]),
  tampered('an Object in the signature', 'signature-shape', [['</ds:Signature>', '<ds:Object/></ds:Signature>']]),
  tampered(
    'two signatures of the response',
    'signature-shape',
    [[/<ds:Signature [^]*?<\/ds:Signature>/, found => found + found]],
    { signed: 'response' },
  ),
  tampered(
    'two signatures of the assertion',
    'signature-shape',
    [[/<ds:Signature [^]*?<\/ds:Signature>/, found => found + found]],
    { signed: 'assertion' },
  ),
  tampered('another DigestValue', 'signature', [[/<ds:DigestValue>..../, '<ds:DigestValue>////']]),
  tampered('another SignatureValue', 'signature', [[/<ds:SignatureValue>..../, '<ds:SignatureValue>AAAA']]),
  tampered('a cut SignatureValue', 'signature', [[/(?<=<ds:SignatureValue>[^<]{100})[^<]*/, '']]),
  tampered('a SignatureValue of zeroes', 'signature', [[/(?<=<ds:SignatureValue>)[^<]*/, 'AA==']]),
  {
    title: 'an ECDSA signature of two zeroes',
    check: 'signature',
    expected: { keys: [keyNamed('P-256').pem] },
    xml: () =>
      edit(
        signResponse(buildResponse(), 'response', { key: keyNamed('P-256'), method: `${DSIG_MORE}ecdsa-sha256` }),
        /(?<=<ds:SignatureValue>)[^<]*/,
        Buffer.alloc(64).toString('base64'),
      ),
  },
  {
    title: 'the signature of another response',
    check: 'signature',
    xml: () => {
      const other = signResponse(buildResponse({ name: EVIL }), 'response')
      return edit(signed('response'), /<ds:SignatureValue>[^<]*<\/ds:SignatureValue>/, cut(other, 'ds:SignatureValue'))
    },
  },
  {
    title: 'the whole signature of another response',
    check: 'signature',
    xml: () =>
      edit(
        signed('response'),
        /<ds:Signature [^]*<\/ds:Signature>/,
        cut(signResponse(buildResponse({ name: EVIL }), 'response'), 'ds:Signature'),
      ),
  },
  tampered('another algorithm named than was used', 'signature', [
    [`${DSIG_MORE}rsa-sha256`, `${DSIG_MORE}rsa-sha512`],
  ]),
  tampered('another digest named than was used', 'signature', [[`${XENC}sha256`, `${XENC}sha512`]]),

  tampered('the NameID changed after signing', 'signature', [[`>${NAME}</saml:NameID>`, `>${EVIL}</saml:NameID>`]]),
  tampered('one letter of the NameID changed', 'signature', [[`>${NAME}</saml:NameID>`, `>${NAME}s</saml:NameID>`]]),
  tampered('white space in the NameID changed', 'signature', [[`>${NAME}</saml:NameID>`, `> ${NAME}</saml:NameID>`]]),
  tampered('an attribute changed after signing', 'signature', [
    ['>anna@a.example</saml:AttributeValue>', '>evil</saml:AttributeValue>'],
  ]),
  tampered('an attribute added after signing', 'signature', [
    ['</saml:AttributeStatement>', '<saml:Attribute Name="x"/></saml:AttributeStatement>'],
  ]),
  tampered('the validity prolonged after signing', 'signature', [[/<saml:Conditions [^>]*>/, '<saml:Conditions>']]),
  tampered('the audience changed after signing', 'signature', [[/<saml:Audience>[^<]*/, '<saml:Audience>urn:x']]),
  tampered('a namespace changed after signing', 'signature', [
    ['<saml:AttributeValue>', '<saml:AttributeValue xmlns="urn:x"><x/>'],
  ]),
  tampered(
    'the request changed after signing',
    'signature',
    [[/InResponseTo="_request"(?=>)/, 'InResponseTo="_other"']],
    { signed: 'response' },
  ),
]
