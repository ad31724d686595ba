import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWithCas } from '../support/cas-service.ts'
import { startInProcess } from '../support/service.ts'

const settings = {
  'service.auth.saml': 'new',
  'service.auth.saml.assertion-consumer-service.url': 'https://store.example/auth/saml',
  'service.auth.saml.idps.1': 'staff',
  'service.auth.saml.idps.2': 'partners',
  'service.auth.saml.idp.staff.relying-party-id': 'stowage',
  'service.auth.saml.idp.staff.metadata.url': 'https://login.example/metadata',
  'service.auth.saml.idp.staff.label': 'Example <University>',
  'service.auth.saml.idp.staff.logout-url': 'https://login.example/logout?all=1&x=2',
  'service.auth.saml.idp.staff.domains.1': 'example.org',
  'service.auth.saml.idp.partners.relying-party-id': 'stowage',
  'service.auth.saml.idp.partners.metadata.url': 'https://partners.example/metadata',
}

test('login buttons have labels; a provider without one has its name (D19.12)', async t => {
  const service = await startInProcess(t, { settings })
  const { text } = await service.visitor().get('auth/login', { accept: 'text/html,application/xhtml+xml' })
  assert.match(text, /Sign in with Example &#60;University&#62;<.*Sign in with partners</s)
})

test('after a sign-out the page says that the session at the provider may be open, and links to its end (D19.13)', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.signInBy(cas, 'anna')
  const out = await someone.ask('auth/logout', {
    method: 'POST',
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.deepEqual([out.status, out.headers.location], [303, `${service.base}auth/login?left=cas`])
  const page = (await someone.get('auth/login?left=cas', { accept: 'text/html,application/xhtml+xml' })).text
  assert.ok(page.includes('Your session at CAS may still be open.'))
  assert.ok(page.includes(`<a href="${cas.url}logout">Sign out at CAS</a>`))

  // After a login with a password there is nothing to say, nor for names that no provider has.
  const admin = await service.admin()
  const plain = await admin.ask('auth/logout', {
    method: 'POST',
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(plain.headers.location, `${service.base}auth/login`)
  for (const left of ['evil', 'https://evil.example/', '', '%3Cscript%3E']) {
    const text = (await someone.get(`auth/login?left=${left}`, { accept: 'text/html,application/xhtml+xml' })).text
    assert.ok(!/may still be open|evil|<script>/.test(text), left)
  }
})

test('the note links to the configured page of a SAML provider, or to none (D19.13)', async t => {
  const service = await startInProcess(t, { settings })
  const page = async (left: string): Promise<string> =>
    (await service.visitor().get(`auth/login?left=${left}`, { accept: 'text/html,application/xhtml+xml' })).text
  assert.ok((await page('staff')).includes('href="https://login.example/logout?all=1&#38;x=2"'))
  const without = await page('partners')
  assert.ok(without.includes('Your session at partners may still be open.</p>'))
})
