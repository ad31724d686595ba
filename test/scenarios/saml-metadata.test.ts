import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { FEDERATION_ID, signFederation } from '../support/federation.ts'
import type { Visitor } from '../support/http-client.ts'
import { buildMetadata, keyNamed } from '../support/saml-idp.ts'
import { startWithSaml } from '../support/saml-service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const failure = { 'service.auth.saml.redirect-failure.url': 'https://app.example/sorry' }

/** Reads what the management page shows about the providers. */
const stateFor = (admin: Visitor) => async () =>
  (await admin.get('management/sso')).json<{
    saml: Array<{ metadata: Record<string, string> }>
    failures: Array<Record<string, string>>
  }>()

test('while the metadata cannot be loaded, users are redirected to the failure URL; later the sign-on works (D8.6)', async t => {
  const { browser, idp, service } = await startWithSaml(t, failure)
  idp.misbehave = (_, response) => response.writeHead(500).end()
  const sorry = await browser().ask('auth/saml')
  assert.equal(sorry.status, 303)
  assert.match(sorry.headers.location ?? '', /^https:\/\/app\.example\/sorry\?error=metadata&correlation=/)
  const state = stateFor(await service.admin())
  assert.match((await state()).saml[0]?.metadata['problem'] ?? '', /status 500/)
  assert.match((await state()).failures[0]?.['received'] ?? '', /status 500/)

  idp.misbehave = undefined
  assert.match((await browser().ask('auth/saml')).headers.location ?? '', /error=metadata/, 'left alone for a second')
  assert.equal(idp.asked(), 1)
  service.system.pass(1000)
  assert.equal((await browser().signInBy('anna@a.example')).status, 200)
  assert.deepEqual(Object.keys((await state()).saml[0]?.metadata ?? {}), ['url', 'loaded'])
})

test('metadata are read again after their age, and the last good copy serves while that fails (D8.6)', async t => {
  const { browser, idp, service } = await startWithSaml(t, { 'service.auth.saml.idp.a.metadata.max-age': '1000' })
  const signsIn = async (id: string) => (await browser().signInBy('anna@a.example', '', { assertionId: id })).status
  assert.equal(await signsIn('_1'), 200)
  service.system.pass(999_999)
  assert.equal(await signsIn('_2'), 200)
  assert.equal(idp.asked(), 1)
  service.system.pass(1)
  idp.misbehave = (_, response) => response.end('<html>')
  assert.equal(await signsIn('_3'), 200)
  assert.equal(idp.asked(), 2)
  idp.misbehave = undefined
  service.system.pass(60_000)
  assert.equal(await signsIn('_4'), 200)
  assert.equal(idp.asked(), 3)
})

test('a new key of the provider is found at once by an early reload; a key that stays unknown causes ever fewer (D8.6)', async t => {
  const { browser, idp, service } = await startWithSaml(t)
  const status = async (assertionId: string, key: 'idp' | 'other' | 'attacker') =>
    (await browser().signInBy('anna@a.example', '', { assertionId, key: keyNamed(key) })).status
  assert.equal(await status('_1', 'idp'), 200)
  idp.publish({ keys: [keyNamed('idp'), keyNamed('other')] })
  assert.equal(await status('_3', 'other'), 200)
  assert.equal(await status('_4', 'idp'), 200, 'both keys count while the provider changes them')
  assert.equal(idp.asked(), 2)
  for (const [at, pause] of [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000].entries()) {
    assert.equal(await status(`_5${at}`, 'attacker'), 401)
    assert.equal(await status(`_6${at}`, 'attacker'), 401)
    assert.equal(idp.asked(), 3 + at, `the next early reload is ${pause} ms after the last one`)
    service.system.pass(pause)
  }
  idp.publish({ keys: [keyNamed('other')] })
  assert.equal(await status('_8', 'attacker'), 401)
  assert.equal(await status('_9', 'idp'), 401, 'a key that was taken back')
})

test('metadata that must be signed: a forged document is refused with its code, and the last good copy serves (D31.7)', async t => {
  const certificate = join(await temporaryFolder(), 'metadata.crt')
  await writeFile(certificate, keyNamed('other').certificate)
  const saml = await startWithSaml(t, {
    ...failure,
    'service.auth.saml.idp.a.metadata.certificate-file': certificate,
    'service.auth.saml.idp.a.metadata.max-age': '1000',
  })
  const { browser, idp, service } = saml
  const state = stateFor(await service.admin())
  const sorry = await browser().ask('auth/saml')
  assert.match(sorry.headers.location ?? '', /sorry\?error=metadata-signature&/, 'not signed')
  assert.equal((await state()).failures[0]?.['check'], 'metadata-signature')
  assert.match((await state()).saml[0]?.metadata['problem'] ?? '', /^metadata-signature: it is not signed/)

  const plain = buildMetadata({ entityId: idp.entityId, attributes: ` ID="${FEDERATION_ID}"` })
  idp.publishText(signFederation(plain))
  service.system.pass(60_000)
  assert.equal((await browser().signInBy('anna@a.example', '', { assertionId: '_1' })).status, 200)
  assert.equal((await state()).saml[0]?.metadata['problem'], undefined)

  idp.publishText(signFederation(plain).replace(keyNamed('idp').base64, keyNamed('attacker').base64))
  service.system.pass(1_000_000)
  const forger = { assertionId: '_2', key: keyNamed('attacker') }
  const refused = await browser().signInBy('eve@a.example', '', forger)
  assert.match(refused.headers.location ?? '', /sorry\?error=signature&/, 'by the key of the forged document')
  assert.equal((await browser().signInBy('anna@a.example', '', { assertionId: '_3' })).status, 200)
  await eventually('the refusal is shown', async () =>
    /^metadata-signature: .*its digest differs/.test((await state()).saml[0]?.metadata['problem'] ?? ''),
  )
})

test('a copy that was stored without a check of its signature does not count once a certificate is set (D31.7)', async t => {
  const first = await startWithSaml(t)
  assert.equal((await first.browser().signInBy('anna@a.example')).status, 200)
  await first.service.close()
  first.idp.misbehave = (_, response) => response.writeHead(500).end()
  const certificate = join(await temporaryFolder(), 'metadata.crt')
  await writeFile(certificate, keyNamed('other').certificate)
  const settings = {
    ...failure,
    'service.auth.saml.idp.a.metadata.url': first.idp.metadataUrl,
    'service.auth.saml.idp.a.metadata.certificate-file': certificate,
  }
  const second = await startWithSaml(t, settings, ['a'], first.service.folder)
  const sorry = await second.browser().ask('auth/saml')
  assert.match(sorry.headers.location ?? '', /sorry\?error=metadata&/)
})
