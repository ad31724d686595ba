import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWithCas } from '../support/cas-service.ts'
import { TICK } from '../support/token-store.ts'

const versions = { cas1: 'validate', cas2: 'serviceValidate', cas3: 'p3/serviceValidate', saml11: 'samlValidate' }

for (const [version, path] of Object.entries(versions)) {
  test(`a login by ${version}: away, back with a ticket, validated once, signed in (D9.1)`, async t => {
    const { service, cas, browser } = await startWithCas(t, { 'service.auth.cas.version': version })
    const someone = browser()
    const away = await someone.leave()
    assert.equal(away.href, `${cas.url}login?service=${encodeURIComponent(`${service.base}auth/cas`)}`)

    const ticket = cas.issue('anna')
    const back = await someone.step(`?ticket=${ticket}`)
    assert.equal(back.status, 200, back.text)
    assert.match(back.text, /signed in as <strong>anna</)
    assert.equal(await someone.whoAmI(), 'anna')
    assert.equal(cas.asked.length, 1)
    const [asked] = cas.asked
    assert.equal(asked?.path, `/cas/${path}`)
    assert.equal(asked?.query.get(version === 'saml11' ? 'TARGET' : 'service'), `${service.base}auth/cas`)
    if (version === 'saml11') assert.match(asked?.body ?? '', new RegExp(`<samlp:AssertionArtifact>${ticket}<`))
    else assert.equal(asked?.query.get('ticket'), ticket)

    const refused = await browser().step('?ticket=ST-unknown')
    assert.equal(refused.headers.location, `${service.base}auth/cas?again`)
    const other = browser()
    await other.leave()
    const unknown = await other.step('?ticket=ST-unknown', { accept: 'application/json' })
    assert.equal(unknown.status, 401)
    assert.deepEqual(
      [unknown.json()['code'], unknown.json()['check'], other.cookie],
      ['sso-refused', 'cas-failure', undefined],
    )
  })
}

test('programs get their user, browsers are redirected to the success URL (D9.3)', async t => {
  const { service, cas, browser } = await startWithCas(t, {
    'service.auth.cas.redirect-success.url': 'https://app.example/start?x=1#top',
  })
  const someone = browser()
  const answer = await someone.signInBy(cas, 'anna')
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, 'https://app.example/start?x=1#top')
  assert.equal(await someone.whoAmI(), 'anna')

  const plain = await startWithCas(t)
  const program = plain.browser()
  await program.leave()
  const response = await program.step(`?ticket=${plain.cas.issue('anna')}`, { accept: 'application/json' })
  assert.equal(response.json()['user'], 'anna')
  assert.ok(service.base)
})

test('the login is on record with its mechanism, and logout ends it', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const someone = browser()
  await someone.signInBy(cas, 'anna')
  const admin = await service.admin()
  const { events } = (await admin.get('management/audit?user=anna')).json<{ events: Array<Record<string, unknown>> }>()
  assert.deepEqual(
    events.map(({ event, detail }) => [event, detail]),
    [
      ['login', { mechanism: 'cas' }],
      ['user-created', {}],
    ],
  )
  await someone.get('auth/logout')
  assert.equal(await someone.whoAmI(), 'guest')
})

test('a login URL of its own is used as it is, with the service added (I5.4)', async t => {
  const { service, browser } = await startWithCas(t, {
    'service.auth.cas.server.url.login': 'https://login.example/cas?renew=true&x=%20',
  })
  const away = await browser().leave()
  assert.equal(
    away.href,
    `https://login.example/cas?renew=true&x=%20&service=${encodeURIComponent(`${service.base}auth/cas`)}`,
  )
})

test('the service URL is the configured one, whatever the Host header (D9.1)', async t => {
  const { cas, browser } = await startWithCas(t, { 'service.baseurl.folder': 'http://127.0.0.1:1/store/' })
  const evil = { host: 'evil.example', 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
  const service = 'http://127.0.0.1:1/store/auth/cas'
  const someone = browser()
  const away = await someone.step('', evil)
  assert.equal(new URL(away.headers.location ?? '').searchParams.get('service'), service)
  const back = await someone.step(`?ticket=${cas.issue('anna')}`, evil)
  assert.equal(back.status, 200)
  assert.equal(cas.asked[0]?.query.get('service'), service)
  assert.doesNotMatch(back.text, /evil/)
  const again = await browser().step('?ticket=ST-1', evil)
  assert.equal(again.headers.location, `${service}?again`)
})

test('without CAS there is nothing at its address', async t => {
  const { browser } = await startWithCas(t, { 'service.auth.cas': 'off' })
  assert.equal((await browser().step()).status, 404)
})

const lives: ReadonlyArray<readonly [cookie: string, cas: string | undefined, maxAge: string | undefined]> = [
  ['1000', undefined, '1000'],
  ['1000', '500', '500'],
  ['1000', '5000', '5000'],
  ['1000', '-1', undefined],
  ['-1', '700', '700'],
  ['-1', undefined, undefined],
]

for (const [cookie, own, maxAge] of lives) {
  test(`a cookie life of ${cookie} and a CAS life of ${own ?? 'nothing'} make Max-Age ${maxAge ?? 'absent'} (I5.4)`, async t => {
    const { service, cas, browser } = await startWithCas(t, {
      'service.auth.cookie.max-age': cookie,
      'service.auth.cookie.refresh-expiration-on-access': 'off',
      ...(own === undefined ? {} : { 'service.auth.cas.max-age': own }),
    })
    const someone = browser()
    const answer = await someone.signInBy(cas, 'anna')
    const set = answer.headers['set-cookie']?.find(line => line.startsWith('auth_token='))
    assert.equal(/Max-Age=(\d+)/.exec(set ?? '')?.[1], maxAge)
    assert.match(set ?? '', /; Path=\/; SameSite=Strict; HttpOnly; Secure$/)

    const life = Number(maxAge ?? 86_400) * 1000
    service.system.pass(life - TICK)
    assert.equal(await someone.whoAmI(), 'anna')
    service.system.pass(TICK)
    assert.equal(await someone.whoAmI(), 'guest')
  })
}
