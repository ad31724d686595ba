import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { test } from 'node:test'
import { inflateRawSync } from 'node:zlib'
import { authnRequestXml, byForm, byRedirect, requestScheme, signText } from '../../src/features/saml/outgoing.ts'
import { discoveryRequest } from '../../src/features/saml/discovery.ts'
import { logoutRequestXml, logoutResponseXml } from '../../src/features/saml/provider-session.ts'
import { signatureOf, verifiedElement } from '../../src/features/saml/signature.ts'
import { serviceProviderMetadata } from '../../src/features/saml/sp-metadata.ts'
import { messageLimits, parseXml } from '../../src/features/sso/xml.ts'
import { keyNamed, NOW } from '../support/saml-idp.ts'

const URN = 'urn:oasis:names:tc:SAML:2.0'
const SPACES = `xmlns:samlp="${URN}:protocol" xmlns:saml="${URN}:assertion"`
const ISSUED = '2026-11-21T10:00:00.000Z'
const pemOf = (key: ReturnType<typeof keyNamed>): string =>
  key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

test('a request for a login asks for a name and a form, and for what the settings require (D8.2)', () => {
  const request = {
    id: '_1',
    issued: NOW,
    destination: 'https://idp/sso?a&b',
    acsUrl: 'https://sp/acs?x&y',
    issuer: 'urn:<sp>',
    authnContext: [],
    anyNameId: false,
  }
  const begin = `<samlp:AuthnRequest ${SPACES} ID="_1" Version="2.0" IssueInstant="${ISSUED}" Destination="https://idp/sso?a&#38;b" ProtocolBinding="${URN}:bindings:HTTP-POST" AssertionConsumerServiceURL="https://sp/acs?x&#38;y"><saml:Issuer>urn:&#60;sp&#62;</saml:Issuer>`
  const format = ' Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"'
  assert.equal(
    authnRequestXml(request),
    `${begin}<samlp:NameIDPolicy${format} AllowCreate="true"/></samlp:AuthnRequest>`,
  )
  const strict = { anyNameId: true, authnContext: ['a&', 'b'] }
  assert.equal(
    authnRequestXml({ ...request, ...strict }),
    `${begin}<samlp:NameIDPolicy AllowCreate="true"/><samlp:RequestedAuthnContext Comparison="exact"><saml:AuthnContextClassRef>a&#38;</saml:AuthnContextClassRef><saml:AuthnContextClassRef>b</saml:AuthnContextClassRef></samlp:RequestedAuthnContext></samlp:AuthnRequest>`,
  )
})

test('messages of single logout name the session as its assertion did (D30.2)', () => {
  const sent = { id: '_1', issued: NOW, destination: 'https://idp/slo?a&b', issuer: 'urn:<sp>' }
  const head = `${SPACES} ID="_1" Version="2.0" IssueInstant="${ISSUED}" Destination="https://idp/slo?a&#38;b"`
  const issuer = '<saml:Issuer>urn:&#60;sp&#62;</saml:Issuer>'
  const end = 'NotOnOrAfter="2026-11-21T10:05:00.000Z"'
  assert.equal(
    logoutRequestXml(sent, { name: 'a&b', nameId: { Format: 'f"', SPNameQualifier: 's' }, sessionIndex: '<1>' }),
    `<samlp:LogoutRequest ${head} ${end}>${issuer}<saml:NameID Format="f&#34;" SPNameQualifier="s">a&#38;b</saml:NameID><samlp:SessionIndex>&#60;1&#62;</samlp:SessionIndex></samlp:LogoutRequest>`,
  )
  assert.equal(
    logoutRequestXml(sent, { name: 'a', nameId: {}, sessionIndex: undefined }),
    `<samlp:LogoutRequest ${head} ${end}>${issuer}<saml:NameID>a</saml:NameID></samlp:LogoutRequest>`,
  )
  assert.equal(
    logoutResponseXml(sent, '_"2'),
    `<samlp:LogoutResponse ${head} InResponseTo="_&#34;2">${issuer}<samlp:Status><samlp:StatusCode Value="${URN}:status:Success"/></samlp:Status></samlp:LogoutResponse>`,
  )
})

