import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { signFederation, singleXml } from '../support/federation.ts'
import { startWithFederation } from '../support/federation-service.ts'
import { keyNamed } from '../support/saml-idp.ts'
import { eventually } from '../support/waiting.ts'

const uni = 'https://idp.uni.example/idp'
const EPPN = 'eduPersonPrincipalName'
const anna = { entityId: uni, attributes: { [EPPN]: 'anna@uni.example' } }
const valid = ' validUntil="2026-11-22T10:00:00Z" cacheDuration="PT1H"'
const settings = { 'service.auth.saml.idp.fed.federation': 'mdq' }
const pathOf = (id: string): string => `/metadata/entities/${encodeURIComponent(id)}`
const published = (path: string): string | undefined =>
  path === pathOf(uni) ? signFederation(singleXml({}, valid)) : undefined

test('a metadata query service is asked for one provider, and again after its cache duration (D31.2)', async t => {
  const { browser, server, service } = await startWithFederation(t, { answer: published, settings })
  const admin = await service.admin()
  const signsIn = async () => {
    try {
      return (await browser().signInAt(anna)).status
    } catch {
      // The reason says more than the page.
      return (await admin.get('management/sso')).text
    }
  }
  assert.equal(await signsIn(), 200)
  assert.equal(await signsIn(), 200)
  assert.deepEqual(server.asked, [pathOf(uni)])
  service.system.pass(3_600_000)
  assert.equal(await signsIn(), 200)
  await eventually('it is asked again', () => server.asked.length === 2)
  server.misbehave = (_, response) => response.writeHead(500).end()
  service.system.pass(3_600_000)
  assert.equal(await signsIn(), 200, 'the last good copy')
  service.system.pass(86_400_000)
  assert.equal(
    (await browser().ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(uni)}`)).status,
    401,
    'until its end',
  )
})

test('a query service can be asked by the SHA-1 of the entity id (D31.2)', async t => {
  const path = `/metadata/entities/${encodeURIComponent(`{sha1}${createHash('sha1').update(uni).digest('hex')}`)}`
  const { browser, server } = await startWithFederation(t, {
    answer: asked => (asked === path ? signFederation(singleXml({}, valid)) : undefined),
    settings: { 'service.auth.saml.idp.fed.federation': 'mdq-sha1' },
  })
  assert.equal((await browser().signInAt(anna)).status, 200)
  assert.deepEqual(server.asked, [path])
})

test('what a query service answers must be signed, and be the metadata of the provider that was asked for (D31.2)', async t => {
  const { browser, server, service } = await startWithFederation(t, { answer: published, settings })
  const admin = await service.admin()
  const forged: Readonly<Record<string, string>> = {
    'https://a.example/': signFederation(singleXml()),
    'https://b.example/': singleXml({ entityId: 'https://b.example/' }),
    'https://c.example/': signFederation(singleXml({ entityId: 'https://c.example/' }), { key: keyNamed('attacker') }),
    'https://d.example/': signFederation(singleXml({ entityId: 'https://d.example/' }, '')),
  }
  for (const [entityId, text] of Object.entries(forged)) {
    server.answer = () => text
    assert.equal((await browser().ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(entityId)}`)).status, 401)
    const { failures } = (await admin.get('management/sso')).json<{ failures: Array<Record<string, string>> }>()
    assert.equal(failures[0]?.['check'], 'metadata', entityId)
    assert.ok((failures[0]?.['received'] ?? '').length > 20)
  }
})

test('invented entity ids are asked for once in ten minutes, and not without bound (D31.2)', async t => {
  const { browser, server, service } = await startWithFederation(t, { answer: published, settings })
  const leave = async (entityId: string) =>
    (await browser().ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(entityId)}`)).status
  assert.equal(await leave('https://invented.example/'), 401)
  assert.equal(await leave('https://invented.example/'), 401)
  assert.equal(server.asked.length, 1)
  service.system.pass(599_999)
  assert.equal(await leave('https://invented.example/'), 401)
  assert.equal(server.asked.length, 1)
  service.system.pass(60_001)
  server.asked.length = 0
  const statuses = []
  for (let at = 0; at < 35; at++) statuses.push(await leave(`https://invented${at}.example/`))
  assert.equal(server.asked.length, 30)
  assert.deepEqual(statuses.slice(-5), [503, 503, 503, 503, 503])
  assert.equal(await leave('x'.repeat(2000)), 401, 'longer than an entity id can be')
  assert.equal(await leave('https://a.example/ b'), 401)
  service.system.pass(60_000)
  assert.equal((await browser().signInAt(anna)).status, 200)
})
