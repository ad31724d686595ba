import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWithCas } from '../support/cas-service.ts'
import type { Answer } from '../support/http-client.ts'
import { newUser } from '../support/service.ts'

const FAILURE = { 'service.auth.cas.redirect-failure.url': 'https://app.example/failed?from=cas#top' }

/** The check that a redirect to the failure URL names. */
function checkOf({ status, headers }: Answer): string | null {
  assert.equal(status, 303)
  const url = new URL(headers.location ?? '')
  assert.match(url.href, /^https:\/\/app\.example\/failed\?from=cas&error=[a-z-]+&correlation=[0-9a-f]{10}#top$/)
  return url.searchParams.get('error')
}

const disguises = [
  'admin',
  'ADMIN',
  ' admin ',
  'ａｄｍｉｎ',
  'adm\u200Bin',
  '\uFEFFAdmin',
  'ad\u00ADmin',
  'ＡＤＭＩＮ\u2060',
  'guest',
]

for (const version of ['cas1', 'cas2', 'cas3', 'saml11']) {
  test(`admin gets in by ${version} under no disguise (I5.4, D9.2, D9.6)`, async t => {
    const { cas, browser } = await startWithCas(t, { ...FAILURE, 'service.auth.cas.version': version })
    for (const name of disguises) {
      const someone = browser()
      const answer = await someone.signInBy(cas, name)
      assert.equal(checkOf(answer), 'reserved-user', JSON.stringify(name))
      assert.equal(await someone.whoAmI(), 'guest')
    }
  })
}

test('a name is matched in the form that names have (D1.7)', async t => {
  const { service, cas, browser } = await startWithCas(t, { 'service.auth.cas.user-auto-provisioning': 'off' })
  const { name, visitor } = await newUser(service, await service.admin())
  const someone = browser()
  await someone.signInBy(cas, ` ${name.toUpperCase()} `)
  assert.equal(await someone.whoAmI(), name)
  assert.equal((await visitor.get('auth/tokens')).status, 200)
})

for (const version of ['cas1', 'cas2', 'cas3', 'saml11']) {
  test(`a name that only normalisation makes equal to that of a user is refused by ${version} (D1.7)`, async t => {
    const { service, cas, browser } = await startWithCas(t, { ...FAILURE, 'service.auth.cas.version': version })
    const { name } = await newUser(service, await service.admin())
    const wide = String.fromCodePoint(name.charCodeAt(0) + 0xfee0) + name.slice(1)
    for (const disguise of [`${name}\u200B`, `${name}\u00A0`, `\uFEFF${name}`, wide]) {
      const someone = browser()
      assert.equal(checkOf(await someone.signInBy(cas, disguise)), 'name', JSON.stringify(disguise))
      assert.equal(await someone.whoAmI(), 'guest')
    }
  })
}

test('names that no user can have are refused', async t => {
  const { cas, browser } = await startWithCas(t, FAILURE)
  for (const name of ['a\nb', 'x'.repeat(256), '\u200B', 'a\u2028b']) {
    assert.equal(checkOf(await browser().signInBy(cas, name)), 'name', JSON.stringify(name))
  }
})

test('unknown users are made when that is on, and refused when it is off', async t => {
  const service = await startWithCas(t, FAILURE)
  const first = service.browser()
  await first.signInBy(service.cas, 'Anna@Uni.Example')
  assert.equal(await first.whoAmI(), 'anna@uni.example')
  const id = (await first.get('auth/user')).json()['id']
  const second = service.browser()
  await second.signInBy(service.cas, 'anna@uni.example')
  assert.equal((await second.get('auth/user')).json()['id'], id)

  const off = await startWithCas(t, { ...FAILURE, 'service.auth.cas.user-auto-provisioning': 'off' })
  const stranger = off.browser()
  assert.equal(checkOf(await stranger.signInBy(off.cas, 'anna')), 'unknown-user')
  assert.equal(await stranger.whoAmI(), 'guest')
})

test('the name of a group is nobody', async t => {
  const { service, cas, browser } = await startWithCas(t, FAILURE)
  const admin = await service.admin()
  const group = await admin.post('_principals?graphtype=group', { resource: { name: 'editors' } })
  assert.equal(group.status, 201, group.text)
  for (const name of ['editors', 'EDITORS']) {
    const someone = browser()
    assert.equal(checkOf(await someone.signInBy(cas, name)), 'unknown-user', name)
    assert.equal(await someone.whoAmI(), 'guest')
  }
})

test('a disabled user is refused, also with a login under way', async t => {
  const { service, cas, browser } = await startWithCas(t, FAILURE)
  const admin = await service.admin()
  const { id, name } = await newUser(service, admin)
  const someone = browser()
  await someone.leave()
  assert.equal((await admin.put(`_principals/resource/${id}`, { disabled: true })).status, 204)
  assert.equal(checkOf(await someone.step(`?ticket=${cas.issue(name)}`)), 'account-disabled')
  assert.equal(await someone.whoAmI(), 'guest')
})

test('of many first logins at once all succeed and one user is made', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const browsers = Array.from({ length: 12 }, browser)
  for (const one of browsers) await one.leave()
  const answers = await Promise.all(browsers.map(one => one.step(`?ticket=${cas.issue('anna')}`)))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const ids = await Promise.all(browsers.map(async one => (await one.get('auth/user')).json()['id']))
  assert.equal(new Set(ids).size, 1)
  const { events } = (await (await service.admin()).get('management/audit?user=anna')).json<{
    events: Array<{ event: string }>
  }>()
  assert.equal(events.filter(({ event }) => event === 'user-created').length, 1)
})

test('a sign-on is as recent as the authentication at the CAS server that it states; an unknown time is not recent (D28.6)', async t => {
  const { service, cas, browser } = await startWithCas(t, { 'service.auth.step-up': 'all' })
  const at = (age: number): string => new Date(service.system.now() - age).toISOString()
  for (const [stated, status] of [
    [[at(60_000)], 201],
    [[at(60_000).replace('Z', '+00:00[Europe/London]')], 201],
    [[at(-3_600_000)], 201],
    [[at(600_000)], 403],
    [[at(60_000), at(600_000)], 403],
    [[at(60_000), 'recently'], 403],
    [[at(60_000).replace('Z', '')], 403],
    [[], 403],
  ] as const) {
    cas.attributes.set('anna', { authenticationDate: stated })
    const someone = browser()
    await someone.signInBy(cas, 'anna')
    const answer = await someone.post('auth/access-tokens', { name: 'x', expires: at(-86_400_000), scopes: ['read'] })
    assert.equal(answer.status, status, `${stated.join()} ${answer.text}`)
  }
})
