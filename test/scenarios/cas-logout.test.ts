import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CasService, startWithCas } from '../support/cas-service.ts'
import { type Answer, Visitor } from '../support/http-client.ts'

const SAMLP = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"'

/** As Apereo CAS writes it. */
const logoutRequest = (ticket: string): string =>
  `<samlp:LogoutRequest ${SAMLP} ID="LR-1-x" Version="2.0" IssueInstant="2026-11-22T10:00:00Z">` +
  '<saml:NameID xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">@NOT_USED@</saml:NameID>' +
  `<samlp:SessionIndex>${ticket}</samlp:SessionIndex></samlp:LogoutRequest>`

/** The CAS server is a client without cookies. */
const report = (service: CasService['service'], message: string): Promise<Answer> =>
  new Visitor(service.base).ask('auth/cas', { form: { logoutRequest: message } })

test('a logout at the CAS server ends the login of its ticket and no other, once (D19.11)', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const [one, two] = [browser(), browser()]
  const signIn = async (visitor: typeof one): Promise<string> => {
    await visitor.leave()
    const ticket = cas.issue('anna')
    assert.equal((await visitor.step(`?ticket=${ticket}`)).status, 200)
    return ticket
  }
  const ticket = await signIn(one)
  await signIn(two)

  const stranger = await report(service, logoutRequest('ST-7-guessed'))
  const done = await report(service, logoutRequest(ticket))
  const again = await report(service, logoutRequest(ticket))
  assert.deepEqual([await one.whoAmI(), await two.whoAmI()], ['guest', 'anna'])
  const logins = (await two.get('auth/tokens')).json<object>()
  assert.equal(Object.keys(logins).length, 1)

  // A stranger does not learn whether a ticket opened a login.
  const seen = ({ status, text, headers }: Answer): unknown => [status, text, Object.keys(headers).sort()]
  assert.deepEqual(seen(done), [204, '', Object.keys(stranger.headers).sort()])
  assert.deepEqual(seen(stranger), seen(done))
  assert.deepEqual(seen(again), seen(done))
  assert.deepEqual(await logouts(service), [{ mechanism: 'cas' }])
})

/** The logouts in the audit log. */
async function logouts(service: CasService['service']): Promise<unknown[]> {
  const admin = await service.admin()
  const { events } = (await admin.get('management/audit?event=logout')).json<{ events: Array<{ detail: unknown }> }>()
  return events.map(({ detail }) => detail)
}

const hostile: Readonly<Record<string, (ticket: string) => string>> = {
  'no XML': () => 'ST-1',
  nothing: () => '',
  'a DOCTYPE with an entity': ticket => `<!DOCTYPE r [<!ENTITY t "${ticket}">]>${logoutRequest('&t;')}`,
  'an external entity': ticket =>
    `<!DOCTYPE r [<!ENTITY t SYSTEM "file:///etc/passwd">]>${logoutRequest(`${ticket}&t;`)}`,
  'a comment in the ticket': ticket => logoutRequest(`${ticket}<!-- -->`),
  CDATA: ticket => logoutRequest(`<![CDATA[${ticket}]]>`),
  'an element in the ticket': ticket => logoutRequest(`<b>${ticket}</b>`),
  'another message': ticket => logoutRequest(ticket).replaceAll('LogoutRequest', 'LogoutResponse'),
  'another namespace': ticket => logoutRequest(ticket).replace('SAML:2.0:protocol', 'SAML:1.0:protocol'),
  'two tickets': ticket => logoutRequest(`${ticket}</samlp:SessionIndex><samlp:SessionIndex>${ticket}`),
  'the ticket elsewhere': ticket =>
    `<samlp:LogoutRequest ${SAMLP}><x><samlp:SessionIndex>${ticket}</samlp:SessionIndex></x></samlp:LogoutRequest>`,
  'a proxy ticket': () => logoutRequest('PT-1-abc'),
  'a ticket with a wildcard': () => logoutRequest('ST-*'),
  'a huge message': ticket => logoutRequest(ticket).replace('@NOT_USED@', 'a'.repeat(20_000)),
  'deep nesting': ticket => logoutRequest(ticket).replace('@NOT_USED@', `${'<a>'.repeat(40)}${'</a>'.repeat(40)}`),
}

test('no hostile logout message ends a login, and each is refused in the same few words (D19.11)', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.leave()
  const ticket = cas.issue('anna')
  await someone.step(`?ticket=${ticket}`)
  for (const [what, message] of Object.entries(hostile)) {
    const answer = await report(service, message(ticket))
    assert.deepEqual([answer.status, answer.json()['code']], [400, 'invalid-logout-request'], what)
    assert.ok(!answer.text.includes(ticket), what)
  }
  const beyond = await report(service, 'a'.repeat(60_000))
  assert.equal(beyond.status, 413)
  const missing = await new Visitor(service.base).ask('auth/cas', { form: { other: '1' } })
  assert.deepEqual([missing.status, missing.json()['code']], [400, 'invalid-form'])
  assert.equal(await someone.whoAmI(), 'anna')
})

test('a login that was signed out here leaves nothing for the CAS server to end', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.leave()
  const ticket = cas.issue('anna')
  await someone.step(`?ticket=${ticket}`)
  assert.equal((await someone.ask('auth/logout')).status, 204)
  assert.equal((await report(service, logoutRequest(ticket))).status, 204)
  assert.equal((await logouts(service)).length, 1)
})

test('with single-logout a sign-out here leads on to the logout page of the CAS server (D30.7)', async t => {
  const { service, cas, browser } = await startWithCas(t, { 'service.auth.cas.single-logout': 'on' })
  const someone = browser()
  await someone.leave()
  await someone.step(`?ticket=${cas.issue('anna')}`)
  const page = await someone.ask('auth/logout', {
    method: 'POST',
    headers: { accept: 'text/html,application/xhtml+xml' },
  })
  assert.equal(page.status, 200, page.text)
  const back = encodeURIComponent(`${service.base}auth/login`)
  assert.ok(page.text.includes(`/logout?service=${back}`), page.text)
  assert.equal(await someone.whoAmI(), 'guest')
  const admin = await service.admin()
  const left = await admin.ask('auth/logout', { headers: { accept: 'text/html,application/xhtml+xml' } })
  assert.deepEqual([left.status, left.headers.location?.endsWith('auth/login')], [303, true])
})
