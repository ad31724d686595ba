import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { lineOf, statusOf } from '../../src/core/check-result.ts'
import { runChecks } from '../../src/assembly/doctor.ts'
import { loadSettings } from '../../src/config/load.ts'
import { type Run, stowage } from '../support/cli.ts'
import { serviceResponse, startFakeCas } from '../support/fake-cas.ts'
import { listen } from '../support/listener.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { certificateOf, selfSigned } from '../support/self-signed.ts'
import { repository } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const metadata = (): string =>
  `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.example/">
  <IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><KeyDescriptor use="signing"><KeyInfo
  xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${selfSigned().cert.replaceAll(/-----[A-Z ]+-----/g, '')}
  </X509Certificate></X509Data></KeyInfo></KeyDescriptor><SingleSignOnService Location="https://idp.example/sso"
  Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"/></IDPSSODescriptor></EntityDescriptor>`

/** A good configuration file with some lines changed. */
async function configuration(changed: Readonly<Record<string, string>>): Promise<{ path: string; text: string }> {
  const folder = await temporaryFolder()
  const [path, file] = [join(folder, 'service.properties'), join(folder, 'idp.xml')]
  await writeFile(file, metadata())
  const settings = {
    'service.baseurl.folder': 'https://store.example/store/',
    'service.auth.saml': 'new',
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/store/auth/saml',
    'service.auth.saml.idps.1': 'own',
    'service.auth.saml.idp.own.relying-party-id': 'urn:store',
    'service.auth.saml.idp.own.metadata.url': pathToFileURL(file).href,
    ...changed,
  }
  const text = Object.entries(settings)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
  return { path, text }
}

/** What the doctor prints and returns. Starting the program for each examination would take longer than the examination. */
async function examine(changed: Readonly<Record<string, string>> = {}): Promise<Pick<Run, 'status' | 'stdout'>> {
  const file = await configuration(changed)
  const loaded = loadSettings({ file, overrides: [] })
  const found = await runChecks({ ...loaded, file: file.path, tokenKey: undefined, version: '0.0.0' })
  return { status: statusOf(found), stdout: found.map(result => `${lineOf(result)}\n`).join('') }
}

test('the doctor prints the effective addresses, cookie flags and certificates, and finds no problem', async () => {
  const { path, text } = await configuration({})
  await writeFile(path, text)
  const { status, stdout } = await stowage(dirname(path), ['doctor', '--config', path])
  assert.equal(status, 0, stdout)
  const lines = [
    'base address: https://store.example/store/',
    /^cookie: .*Path=\/store\/?; .*SameSite=Strict.*Secure/i,
    'CAS: off',
    'SAML own: assertion consumer service https://store.example/store/auth/saml?idp=own',
    /^SAML own: metadata of https:\/\/idp\.example\/ from file:.*, 1 signing key$/,
    /^SAML own: certificate "CN=127\.0\.0\.1" expires in [\d,]+ days$/,
  ]
  for (const line of lines) {
    const isSaid = stdout.split('\n').some(said => (typeof line === 'string' ? said === line : line.test(said)))
    assert.ok(isSaid, `${String(line)} is missing in:\n${stdout}`)
  }
  assert.doesNotMatch(stdout, /^(problem|warning):/m)
})

test('a settings file with secrets that all users can read is a warning of the doctor (E.7)', async () => {
  const { path } = await configuration({})
  const doctor = async (text: string, mode: number): Promise<string> => {
    await writeFile(path, text)
    await chmod(path, mode)
    return (await stowage(dirname(path), ['doctor', '--config', path])).stdout
  }
  const remedy = `warning: settings: all users of this machine can read service.metrics.token in ${path}; run chmod o-rwx on it\n`
  const secret = 'service.metrics.token=a-long-random-text\n'
  assert.ok((await doctor(secret, 0o644)).includes(remedy))
  assert.ok(!(await doctor(secret, 0o640)).includes('o-rwx'))
  assert.ok(!(await doctor('service.http.port=0\n', 0o644)).includes('o-rwx'))
})

