import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { aggregateXml, entityXml, signFederation } from '../support/federation.ts'
import { type FederationService, startFederationServer, startWithFederation } from '../support/federation-service.ts'
import { keyNamed } from '../support/saml-idp.ts'
import { eventually } from '../support/waiting.ts'

const uni = 'https://idp.uni.example/idp'
const other = 'https://b.example/idp'
const EPPN = 'urn:oid:1.3.6.1.4.1.5923.1.1.1.6'
const sirtfi = 'https://refeds.org/sirtfi'
const hide = 'http://refeds.org/category/hide-from-discovery'

const entities = [
  entityXml({ names: { en: 'University of Example', de: 'Universität Beispiel' }, assurance: [sirtfi] }),
  entityXml({ entityId: other, names: { sv: 'Högskolan B' }, scopes: ['b.example'], key: keyNamed('attacker') }),
  entityXml({ entityId: 'https://hidden.example/idp', names: { en: 'Hidden University' }, categories: [hide] }),
]
const aggregate =
  (list: readonly string[] = entities, attributes?: string) =>
  () =>
    signFederation(aggregateXml(list, attributes))

interface State {
  readonly saml: ReadonlyArray<{
    readonly metadata: { readonly loaded?: string; readonly problem?: string }
    readonly federation: { readonly providers: number; readonly unusable: number; readonly reasons: readonly string[] }
  }>
  readonly failures: ReadonlyArray<Record<string, string>>
}

const state = async ({ service }: Pick<FederationService, 'service'>): Promise<State> => {
  // What is refused later has a later time: with several threads, the time alone puts refusals in order.
  service.system.pass(1)
  return (await (await service.admin()).get('management/sso')).json<State>()
}

const anna = { entityId: uni, attributes: { [EPPN]: 'anna@uni.example' } }

test('a user of a federation signs in by the provider that they have chosen, with the name from an attribute (D31.1)', async t => {
  const federation = await startWithFederation(t, { answer: aggregate() })
  const browser = federation.browser()
  const sent = await browser.leave(`?idp=fed&entityID=${encodeURIComponent(uni)}`)
  assert.equal(sent.url.origin, 'https://idp.uni.example')
  assert.doesNotMatch(sent.xml, /emailAddress/, 'any NameID will do')
  assert.equal((await browser.bring(browser.stated(sent, anna), '?idp=fed')).status, 200)
  assert.equal(await browser.whoAmI(), 'anna@uni.example')
  const { saml } = await state(federation)
  assert.equal(saml[0]?.federation.providers, 2, 'one hides from discovery')
  assert.equal(saml[0]?.federation.unusable, 0)
})

test('in a federation, no provider can speak for another one (D31.4)', async t => {
  const federation = await startWithFederation(t, { answer: aggregate() })
  const { browser } = federation
  const refusal = async (stated: Parameters<ReturnType<typeof browser>['signInAt']>[0]) => {
    assert.equal((await browser().signInAt(stated)).status, 401)
    return (await state(federation)).failures[0]
  }
  const scope = await refusal({
    entityId: other,
    attributes: { [EPPN]: 'anna@uni.example' },
    key: keyNamed('attacker'),
  })
  assert.equal(scope?.['check'], 'scope')
  assert.equal(scope['expected'], `a scope of ${other}: b.example`)
  assert.equal(scope['received'], 'anna@uni.example in the user name')
  const affiliation = { [EPPN]: 'bert@b.example', eduPersonScopedAffiliation: 'staff@uni.example' }
  const byOther = { entityId: other, key: keyNamed('attacker') }
  assert.equal((await refusal({ ...byOther, attributes: affiliation }))?.['check'], 'scope')
  assert.equal((await refusal({ ...byOther, attributes: { [EPPN]: 'bert@x@b.example' } }))?.['check'], 'scope')
  assert.equal((await refusal({ ...byOther, attributes: { [EPPN]: 'bert' } }))?.['check'], 'scope')
  assert.equal((await refusal({ ...anna, key: keyNamed('attacker') }))?.['check'], 'signature', 'with its own key')
  assert.equal((await refusal({ ...byOther, attributes: { mail: 'x@b.example' } }))?.['check'], 'name-attribute')
  const claimed = browser()
  const sent = await claimed.leave(`?idp=fed&entityID=${encodeURIComponent(other)}`)
  assert.equal(
    (await claimed.bring(claimed.stated(sent, anna), '?idp=fed')).status,
    401,
    'the flow of another provider',
  )
  assert.equal((await state(federation)).failures[0]?.['check'], 'signature')
  const unasked = browser()
  const form = unasked.stated({ ...sent, relayState: '' }, anna)
  assert.equal((await unasked.bring({ ...form, RelayState: 'none' }, '?idp=fed')).status, 401)
  assert.equal((await browser().signInAt({ ...byOther, attributes: { [EPPN]: 'bert@b.example' } })).status, 200)
})

test('scopes are compared as published: plain, by pattern, or not at all if a setting says so (D31.4)', async t => {
  const list = [
    entityXml({ scopes: ['Uni.example'], patterns: ['^.+\\.uni\\.example$', '(broken'] }),
    entityXml({ entityId: other, scopes: [] }),
  ]
  const answer = aggregate(list)
  const named = async ({ browser }: FederationService, name: string, entityId = uni): Promise<number> =>
    (await browser().signInAt({ entityId, attributes: { [EPPN]: name } })).status
  const checking = await startWithFederation(t, { answer })
  assert.equal(await named(checking, 'a@uni.example'), 200)
  assert.equal(await named(checking, 'b@physics.uni.example'), 200)
  assert.equal(await named(checking, 'c@evil-uni.example'), 401)
  assert.equal(await named(checking, 'd@uni.example.evil.example'), 401)
  assert.equal(await named(checking, 'e@b.example', other), 401, 'without a scope')
})

