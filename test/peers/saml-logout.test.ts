import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findForm } from '../support/headless-browser.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { keyFiles, signIn, ssoReport, startWithSaml, whoIs } from '../support/saml-at-peers.ts'
import { setClock } from '../support/service.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'Alice@Example.org' }

test('single logout with simplesamlphp', async t => {
  if (!requirePeer(t, simpleSamlPhp)) return
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice] })
  const { keyFile, certificateFile, certificate } = await keyFiles()
  const use = { idp, settings: { 'single-logout': 'on' }, trust: { requestsSignedBy: certificate } }
  const service = await startWithSaml(
    t,
    { own: use },
    {
      'service.auth.saml.signing.key-file': keyFile,
      'service.auth.saml.signing.certificate-file': certificateFile,
    },
  )

  await t.test('a sign-out here ends the session at the provider (D30.3)', async () => {
    const { browser, user } = await signIn(service, alice, '?idp=own')
    assert.equal(user, 'alice@example.org')
    setClock(service)
    const page = await browser.visit(`${service.base}auth/logout`)
    const onward = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page.answer.text)?.[1] ?? ''
    assert.match(onward, /SingleLogoutService/)
    assert.equal(await whoIs(service, browser), 'guest')
    const back = await browser.visit(onward.replaceAll('&amp;', '&').replaceAll('&#38;', '&'))
    assert.equal(back.url, `${service.base}auth/login?out=own`, back.answer.text)
    const again = await browser.visit(`${service.base}auth/saml?idp=own`)
    assert.ok(findForm(again, 'AuthState', 'password'), 'the provider asks for the password again')
  })

  await t.test('a sign-out at the provider ends the session here, and it accepts the response (D30.2)', async () => {
    const { browser, user } = await signIn(service, alice, '?idp=own')
    assert.equal(user, 'alice@example.org')
    setClock(service)
    const { origin } = new URL(idp.entityId)
    const end = `${origin}/index.php`
    const page = await browser.visit(`${origin}/saml2/idp/SingleLogoutService.php?ReturnTo=${encodeURIComponent(end)}`)
    assert.ok(
      page.trail.some(({ url }) => url.startsWith(`${service.base}auth/saml/logout/own?SAMLRequest=`)),
      JSON.stringify(page.trail.map(({ url }) => url)),
    )
    assert.ok(page.url.startsWith(origin), page.url)
    assert.equal(await whoIs(service, browser), 'guest')
    assert.deepEqual((await ssoReport(service)).failures, [])
  })
})
