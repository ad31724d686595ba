import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeOf } from '../support/accounts.ts'
import { startWithCas } from '../support/cas-service.ts'
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
  const headers = { cookie, accept: 'text/html' }
  const done = await someone.ask('auth/factor', { form: { code: app.code() }, headers })
  assert.deepEqual([done.status, done.headers.location], [303, success])
  assert.equal(await someone.whoAmI(), 'anna')
  const program = browser()
  await program.leave()
  const refused = await program.step(`?ticket=${cas.issue('anna')}`, { accept: 'application/json' })
  assert.deepEqual([refused.status, codeOf(refused)], [401, 'second-factor-required'])
})
