import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type Run, stowage } from '../support/cli.ts'
import { listen } from '../support/listener.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { selfSigned } from '../support/self-signed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const metadata = (): string =>
  `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example/">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo
  xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${selfSigned().cert.replaceAll(/-----[A-Z ]+-----/g, '')}
  </X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService Location="https://idp.example/sso"
  Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"/></IDPSSODescriptor></EntityDescriptor>`

/** Runs the doctor on a good configuration with some lines changed. */
async function examine(t: TestContext, changed: Readonly<Record<string, string>> = {}): Promise<Run> {
  const folder = await temporaryFolder(t)
  const [config, file] = [join(folder, 'service.properties'), join(folder, 'idp.xml')]
  await writeFile(file, metadata())
  const settings = {
    'service.baseurl.folder': 'https://store.example/store/',
    'service.auth.saml': 'new',
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/store/auth/saml',
    'service.auth.saml.idps.1': 'own',
    'service.auth.saml.idp.own.relying-party-id': 'urn:store',
    'service.auth.saml.idp.own.metadata.url': pathToFileURL(file).href,
    'service.auth.cas': 'on',
    'service.auth.cas.server.url': 'https://login.example/cas',
    ...changed,
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`)
  await writeFile(config, lines.join(''))
  return stowage(folder, ['doctor', '--config', config])
}

test('the doctor tells the addresses, cookie flags and certificates in force, and that all is well', async t => {
  const { status, stdout } = await examine(t)
  assert.equal(status, 0, stdout)
  const lines = [
    'base address: https://store.example/store/',
    /^cookie: .*Path=\/store\/?; .*SameSite=Strict.*Secure/i,
    'CAS: cas2 at https://login.example/cas/, service URL https://store.example/store/auth/cas',
    'SAML own: assertion consumer service https://store.example/store/auth/saml?idp=own',
    /^SAML own: metadata of https:\/\/idp\.example\/ from file:.*, 1 signing key\(s\)$/,
    /^SAML own: certificate "CN=127\.0\.0\.1" expires in \d+ days$/,
  ]
  for (const line of lines) {
    const isSaid = stdout.split('\n').some(said => (typeof line === 'string' ? said === line : line.test(said)))
    assert.ok(isSaid, `${String(line)} is missing in:\n${stdout}`)
  }
  assert.doesNotMatch(stdout, /^(problem|warning):/m)
})

test('the doctor finds answers of the provider that would go elsewhere', async t => {
  for (const acs of ['https://store.example/auth/saml', 'http://store.example/store/auth/saml']) {
    const { status, stdout } = await examine(t, { 'service.auth.saml.assertion-consumer-service.url': acs })
    assert.equal(status, 1, acs)
    assert.ok(
      stdout.includes(`problem: SAML own: answers go to ${acs}?idp=own, but this service takes them at`),
      stdout,
    )
  }
})

test('the doctor finds metadata that cannot be had or are of no use', async t => {
  const port = await freePort()
  const unreachable = await examine(t, { 'service.auth.saml.idp.own.metadata.url': `http://127.0.0.1:${port}/idp` })
  assert.equal(unreachable.status, 1)
  assert.match(unreachable.stdout, /^problem: SAML own: metadata cannot be had: .*ECONNREFUSED/m)

  const page = await listen(t, (_, response) => response.end('<html><body>Please sign in</body></html>'))
  const useless = await examine(t, { 'service.auth.saml.idp.own.metadata.url': `${page.origin}/idp` })
  assert.equal(useless.status, 1)
  assert.match(useless.stdout, /^problem: SAML own: metadata cannot be had: no identity provider of SAML 2\.0/m)
})

test('the doctor compares its clock with that of the provider', async t => {
  const provider = await listen(t, (_, response) => {
    response.setHeader('date', new Date(Date.now() + 120_000).toUTCString()).end(metadata())
  })
  const { status, stdout } = await examine(t, { 'service.auth.saml.idp.own.metadata.url': `${provider.origin}/idp` })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^warning: SAML own: clocks differ by 1(1[0-9]|2[01]) s$/m)
})

test('the doctor warns of dangerous switches', async t => {
  const { status, stdout } = await examine(t, {
    'service.https.disable-verification': 'true',
    'service.auth.saml.idp.own.allow-unsolicited': 'on',
  })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^warning: .*service\.https\.disable-verification/m)
  assert.match(stdout, /^warning: .*allow-unsolicited/m)
})
