import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { encryptAssertion, encryptXml } from '../support/saml-encryption.ts'
import { buildResponse, encode, type IdpKey, keyNamed, newRsaKey, signResponse } from '../support/saml-idp.ts'
import { RELYING_PARTY, type SamlService, startWithSaml } from '../support/saml-service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const ends: Array<() => Promise<void>> = []
after(async () => {
  for (const end of ends.reverse()) await end()
})
const t = { after: (work: () => Promise<void>) => void ends.push(work) }

const MFA = 'https://refeds.org/profile/mfa'
const PASSWORD = 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password'

const folder = await temporaryFolder()
async function files(name: string, pairs: readonly IdpKey[]): Promise<readonly [key: string, certificate: string]> {
  const paths = [join(folder, `${name}.pem`), join(folder, `${name}.crt`)] as const
  await writeFile(paths[0], pairs.map(({ privateKey }) => privateKey.export({ type: 'pkcs8', format: 'pem' })).join(''))
  await writeFile(paths[1], pairs.map(({ certificate }) => certificate).join('\n'))
  return paths
}
const second = newRsaKey()
const [firstKey, firstCertificate] = await files('first', [keyNamed('service')])
const [bothKeys, bothCertificates] = await files('both', [keyNamed('service'), second])

const saml = await startWithSaml(
  t,
  {
    'service.auth.saml.signing.key-file': firstKey,
    'service.auth.saml.signing.certificate-file': firstCertificate,
    'service.auth.saml.encryption.key-file': bothKeys,
    'service.auth.saml.encryption.certificate-file': bothCertificates,
    'service.auth.saml.redirect-domain-whitelist.1': 'app.example',
    'service.auth.saml.idp.context.authn-context.1': MFA,
    'service.auth.saml.idp.own.allow-unsolicited': 'on',
  },
  ['a', 'context', 'own'],
)

let count = 0
/** The user, or the check that refused the response. */
async function signIn(idp: string, edit: (xml: string) => string = xml => xml): Promise<unknown> {
  const browser = saml.browser()
  const found = saml.idps.find(one => one.name === idp)
  assert.ok(found)
  const sent = await browser.leave(`?idp=${idp}`)
  const name = `anna@${idp}.example`
  const form = browser.answerTo(sent, { idp: found, name, assertionId: `_${++count}`, edit })
  const answer = await browser.bring(form, `?idp=${idp}`, { accept: 'application/json' })
  return answer.json()['user'] ?? answer.json()['check']
}

const request = async (idp: string) => await saml.browser().leave(`?idp=${idp}`)
const withContext = (context: string) => (xml: string) => xml.replace(PASSWORD, context)

test('by default a request asks for no particular authentication, and any is accepted', async () => {
  const { xml } = await request('a')
  assert.doesNotMatch(xml, /ForceAuthn|RequestedAuthnContext/)
  assert.equal(
    await signIn('a', xml => xml.replace(/<saml:AuthnContext>.*<\/saml:AuthnContext>/, '')),
    'anna@a.example',
  )
})

test('authn-context asks for a class of authentication, and a response with another one is refused (D30.4)', async () => {
  const { xml } = await request('context')
  assert.match(xml, /<\/saml:Issuer><samlp:NameIDPolicy [^>]*\/><samlp:RequestedAuthnContext Comparison="exact">/)
  assert.ok(xml.includes(`<saml:AuthnContextClassRef>${MFA}</saml:AuthnContextClassRef>`))
  assert.equal(await signIn('context', withContext(MFA)), 'anna@context.example')
  assert.equal(await signIn('context'), 'authn-context')
  assert.equal(await signIn('context', withContext('')), 'authn-context')
})

test('requests are signed with the signing key, which is published (D30.5)', async () => {
  assert.ok((await request('a')).url.searchParams.get('SigAlg'))
  const { text } = await saml.browser().get('auth/saml/metadata?idp=a')
  assert.match(text, /AuthnRequestsSigned="true"/)
  assert.equal(/use="signing".*?<ds:X509Certificate>([^<]*)/s.exec(text)?.[1], keyNamed('service').base64)
})

test('while one decryption key replaces the other, both are published and both decrypt (D30.5)', async () => {
  const { text } = await saml.browser().get('auth/saml/metadata?idp=a')
  const published = [...text.matchAll(/use="encryption".*?<ds:X509Certificate>([^<]*)/gs)].map(([, found]) => found)
  assert.deepEqual(published, [keyNamed('service').base64, second.base64])
  for (const recipient of [keyNamed('service'), second]) {
    assert.equal(await signIn('a', xml => encryptAssertion(xml, { recipient })), 'anna@a.example')
  }
  assert.equal(await signIn('a', xml => encryptAssertion(xml, { recipient: keyNamed('attacker') })), 'decryption')
})

test('an encrypted NameID is read, if the assertion around it is signed (D30.5)', async () => {
  const saml2 = 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"'
  const encrypted = (name: string, recipient: IdpKey) => (xml: string) =>
    xml.replace(/<saml:NameID .*<\/saml:NameID>/, () =>
      encryptXml(`<saml:NameID ${saml2}>${name}</saml:NameID>`, { recipient }).replaceAll(
        'EncryptedAssertion',
        'EncryptedID',
      ),
    )
  assert.equal(await signIn('a', encrypted('otto@a.example', keyNamed('service'))), 'otto@a.example')
  assert.equal(await signIn('a', encrypted('otto@a.example', second)), 'otto@a.example')
  assert.equal(await signIn('a', encrypted('otto@a.example', keyNamed('attacker'))), 'decryption')
  assert.equal(await signIn('a', encrypted('<x/>', second)), 'name-id')
})

/** A login that is begun at the provider. */
async function unsolicited(service: SamlService, idp: string, relayState: string): Promise<string | undefined> {
  const found = service.idps.find(one => one.name === idp)
  const acsUrl = `https://store.example/auth/saml?idp=${idp}`
  const now = service.service.system.now()
  const name = `anna@${idp}.example`
  const assertionId = `_${++count}`
  const xml = buildResponse({
    issuer: found?.entityId ?? '',
    audience: RELYING_PARTY,
    acsUrl,
    requestId: undefined,
    name,
    now,
    assertionId,
  })
  const signed = signResponse(xml, 'response')
  const form = { SAMLResponse: encode(signed), RelayState: relayState }
  const answer = await service.browser().bring(form, `?idp=${idp}`)
  assert.ok([200, 303].includes(answer.status), answer.text)
  return answer.headers.location
}

test('a login that began at the provider does not go to the page that RelayState names (D30.6)', async () => {
  for (const page of ['https://app.example/page', `${saml.service.base}ui/files`, 'https://evil.example/', 'token'])
    assert.equal(await unsolicited(saml, 'own', page), undefined, page)
})
