import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aggregateXml, entityXml, signFederation } from '../support/federation.ts'
import { startWithFederation } from '../support/federation-service.ts'

const zurich = 'https://idp.zurich.example/idp?a=1&b=2'
const list = [
  entityXml({
    entityId: zurich.replace('&', '&amp;'),
    names: { en: 'University of Zurich', de: 'Universität Zürich', fr: 'Université &lt;b>' },
    keywords: 'Irchel',
    scopes: ['zurich.example'],
    sso: 'https://idp.zurich.example/sso',
  }),
  entityXml({ entityId: 'https://b.example/idp', names: { sv: 'Högskolan B' }, scopes: ['b.example'] }),
  entityXml({
    entityId: 'https://hidden.example/idp',
    names: { en: 'Hidden University' },
    scopes: ['hidden.example'],
    categories: ['http://refeds.org/category/hide-from-discovery'],
  }),
  ...Array.from({ length: 60 }, (_, at) =>
    entityXml({ entityId: `https://c${at}.example/`, names: { en: `College ${at}` }, scopes: [`c${at}.example`] }),
  ),
]
const answer = () => signFederation(aggregateXml(list))

/** The names that the page offers, in order. */
const offered = (page: string): string[] =>
  [...page.matchAll(/<a class="button quiet wide"[^>]*><span[^>]*>([^<]*)/g)].map(one => one[1] ?? '')
const linkTo = (page: string, name: string): string =>
  (new RegExp(`href="([^"]*)"><span[^>]*>${name}`).exec(page)?.[1] ?? '').replaceAll('&#38;', '&')

