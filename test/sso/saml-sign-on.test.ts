import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthRedirect } from '../../src/http/identity-providers.ts'
import type { LoginFlow, VerifiedIdentity } from '../../src/features/sso/identity-provider.ts'
import { RedirectTargets } from '../../src/features/sso/redirect-targets.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import type { DirectoryQuestion, SamlProvider } from '../../src/features/saml/provider.ts'
import { type SamlLogin, SamlSignOn } from '../../src/features/saml/sign-on.ts'
import type { ProviderOptions } from '../../src/features/sso/provider-choice.ts'
import { client, identity, signOnServices } from '../support/sign-on-services.ts'

type Test = Parameters<typeof signOnServices>[0]

interface Setup {
  readonly options?: Partial<ProviderOptions<SamlLogin>>
  readonly provider?: Partial<SamlProvider>
  readonly finish?: () => Promise<VerifiedIdentity>
  /** Entity ids that a search by a domain finds in the federation. */
  readonly members?: readonly string[]
}

/** Two identity providers, `a` and `b` of b.example, and a federation, `fed`. */
function setUp(t: Test, setup: Setup = {}) {
  const services = signOnServices(t)
  const searches: DirectoryQuestion[] = []
  const finished: Array<readonly [string, string, LoginFlow | undefined]> = []
  let isClosed = false
  const members = {
    search: async (question: DirectoryQuestion) => {
      searches.push(question)
      const hits = (setup.members ?? []).map(entityId => ({
        entityId,
        name: '',
        language: undefined,
        domain: undefined,
      }))
      return { hits, hasMore: false }
    },
  }
  const login = (name: string, domains: readonly string[], more: object = {}): SamlLogin => ({
    provider: {
      name,
      relyingPartyId: 'urn:stowage',
      takesDeepLinks: false,
      begin: async (flow: LoginFlow) => ({
        kind: 'redirect',
        url: `https://${name}/?${flow.id}&${flow.entityId ?? ''}`,
      }),
      finish: async (encoded: string, flow: LoginFlow | undefined) => {
        finished.push([name, encoded, flow])
        return await (setup.finish?.() ?? Promise.resolve(identity))
      },
      ...more,
      ...setup.provider,
    } as unknown as SamlProvider,
    policy: { name, provisions: true, domains, maxAge: undefined },
    display: { label: name, logoutUrl: undefined },
  })
  const federation = { members, discoveryUrl: undefined, returnUrl: () => 'https://store.example/auth/saml' }
  const providers = [login('a', []), login('b', ['b.example']), login('fed', [], { federation })]
  const close = async (): Promise<void> => void (isClosed = true)
  const signOn = new SamlSignOn(
    { signOn: services.signOn, flows: services.flows, system: services.system, close },
    {
      providers,
      defaultProvider: 'a',
      targets: new RedirectTargets('store.example', ['ok.example']),
      successUrl: 'https://ok.example/default',
      failureUrl: 'https://ok.example/failed',
      ...setup.options,
    },
  )
  const consumed = async (url: string) => await services.flows.consume(/\?([\w-]+)&/.exec(url)?.[1] ?? '')
  return { ...services, saml: signOn, searches, finished, consumed, isClosed: () => isClosed }
}

const nothing = { idp: undefined, username: undefined, successUrl: undefined, failureUrl: undefined }
const urlOf = async (begun: Promise<AuthRedirect>): Promise<string> => {
  const redirect = await begun
  return redirect.kind === 'redirect' ? redirect.url : ''
}