test('the metadata of this service have what is configured, and nothing else (D8.6)', () => {
  const service = {
    entityId: 'urn:<sp>',
    acsUrl: 'https://sp/acs?a&b',
    signingCertificate: undefined,
    encryptionCertificates: [],
    logoutUrl: undefined,
    anyNameId: true,
    discoveryReturnUrl: undefined,
  }
  const document = (signed: boolean, role: string): string =>
    `<?xml version="1.0" encoding="UTF-8"?>\n<md:EntityDescriptor xmlns:md="${URN}:metadata" entityID="urn:&#60;sp&#62;">\n  <md:SPSSODescriptor protocolSupportEnumeration="${URN}:protocol" AuthnRequestsSigned="${signed}" WantAssertionsSigned="true">\n${role}    <md:AssertionConsumerService Binding="${URN}:bindings:HTTP-POST" Location="https://sp/acs?a&#38;b" index="0" isDefault="true"/>\n  </md:SPSSODescriptor>\n</md:EntityDescriptor>\n`
  assert.equal(serviceProviderMetadata(service), document(false, ''))
  const certificate = (text: string): string =>
    `-----BEGIN CERTIFICATE-----\n${text}\n${text}\n-----END CERTIFICATE-----\n`
  const key = (use: string, text: string): string =>
    `    <md:KeyDescriptor use="${use}"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${text}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>\n`
  const logout = (binding: string): string =>
    `    <md:SingleLogoutService Binding="${URN}:bindings:${binding}" Location="https://sp/slo?a&#38;b"/>\n`
  const idpdisc = 'urn:oasis:names:tc:SAML:profiles:SSO:idp-discovery-protocol'
  assert.equal(
    serviceProviderMetadata({
      ...service,
      signingCertificate: certificate('AA+/'),
      encryptionCertificates: [certificate('BB'), certificate('CC')],
      logoutUrl: 'https://sp/slo?a&b',
      anyNameId: false,
      discoveryReturnUrl: 'https://sp/back?a&b',
    }),
    document(
      true,
      `    <md:Extensions><idpdisc:DiscoveryResponse xmlns:idpdisc="${idpdisc}" Binding="${idpdisc}" Location="https://sp/back?a&#38;b" index="0" isDefault="true"/></md:Extensions>\n${key('signing', 'AA+/AA+/')}${key('encryption', 'BBBB')}${key('encryption', 'CCCC')}${logout('HTTP-Redirect')}${logout('HTTP-POST')}    <md:NameIDFormat>urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress</md:NameIDFormat>\n`,
    ),
  )
})

const XML = '<a ID="_1"><Issuer>sp</Issuer><b/></a>'
const message = {
  kind: 'SAMLRequest',
  xml: XML,
  destination: 'https://idp/sso',
  relayState: undefined,
  signing: undefined,
} as const
const urlOf = (redirect: ReturnType<typeof byRedirect>): URL => {
  assert.equal(redirect.kind, 'redirect')
  return new URL(redirect.kind === 'redirect' ? redirect.url : '')
}

test('a message by redirect is deflated into the query of its destination (D8.2)', () => {
  const url = urlOf(byRedirect(message))
  assert.deepEqual([...url.searchParams.keys()], ['SAMLRequest'])
  assert.equal(inflateRawSync(Buffer.from(url.searchParams.get('SAMLRequest') ?? '', 'base64')).toString(), XML)
  const more = urlOf(
    byRedirect({ ...message, kind: 'SAMLResponse', destination: 'https://idp/sso?t=1', relayState: '' }),
  )
  assert.deepEqual([...more.searchParams.keys()], ['t', 'SAMLResponse', 'RelayState'])
})

