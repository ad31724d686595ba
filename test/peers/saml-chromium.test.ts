import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { listen } from '../support/listener.ts'
import { chromium, startChromium } from '../support/peers/chromium.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { startWithSaml } from '../support/saml-at-peers.ts'
import { complaintsOf, fillIn, userShown } from '../support/sso-in-chromium.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }

test('real Chromium signs in by SAML at a provider of another site', async t => {
  if (!requirePeer(t, chromium) || !requirePeer(t, simpleSamlPhp)) return
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice] })
  const browser = await startChromium(t)

  for (const method of ['get', 'post']) {
    for (const [samesite, landing, seen] of [
      ['strict', 'redirect', 'guest'],
      ['strict', 'page', alice.mail],
      ['lax', 'redirect', alice.mail],
    ] as const) {
      await t.test(
        `with a request by ${method}, a ${samesite} cookie and landing by ${landing}, the first page sees ${seen} (D8.5)`,
        async t => {
          const service = await startWithSaml(
            t,
            { own: { idp, settings: { 'redirect-method': method } } },
            { 'service.auth.cookie.samesite': samesite, 'service.auth.sso.landing': landing },
          )
          const page = await browser.page()
          const complaints = complaintsOf(page, new URL(idp.entityId).origin)
          const landed = `${service.base}auth/user`
          await page.goto(`${service.base}auth/saml?idp=own&successurl=${encodeURIComponent(landed)}`)
          await fillIn(page, alice)
          await page.waitForURL(landed)
          assert.equal(await userShown(page), seen)
          // The next navigation by the user carries a strict cookie, too.
          await page.goto(landed)
          assert.equal(await userShown(page), alice.mail)
          assert.deepEqual(complaints.all, [])
        },
      )
    }
  }

  await t.test('without a success URL, a strict cookie works after the page of the service', async t => {
    const service = await startWithSaml(t, { own: { idp } }, { 'service.auth.sso.landing': 'page' })
    const page = await browser.page()
    const complaints = complaintsOf(page, new URL(idp.entityId).origin)
    await page.goto(`${service.base}auth/saml?idp=own`)
    await fillIn(page, alice)
    await page.waitForSelector('text=You are signed in as')
    await page.click('text=Sign out')
    await page.waitForURL(`${service.base}auth/login?left=own`)
    await page.goto(`${service.base}auth/user`)
    assert.equal(await userShown(page), 'guest')
    assert.deepEqual(complaints.all, [])
  })

  await t.test('a rejected sign-on shows a page with its number and no technical reason', async t => {
    const service = await startWithSaml(t, { own: { idp, settings: { 'user-auto-provisioning': 'off' } } })
    const page = await browser.page()
    await page.goto(`${service.base}auth/saml?idp=own`)
    await fillIn(page, alice)
    await page.waitForURL(/127\.0\.0\.1/)
    const text = (await page.textContent('main')) ?? ''
    assert.match(text, /number to your administrator: [0-9a-f]{10}/)
    assert.doesNotMatch(text, /unknown-user/)
  })

  await t.test('the form may post to a provider that redirects to another host, as large providers do', async t => {
    const login = await listen(t, (_, response) =>
      response.setHeader('content-type', 'text/html').end('<link rel="icon" href="data:,"><p>Sign in here</p>'),
    )
    const { text } = await ask(idp.metadataUrl)
    const front = await listen(t, ({ method }, response) => {
      if (method === 'POST') response.writeHead(302, { location: `${login.origin}/login` }).end()
      else response.end(text.replaceAll(new URL(idp.entityId).origin, front.origin.replace('127.0.0.1', 'localhost')))
    })
    const settings = { 'redirect-method': 'post', 'metadata.url': `${front.origin}/metadata` }
    const service = await startWithSaml(t, { own: { idp, settings } })
    const page = await browser.page()
    await page.goto(`${service.base}auth/saml?idp=own`, { waitUntil: 'commit' })
    await page.waitForURL(`${login.origin}/login`)
    assert.equal(page.url(), `${login.origin}/login`)
  })
})
