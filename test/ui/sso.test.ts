import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { chromium, startChromium } from '../support/peers/chromium.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { startWithSaml } from '../support/saml-at-peers.ts'
import { setClock, startInProcess } from '../support/service.ts'
import { startWithSaml as startWithFakeIdp } from '../support/saml-service.ts'
import { complaintsOf, fillIn } from '../support/sso-in-chromium.ts'
import { newPerson, requireAccessible } from '../support/ui.ts'

const { service } = await startWithFakeIdp(
  { after },
  {
    'service.auth.saml.idp.a.domains.1': 'example.org',
    'service.auth.saml.default-idp': '',
  },
)

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }

test('from the sign-in page to a real identity provider and on to the account, by provider name and by e-mail address (D8.1)', async t => {
  if (!requirePeer(t, chromium) || !requirePeer(t, simpleSamlPhp)) return
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice] })
  const service = await startWithSaml(t, { campus: { idp, settings: { 'domains.1': 'example.org' } } })
  const browser = await startChromium(t)
  for (const way of ['by name', 'by e-mail'] as const) {
    setClock(service)
    const { page, close } = await newPerson(browser, { refusals: [400] })
    const complaints = complaintsOf(page, new URL(idp.entityId).origin)
    await page.goto(`${service.base}auth/login`)
    await requireAccessible(page)
    if (way === 'by name') await page.click('text=Sign in with campus')
    else {
      await page.fill('[name=email]', alice.mail)
      await page.keyboard.press('Enter')
    }
    await fillIn(page, alice)
    await page.waitForURL(`${service.base}ui/`)
    await page.goto(`${service.base}ui/account`)
    await page.waitForSelector('.facts')
    assert.match(await page.innerText('.facts'), /alice@example\.org/, way)
    assert.deepEqual(complaints.all, [], way)
    await close()
  }
})

const html = { accept: 'text/html,application/xhtml+xml' }
const login = (query: string) => ask(`${service.base}auth/login${query}`, { headers: html })

test('an e-mail address of an unknown organisation shows the form again with the reason', async () => {
  const answer = await login('?email=someone@elsewhere.example')
  assert.equal(answer.status, 400)
  assert.match(answer.text, /role="alert"[^>]*>No organisation is known for this address/)
  assert.match(answer.text, /name="auth_password"/)
})

test('signing in by organisation keeps the requested address if it belongs to this service (D2.1)', async () => {
  const wanted = `${service.base}ui/contexts/7/files`
  const onward = await login(`?email=x@example.org&successurl=${encodeURIComponent(wanted)}`)
  assert.equal(onward.status, 200)
  assert.ok(onward.text.includes(`successurl=${encodeURIComponent(wanted)}`), onward.text)
  for (const evil of ['https://evil.example/', '//evil.example/', 'javascript:alert(1)'])
    assert.equal((await login(`?successurl=${encodeURIComponent(evil)}`)).status, 400, evil)
})

test('without domains or without SAML, the page does not ask for an e-mail address', async t => {
  assert.match((await login('')).text, /name="email"/)
  const plain = await startInProcess(t)
  const { text } = await ask(`${plain.base}auth/login`, { headers: html })
  assert.doesNotMatch(text, /name="email"/)
  const asked = await ask(`${plain.base}auth/login?email=x@example.org`, { headers: html })
  assert.equal(asked.status, 400)
})

test('the button of CAS leads on to the requested address after the sign-on', async t => {
  const settings = { 'service.auth.cas': 'on', 'service.auth.cas.server.url': 'https://cas.example/cas' }
  const withCas = await startInProcess(t, { settings })
  const wanted = `${withCas.base}ui/contexts/7/files`
  const query = `?successurl=${encodeURIComponent(wanted)}`
  const { text } = await ask(`${withCas.base}auth/login${query}`, { headers: html })
  const button = /href="([^"]*auth\/cas[^"]*)"/.exec(text)?.[1]?.replaceAll('&#38;', '&') ?? ''
  assert.equal(new URL(button, withCas.base).searchParams.get('successurl'), wanted, text)
  const leaving = await ask(button, { headers: html })
  assert.equal(leaving.status, 303, leaving.text)
  assert.match(leaving.headers.location ?? '', /^https:\/\/cas\.example\/cas\/login\?service=/)
})
