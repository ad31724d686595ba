import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startSamlIdp, startWithSaml } from '../support/saml-service.ts'
import { TICK } from '../support/token-store.ts'

test('the deprecated settings make one provider without a name, on the same engine (D8.8)', async t => {
  const idp = await startSamlIdp(t, 'legacy')
  const { browser, service } = await startWithSaml(t, {
    'service.auth.saml': 'on',
    'service.auth.saml.relying-party-id': 'urn:stowage',
    'service.auth.saml.idp-metadata.url': idp.metadataUrl,
    'service.auth.saml.user-auto-provisioning': 'on',
    'service.auth.saml.redirect-method': 'post',
    'service.auth.saml.max-age': '500',
    'service.auth.cookie.refresh-expiration-on-access': 'off',
  })
  const someone = browser()
  const sent = await someone.leave()
  assert.equal(sent.acsUrl, 'https://store.example/auth/saml', 'nothing is appended')
  assert.equal(sent.url.href, 'https://idp.example/post')
  const answer = await someone.bring(someone.answerTo(sent, { idp }), '')
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.headers['set-cookie']?.join() ?? '', /Max-Age=500;/)
  service.system.pass(500_000 - TICK)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
  service.system.pass(TICK)
  assert.equal(await someone.whoAmI(), 'guest')

  const refused = await browser().bring(
    someone.answerTo(await someone.leave(), {
      idp,
      assertionId: '_2',
      edit: xml => xml.replaceAll('urn:stowage', 'urn:x'),
    }),
    '',
    { accept: 'application/json' },
  )
  assert.deepEqual([refused.status, refused.json()['check']], [401, 'audience'])
})

test('the new settings take the life of the cookie', async t => {
  const { browser } = await startWithSaml(t, { 'service.auth.cookie.max-age': '1000' })
  const answer = await browser().signInBy('anna@a.example')
  assert.match(answer.headers['set-cookie']?.join() ?? '', /Max-Age=1000;/)
})
