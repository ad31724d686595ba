import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validationRequest } from '../../src/features/cas/ticket.ts'
import { startWithCas } from '../support/cas-service.ts'
import { TICK } from '../support/token-store.ts'

const JSON_PLEASE = { accept: 'application/json' }

test("an attacker's ticket opened in another browser is dropped, and the login begins anew (D9.5)", async t => {
  const { service, cas, browser } = await startWithCas(t)
  const attacker = browser()
  await attacker.leave()
  const ticket = cas.issue('eve')

  const victim = browser()
  const first = await victim.step(`?ticket=${ticket}`)
  assert.equal(first.headers.location, `${service.base}auth/cas?again`)
  assert.equal(cas.asked.length, 0)
  assert.equal(victim.cookie, undefined)
  const second = await victim.step('?again')
  assert.equal(new URL(second.headers.location ?? '').pathname, '/cas/login')
  const third = await victim.step(`?ticket=${cas.issue('anna')}`)
  assert.equal(third.status, 200)
  assert.equal(await victim.whoAmI(), 'anna')
})

test('a browser without cookies gets an error instead of a redirect loop (D9.1)', async t => {
  const { cas, browser } = await startWithCas(t)
  const someone = browser()
  someone.keepsCookies = false
  await someone.leave()
  const back = await someone.step(`?ticket=${cas.issue('anna')}`)
  assert.match(back.headers.location ?? '', /auth\/cas\?again$/)
  const end = await someone.step('?again', JSON_PLEASE)
  assert.equal(end.status, 401)
  assert.equal(end.json()['check'], 'login-flow')
  assert.equal(end.headers.location, undefined)
  assert.equal(cas.asked.length, 0)
})

test('the cookie of the flow is Lax, HttpOnly, short-lived and cleared when the login ends', async t => {
  const { cas, browser } = await startWithCas(t)
  const someone = browser()
  const away = await someone.step()
  const [set, ...others] = away.headers['set-cookie'] ?? []
  assert.deepEqual(others, [])
  assert.match(
    set ?? '',
    /^stowage_cas=[\w-]{43}; Max-Age=900; Expires=[^;]+ GMT; Path=\/; SameSite=Lax; HttpOnly; Secure$/,
  )
  const back = await someone.step(`?ticket=${cas.issue('anna')}`)
  assert.deepEqual(
    back.headers['set-cookie']?.map(line => /^(\w+)=(.*?);/.exec(line)?.slice(1, 2)[0]),
    ['stowage_cas', 'auth_token'],
  )
  assert.match(
    back.headers['set-cookie']?.[0] ?? '',
    /^stowage_cas=; Max-Age=0; Expires=[^;]+ GMT; Path=\/; SameSite=Lax; HttpOnly; Secure$/,
  )
})

test('logout removes the cookie of a login in progress as well, which is over then', async t => {
  const { cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.leave()
  const out = await someone.ask('auth/logout', { headers: { cookie: `stowage_cas=${someone.flow}` } })
  assert.deepEqual(
    out.headers['set-cookie']?.map(line => /^(\w+)=; Max-Age=0;/.exec(line)?.[1]),
    ['auth_token', 'stowage_cas'],
  )
  const back = await someone.step(`?ticket=${cas.issue('anna')}`)
  assert.match(back.headers.location ?? '', /auth\/cas\?again$/)
})

test('behind https the cookie of the flow has the name that no other host of the domain can set', async t => {
  const { browser } = await startWithCas(t, {
    'service.baseurl.folder': 'https://h.example/store/',
    'service.auth.cookie.secure': 'off',
  })
  const set = (await browser().step()).headers['set-cookie']?.[0]
  assert.match(
    set ?? '',
    /^__Host-stowage_cas=[\w-]{43}; Max-Age=900; Expires=[^;]+ GMT; Path=\/; SameSite=Lax; HttpOnly; Secure$/,
  )
})

test('two different cookies of a flow count as none', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const [one, two] = [browser(), browser()]
  await one.leave()
  await two.leave()
  const cookie = `stowage_cas=${one.flow}; stowage_cas=${two.flow}`
  const back = await one.step(`?ticket=${cas.issue('anna')}`, { cookie })
  assert.equal(back.headers.location, `${service.base}auth/cas?again`)
  assert.equal(cas.asked.length, 0)
})

test('a flow lives 15 minutes and serves once; afterwards the login begins anew (D8.2)', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const late = browser()
  await late.leave()
  service.system.pass(900_000 - TICK)
  assert.equal((await late.step(`?ticket=${cas.issue('anna')}`)).status, 200)
  const later = browser()
  await later.leave()
  service.system.pass(900_000)
  assert.match((await later.step(`?ticket=${cas.issue('anna')}`)).headers.location ?? '', /\?again$/)
})