test('users find their organisation by words, in their language, without a script, and the choice is remembered (D31.3)', async t => {
  const { browser, service } = await startWithFederation(t, { answer })
  const visitor = browser()
  const from = `auth/saml?successurl=${encodeURIComponent(`${service.base}ui/`)}`
  const start = await visitor.ask(from)
  assert.equal(start.status, 303)
  const page = start.headers.location ?? ''
  assert.ok(page.startsWith(`${service.base}auth/saml/discovery?`), page)
  const ask = async (query: string, language = 'en') => {
    const url = new URL(page)
    url.searchParams.set('q', query)
    return (await visitor.ask(url.href.slice(service.base.length), { headers: { 'accept-language': language } })).text
  }
  assert.deepEqual(offered((await visitor.ask(page.slice(service.base.length))).text), [], 'nothing before a search')
  assert.deepEqual(offered(await ask('zürich')), ['University of Zurich'])
  assert.deepEqual(offered(await ask('ZURICH', 'de-CH,en')), ['Universität Zürich'])
  assert.deepEqual(offered(await ask('irchel', 'it')), ['University of Zurich'], 'by a keyword')
  assert.deepEqual(offered(await ask('b.exam')), ['Högskolan B'], 'by a domain')
  assert.match(await ask('zurich', 'fr'), /<span lang="fr">Université &#60;b&#62;<\/span>/)
  assert.deepEqual(offered(await ask('hidden')), [])
  assert.match(await ask('nowhere'), /No organisation was found/)
  assert.match(await ask('nirgends', 'de'), /Keine Organisation gefunden/)
  assert.match(await ask('"><script>'), /value="&#34;&#62;&#60;script&#62;"/)
  const many = await ask('college')
  assert.equal(offered(many).length, 50)
  assert.match(many, /The first 50 organisations/)
  assert.equal(offered(await ask('college 7'))[0], 'College 7', 'the name that begins so comes first')
  assert.doesNotMatch(many, /<script/)

  const leaving = await visitor.ask(linkTo(await ask('zurich'), 'University of Zurich').slice(service.base.length))
  assert.equal(leaving.status, 303)
  assert.match(leaving.headers.location ?? '', /^https:\/\/idp\.zurich\.example\/sso\?SAMLRequest=/)
  assert.match(
    leaving.headers['set-cookie']?.[0] ?? '',
    /^stowage_idp=[\w-]+; Max-Age=31536000; Expires=[^;]+ GMT; Path=\/; SameSite=Lax; HttpOnly; Secure$/,
  )
  const cookie = leaving.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const again = await visitor.ask(page.slice(service.base.length), { headers: { cookie } })
  assert.deepEqual(offered(again.text), ['University of Zurich'], 'the last choice')
  assert.match(again.text, /Your last choice/)
})

test('the discovery page answers passive requests at once, and leads to the sign-on of this service only (D31.3)', async t => {
  const { browser, service } = await startWithFederation(t, { answer })
  const visitor = browser()
  const back = `${service.base}auth/saml?idp=fed&discovered=true`
  const ask = async (query: Record<string, string>, headers: Record<string, string> = {}) =>
    await visitor.ask(`auth/saml/discovery?${new URLSearchParams({ idp: 'fed', ...query }).toString()}`, { headers })
  const passive = { return: back, isPassive: 'true' }
  assert.equal((await ask(passive)).headers.location, back)
  const gone = await visitor.ask(`auth/saml?idp=fed&entityID=${encodeURIComponent(zurich)}`)
  const cookie = gone.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
  const chosen = new URL((await ask({ ...passive, returnIDParam: 'who' }, { cookie })).headers.location ?? '')
  assert.equal(chosen.searchParams.get('who'), zurich)
  for (const elsewhere of [
    'https://evil.example/auth/saml',
    `${service.base}auth/saml/../logout`,
    `${service.base}auth/saml#x`,
    `${service.base}auth/logout`,
    service.base.replace('://', '://evil@'),
    'javascript:alert(1)',
    '',
  ]) {
    const refused = await ask({ return: elsewhere, isPassive: 'true' })
    assert.equal(refused.status, 400, elsewhere)
  }
  assert.equal((await visitor.ask('auth/saml/discovery?idp=nobody')).status, 400)
})

test('an outside discovery service is asked by the protocol, and one that returns no choice is not asked for ever (D31.3)', async t => {
  const { browser, service } = await startWithFederation(t, {
    answer,
    settings: {
      'service.auth.saml.idp.fed.discovery-url': 'https://ds.example/wayf?x=1',
      'service.auth.saml.redirect-failure.url': 'https://app.example/sorry',
    },
  })
  const start = await browser().ask(`auth/saml?idp=fed&successurl=${encodeURIComponent(`${service.base}ui/`)}`)
  const url = new URL(start.headers.location ?? '')
  assert.equal(`${url.origin}${url.pathname}`, 'https://ds.example/wayf')
  assert.equal(url.searchParams.get('x'), '1')
  assert.equal(url.searchParams.get('entityID'), 'urn:stowage')
  assert.equal(url.searchParams.get('returnIDParam'), 'entityID')
  const back = new URL(url.searchParams.get('return') ?? '')
  assert.equal(back.href.split('?')[0], `${service.base}auth/saml`)
  assert.equal(back.searchParams.get('successurl'), `${service.base}ui/`)
  const path = back.href.slice(service.base.length)
  assert.match((await browser().ask(path)).headers.location ?? '', /sorry\?error=discovery/)
  const chosen = await browser().ask(`${path}&entityID=${encodeURIComponent(zurich)}`)
  assert.match(chosen.headers.location ?? '', /^https:\/\/idp\.zurich\.example\/sso/)
})

test('an e-mail address whose domain is the scope of one provider leads straight there (D31.3)', async t => {
  const { browser, service } = await startWithFederation(t, { answer })
  const leave = async (username: string) =>
    (await browser().ask(`auth/saml?username=${encodeURIComponent(username)}`)).headers.location ?? ''
  assert.match(await leave('anna@ZURICH.example'), /^https:\/\/idp\.zurich\.example\/sso/)
  assert.ok((await leave('anna@nowhere.example')).startsWith(`${service.base}auth/saml/discovery?`))
})

test('the metadata of this service declare where discovery services return to (D31.5)', async t => {
  const { browser, service } = await startWithFederation(t, {
    answer,
  })
  const { text } = await browser().ask('auth/saml/metadata?idp=fed')
  const place = /<idpdisc:DiscoveryResponse [^>]*Location="([^"]*)"/.exec(text)?.[1]
  assert.equal(place, `${service.base}auth/saml`)
  assert.doesNotMatch(text, /NameIDFormat/)
})
