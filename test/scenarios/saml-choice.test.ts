import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWithSaml } from '../support/saml-service.ts'

const domains = {
  'service.auth.saml.idp.a.domains.1': 'a.example',
  'service.auth.saml.idp.a.domains.2': 'xn--mller-kva.example',
  'service.auth.saml.idp.b.domains.1': 'b.example',
}

test('the provider is the one named, else that of the domain, else the default (D8.1)', async t => {
  const { browser } = await startWithSaml(t, domains, ['c', 'a', 'b'])
  const chosen = async (query: string) => new URL((await browser().leave(query)).acsUrl).searchParams.get('idp')
  const table: ReadonlyArray<readonly [query: string, idp: string]> = [
    ['?idp=a', 'a'],
    ['?idp=b&username=anna@a.example', 'b'],
    ['?username=anna@a.example', 'a'],
    ['?username=anna@b.example', 'b'],
    ['?username=Anna@B.EXAMPLE', 'b'],
    ['?username=anna@m%C3%BCller.example', 'a'],
    ['?username=anna@sub.a.example', 'c'],
    ['?username=anna@b.example@a.example', 'a'],
    ['?username=anna', 'c'],
    ['?username=a.example', 'a'],
    ['?username=', 'c'],
    ['', 'c'],
  ]
  for (const [query, idp] of table) {
    assert.equal(await chosen(query), idp, query)
  }
})

test('without a default provider a request that names none is 400, as is one that names an unknown one (D8.1)', async t => {
  const { browser, idps } = await startWithSaml(t, { ...domains, 'service.auth.saml.default-idp': '' }, ['a', 'b'])
  for (const query of [
    '',
    '?username=anna',
    '?username=x@c.example',
    '?idp=x',
    '?idp=',
    '?idp=A',
    '?idp=x&username=anna@a.example',
    '?idp=__proto__',
  ]) {
    const answer = await browser().ask(`auth/saml${query}`, { headers: { accept: 'application/json' } })
    assert.deepEqual([answer.status, answer.json()['code']], [400, 'unknown-idp'], query)
  }
  const posted = await browser().bring({ SAMLResponse: 'eA==' }, '?idp=x', { accept: 'application/json' })
  assert.deepEqual([posted.status, posted.json()['code']], [400, 'unknown-idp'])
  assert.deepEqual(
    idps.map(idp => idp.asked()),
    [0, 0],
    'nobody was asked anything',
  )
})

const whitelist = { 'service.auth.saml.redirect-domain-whitelist.1': 'app.example' }

test('a login leads to the success URL that it was begun with, else to the configured one (D8.5, D8.7)', async t => {
  const { browser, service } = await startWithSaml(t, {
    ...whitelist,
    'service.auth.saml.redirect-success.url': 'https://anywhere.example/start?x=1#top',
  })
  const table: ReadonlyArray<readonly [string, string]> = [
    ['', 'https://anywhere.example/start?x=1#top'],
    ['?successurl=https://app.example/a?b%3D1%26c%23d', 'https://app.example/a?b=1&c#d'],
    ['?successurl=http://APP.example:8443/', 'http://app.example:8443/'],
    [`?successurl=${encodeURIComponent(service.base)}x`, `${service.base}x`],
  ]
  for (const [at, [query, location]] of table.entries()) {
    const someone = browser()
    const answer = await someone.signInBy('anna@a.example', query, { assertionId: `_${at}` })
    assert.equal(answer.status, 303, answer.text)
    assert.equal(answer.headers.location, location)
    assert.equal(await someone.whoAmI(), 'anna@a.example')
  }
})

test('no redirect goes to other hosts, and a bad address starts no login (D8.7)', async t => {
  const { browser, idp } = await startWithSaml(t, whitelist)
  for (const name of ['successurl', 'failureurl']) {
    for (const url of [
      'https://evil.example/',
      'javascript:alert(1)',
      '//app.example',
      '/x',
      'https://app.example.evil/',
    ]) {
      const query = `?${name}=${encodeURIComponent(url)}`
      const answer = await browser().ask(`auth/saml${query}`, { headers: { accept: 'application/json' } })
      assert.deepEqual([answer.status, answer.json()['code']], [400, 'invalid-redirect'], query)
    }
  }
  assert.equal(idp.asked(), 0)
})

test('a failure leads to the failure URL, with the check and a word to quote (D8.5)', async t => {
  const { browser, service } = await startWithSaml(t, {
    ...whitelist,
    'service.auth.saml.redirect-failure.url': 'https://anywhere.example/sorry?x=1#top',
  })
  const failing = { edit: (xml: string) => xml.replaceAll('urn:stowage', 'urn:other') }
  const byDefault = await browser().signInBy('anna@a.example', '', failing)
  assert.equal(byDefault.status, 303)
  assert.match(
    byDefault.headers.location ?? '',
    /^https:\/\/anywhere\.example\/sorry\?x=1&error=audience&correlation=[0-9a-f]{10}#top$/,
  )
  assert.equal(byDefault.headers['set-cookie'], undefined)
  const own = await browser().signInBy('anna@a.example', '?failureurl=https://app.example/f', failing)
  const [, correlation] =
    /^https:\/\/app\.example\/f\?error=audience&correlation=(\w+)$/.exec(own.headers.location ?? '') ?? []
  const over = await browser().bring({ SAMLResponse: 'eA==', RelayState: 'unknown' })
  assert.match(over.headers.location ?? '', /^https:\/\/anywhere\.example\/sorry\?x=1&error=relay-state&/)
  const admin = await service.admin()
  const { failures } = (await admin.get('management/sso')).json<{ failures: Array<{ correlation: string }> }>()
  assert.deepEqual(
    failures.map(failure => failure.correlation).filter(word => word === correlation),
    [correlation],
  )
})

test('a page of the service leads on where cookies are strict (D8.5)', async t => {
  const { browser } = await startWithSaml(t, { ...whitelist, 'service.auth.sso.landing': 'page' })
  const someone = browser()
  const answer = await someone.signInBy('anna@a.example', '?successurl=https://app.example/%3Fa%3D1%26b%3D%22')
  assert.equal(answer.status, 200)
  assert.match(answer.text, /http-equiv="refresh" content="0; url=https:\/\/app\.example\/\?a=1&#38;b=%22"/)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
})

test('the answer of a provider is accepted from its page, other posts from elsewhere are not (D2.9)', async t => {
  const { browser } = await startWithSaml(t)
  const someone = browser()
  for (const origin of ['https://idp.example', 'null']) {
    const sent = await someone.leave()
    const form = someone.answerTo(sent, { assertionId: `_${origin.length}` })
    assert.equal((await someone.bring(form, '?idp=a', { origin })).status, 200)
  }
  const login = await someone.ask('auth/cookie', {
    form: { auth_username: 'x', auth_password: 'y' },
    headers: { origin: 'https://idp.example', 'sec-fetch-site': 'cross-site' },
  })
  assert.equal(login.status, 403)
})
