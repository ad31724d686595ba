import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casSettings } from '../support/cas-server.ts'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { loginAtCas } from '../support/headless-login.ts'
import { djangoCas, startDjangoCas } from '../support/peers/django-cas.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { startReverseProxy } from '../support/reverse-proxy.ts'
import { signIn, startWithSaml, whoIs } from '../support/saml-at-peers.ts'
import { setClock, startInProcess } from '../support/service.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }

test('behind a proxy that changes Host, SAML uses the configured addresses only (D8.3)', async t => {
  if (!requirePeer(t, simpleSamlPhp)) return
  const port = await freePort()
  const base = `${await startReverseProxy(t, port)}/store/`
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice] })
  for (const method of ['get', 'post']) {
    await t.test(`request by ${method}`, async t => {
      const settings = { 'service.http.port': String(port), 'service.baseurl.folder': base }
      const use = { idp, settings: { 'redirect-method': method } }
      const service = await startWithSaml(t, { own: use }, settings, base)
      const { page, user } = await signIn(service, alice, '?idp=own')
      assert.equal(page.url, `${base}auth/saml?idp=own`)
      assert.equal(user, alice.mail)
      await service.close()
    })
  }
})

test('behind a proxy that changes Host, CAS uses the base address (D9.1)', async t => {
  if (!requirePeer(t, djangoCas)) return
  const port = await freePort()
  const base = `${await startReverseProxy(t, port)}/store/`
  const cas = await startDjangoCas(t, { host: 'localhost', users: [alice] })
  const { settings } = casSettings(cas, 'cas3', { 'service.http.port': String(port), 'service.baseurl.folder': base })
  const service = await startInProcess(t, { settings: settings ?? {} })
  setClock(service)
  const browser = new HeadlessBrowser()
  const page = await loginAtCas(`${base}auth/cas`, { ...alice, browser })
  assert.ok(page.url.startsWith(`${base}auth/cas?ticket=`), page.url)
  assert.equal(await whoIs(service, browser), 'alice')
})
