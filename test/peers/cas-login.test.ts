import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { casSettings, type CasVersion, casVersions } from '../support/cas-server.ts'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { loginAtCas } from '../support/headless-login.ts'
import { listen } from '../support/listener.ts'
import { type DjangoCas, djangoCas, startDjangoCas } from '../support/peers/django-cas.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { ssoReport, whoIs } from '../support/saml-at-peers.ts'
import { type InProcess, type Service, setClock, startInProcess, startProcess } from '../support/service.ts'

const alice = { name: 'Alice', password: 'wonder land&ü', mail: 'alice@example.org' }
const admin = { name: 'ADMIN', password: 'root' }

async function start(
  t: TestContext,
  cas: DjangoCas,
  version: CasVersion,
  more: Readonly<Record<string, string>> = {},
): Promise<InProcess> {
  const service = await startInProcess(t, casSettings(cas, version, more))
  setClock(service)
  return service
}

async function signIn(service: Service, person: { readonly name: string; readonly password: string }) {
  const browser = new HeadlessBrowser()
  const page = await loginAtCas(`${service.base}auth/cas`, { ...person, browser })
  return { browser, page, user: await whoIs(service, browser) }
}

test('users sign in by CAS at django-cas-server', async t => {
  if (!requirePeer(t, djangoCas)) return
  const cas = await startDjangoCas(t, { host: 'localhost', users: [alice, admin] })

  for (const version of casVersions) {
    await t.test(
      `the real program with ${version}: redirect to CAS, return with a ticket, session, sign-out (D9.1)`,
      async t => {
        const service = await startProcess(t, casSettings(cas, version))
        const { browser, page, user } = await signIn(service, alice)
        assert.match(page.answer.text, /signed in as <strong>alice</)
        assert.equal(user, 'alice')
        assert.match(page.url, /\/auth\/cas\?ticket=ST-/)
        assert.equal((await new HeadlessBrowser().visit(page.url)).answer.text.includes('signed in'), false)

        const out = await browser.visit(`${service.base}auth/logout`)
        assert.equal(out.url, `${service.base}auth/login?left=cas`)
        assert.equal(await whoIs(service, browser), 'guest')
        assert.equal(await service.stop(), 0)
        assert.doesNotMatch(service.output(), /refused/)
      },
    )

    await t.test(`${version}: without auto-provisioning only existing users can sign in (I5.4)`, async t => {
      const service = await start(t, cas, version, { 'service.auth.cas.user-auto-provisioning': 'off' })
      const { page, user } = await signIn(service, alice)
      assert.deepEqual([page.answer.status, user], [401, 'guest'])
      const [failure] = (await ssoReport(service)).failures
      assert.deepEqual([failure?.provider, failure?.check, failure?.received], ['cas', 'unknown-user', 'alice'])
      assert.ok(page.answer.text.includes(failure?.correlation ?? 'no correlation'))
      const created = await (await service.admin()).post('_principals?graphtype=user', { resource: { name: 'alice' } })
      assert.equal(created.status, 201, created.text)
      assert.equal((await signIn(service, alice)).user, 'alice')
    })

    await t.test(`${version}: admin is rejected and sent to the failure URL (I5.4, D9.2, D9.3)`, async t => {
      const app = await listen(t)
      const service = await start(t, cas, version, {
        'service.auth.cas.redirect-success.url': `${app.origin}/welcome`,
        'service.auth.cas.redirect-failure.url': `${app.origin}/sorry?from=cas`,
      })
      const { page, user } = await signIn(service, admin)
      const { pathname, searchParams } = new URL(page.url)
      assert.equal(pathname, '/sorry')
      const [failure] = (await ssoReport(service)).failures
      assert.deepEqual(Object.fromEntries(searchParams), {
        from: 'cas',
        error: 'reserved-user',
        correlation: failure?.correlation,
      })
      assert.equal(user, 'guest')
      assert.equal((await signIn(service, alice)).page.url, `${app.origin}/welcome`)
    })
  }

  await t.test('the session at the CAS server outlives our logout: the next login asks for no password', async t => {
    const service = await start(t, cas, 'cas3')
    const { browser } = await signIn(service, alice)
    await browser.visit(`${service.base}auth/logout`)
    const again = await browser.visit(`${service.base}auth/cas`)
    assert.match(again.answer.text, /signed in as <strong>alice</)
  })

  await t.test('if the CAS server is down, administrators see its name, and users a code only (D9.3)', async t => {
    const gone = await startDjangoCas(t, { host: 'localhost', users: [alice] })
    const app = await listen(t)
    const service = await start(t, gone, 'cas2', { 'service.auth.cas.redirect-failure.url': `${app.origin}/sorry` })
    const browser = new HeadlessBrowser()
    await browser.visit(`${service.base}auth/cas`)
    await gone.stop()
    const page = await browser.visit(`${service.base}auth/cas?ticket=ST-1`)
    assert.equal(new URL(page.url).searchParams.get('error'), 'cas-unreachable')
    assert.match((await ssoReport(service)).failures[0]?.received ?? '', /ECONNREFUSED/)
  })
})
