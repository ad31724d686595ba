import assert from 'node:assert/strict'
import { test } from 'node:test'
import { casSettings } from '../support/cas-server.ts'
import { chromium, startChromium } from '../support/peers/chromium.ts'
import { djangoCas, startDjangoCas } from '../support/peers/django-cas.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { setClock, startInProcess } from '../support/service.ts'
import { complaintsOf, fillIn, userShown } from '../support/sso-in-chromium.ts'

const alice = { name: 'alice', password: 'wonder land&ü' }

test('real Chromium signs in by CAS at a server of another site', async t => {
  if (!requirePeer(t, chromium) || !requirePeer(t, djangoCas)) return
  const cas = await startDjangoCas(t, { host: 'localhost', users: [alice] })
  const browser = await startChromium(t)

  for (const [samesite, landing, seen] of [
    ['strict', 'redirect', 'guest'],
    ['strict', 'page', 'alice'],
    ['lax', 'redirect', 'alice'],
  ] as const) {
    await t.test(
      `with a ${samesite} cookie and landing by ${landing}, the first page sees ${seen} (D9.3, D9.5)`,
      async t => {
        const port = await freePort()
        const landed = `http://127.0.0.1:${port}/auth/user`
        const { settings } = casSettings(cas, 'cas3', {
          'service.http.port': String(port),
          'service.auth.cookie.samesite': samesite,
          'service.auth.sso.landing': landing,
          'service.auth.cas.redirect-success.url': landed,
        })
        const service = await startInProcess(t, { settings: settings ?? {} })
        setClock(service)
        const page = await browser.page()
        const complaints = complaintsOf(page, new URL(cas.url).origin)
        await page.goto(`${service.base}auth/cas`)
        await fillIn(page, alice)
        await page.waitForURL(landed)
        assert.equal(await userShown(page), seen)
        await page.goto(landed)
        assert.equal(await userShown(page), 'alice')
        assert.deepEqual(complaints.all, [])
      },
    )
  }

  await t.test(
    'with default cookies: from the login page to CAS, to a page of the service, and signed out again',
    async t => {
      // Secure as well: Chromium trusts this machine without https.
      const { settings } = casSettings(cas, 'cas2', { 'service.auth.cookie.secure': 'on' })
      const service = await startInProcess(t, { settings: settings ?? {} })
      setClock(service)
      const page = await browser.page()
      const complaints = complaintsOf(page, new URL(cas.url).origin)
      await page.goto(`${service.base}auth/login`)
      await page.click('a[href$="/auth/cas"]')
      await fillIn(page, alice)
      await page.waitForSelector('text=You are signed in as')
      await page.click('text=Sign out')
      await page.waitForURL(`${service.base}auth/login?left=cas`)
      await page.goto(`${service.base}auth/user`)
      assert.equal(await userShown(page), 'guest')
      assert.deepEqual(complaints.all, [])
    },
  )
})
