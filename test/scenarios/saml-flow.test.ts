import assert from 'node:assert/strict'
import { constants, verify } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { DOMParser } from '@xmldom/xmldom'
import { SignedXml } from 'xml-crypto'
import { encryptAssertion } from '../support/saml-encryption.ts'
import { signatureOf, verifiedElement } from '../../src/features/saml/signature.ts'
import { messageLimits, parseXml } from '../../src/features/sso/xml.ts'
import {
  buildMetadata,
  buildResponse,
  encode,
  type IdpKey,
  keyNamed,
  newRsaKey,
  signResponse,
} from '../support/saml-idp.ts'
import { readProviderForm, RELYING_PARTY, type SamlBrowser, startWithSaml } from '../support/saml-service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'
const POST = 'service.auth.saml.idp.a.redirect-method'

test('a login by redirect: away with a request, back with an answer, signed in (D8.2, D19.5)', async t => {
  const { service, idp, browser } = await startWithSaml(t)
  const someone = browser()
  const sent = await someone.leave()
  assert.equal(sent.url.origin + sent.url.pathname, 'https://idp.example/sso')
  const request = new DOMParser().parseFromString(sent.xml, 'text/xml').documentElement
  assert.deepEqual([request.namespaceURI, request.localName], [PROTOCOL, 'AuthnRequest'])
  assert.equal(request.getAttribute('Version'), '2.0')
  assert.equal(request.getAttribute('Destination'), 'https://idp.example/sso')
  assert.equal(request.getAttribute('AssertionConsumerServiceURL'), 'https://store.example/auth/saml?idp=a')
  assert.equal(request.getAttribute('ProtocolBinding'), 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST')
  assert.equal(request.getAttribute('IssueInstant'), new Date(service.system.now()).toISOString())
  assert.match(request.getAttribute('ID') ?? '', /^_[\w-]{40,}$/)
  assert.equal(request.getElementsByTagNameNS('*', 'Issuer')[0]?.textContent, RELYING_PARTY)
  const policy = request.getElementsByTagNameNS(PROTOCOL, 'NameIDPolicy')[0]
  assert.equal(policy?.getAttribute('Format'), 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress')
  assert.equal(policy?.getAttribute('AllowCreate'), 'true')
  assert.ok(Buffer.byteLength(sent.relayState) <= 80 && sent.relayState.length >= 40)
  assert.equal(sent.url.searchParams.get('SigAlg'), null)

  const back = await someone.bring(someone.answerTo(sent))
  assert.equal(back.status, 200, back.text)
  assert.match(back.text, /signed in as <strong>anna@a\.example</)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
  const line = back.headers['set-cookie']?.find(one => one.startsWith('auth_token='))
  assert.match(line ?? '', /^auth_token=[\w-]{20,}; .*; Path=\/; SameSite=Strict; HttpOnly; Secure$/)
  assert.equal(back.headers['cache-control'], 'no-store')
  assert.equal(idp.asked(), 1)

  const program = browser()
  const response = await program.bring(program.answerTo(await program.leave(), { assertionId: '_2' }), '?idp=a', {
    accept: 'application/json',
  })
  assert.equal(response.json()['user'], 'anna@a.example')
  const admin = await service.admin()
  const { events } = (await admin.get('management/audit?user=anna@a.example')).json<{ events: object[] }>()
  assert.deepEqual(
    events.map(event => Object.values(event).includes('login')).filter(Boolean).length,
    2,
    'both logins are on record',
  )
})

test('a login by POST: a page with a form that goes to the provider, and on to wherever that leads (D8.2)', async t => {
  const { browser, service } = await startWithSaml(t, { [POST]: 'post' })
  const someone = browser()
  const page = await someone.ask('auth/saml', { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.equal(page.status, 200, page.text)
  assert.match(String(page.headers['content-security-policy']), /form-action https:(;|$)/)
  assert.doesNotMatch(String(page.headers['content-security-policy']), /unsafe/)
  assert.equal(page.headers['cache-control'], 'no-store')
  const sent = readProviderForm(page, service.base)
  assert.equal(sent.url.href, 'https://idp.example/post')
  assert.match(sent.xml, /Destination="https:\/\/idp\.example\/post"/)
  assert.equal((await someone.bring(someone.answerTo(sent))).status, 200)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
})

test('the other way is taken when the provider does not offer the configured one', async t => {
  const { browser, idp } = await startWithSaml(t, { [POST]: 'post' })
  idp.publish({ postUrl: undefined, redirectUrl: 'https://idp.example/sso?tenant=1&x=%20' })
  const { url, xml } = await browser().leave()
  assert.ok(url.href.startsWith('https://idp.example/sso?tenant=1&x=%20&SAMLRequest='))
  assert.match(xml, /Destination="https:\/\/idp\.example\/sso\?tenant=1&#38;x=%20"/)
})

async function signingSettings(pair: IdpKey = keyNamed('service')): Promise<Record<string, string>> {
  const folder = await temporaryFolder()
  const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
  const { privateKey, certificate } = pair
  await writeFile(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }))
  await writeFile(certificateFile, certificate)
  return Object.fromEntries(
    ['signing', 'encryption'].flatMap(use => [
      [`service.auth.saml.${use}.key-file`, keyFile],
      [`service.auth.saml.${use}.certificate-file`, certificateFile],
    ]),
  )
}

test('requests are signed when there is a key: the query of a redirect, the document of a form (D8.2)', async t => {
  const settings = await signingSettings()
  const { browser } = await startWithSaml(t, settings)
  const { url } = await browser().leave()
  const [, covered = '', signature = ''] = /^\?(SAMLRequest=.*&SigAlg=[^&]*)&Signature=([^&]*)$/.exec(url.search) ?? []
  assert.match(covered, /&RelayState=[^&]+&SigAlg=http%3A%2F%2Fwww.w3.org%2F2001%2F04%2Fxmldsig-more%23rsa-sha256$/)
  const bytes = Buffer.from(decodeURIComponent(signature), 'base64')
  const key = { key: keyNamed('service').publicKey, padding: constants.RSA_PKCS1_PADDING }
  assert.ok(verify('sha256', Buffer.from(covered), key, bytes))

  const other = await startWithSaml(t, { ...settings, [POST]: 'post' })
  const { xml } = await other.browser().leave()
  assert.match(xml, /<\/saml:Issuer><ds:Signature /)
  const checker = new SignedXml({ publicCert: keyNamed('service').pem })
  const [signatureNode] = Array.from(
    new DOMParser().parseFromString(xml, 'text/xml').getElementsByTagName('ds:Signature'),
  )
  assert.ok(signatureNode)
  checker.loadSignature(signatureNode)
  assert.ok(checker.checkSignature(xml))
  assert.match(checker.getSignedReferences()[0] ?? '', /^<samlp:AuthnRequest /)
})

for (const [curve, hash] of [
  ['P-256', 'sha256'],
  ['P-384', 'sha384'],
] as const) {
  test(`a key on ${curve} signs requests by its own algorithm, which the request names (D8.2)`, async t => {
    const pair = keyNamed(curve)
    const settings = await signingSettings(pair)
    const { browser } = await startWithSaml(t, settings)
    const { url } = await browser().leave()
    const parts = /^\?(SAMLRequest=.*&SigAlg=[^&]*)&Signature=([^&]*)$/.exec(url.search) ?? []
    assert.equal(url.searchParams.get('SigAlg'), `http://www.w3.org/2001/04/xmldsig-more#ecdsa-${hash}`)
    const bytes = Buffer.from(decodeURIComponent(parts[2] ?? ''), 'base64')
    const key = { key: pair.publicKey, dsaEncoding: 'ieee-p1363' } as const
    assert.ok(verify(hash, Buffer.from(parts[1] ?? ''), key, bytes))

    const other = await startWithSaml(t, { ...settings, [POST]: 'post' })
    const { xml } = await other.browser().leave()
    const request = parseXml(xml, messageLimits)
    const signature = signatureOf(request)
    assert.ok(signature)
    // The service's own check of responses accepts it, and knows ECDSA with this hash.
    assert.ok(verifiedElement(request, signature, [pair.publicKey]))
  })
}

test('a key that providers do not accept stops the start', async t => {
  await assert.rejects(startWithSaml(t, await signingSettings(newRsaKey(1024))), /this key is rsa 1024/)
})

test('an encrypted assertion is opened with the configured key (D8.3)', async t => {
  const { browser, idp, service } = await startWithSaml(t, await signingSettings())
  const someone = browser()
  const { requestId, acsUrl, relayState } = await someone.leave()
  const now = service.system.now()
  const xml = buildResponse({ issuer: idp.entityId, audience: RELYING_PARTY, acsUrl, requestId, now })
  const SAMLResponse = encode(encryptAssertion(signResponse(xml, 'assertion')))
  assert.equal((await someone.bring({ SAMLResponse, RelayState: relayState })).status, 200)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
})

test('the metadata of this service name its addresses and certificates, for each provider (D8.6)', async t => {
  const { service } = await startWithSaml(t, await signingSettings(), ['a', 'b'])
  const answer = await service.visitor().get('auth/saml/metadata?idp=b')
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['content-type'], 'application/samlmetadata+xml')
  const root = new DOMParser().parseFromString(answer.text, 'text/xml').documentElement
  assert.equal(root.getAttribute('entityID'), RELYING_PARTY)
  const acs = root.getElementsByTagName('md:AssertionConsumerService')[0]
  assert.equal(acs?.getAttribute('Location'), 'https://store.example/auth/saml?idp=b')
  assert.equal(acs?.getAttribute('Binding'), 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST')
  const keys = Array.from(root.getElementsByTagName('md:KeyDescriptor'))
  assert.deepEqual(
    keys.map(key => [key.getAttribute('use'), key.textContent]),
    [
      ['signing', keyNamed('service').base64],
      ['encryption', keyNamed('service').base64],
    ],
  )
  assert.equal((await service.visitor().get('auth/saml/metadata?idp=x')).status, 400)
  assert.match((await service.visitor().get('auth/saml/metadata')).text, /idp=a"/)
})

test('metadata may lie in a file', async t => {
  const folder = await temporaryFolder()
  const file = join(folder, 'idp metadata.xml')
  await writeFile(file, buildMetadata({ entityId: 'https://a.example/metadata' }))
  const { browser, idp } = await startWithSaml(t, { 'service.auth.saml.idp.a.metadata.url': pathToFileURL(file).href })
  const someone = browser()
  assert.equal((await someone.signInBy('anna@a.example')).status, 200)
  assert.equal(idp.asked(), 0)
})

test('without SAML there is nothing at its address', async t => {
  const { browser } = await startWithSaml(t, { 'service.auth.saml': 'off' })
  assert.equal((await browser().get('auth/saml')).status, 404)
  assert.equal((await browser().bring({ SAMLResponse: 'x' })).status, 404)
})

test('a malformed form is 400, a too large one 413, and neither is recorded as a refused sign-on', async t => {
  const { browser, service } = await startWithSaml(t)
  const codes = async (who: SamlBrowser, form: Record<string, string>) => {
    const answer = await who.bring(form, '?idp=a', { accept: 'application/json' })
    return [answer.status, answer.json()['code']]
  }
  assert.deepEqual(await codes(browser(), { RelayState: 'x' }), [400, 'invalid-form'])
  assert.equal((await codes(browser(), { SAMLResponse: 'A'.repeat(1_700_000) }))[0], 413)
  const admin = await service.admin()
  assert.deepEqual((await admin.get('management/sso')).json()['failures'], [])
})
