import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { lineOf, statusOf } from '../../src/core/check-result.ts'
import { runChecks } from '../../src/assembly/doctor.ts'
import { loadSettings } from '../../src/config/load.ts'
import { after } from '../support/after.ts'
import { aggregateXml, entityXml, FEDERATION_ID, signFederation, singleXml } from '../support/federation.ts'
import { startFederationServer } from '../support/federation-service.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { buildMetadata, keyNamed, newRsaKey } from '../support/saml-idp.ts'
import { signingSettings } from '../support/saml-logout.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// The doctor goes by the clock of the machine.
const valid = ' validUntil="2199-01-01T00:00:00Z"'
const list = [
  entityXml(),
  entityXml({ entityId: 'https://b.example/idp' }),
  entityXml({ entityId: 'https://c.example/idp', sso: 'urn:no-address' }),
]
const aggregate = signFederation(aggregateXml(list, valid))
const server = await startFederationServer({ after }, () => aggregate)
const folder = await temporaryFolder()
const write = async (name: string, text: string): Promise<string> => {
  const file = join(folder, name)
  await writeFile(file, text)
  return file
}
const certificateFile = await write('signer.crt', keyNamed('other').certificate)
const signing = await signingSettings()

/** What the doctor finds with these settings; those that begin with a dot are of the identity provider `fed`. */
async function examine(
  changed: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly lines: readonly string[] }> {
  const given: Readonly<Record<string, string>> = {
    'service.baseurl.folder': 'https://store.example/store/',
    'service.auth.saml': 'new',
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/store/auth/saml',
    'service.auth.saml.idps.1': 'fed',
    '.relying-party-id': 'urn:stowage',
    '.metadata.url': server.url,
    '.metadata.certificate-file': certificateFile,
    ...changed,
  }
  const set = Object.entries(given).filter(([, value]) => value !== '')
  const named = set.map(([key, value]) => [key.replace(/^\./, 'service.auth.saml.idp.fed.'), value])
  const text = named.map(([key, value]) => `${key}=${value}\n`).join('')
  const file = { path: await write('service.properties', text), text }
  const loaded = loadSettings({ file, overrides: [] })
  const found = await runChecks({ ...loaded, file: file.path, tokenKey: undefined, version: '0.0.0' })
  return { status: statusOf(found), lines: found.map(lineOf) }
}

function requireLine(lines: readonly string[], wanted: string | RegExp): void {
  const isSaid = lines.some(line => (typeof wanted === 'string' ? line === wanted : wanted.test(line)))
  assert.ok(isSaid, `${String(wanted)} is missing in:\n${lines.join('\n')}`)
}

const federated = { '.federation': 'aggregate', '.user-name-attribute': 'eduPersonPrincipalName' }

test('the doctor loads the aggregate of a federation and prints who signs it, who is in it, and where logouts arrive', async () => {
  const { status, lines } = await examine({ ...federated, ...signing, '.single-logout': 'on' })
  assert.equal(status, 0, lines.join('\n'))
  requireLine(lines, /^SAML fed: metadata are signed by the certificate ([\dA-F]{2}:){31}[\dA-F]{2}, until /)
  requireLine(lines, /^SAML fed: a federation of 2 providers, 1 unusable, valid for [\d,]+ days, from http:/)
  requireLine(lines, 'SAML fed: single logout (on) at https://store.example/store/auth/saml/logout/fed')
  requireLine(lines, 'SAML fed: users choose at https://store.example/store/auth/saml/discovery?idp=fed')
  assert.deepEqual(
    lines.filter(line => /^(problem|warning): SAML/.test(line)),
    [],
  )
  const elsewhere = await examine({ ...federated, '.discovery-url': 'https://ds.example/ds' })
  requireLine(elsewhere.lines, 'SAML fed: users choose at https://ds.example/ds')
})

test('the doctor finds an aggregate that is forged, not signed, over, or not there', async () => {
  const documents: ReadonlyArray<readonly [string, RegExp]> = [
    [
      signFederation(aggregateXml(list, valid), { key: keyNamed('attacker') }),
      /its signature is refused \(signature\)/,
    ],
    [aggregateXml(list, valid), /it is not signed/],
    [aggregate.replace('uni.example/sso', 'evil.example/sso'), /its digest differs/],
    [signFederation(aggregateXml(list, ' validUntil="2020-01-01T00:00:00Z"')), /it was valid until 2020-01-01/],
    [signFederation(aggregateXml(list, '')), /it has no validUntil/],
  ]
  for (const [text, reason] of documents) {
    server.answer = () => text
    const { status, lines } = await examine(federated)
    assert.equal(status, 1)
    requireLine(
      lines,
      new RegExp(`^problem: SAML fed: the metadata of the federation cannot be used: .*${reason.source}`),
    )
  }
  server.answer = () => aggregate
  const gone = await examine({ ...federated, '.metadata.url': `http://127.0.0.1:${await freePort()}/metadata` })
  assert.equal(gone.status, 1)
  requireLine(gone.lines, /^problem: SAML fed: the metadata of the federation cannot be used: .*ECONNREFUSED/)
})