test('a signature by redirect covers the parameters and no query of the destination (D8.2)', () => {
  for (const [name, algorithm, hash] of [
    ['idp', 'rsa-sha256', 'sha256'],
    ['P-256', 'ecdsa-sha256', 'sha256'],
    ['P-384', 'ecdsa-sha384', 'sha384'],
  ] as const) {
    const key = keyNamed(name)
    const signing = { key: pemOf(key), certificate: '' }
    const { search } = urlOf(byRedirect({ ...message, destination: 'https://idp/sso?t=1', relayState: 'r&s', signing }))
    const [, signed = '', signature = ''] = /^\?t=1&(.*)&Signature=(.*)$/.exec(search) ?? []
    assert.ok(
      signed.endsWith(`&RelayState=r%26s&SigAlg=http%3A%2F%2Fwww.w3.org%2F2001%2F04%2Fxmldsig-more%23${algorithm}`),
    )
    const value = Buffer.from(decodeURIComponent(signature), 'base64')
    assert.ok(verify(hash, Buffer.from(signed), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, value), name)
  }
})

test('a message by form is signed behind its issuer (D8.2)', () => {
  const plain = byForm({ ...message, relayState: 'r' })
  assert.deepEqual(plain, {
    kind: 'form',
    action: 'https://idp/sso',
    fields: { SAMLRequest: Buffer.from(XML).toString('base64'), RelayState: 'r' },
  })
  for (const name of ['idp', 'P-384'] as const) {
    const key = keyNamed(name)
    const certificate = `-----BEGIN CERTIFICATE-----\n${key.base64}\n-----END CERTIFICATE-----\n`
    const form = byForm({ ...message, signing: { key: pemOf(key), certificate } })
    const { SAMLRequest = '', ...rest } = form.kind === 'form' ? form.fields : {}
    assert.deepEqual(rest, {})
    const text = Buffer.from(SAMLRequest, 'base64').toString()
    assert.match(text, /<\/Issuer><ds:Signature /)
    const root = parseXml(text, messageLimits)
    const signature = signatureOf(root)
    assert.ok(signature)
    assert.equal(verifiedElement(root, signature, [createPublicKey(key.pem)]).local, 'a')
  }
})

test('requests are signed with keys that providers accept (D8.2)', () => {
  const pem = (pair: { privateKey: ReturnType<typeof keyNamed>['privateKey'] }): string =>
    pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const p521 = pem(generateKeyPairSync('ec', { namedCurve: 'P-521' }))
  assert.deepEqual(requestScheme(p521), {
    algorithm: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512',
    hash: 'sha512',
  })
  assert.equal(Buffer.from(signText('x', p521), 'base64').length, 132)
  const refused = 'requests are signed with RSA of 2048 bits or more, or on P-256, P-384 or P-521; this key is '
  for (const [key, found] of [
    [pem(generateKeyPairSync('rsa', { modulusLength: 1024 })), 'rsa 1024'],
    [pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })), 'ec secp256k1'],
    [pem(generateKeyPairSync('ed25519')), 'ed25519'],
  ] as const)
    assert.throws(() => requestScheme(key), { name: 'TypeError', message: refused + found })
})

test('a discovery service is asked with an address that carries what was asked for (D31.6)', () => {
  const provider = { name: 'fed', relyingPartyId: 'urn:sp' }
  const login = { discoveryUrl: undefined, returnUrl: () => 'https://sp/auth/saml' }
  const target = { successUrl: undefined, failureUrl: undefined }
  const own = new URL(discoveryRequest(provider, login, target))
  assert.equal(own.origin + own.pathname, 'https://sp/auth/saml/discovery')
  assert.deepEqual(Object.fromEntries(own.searchParams), {
    idp: 'fed',
    entityID: 'urn:sp',
    return: 'https://sp/auth/saml?idp=fed&discovered=true',
    returnIDParam: 'entityID',
  })
  const urls = { successUrl: 'https://ok/?a&b', failureUrl: 'https://no/' }
  const other = new URL(discoveryRequest(provider, { ...login, discoveryUrl: 'https://ds/?x=1' }, urls))
  assert.equal(other.origin, 'https://ds')
  const { return: back = '', ...rest } = Object.fromEntries(other.searchParams)
  assert.deepEqual(rest, { x: '1', entityID: 'urn:sp', returnIDParam: 'entityID' })
  assert.deepEqual(Object.fromEntries(new URL(back).searchParams), {
    idp: 'fed',
    discovered: 'true',
    successurl: urls.successUrl,
    failureurl: urls.failureUrl,
  })
})