test('a login begins at the provider that was asked for, with checked addresses (D8.7)', async t => {
  const { saml, consumed } = setUp(t)
  const plain = await urlOf(saml.begin(nothing, client))
  assert.match(plain, /^https:\/\/a\//)
  const { successUrl, failureUrl, provider, network, browser } = (await consumed(plain)) ?? ({} as Partial<LoginFlow>)
  assert.deepEqual(
    [successUrl, failureUrl, provider, network, browser],
    [undefined, undefined, 'a', '192.0.2.1', undefined],
  )
  const urls = { successUrl: 'https://ok.example/x', failureUrl: 'https://ok.example/y' }
  const named = await urlOf(saml.begin({ ...nothing, username: 'x@b.example', ...urls }, client))
  assert.match(named, /^https:\/\/b\//)
  const flow = await consumed(named)
  assert.deepEqual([flow?.successUrl, flow?.failureUrl], [urls.successUrl, urls.failureUrl])
  const wrong = (parameter: string) => ({ code: 'invalid-redirect', message: new RegExp(`^\`${parameter}\``) })
  const evil = 'https://evil.example/'
  await assert.rejects(saml.begin({ ...nothing, successUrl: evil }, client), wrong('successurl'))
  await assert.rejects(saml.begin({ ...nothing, failureUrl: evil }, client), wrong('failureurl'))
  await assert.rejects(saml.begin({ ...nothing, idp: 'x' }, client), { code: 'unknown-idp' })
})

test('a login that cannot begin leads to the address for failures (D8.5)', async t => {
  const begin = () => Promise.reject(new SsoRefused({ check: 'metadata' }))
  const { saml } = setUp(t, { provider: { begin } })
  await assert.rejects(saml.begin(nothing, client), { failureUrl: 'https://ok.example/failed' })
  const asked = { ...nothing, failureUrl: 'https://ok.example/asked' }
  await assert.rejects(saml.begin(asked, client), { failureUrl: 'https://ok.example/asked' })
  const member = { ...nothing, idp: 'fed', entityId: 'urn:x' }
  await assert.rejects(saml.begin(member, client), { failureUrl: 'https://ok.example/failed' })
})

test('a login in a federation goes to the chosen provider, or to the one of the domain, or to the choice (D31.3)', async t => {
  const { saml, searches, consumed } = setUp(t, { members: ['urn:only'] })
  const successUrl = 'https://ok.example/x'
  const chosen = await urlOf(
    saml.begin({ ...nothing, idp: 'fed', successUrl, entityId: 'urn:chosen', username: 'x@y' }, client),
  )
  const flow = await consumed(chosen)
  assert.deepEqual([flow?.entityId, flow?.provider, flow?.successUrl], ['urn:chosen', 'fed', successUrl])
  assert.match(chosen, /&urn:chosen$/)
  assert.deepEqual(searches, [])
  const byDomain = await urlOf(saml.begin({ ...nothing, idp: 'fed', username: 'anna@uni.example' }, client))
  assert.match(byDomain, /&urn:only$/)
  assert.deepEqual(searches, [{ domain: 'uni.example', languages: [] }])
  for (const username of [undefined, 'anna']) {
    const url = new URL(await urlOf(saml.begin({ ...nothing, idp: 'fed', username, successUrl }, client)))
    assert.equal(url.origin + url.pathname, 'https://store.example/auth/saml/discovery')
    assert.equal(new URL(url.searchParams.get('return') ?? '').searchParams.get('successurl'), successUrl)
  }
  assert.equal(searches.length, 1)
})

test('a domain that no provider or several publish leads to the choice (D31.3)', async t => {
  for (const members of [[], ['urn:one', 'urn:two']]) {
    const { saml } = setUp(t, { members })
    const url = await urlOf(saml.begin({ ...nothing, idp: 'fed', username: 'anna@uni.example' }, client))
    assert.match(url, /^https:\/\/store\.example\/auth\/saml\/discovery\?/)
  }
})

test('a browser that comes back from a discovery service without a choice is refused (D31.3)', async t => {
  const { saml, recorded } = setUp(t)
  const request = { ...nothing, idp: 'fed', isDiscovered: true }
  const failed = { check: 'discovery', expected: 'the choice of an identity provider', received: 'none' }
  await assert.rejects(saml.begin(request, client), { failed, failureUrl: 'https://ok.example/failed' })
  const failureUrl = 'https://ok.example/asked'
  await assert.rejects(saml.begin({ ...request, failureUrl }, client), { failed, failureUrl })
  assert.equal(recorded.length, 2)
})

test('a choice exists in a federation only (D31.3)', async t => {
  const { saml, searches } = setUp(t, { members: ['urn:one'] })
  const question = { text: 'x', languages: [] }
  const { hits } = await saml.search('fed', question)
  assert.deepEqual([hits.length, searches], [1, [question]])
  const message = 'a is a single identity provider: there is nothing to choose.'
  for (const idp of ['a', undefined]) await assert.rejects(saml.search(idp, question), { code: 'unknown-idp', message })
  await assert.rejects(saml.search('x', question), { code: 'unknown-idp' })
  assert.equal(saml.chooseFederation('fed').provider.name, 'fed')
})

test('a response completes the login that its relay state names, once (D8.2)', async t => {
  const { saml, begun, finished, flows } = setUp(t)
  const target = { successUrl: 'https://ok.example/x', failureUrl: undefined }
  const flow = await flows.create({ provider: 'b', ...target }, client.address)
  await saml.complete({ encoded: 'encoded', relayState: flow.id, idp: undefined }, client)
  assert.deepEqual(finished, [['b', 'encoded', flow]])
  assert.deepEqual([begun[0]?.mechanism, begun[0]?.successUrl], ['b', 'https://ok.example/x'])
  const plain = await flows.create({ provider: 'b', successUrl: undefined, failureUrl: undefined }, client.address)
  await saml.complete({ encoded: 'encoded', relayState: plain.id, idp: 'b' }, client)
  assert.deepEqual([begun[1]?.mechanism, begun[1]?.successUrl], ['b', 'https://ok.example/default'])
  await saml.complete({ encoded: 'encoded', relayState: flow.id, idp: undefined }, client)
  assert.deepEqual(finished[2], ['a', 'encoded', undefined])
})

test('a login cannot be completed at the address of another provider, or with a sign-out (D8.2)', async t => {
  const { saml, finished, flows } = setUp(t)
  const target = { successUrl: undefined, failureUrl: undefined }
  const flow = await flows.create({ provider: 'b', ...target }, client.address)
  await assert.rejects(saml.complete({ encoded: '', relayState: flow.id, idp: 'a' }, client), {
    failed: { check: 'idp', expected: 'b', received: 'a' },
    failureUrl: 'https://ok.example/failed',
  })
  assert.deepEqual(finished, [])
  const signOut = await flows.create({ provider: 'b', ...target, isLogout: true }, client.address)
  await saml.complete({ encoded: '', relayState: signOut.id, idp: 'a' }, client)
  assert.deepEqual(finished, [['a', '', undefined]])
})

test('a refusal leads to the address that the login named, else to that of the settings (D8.5)', async t => {
  const finish = () => Promise.reject(new SsoRefused({ check: 'audience' }))
  const { saml, flows } = setUp(t, { finish })
  const failureUrl = 'https://ok.example/asked'
  const flow = await flows.create({ provider: 'b', successUrl: undefined, failureUrl }, client.address)
  await assert.rejects(saml.complete({ encoded: '', relayState: flow.id, idp: undefined }, client), { failureUrl })
  await assert.rejects(saml.complete({ encoded: '', relayState: undefined, idp: undefined }, client), {
    failureUrl: 'https://ok.example/failed',
  })
})

test('an assertion of a session that the provider has ended is refused (D30.3)', async t => {
  const finish = async () => ({ ...identity, logoutKeys: ['user', 'session'] })
  const { saml, flows, system } = setUp(t, { finish })
  const complete = () => saml.complete({ encoded: '', relayState: undefined, idp: undefined }, client)
  await complete()
  await flows.noteSignedOut('b', 'session', system.now() + 1000)
  await complete()
  await flows.noteSignedOut('a', 'session', system.now() + 1000)
  const [expected, received] = ['a session that goes on at the provider', 'one that the provider has ended']
  await assert.rejects(complete(), { failed: { check: 'session-ended', expected, received } })
})

test('an assertion of a user whom the provider has signed out is refused, a later sign-on is not (D30.2)', async t => {
  let authenticated = 0
  const finish = async () => ({ ...identity, logoutKeys: ['user', 'session'], authenticated })
  const { saml, flows, system } = setUp(t, { finish })
  const complete = () => saml.complete({ encoded: '', relayState: undefined, idp: undefined }, client)
  await flows.noteSignedOut('a', 'user', system.now() + 1000, system.now())
  authenticated = system.now()
  const [expected, received] = ['a session that goes on at the provider', 'one that the provider has ended']
  await assert.rejects(complete(), { failed: { check: 'session-ended', expected, received } })
  authenticated = system.now() + 1
  await complete()
})

test('what others read, and the end', async t => {
  const { saml, isClosed } = setUp(t)
  assert.deepEqual(
    saml.providers.map(({ policy }) => policy.name),
    ['a', 'b', 'fed'],
  )
  assert.equal(saml.find('b')?.provider.name, 'b')
  assert.equal(saml.find('x'), undefined)
  assert.equal(saml.successUrl, 'https://ok.example/default')
  await saml.close()
  assert.equal(isClosed(), true)
})