test('a provider that the federation does not name, or without the required category, is refused with its reason (D31.4)', async t => {
  const federation = await startWithFederation(t, {
    answer: aggregate(),
    settings: {
      'service.auth.saml.idp.fed.required-categories.1': sirtfi,
      'service.auth.saml.redirect-failure.url': 'https://app.example/sorry',
    },
  })
  const leave = async (entityId: string) => {
    federation.service.system.pass(1)
    const path = `auth/saml?idp=fed&entityID=${encodeURIComponent(entityId)}`
    return (await federation.browser().ask(path)).headers.location ?? ''
  }
  assert.match(await leave('https://nowhere.example/'), /^https:\/\/app\.example\/sorry\?error=unknown-entity/)
  assert.match(await leave(other), /^https:\/\/app\.example\/sorry\?error=entity-category/)
  assert.match(await leave(uni), /^https:\/\/idp\.uni\.example\/sso\?/)
  const [category] = (await state(federation)).failures
  assert.equal(category?.['expected'], sirtfi)
  assert.equal(category?.['received'], `none of ${other}`)
})

test('the last good copy serves while a refresh fails, until its end, also after a restart (D31.1)', async t => {
  const end = ' validUntil="2026-11-22T10:00:00Z" cacheDuration="PT1H"'
  const server = await startFederationServer(t, aggregate(entities, end))
  const first = await startWithFederation(t, { answer: () => '', server })
  assert.equal((await first.browser().signInAt(anna)).status, 200)
  assert.equal(server.asked.length, 1)
  server.answer = () => signFederation(aggregateXml(entities, end), { key: keyNamed('attacker') })
  first.service.system.pass(3_600_000)
  assert.equal((await first.browser().signInAt(anna)).status, 200, 'with the copy')
  await eventually('the refusal is shown', async () => {
    const [fed] = (await state(first)).saml
    return /expected one of 1 keys/.test(fed?.metadata.problem ?? '')
  })
  assert.equal(server.asked.length, 2)
  await first.service.close()

  const second = await startWithFederation(t, { answer: () => '', server, folder: first.service.folder })
  assert.equal((await second.browser().signInAt(anna)).status, 200, 'after a restart')
  second.service.system.pass(86_400_000)
  const answer = await second.browser().ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(uni)}`)
  assert.equal(answer.status, 401)
  assert.equal((await state(second)).failures[0]?.['check'], 'metadata')
})

test('a refresh takes over new keys and removes providers that have left (D31.1)', async t => {
  const end = ' validUntil="2026-12-21T10:00:00Z" cacheDuration="PT1H"'
  const federation = await startWithFederation(t, { answer: aggregate(entities, end) })
  const bert = { entityId: other, attributes: { [EPPN]: 'bert@b.example' } }
  assert.equal((await federation.browser().signInAt({ ...bert, key: keyNamed('attacker') })).status, 200)
  federation.server.answer = aggregate([entityXml({ key: keyNamed('P-256') })], end)
  federation.service.system.pass(3_600_000)
  await federation.browser().ask('auth/saml/discovery?idp=fed')
  await eventually('the new copy is used', async () => (await state(federation)).saml[0]?.federation.providers === 1)
  const gone = await federation.browser().ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(other)}`)
  assert.equal(gone.status, 401)
  assert.equal((await state(federation)).failures[0]?.['check'], 'unknown-entity')
})

test('an entity id that occurs twice counts for nobody, and is shown (D31.1)', async t => {
  const list = [...entities, entityXml({ entityId: uni, key: keyNamed('attacker') })]
  const federation = await startWithFederation(t, { answer: aggregate(list) })
  const answer = await federation.browser().ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(uni)}`)
  assert.equal(answer.status, 401)
  const [fed] = (await state(federation)).saml
  assert.deepEqual(fed?.federation.reasons, [`${uni}: it occurs more than once`])
})

test('metadata are fetched without redirects and compression, and of limited size (D31.1)', async t => {
  const federation = await startWithFederation(t, { answer: aggregate() })
  await eventually('loaded', async () => (await state(federation)).saml[0]?.metadata.loaded !== undefined)
  const problemWith = async (misbehave: FederationService['server']['misbehave']): Promise<string> => {
    federation.server.misbehave = misbehave
    const before = federation.server.asked.length
    federation.service.system.pass(8 * 86_400_000)
    await federation.browser().ask('auth/saml/discovery?idp=fed')
    let problem = ''
    await eventually('refused', async () => {
      problem = (await state(federation)).saml[0]?.metadata.problem ?? ''
      return federation.server.asked.length > before && problem !== '' && problem !== previous
    })
    previous = problem
    return problem
  }
  let previous = ''
  const redirected = (_: unknown, response: ServerResponse) =>
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  assert.match(await problemWith(redirected), /status 302/)
  assert.match(
    await problemWith((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('x')),
    /compressed \(gzip\), which was not asked for/,
  )
  assert.match(await problemWith((_, response) => response.end('\u001f\u008b\b')), /cannot be read/)
})
