import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { responseFromSimpleSaml } from '../support/headless-login.ts'
import { ask } from '../support/http-client.ts'
import { listen } from '../support/listener.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { type Failure, signIn, ssoReport, startWithSaml } from '../support/saml-at-peers.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }
const bob = { name: 'bob', password: 'builder', mail: 'bob@partner.example' }
const domains = { 'domains.1': 'partner.example' }

test('two identity providers, redirects after the sign-on, and new keys', async t => {
  if (!requirePeer(t, simpleSamlPhp)) return
  // Each knows the users of the other, to check that it cannot sign them in.
  const start = () => startSimpleSaml(t, { host: 'localhost', users: [alice, bob] })
  const [own, partner] = await Promise.all([start(), start()])
  const checks = (failures: readonly Failure[]): string[] =>
    failures.map(({ provider, check }) => `${provider} ${check}`)

  await t.test('the provider is chosen by `idp`, by the domain of `username`, by default (D8.1)', async t => {
    const service = await startWithSaml(
      t,
      { own: { idp: own }, partner: { idp: partner, settings: domains } },
      { 'service.auth.saml.default-idp': 'own' },
    )
    const goesTo = async (query: string): Promise<string | undefined> => {
      const { status, headers } = await ask(`${service.base}auth/saml${query}`)
      return status === 303 ? new URL(headers.location ?? '').origin : String(status)
    }
    const [toOwn, toPartner] = [own, partner].map(({ entityId }) => new URL(entityId).origin)
    assert.equal(await goesTo('?idp=partner'), toPartner)
    assert.equal(await goesTo('?idp=own&username=bob@partner.example'), toOwn)
    assert.equal(await goesTo('?username=bob@PARTNER.example'), toPartner)
    assert.equal(await goesTo('?username=eve@elsewhere.example'), toOwn)
    assert.equal(await goesTo(''), toOwn)
    assert.equal(await goesTo('?idp=nobody'), '400')

    assert.equal((await signIn(service, bob, '?username=bob@partner.example')).user, bob.mail)
    assert.equal((await signIn(service, alice)).user, alice.mail)
    const { saml } = await ssoReport(service)
    assert.deepEqual(
      saml.map(({ name, entityId, certificates }) => [name, entityId, certificates?.length]),
      [
        ['own', own.entityId, 1],
        ['partner', partner.entityId, 1],
      ],
    )
  })

  await t.test(
    'a provider signs in users of its own domains only; one without domains, users of unclaimed domains (D8.4)',
    async t => {
      const service = await startWithSaml(t, { own: { idp: own }, partner: { idp: partner, settings: domains } })
      assert.equal((await signIn(service, bob, '?idp=own')).user, 'guest')
      assert.equal((await signIn(service, alice, '?idp=partner')).user, 'guest')
      assert.deepEqual(checks((await ssoReport(service)).failures), ['partner domain', 'own domain'])
    },
  )

  await t.test('a response from one provider does not complete a login started with the other (D8.3)', async t => {
    const service = await startWithSaml(t, { own: { idp: own }, partner: { idp: partner } })
    const browser = new HeadlessBrowser()
    const page = await responseFromSimpleSaml(`${service.base}auth/saml?idp=partner`, { ...alice, browser })
    const begun = await ask(`${service.base}auth/saml?idp=own`)
    const RelayState = new URL(begun.headers.location ?? '').searchParams.get('RelayState') ?? ''
    const response = /name="SAMLResponse" value="([^"]+)"/.exec(page.answer.text)?.[1] ?? ''
    for (const idp of ['own', 'partner']) {
      const action = `${service.base}auth/saml?idp=${idp}`
      const end = await browser.submit(page, { action, method: 'POST', fields: { RelayState, SAMLResponse: response } })
      assert.equal(end.answer.status, 401, idp)
    }
    const [second, first] = checks((await ssoReport(service)).failures)
    assert.equal(first, 'own signature')
    assert.equal(second, 'partner relay-state', 'the first attempt has used the login up')
  })

  await t.test(
    'the browser is redirected to `successurl` and `failureurl` if their hosts are on the whitelist (D8.5, D8.7)',
    async t => {
      const app = await listen(t)
      const elsewhere = app.origin.replace('127.0.0.1', 'localhost')
      const off = { 'user-auto-provisioning': 'off' }
      const service = await startWithSaml(
        t,
        { own: { idp: own }, partner: { idp: partner, settings: off } },
        {
          'service.auth.saml.redirect-domain-whitelist.1': 'localhost',
          'service.auth.saml.redirect-success.url': `${app.origin}/welcome`,
          'service.auth.saml.redirect-failure.url': `${app.origin}/sorry?from=saml`,
        },
      )
      const urls = new URLSearchParams({ successurl: `${elsewhere}/in?a=1#top`, failureurl: `${elsewhere}/out` })
      assert.equal((await signIn(service, alice, `?idp=own&${urls.toString()}`)).page.url, `${elsewhere}/in?a=1#top`)
      assert.equal((await signIn(service, alice, '?idp=own')).page.url, `${app.origin}/welcome`)

      const named = new URL((await signIn(service, bob, `?idp=partner&${urls.toString()}`)).page.url)
      const usual = new URL((await signIn(service, bob, '?idp=partner')).page.url)
      assert.equal(named.origin + named.pathname, `${elsewhere}/out`)
      assert.equal(usual.origin + usual.pathname, `${app.origin}/sorry`)
      assert.equal(usual.searchParams.get('from'), 'saml')
      const { failures } = await ssoReport(service)
      assert.deepEqual(
        [usual, named].map(({ searchParams }) => [searchParams.get('error'), searchParams.get('correlation')]),
        failures.map(({ correlation }) => ['unknown-user', correlation]),
      )

      for (const query of ['successurl=https://evil.example/', 'failureurl=//localhost/', 'successurl=javascript:1']) {
        assert.equal((await ask(`${service.base}auth/saml?idp=own&${query}`)).status, 400, query)
      }
    },
  )

  await t.test('with landing=page, a page leads on instead of a redirect (D8.5)', async t => {
    const app = await listen(t)
    const service = await startWithSaml(
      t,
      { own: { idp: own } },
      { 'service.auth.sso.landing': 'page', 'service.auth.saml.redirect-success.url': `${app.origin}/welcome?a=1&b=2` },
    )
    const { page, user } = await signIn(service, alice, '?idp=own')
    assert.equal(page.answer.status, 200)
    assert.equal(user, alice.mail)
    assert.match(page.answer.text, /http-equiv="refresh" content="0; url=http:\/\/127[^"]*\/welcome\?a=1&#38;b=2"/)
  })

  await t.test('a new key of the provider is accepted without a restart, at once (D8.6)', async t => {
    const service = await startWithSaml(t, { own: { idp: own } })
    assert.equal((await signIn(service, alice, '?idp=own')).user, alice.mail)
    for (const time of ['first', 'second']) {
      await own.renewKey()
      assert.equal((await signIn(service, alice, '?idp=own')).user, alice.mail, `the ${time} time`)
    }
  })

  await t.test('metadata is loaded again when it is too old, not before (D8.6)', async t => {
    const settings = { 'metadata.max-age': '3600' }
    const service = await startWithSaml(t, { own: { idp: own, settings } })
    const certificate = async () => JSON.stringify((await ssoReport(service)).saml[0]?.certificates)
    await ask(`${service.base}auth/saml?idp=own`)
    const before = await certificate()
    await own.renewKey()
    service.system.pass(3_599_000)
    await ask(`${service.base}auth/saml?idp=own`)
    assert.equal(await certificate(), before)
    service.system.pass(1_000)
    await ask(`${service.base}auth/saml?idp=own`)
    assert.notEqual(await certificate(), before)
  })

  await t.test(
    'while a provider is down, sign-ons go to the failure URL and the last valid metadata is kept (D8.6)',
    async t => {
      const gone = await startSimpleSaml(t, { host: 'localhost', users: [alice] })
      const app = await listen(t)
      const service = await startWithSaml(
        t,
        { early: { idp: gone }, late: { idp: gone, settings: { 'metadata.max-age': '60' } } },
        { 'service.auth.saml.redirect-failure.url': `${app.origin}/sorry` },
      )
      assert.equal((await ask(`${service.base}auth/saml?idp=late`)).status, 303)
      await gone.stop()
      service.system.pass(3_600_000)
      const kept = await ask(`${service.base}auth/saml?idp=late`)
      assert.ok(kept.headers.location?.startsWith(new URL(gone.entityId).origin))
      const refused = new URL((await ask(`${service.base}auth/saml?idp=early`)).headers.location ?? '')
      assert.equal(refused.pathname, '/sorry')
      assert.equal(refused.searchParams.get('error'), 'metadata')
      assert.match((await ssoReport(service)).failures[0]?.received ?? '', /ECONNREFUSED/)
    },
  )
})