test('the output of the doctor in docs/reference/cli.md has the lines that it prints with built-in settings', async () => {
  const page = await readFile(join(repository, 'docs/reference/cli.md'), 'utf8')
  const [, shown = ''] = /stowage doctor\n```\n\n```\n([^]+?)\n```/.exec(page) ?? []
  const { stdout } = await stowage(await temporaryFolder(), ['doctor', '--set', 'service.data.folder=.'])
  // Values belong to the machine, which may also deserve a warning.
  const titles = (text: string): string[] =>
    text
      .trim()
      .split('\n')
      .map(line => line.replace(/^warning: /, ''))
      .map(line => line.split(': ')[0] ?? '')
      // Only Linux says how many there may be.
      .filter(title => title !== 'open files')
  assert.deepEqual(titles(stdout), titles(shown))
})

test('the doctor finds answers of the provider that would go elsewhere', async () => {
  const acs = 'http://store.example/store/auth/saml'
  const { status, stdout } = await examine({ 'service.auth.saml.assertion-consumer-service.url': acs })
  assert.equal(status, 1, acs)
  assert.ok(stdout.includes(`problem: SAML own: answers go to ${acs}?idp=own, but this service takes them at`), stdout)
})

test('the doctor asks the CAS server about a ticket that does not exist', async t => {
  const cas = await startFakeCas(t)
  const only = { 'service.auth.saml': 'off', 'service.auth.cas': 'on', 'service.auth.cas.server.url': cas.url }
  for (const version of ['cas1', 'cas2', 'cas3', 'saml11']) {
    const { status, stdout } = await examine({ ...only, 'service.auth.cas.version': version })
    assert.equal(status, 0, stdout)
    assert.ok(stdout.includes(`CAS: ${version} at ${cas.url}, service URL https://store.example/store/auth/cas\n`))
    assert.ok(stdout.includes(`CAS: ${version} at ${cas.url}: the server answers, and refuses an unknown ticket\n`))
  }
  assert.equal(cas.asked.length, 4)

  cas.misbehave = response =>
    response.end(
      '<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas"><cas:authenticationFailure code="INVALID_SERVICE">no' +
        '</cas:authenticationFailure></cas:serviceResponse>',
    )
  const unregistered = await examine(only)
  assert.equal(unregistered.status, 1)
  assert.match(unregistered.stdout, /^problem: CAS: .*does not know this service \(INVALID_SERVICE: no\)/m)

  cas.misbehave = response => response.end(serviceResponse('anna'))
  assert.match((await examine(only)).stdout, /^problem: CAS: .*cas-reply: expected a refusal of a ticket/m)

  const gone = { ...only, 'service.auth.cas.server.url': `http://127.0.0.1:${await freePort()}/cas` }
  const unreachable = await examine(gone)
  assert.equal(unreachable.status, 1)
  assert.match(unreachable.stdout, /^problem: CAS: .*cas-unreachable: .*ECONNREFUSED/m)
})

test('the doctor looks at the certificates of the service itself', async () => {
  const folder = await temporaryFolder()
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = pair.privateKey.export({ type: 'pkcs8', format: 'pem' })
  const write = async (name: string, text: string | Buffer): Promise<string> => {
    await writeFile(join(folder, name), text)
    return join(folder, name)
  }
  const signing = async (keyText: string | Buffer, certificate: string, more = {}) =>
    await examine({
      ...more,
      'service.auth.saml.signing.key-file': await write('key.pem', keyText),
      'service.auth.saml.signing.certificate-file': await write('own.crt', certificate),
    })
  const good = await signing(key, certificateOf(pair))
  assert.equal(good.status, 0, good.stdout)
  assert.match(good.stdout, /^SAML: own signing certificate expires in [\d,]+ days$/m)
  const logout = await signing(key, certificateOf(pair), { 'service.auth.saml.idp.own.single-logout': 'on' })
  assert.match(logout.stdout, /^SAML own: single logout \(on\) at .*\/auth\/saml\/logout\/own$/m)
  assert.match(logout.stdout, /^warning: SAML own: the metadata of the provider have no address for single logout/m)
  const expired = await signing(key, certificateOf(pair, '2024'))
  assert.equal(expired.status, 1)
  assert.match(expired.stdout, /^problem: SAML: own signing certificate has expired$/m)
  const mismatched = await signing(selfSigned().key, certificateOf(pair))
  assert.equal(mismatched.status, 1)
  assert.match(mismatched.stdout, /^problem: SAML: The key in .* does not belong to the certificate in .*own\.crt\.$/m)
})

test('the doctor warns when several identity providers can sign in the same users (D8.4)', async () => {
  const { status, stdout } = await examine({
    'service.auth.saml.idps.2': 'other',
    'service.auth.saml.idp.other.relying-party-id': 'urn:store',
    'service.auth.saml.idp.other.metadata.url': 'file:///nowhere/metadata.xml',
  })
  assert.equal(status, 1)
  assert.match(
    stdout,
    /^warning: each of several identity providers without domains can sign in the users of the others/m,
  )
})

test('the doctor finds metadata that cannot be loaded or used', async t => {
  const port = await freePort()
  const unreachable = await examine({ 'service.auth.saml.idp.own.metadata.url': `http://127.0.0.1:${port}/idp` })
  assert.equal(unreachable.status, 1)
  assert.match(unreachable.stdout, /^problem: SAML own: metadata cannot be had: .*ECONNREFUSED/m)

  const page = await listen(t, (_, response) => response.end('<html><body>Please sign in</body></html>'))
  const useless = await examine({ 'service.auth.saml.idp.own.metadata.url': `${page.origin}/idp` })
  assert.equal(useless.status, 1)
  assert.match(useless.stdout, /^problem: SAML own: metadata cannot be had: no identity provider of SAML 2\.0/m)
})

test('the doctor compares its clock with that of the provider', async t => {
  const provider = await listen(t, (_, response) => {
    response.setHeader('date', new Date(Date.now() + 120_000).toUTCString()).end(metadata())
  })
  const { status, stdout } = await examine({ 'service.auth.saml.idp.own.metadata.url': `${provider.origin}/idp` })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^warning: SAML own: clocks differ by 1(1[0-9]|2[01]) s; set both right$/m)
})

test('the doctor warns of dangerous switches', async () => {
  const { status, stdout } = await examine({
    'service.https.disable-verification': 'true',
    'service.auth.saml.idp.own.allow-unsolicited': 'on',
  })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^warning: .*service\.https\.disable-verification/m)
  assert.match(stdout, /^warning: .*allow-unsolicited/m)
})
