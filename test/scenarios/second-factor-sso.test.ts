import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf } from '../support/accounts.ts'
import { startWithCas } from '../support/cas-service.ts'
import type { Visitor } from '../support/http-client.ts'
import { startWithSaml } from '../support/saml-service.ts'
import { addApp, pendingCookie } from '../support/second-factors.ts'

test('a sign-on at a provider asks users with a factor for it, then leads on (D28.2, D28.10)', async t => {
  const success = 'https://app.example/start'
  const { service, cas, browser } = await startWithCas(t, { 'service.auth.cas.redirect-success.url': success })
  const owner = browser()
  await owner.signInBy(cas, 'anna')
  const { app } = await addApp(owner, service.system)
  const someone = browser()
  const back = await someone.signInBy(cas, 'anna')
  assert.deepEqual([back.status, back.headers.location], [303, `${service.base}auth/factor`])
  assert.equal(await someone.whoAmI(), 'guest')
  const cookie = pendingCookie(back)
  const headers = { cookie, accept: 'text/html,application/xhtml+xml' }
  const done = await someone.ask('auth/factor', { form: { code: app.code() }, headers })
  assert.deepEqual([done.status, done.headers.location], [303, success])
  assert.equal(await someone.whoAmI(), 'anna')
  const program = browser()
  await program.leave()
  const refused = await program.step(`?ticket=${cas.issue('anna')}`, { accept: 'application/json' })
  assert.deepEqual([refused.status, codeOf(refused)], [401, 'second-factor-required'])
})

const MFA = 'https://refeds.org/profile/mfa'
const PASSWORD = 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password'

test('the factor of a provider counts where one is required, in its own session only (D28.9, D28.10)', async t => {
  const saml = await startWithSaml(t, {
    'service.auth.second-factor': 'all',
    'service.auth.saml.idp.a.second-factor-acr.1': MFA,
  })
  const name = 'anna@a.example'
  const withFactor = (xml: string): string => xml.replace(PASSWORD, MFA)
  const signInBy = async (assertionId: string, edit?: (xml: string) => string) => {
    const browser = saml.browser()
    const answer = await browser.signInBy(name, '', { assertionId, ...(edit ? { edit } : {}) })
    return { browser, answer }
  }
  const statusOf = async (visitor: Visitor): Promise<unknown> => {
    const answer = await visitor.get('auth/user/contexts')
    return answer.status === 200 ? 200 : codeOf(answer)
  }
  const strong = await signInBy('_1', withFactor)
  assert.equal(await statusOf(strong.browser), 200)
  const weak = await signInBy('_2')
  assert.equal(await statusOf(weak.browser), 'second-factor-missing')

  // A factor of their own is needed where the provider states none, and does not end with one that the provider states.
  const { app } = await addApp(weak.browser, saml.service.system)
  assert.equal(await strong.browser.whoAmI(), 'guest', 'the first factor ends the other sessions')
  const asked = await signInBy('_3')
  assert.deepEqual([asked.answer.status, asked.answer.headers.location], [303, `${saml.service.base}auth/factor`])
  const again = await signInBy('_4', withFactor)
  assert.equal(await statusOf(again.browser), 200)

  // Without that factor, the session that had proven it is asked for one; that of the provider's factor is not.
  assert.equal((await weak.browser.delete(`auth/factors/${app.id}`)).status, 204)
  assert.equal(await statusOf(weak.browser), 'second-factor-missing')
  assert.equal(await statusOf(again.browser), 200)
})