test('the doctor finds a certificate that cannot be read or has expired, and scopes that are not checked', async () => {
  const missing = await examine({ ...federated, '.metadata.certificate-file': '/nowhere/signer.crt' })
  assert.equal(missing.status, 1)
  requireLine(missing.lines, /^problem: SAML fed: \/nowhere\/signer\.crt: ENOENT/)
  const empty = await examine({ ...federated, '.metadata.certificate-file': await write('empty.crt', 'nothing') })
  requireLine(empty.lines, /^problem: SAML fed: .*empty\.crt holds no certificate in PEM\.$/)
  const old = newRsaKey(2048, '2021')
  server.answer = () => signFederation(aggregateXml(list, valid), { key: old })
  const expired = await examine({
    ...federated,
    '.metadata.certificate-file': await write('old.crt', old.certificate),
  })
  server.answer = () => aggregate
  assert.equal(expired.status, 0, 'a federation keeps its key longer than the certificate')
  requireLine(expired.lines, /^warning: SAML fed: metadata are signed by the certificate .*2021/)
})

test('the doctor asks a metadata query service for a provider that does not exist', async () => {
  const queries = { ...federated, '.federation': 'mdq', '.discovery-url': 'https://ds.example/ds' }
  const answers = await startFederationServer({ after }, () => undefined)
  const good = await examine({ ...queries, '.metadata.url': answers.url })
  assert.equal(good.status, 0, good.lines.join('\n'))
  requireLine(good.lines, `SAML fed: ${answers.url} answers queries`)
  assert.deepEqual(answers.asked, [`/metadata/entities/${encodeURIComponent('urn:stowage:nobody')}`])
  answers.misbehave = (_, response) => response.writeHead(500).end()
  const broken = await examine({ ...queries, '.metadata.url': answers.url })
  assert.equal(broken.status, 1)
  requireLine(broken.lines, /^problem: SAML fed: the metadata of the federation cannot be used: .*status 500$/)
  answers.misbehave = undefined
  answers.answer = () => signFederation(singleXml({}, valid), { key: keyNamed('attacker') })
  const forged = await examine({ ...queries, '.metadata.url': answers.url })
  requireLine(
    forged.lines,
    /^problem: SAML fed: the metadata of the federation cannot be used: its signature is refused/,
  )
  const unlisted = await examine({ ...queries, '.metadata.url': answers.url, '.discovery-url': '' })
  requireLine(unlisted.lines, /^warning: .*users find new providers only by a discovery-url/)
})

test('the doctor verifies the signature of the metadata of a single provider, and names the code of a refusal (D31.7)', async () => {
  const plain = buildMetadata({ attributes: ` ID="${FEDERATION_ID}"` })
  server.answer = () => signFederation(plain)
  const good = await examine()
  assert.equal(good.status, 0, good.lines.join('\n'))
  requireLine(good.lines, /^SAML fed: metadata are signed by the certificate ([\dA-F]{2}:){31}[\dA-F]{2}, until /)
  requireLine(good.lines, /^SAML fed: metadata of https:\/\/idp\.example\/.*, 1 signing key$/)
  for (const [text, reason] of [
    [plain, 'it is not signed'],
    [signFederation(plain, { key: keyNamed('attacker') }), 'its signature is refused \\(signature\\)'],
    [signFederation(plain).replace('idp.example/sso', 'evil.example/sso'), 'it is not what was signed'],
  ] as const) {
    server.answer = () => text
    const { status, lines } = await examine()
    assert.equal(status, 1)
    requireLine(lines, new RegExp(`^problem: SAML fed: metadata cannot be had: metadata-signature: ${reason}`))
  }
  server.answer = () => aggregate
  const missing = await examine({ '.metadata.certificate-file': '/nowhere/signer.crt' })
  assert.equal(missing.status, 1)
  requireLine(missing.lines, /^problem: SAML: \/nowhere\/signer\.crt: ENOENT/)
})

test('the doctor says which certificates of a provider are not used, and why (D8.5)', async () => {
  const text = buildMetadata({ keys: [newRsaKey(1024), keyNamed('idp')] }).replace('"1.0"', '"1.0" encoding="UTF-16"')
  const file = join(folder, 'idp.xml')
  await writeFile(file, `\uFEFF${text}`, 'utf16le')
  const { status, lines } = await examine({
    '.metadata.url': pathToFileURL(file).href,
    '.metadata.certificate-file': '',
  })
  assert.equal(status, 0, lines.join('\n'))
  requireLine(lines, /^SAML fed: metadata of https:\/\/idp\.example\/.*, 1 signing key$/)
  const reason = 'the certificate "CN=127.0.0.1" has an RSA key of 1024 bits; 2048 are needed'
  requireLine(lines, `warning: SAML fed: not used from the metadata: ${reason}`)
})