test('a used ticket has no flow; with a new flow the CAS server refuses it', async t => {
  const { cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.leave()
  const { flow } = someone
  const ticket = cas.issue('anna')
  assert.equal((await someone.step(`?ticket=${ticket}`)).status, 200)
  const replayed = await someone.step(`?ticket=${ticket}`, { cookie: `stowage_cas=${flow}` })
  assert.match(replayed.headers.location ?? '', /\?again$/)
  assert.equal(cas.asked.length, 1)
  await someone.leave()
  const again = await someone.step(`?ticket=${ticket}`, JSON_PLEASE)
  // The first login came with the cookie of its session, which must not help here.
  assert.deepEqual([again.status, again.json()['check']], [401, 'cas-failure'])
})

test('of parallel returns with one flow and one ticket one is validated', async t => {
  const { cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.leave()
  const headers = { cookie: `stowage_cas=${someone.flow}` }
  const ticket = cas.issue('anna')
  const answers = await Promise.all(Array.from({ length: 10 }, () => someone.step(`?ticket=${ticket}`, headers)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.equal(answers.filter(({ headers }) => headers.location?.endsWith('?again')).length, 9)
  assert.equal(cas.asked.length, 1)
})

test('two ticket parameters are one too many (D9.1)', async t => {
  const { cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.leave()
  const answer = await someone.step(`?ticket=${cas.issue('anna')}&ticket=${cas.issue('eve')}`, JSON_PLEASE)
  assert.deepEqual([answer.status, answer.json()['code']], [400, 'invalid-query'])
  assert.equal(cas.asked.length, 0)
})

const tickets = {
  'with a parameter inside': 'ST-1%26service%3Dhttp://evil.example',
  'with a fragment inside': 'ST-1%23x',
  'with a line break': 'ST-1%0D%0AHost:%20evil',
  'with a path': 'ST-1/../..',
  'with an element': 'ST-1%3C/samlp:AssertionArtifact%3E',
  'of a proxy': 'PT-1-abc',
  'of another kind': 'TGT-1-abc',
  'that is too long': `ST-${'a'.repeat(1025)}`,
  'without content': 'ST-',
  'that is empty': '',
}

test('a malformed ticket is refused without asking the CAS server (D9.1)', async t => {
  const { cas, browser } = await startWithCas(t)
  for (const [what, ticket] of Object.entries(tickets)) {
    const someone = browser()
    await someone.leave()
    const answer = await someone.step(`?ticket=${ticket}`, JSON_PLEASE)
    assert.deepEqual([answer.status, answer.json()['check']], [401, 'ticket'], `a ticket ${what}`)
  }
  assert.equal(cas.asked.length, 0)
})

test('tickets as Shibboleth and Keycloak make them are accepted: long, with underscores', async t => {
  const { cas, browser } = await startWithCas(t)
  const ticket = `ST-${'aZ9_-.'.repeat(60)}`
  cas.tickets.set(ticket, 'anna')
  const someone = browser()
  await someone.leave()
  assert.equal((await someone.step(`?ticket=${ticket}`)).status, 200)
})

test('gateway=true: a browser without a session at the CAS server gets an answer instead of going round (D9.1, D19.10)', async t => {
  const { service, cas, browser } = await startWithCas(t, {
    'service.auth.cas.server.url.login': 'https://cas.example/login?gateway=true',
  })
  const someone = browser()
  const login = await someone.leave()
  assert.equal(login.searchParams.get('gateway'), 'true')
  const back = await someone.step('', JSON_PLEASE)
  assert.deepEqual([back.status, back.json()['check']], [401, 'cas-gateway'])
  // The next login begins anew, and one with a ticket is completed.
  await someone.leave()
  assert.equal((await someone.step(`?ticket=${cas.issue('anna')}`)).status, 200)
  assert.ok(service.base)
})

test('renew=true in the login URL is asked of the validation as well (D9.1)', async () => {
  const asked = { serverUrl: 'https://cas.example/', serviceUrl: 'https://s.example/', ticket: 'ST-1' }
  const rest = { requestId: '_1', issueInstant: '2026-11-21T10:00:00Z' }
  for (const version of ['cas1', 'cas2', 'cas3', 'saml11'] as const) {
    const { url } = validationRequest({ ...asked, ...rest, version, renews: true })
    assert.equal(new URL(url).searchParams.get('renew'), 'true', version)
    const without = validationRequest({ ...asked, ...rest, version, renews: false })
    assert.equal(new URL(without.url).searchParams.get('renew'), null, version)
  }
})
