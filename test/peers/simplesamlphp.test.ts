import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomUUID, sign } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { findForm, HeadlessBrowser, type Page } from '../support/headless-browser.ts'
import { loginAtSimpleSaml, responseFromSimpleSaml } from '../support/headless-login.ts'
import { ask } from '../support/http-client.ts'
import { listen } from '../support/listener.ts'
import { processesOf } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { type ServiceProvider, simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }
const ghost = { name: 'ghost', password: 'boo' }
const relayState = 'r%20=&"ö'

test('simplesamlphp signs users in for a service', async t => {
  if (!requirePeer(t, simpleSamlPhp)) return
  const service = await listen(t)
  const acs = `${service.origin}/acs?idp=a`
  const sp: ServiceProvider = { entityId: 'urn:the-service', acs: [acs] }
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice, ghost], serviceProviders: [sp] })
  const sso = idp.metadataUrl.replace('metadata.php', 'SSOService.php')

  const request = (id: string): string =>
    `<p:AuthnRequest xmlns:p="urn:oasis:names:tc:SAML:2.0:protocol" ID="${id}" Version="2.0" Destination="${sso}"
      IssueInstant="${new Date().toISOString()}" AssertionConsumerServiceURL="${acs.replace('&', '&amp;')}"><a:Issuer
      xmlns:a="urn:oasis:names:tc:SAML:2.0:assertion">${sp.entityId}</a:Issuer></p:AuthnRequest>`
  const redirect = (id = `_${randomUUID()}`, add: (query: string) => string = query => query): string => {
    const SAMLRequest = deflateRawSync(request(id)).toString('base64')
    return `${sso}?${add(new URLSearchParams({ SAMLRequest, RelayState: relayState }).toString())}`
  }
  const responseIn = (page: Page): string => {
    const form = findForm(page, 'SAMLResponse')
    assert.ok(form, page.answer.text)
    return Buffer.from(form.fields['SAMLResponse'] ?? '', 'base64').toString()
  }

  await t.test('its metadata has its own address as the entity id', async () => {
    const { status, text } = await ask(idp.metadataUrl)
    assert.equal(status, 200)
    assert.equal(new URL(idp.metadataUrl).hostname, 'localhost')
    assert.match(text, new RegExp(`entityID="${idp.entityId.replaceAll('.', '\\.')}"`))
    for (const binding of ['Redirect', 'POST'])
      assert.ok(text.includes(`bindings:HTTP-${binding}" Location="${sso}"`), binding)
  })

  await t.test('a request by redirect ends with a response posted to the service', async () => {
    const browser = new HeadlessBrowser()
    const page = await loginAtSimpleSaml(redirect('_the-request'), { ...alice, browser })
    assert.equal(page.url, acs)
    assert.deepEqual(page.trail.map(step => step.method).slice(-2), ['POST', 'POST'])
    const heard = service.heard.at(-1)
    assert.equal(heard?.headers['sec-fetch-site'], 'cross-site')
    assert.equal(heard?.form['RelayState'], relayState)
    const xml = Buffer.from(heard?.form['SAMLResponse'] ?? '', 'base64').toString()
    assert.match(xml, /InResponseTo="_the-request"/)
    assert.match(xml, /nameid-format:emailAddress"[^>]*>alice@example\.org</)
    assert.match(xml, /status:Success/)

    const again = await loginAtSimpleSaml(redirect(), { ...ghost, browser })
    assert.equal(again.url, acs, 'the session at the provider goes on, nobody is asked for a password')
    assert.match(responseIn(await responseFromSimpleSaml(redirect(), { ...ghost, browser })), />alice@example\.org</)
  })

  await t.test('a request by POST, as a page of the service would send it, works in the same way', async t => {
    const SAMLRequest = Buffer.from(request('_posted')).toString('base64')
    const start = await listen(t, (_, response) =>
      response.end(`<form method="post" action="${sso}"><input name="SAMLRequest" value="${SAMLRequest}"></form>`),
    )
    const page = await loginAtSimpleSaml(start.origin, alice)
    assert.equal(page.url, acs)
    assert.match(Buffer.from(service.heard.at(-1)?.form['SAMLResponse'] ?? '', 'base64').toString(), /"_posted"/)
  })

  await t.test('after a wrong password the user stays at the provider', async () => {
    const before = service.heard.length
    const page = await loginAtSimpleSaml(redirect(), { ...alice, password: 'wrong' })
    assert.equal(new URL(page.url).origin, new URL(sso).origin)
    assert.match(page.answer.text, /Incorrect username or password/i)
    assert.equal(service.heard.length, before)
  })

  await t.test('a user without an e-mail address gets a transient NameID', async () => {
    const xml = responseIn(await responseFromSimpleSaml(redirect(), ghost))
    assert.match(xml, /<saml:NameID [^>]*nameid-format:transient"[^>]*>_[0-9a-f]+</)
  })

  await t.test('it signs what its configuration says', async () => {
    const signed = async (what: ServiceProvider['signed']): Promise<string[]> => {
      await idp.trust([{ ...sp, ...(what ? { signed: what } : {}) }])
      const xml = responseIn(await responseFromSimpleSaml(redirect(), alice))
      const id = (name: string): string | undefined => new RegExp(`<saml[p]?:${name} [^>]*ID="([^"]+)"`).exec(xml)?.[1]
      return ['Response', 'Assertion'].filter(name => xml.includes(`<ds:Reference URI="#${id(name)}"`))
    }
    assert.deepEqual(await signed('both'), ['Response', 'Assertion'])
    assert.deepEqual(await signed('response'), ['Response'])
    assert.deepEqual(await signed('nothing'), [])
    assert.deepEqual(await signed(undefined), ['Assertion'])
  })

  await t.test(
    'it encrypts with the certificate of the service, and rejects requests without the signature of the service',
    async t => {
      const folder = await temporaryFolder()
      const [keyFile, certFile] = [join(folder, 'sp.pem'), join(folder, 'sp.crt')]
      const parameters = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=sp.test']
      execFileSync('openssl', [...parameters, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
      const [key, certificate] = [await readFile(keyFile, 'utf8'), await readFile(certFile, 'utf8')]
      const signed = (query: string): string => {
        const content = `${query}&SigAlg=${encodeURIComponent('http://www.w3.org/2001/04/xmldsig-more#rsa-sha256')}`
        const signature = sign('sha256', Buffer.from(content), key).toString('base64')
        return `${content}&Signature=${encodeURIComponent(signature)}`
      }
      await idp.trust([{ ...sp, encryptTo: certificate, requestsSignedBy: certificate }])
      t.after(() => idp.trust([sp]))

      const xml = responseIn(await responseFromSimpleSaml(redirect('_signed', signed), alice))
      assert.match(xml, /InResponseTo="_signed"/)
      assert.match(xml, /<saml:EncryptedAssertion>/)
      assert.doesNotMatch(xml, /alice@example\.org/)
      const unsigned = await responseFromSimpleSaml(redirect(), alice)
      assert.match(unsigned.answer.text, /Validation of received messages enabled, but no signature found/)
    },
  )

  await t.test('a new key replaces the old one in its metadata', async () => {
    const keys = async (): Promise<string[]> =>
      [...(await ask(idp.metadataUrl)).text.matchAll(/<ds:X509Certificate>([^<]+)</g)].map(([, key = '']) => key)
    const old = await keys()
    await idp.renewKey()
    const now = await keys()
    assert.ok(old.length > 0 && now.length === old.length)
    assert.ok(now.every(key => !old.includes(key)))
    assert.ok(responseIn(await responseFromSimpleSaml(redirect(), alice)).includes(now[0] ?? 'no key'))
  })

  await t.test(
    'a second provider runs beside the first on a free port, and leaves nothing behind when it stops',
    async t => {
      const second = await startSimpleSaml(t, { users: [alice] })
      assert.notEqual(second.entityId, idp.entityId)
      assert.ok((await processesOf(second.pid)).length > 0)
      await Promise.all([second.stop(), second.stop()])
      assert.deepEqual(await processesOf(second.pid), [])
      await assert.rejects(ask(second.metadataUrl), /ECONNREFUSED/)
      assert.equal((await ask(idp.metadataUrl)).status, 200)
      const { port } = new URL(idp.metadataUrl)
      await assert.rejects(startSimpleSaml(t, { users: [], port: Number(port) }), /EADDRINUSE/)
    },
  )
})
