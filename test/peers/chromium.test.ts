import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { findForm, HeadlessBrowser } from '../support/headless-browser.ts'
import { type Listener, listen } from '../support/listener.ts'
import { chromium, startChromium } from '../support/peers/chromium.ts'
import { djangoCas, startDjangoCas } from '../support/peers/django-cas.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }

test('real Chromium signs in at simplesamlphp, whose page posts the response automatically', async t => {
  if (!requirePeer(t, chromium) || !requirePeer(t, simpleSamlPhp)) return
  const service = await listen(t)
  const acs = `${service.origin}/acs`
  const sp = { entityId: 'urn:the-service', acs: [acs] }
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice], serviceProviders: [sp] })
  const sso = idp.metadataUrl.replace('metadata.php', 'SSOService.php')
  const request = `<p:AuthnRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="_1" Version="2.0"
    IssueInstant="${new Date().toISOString()}" AssertionConsumerServiceURL="${acs}"><a:Issuer
    xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${sp.entityId}</a:Issuer></p:AuthnRequest>`
  const SAMLRequest = deflateRawSync(request).toString('base64')

  const page = await (await startChromium(t)).page()
  await page.goto(`${sso}?${new URLSearchParams({ SAMLRequest }).toString()}`)
  await page.fill('[name=username]', alice.name)
  await page.fill('[name=password]', alice.password)
  await page.click('button[type=submit]')
  await page.waitForURL(acs)
  const response = Buffer.from(
    service.heard.find(({ method }) => method === 'POST')?.form['SAMLResponse'] ?? '',
    'base64',
  )
  assert.match(response.toString(), />alice@example\.org</)
})

test('real Chromium signs in at CAS, and contacts no other machine', async t => {
  if (!requirePeer(t, chromium) || !requirePeer(t, djangoCas)) return
  const log = join(await temporaryFolder(), 'net-log.json')
  const service = await listen(t)
  const cas = await startDjangoCas(t, { host: 'localhost', users: [alice] })
  const browser = await startChromium(t, [`--log-net-log=${log}`])
  const page = await browser.page()
  await page.goto(`${cas.url}login?service=${encodeURIComponent(`${service.origin}/auth/cas`)}`)
  await page.fill('[name=username]', alice.name)
  await page.fill('[name=password]', alice.password)
  await page.click('button[type=submit]')
  await page.waitForURL(/ticket=ST-/)
  await assert.rejects(page.goto('http://somewhere.example/'), /ERR_CONNECTION_REFUSED/)
  assert.ok((await browser.processes()).length > 0)
  await Promise.all([browser.close(), browser.close()])
  assert.deepEqual(await browser.processes(), [])

  const { hosts, datagrams } = await readNetLog(log)
  assert.deepEqual([...hosts].sort(), ['127.0.0.1', '[::1]'])
  assert.equal(datagrams, 0, 'no name server was asked')
})

interface NetLog {
  readonly constants: { readonly logEventTypes: Readonly<Record<string, number>> }
  readonly events: readonly { readonly type: number; readonly params?: { readonly address?: string } }[]
}

/** Which hosts Chromium tried to connect to, and how many datagrams it sent. */
async function readNetLog(path: string): Promise<{ hosts: readonly string[]; datagrams: number }> {
  const { constants, events } = JSON.parse(await readFile(path, 'utf8')) as NetLog
  const { TCP_CONNECT_ATTEMPT, UDP_BYTES_SENT } = constants.logEventTypes
  assert.ok(TCP_CONNECT_ATTEMPT !== undefined && UDP_BYTES_SENT !== undefined)
  const addresses = events.flatMap(({ type, params }) =>
    type === TCP_CONNECT_ATTEMPT && params?.address !== undefined ? [params.address] : [],
  )
  return {
    hosts: [...new Set(addresses.map(address => address.replace(/:\d+$/, '')))],
    datagrams: events.filter(({ type }) => type === UDP_BYTES_SENT).length,
  }
}

test('the headless browser of the tests sends what Chromium sends when another site posts to the service', async t => {
  if (!requirePeer(t, chromium)) return
  const scene = async (t: TestContext): Promise<{ service: Listener; start: string; other: string }> => {
    const service = await listen(t, ({ url }, response) => {
      const cookies = ['strict=1; SameSite=Strict', 'lax=1; SameSite=Lax', 'none=1; SameSite=None; Secure', 'plain=1']
      if (url.pathname === '/set') response.setHeader('set-cookie', cookies)
      if (url.pathname === '/acs') response.setHeader('location', '/landing').statusCode = 303
      response.setHeader('content-type', 'text/html').end('<link rel="icon" href="data:,">')
    })
    const other = await listen(t, (_, response) =>
      response
        .setHeader('content-type', 'text/html')
        .end(`<link rel="icon" href="data:,"><form method="post" action="${service.origin}/acs">
          <input name="a" value="b"><button>Go</button></form>`),
    )
    return { service, start: `${service.origin}/set`, other: `${other.origin.replace('127.0.0.1', 'localhost')}/` }
  }
  const sent = ({ heard }: Listener) =>
    heard.map(({ method, url, headers, form }) => {
      const names = ['cookie', 'origin', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-user']
      const origin = headers.origin === undefined ? {} : { origin: headers.origin.replace(/:\d+$/, '') }
      return {
        method,
        path: url.pathname,
        form,
        ...Object.fromEntries(names.map(name => [name, headers[name]])),
        ...origin,
      }
    })

  const real = await scene(t)
  const page = await (await startChromium(t)).page()
  await page.goto(real.start)
  await page.goto(real.other)
  await page.click('button')
  await page.waitForURL(/landing/)

  const ours = await scene(t)
  const browser = new HeadlessBrowser()
  await browser.visit(ours.start)
  const foreign = await browser.visit(ours.other)
  const form = findForm(foreign, 'a')
  assert.ok(form)
  await browser.submit(foreign, form)

  assert.deepEqual(sent(ours.service), sent(real.service))
  assert.deepEqual(
    sent(real.service).map(({ path }) => path),
    ['/set', '/acs', '/landing'],
  )
})
