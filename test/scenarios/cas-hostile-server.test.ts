import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { CasProvider } from '../../src/features/cas/provider.ts'
import { startWithCas } from '../support/cas-service.ts'
import { type FakeCas, serviceResponse, startFakeCas } from '../support/fake-cas.ts'
import { FakeSystem } from '../support/fake-system.ts'

type Misbehaviour = NonNullable<FakeCas['misbehave']>

const behaviours: Readonly<Record<string, readonly [check: string, Misbehaviour]>> = {
  'sends on to itself': ['cas-unreachable', (response, { path }) => response.writeHead(302, { location: path }).end()],
  'sends on to a success': [
    'cas-unreachable',
    (response, { path, query }) =>
      path.endsWith('yes')
        ? response.end(serviceResponse('anna'))
        : response.writeHead(307, { location: `/yes?${query.toString()}` }).end(),
  ],
  'answers with a megabyte': [
    'cas-reply-size',
    response => response.end(serviceResponse('anna').replace('\n', ' '.repeat(1_048_576))),
  ],
  'answers with one byte too many': [
    'cas-reply-size',
    response => response.end(serviceResponse('anna').padEnd(65_537, '\n')),
  ],
  'answers 500 with a success': ['cas-unreachable', response => response.writeHead(500).end(serviceResponse('anna'))],
  'answers 201 with a success': ['cas-unreachable', response => response.writeHead(201).end(serviceResponse('anna'))],
  'answers in Latin-1': [
    'cas-unreachable',
    response => response.end(Buffer.from(serviceResponse('j\u00FCrg').replaceAll(/&#\d+;/g, 'ü'), 'latin1')),
  ],
  'breaks off': [
    'cas-unreachable',
    response => {
      response.writeHead(200, { 'content-length': 1000 })
      response.write(serviceResponse('anna'), () => response.destroy())
    },
  ],
  'closes without an answer': ['cas-unreachable', response => response.destroy()],
  'answers with a login page': [
    'cas-reply',
    response => response.end('<!DOCTYPE html><html><body>Sign in</body></html>'),
  ],
  'answers with half a reply': ['cas-reply', response => response.end(serviceResponse('anna').slice(0, -5))],
  'answers with nothing': ['cas-reply', response => response.end()],
  'answers for two': [
    'cas-reply',
    response => response.end(serviceResponse('anna').replace('</cas:user>', '</cas:user><cas:user>eve</cas:user>')),
  ],
}

test('a misbehaving CAS server signs no user in, is asked once, and its users get an error (D9.1, D9.3)', async t => {
  const { service, cas, browser } = await startWithCas(t)
  const failing = await startWithCas(t, { 'service.auth.cas.redirect-failure.url': 'https://app.example/failed' })
  for (const [what, [check, misbehave]] of Object.entries(behaviours)) {
    await t.test(`a server that ${what}: ${check}`, async () => {
      cas.misbehave = misbehave
      const before = cas.asked.length
      const someone = browser()
      await someone.leave()
      const answer = await someone.step(`?ticket=${cas.issue('anna')}`, { accept: 'application/json' })
      const { code, correlation, ...body } = answer.json()
      assert.deepEqual([answer.status, code, body['check']], [401, 'sso-refused', check])
      assert.match(String(correlation), /^[0-9a-f]{10}$/)
      assert.equal(await someone.whoAmI(), 'guest')
      assert.equal(cas.asked.length, before + 1)

      failing.cas.misbehave = misbehave
      const redirected = await failing.browser().signInBy(failing.cas, 'anna')
      assert.match(redirected.headers.location ?? '', new RegExp(`^https://app.example/failed\\?error=${check}&corr`))
    })
  }
  cas.misbehave = undefined
  const someone = browser()
  await someone.signInBy(cas, 'anna')
  assert.equal(await someone.whoAmI(), 'anna')
  assert.ok(service.base)
})

test('the page for a person names the number to quote, and no more (D8.5)', async t => {
  const { cas, browser, service } = await startWithCas(t)
  cas.misbehave = response => response.writeHead(500).end()
  const answer = await browser().signInBy(cas, 'anna')
  assert.equal(answer.status, 401)
  assert.match(answer.headers['content-type'] ?? '', /^text\/html/)
  assert.match(answer.text, /You could not be signed in\. Give this number to your administrator: [0-9a-f]{10}\./)
  // The way back to the service's own login page is on it.
  assert.doesNotMatch(answer.text.replaceAll(service.base, ''), /cas-unreachable|127\.0\.0\.1|status 500|ST-/)
})

const urls = { successUrl: undefined, failureUrl: undefined }
const flow = { ...urls, id: 'f', provider: 'cas', requestId: '_r', expires: 0, network: '192.0.2.1' }

test('a CAS server that hangs is given up after the time limit, and the ticket is not logged (D9.1)', async t => {
  const cas = await startFakeCas(t)
  const { promise: asked, resolve } = promiseOf()
  cas.misbehave = response => {
    response.write('<cas:serviceResponse')
    resolve()
  }
  const provider = new CasProvider(
    {
      name: 'cas',
      version: 'cas2',
      serverUrl: cas.url,
      loginUrl: undefined,
      serviceUrl: () => 'https://store.example/auth/cas',
      verifyTls: true,
      clockSkew: 0,
      maxBytes: 65_536,
      timeout: 2000,
    },
    { system: new FakeSystem() },
  )
  const finishing = provider.finish(flow, 'ST-secret')
  const rejected = assert.rejects(finishing, (error: unknown) => {
    assert.ok(error instanceof SsoRefused)
    assert.equal(error.failed.check, 'cas-unreachable')
    assert.equal(error.failed.received, `${cas.url}serviceValidate: no complete answer within 2000 ms`)
    return true
  })
  await Promise.all([asked, rejected])
  await assert.rejects(provider.finish({ ...flow, provider: 'saml' }, 'ST-1'), /login-flow/)
})

function promiseOf(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>(done => (resolve = done))
  return { promise, resolve }
}
