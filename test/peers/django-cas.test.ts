import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { loginAtCas } from '../support/headless-login.ts'
import { ask } from '../support/http-client.ts'
import { listen } from '../support/listener.ts'
import { type CasUser, djangoCas, startDjangoCas } from '../support/peers/django-cas.ts'
import { processesOf } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }
const ghost = { name: 'ghost', password: 'boo' }

test('django-cas-server signs users in for a service', async t => {
  if (!requirePeer(t, djangoCas)) return
  const service = await listen(t)
  const cas = await startDjangoCas(t, { host: 'localhost', users: [alice, ghost] })
  const address = `${service.origin}/auth/cas?state=1&to=%2F`
  const login = `${cas.url}login?service=${encodeURIComponent(address)}`
  const ticket = async (person: CasUser = alice): Promise<string> => {
    const { searchParams, href } = new URL((await loginAtCas(login, person)).url)
    const found = searchParams.get('ticket')
    assert.match(found ?? href, /^ST-/)
    // It sorts the query, so that the ticket is not the last of it; validation wants the address as it was.
    assert.equal(href, `${service.origin}/auth/cas?state=1&ticket=${found}&to=%2F`)
    return found ?? ''
  }
  const validate = async (verb: string, ticket: string): Promise<string> =>
    (await ask(`${cas.url}${verb}?${new URLSearchParams({ service: address, ticket }).toString()}`)).text

  await t.test('CAS 1: yes with the name, then no: a ticket is valid once', async () => {
    const granted = await ticket()
    assert.equal(await validate('validate', granted), 'yes\nalice\n')
    assert.equal(await validate('validate', granted), 'no\n')
  })

  await t.test('CAS 2: the name in XML', async () => {
    const granted = await ticket(ghost)
    assert.match(await validate('serviceValidate', granted), /<cas:user>ghost<\/cas:user>/)
    assert.match(await validate('serviceValidate', granted), /<cas:authenticationFailure code="INVALID_TICKET">/)
  })

  await t.test('CAS 3: the attributes too', async () => {
    const xml = await validate('p3/serviceValidate', await ticket())
    assert.match(xml, /<cas:user>alice<\/cas:user>/)
    assert.match(xml, /<cas:email>alice@example\.org<\/cas:email>/)
  })

  await t.test('SAML 1.1: an assertion in an envelope', async () => {
    // It takes the second element of the envelope for the body: without a header the request is a wrong version to it.
    const body = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header/><s:Body><p:Request
      xmlns:p="urn:oasis:names:tc:SAML:1.0:protocol" MajorVersion="1" MinorVersion="1" RequestID="_1"
      IssueInstant="${new Date().toISOString()}"><p:AssertionArtifact>${await ticket()}</p:AssertionArtifact>
      </p:Request></s:Body></s:Envelope>`
    const target = `${cas.url}samlValidate?TARGET=${encodeURIComponent(address)}`
    const { status, text } = await ask(target, { method: 'POST', body, headers: { 'content-type': 'text/xml' } })
    assert.equal(status, 200)
    assert.match(text, /<NameIdentifier>alice<\/NameIdentifier>/)
    assert.match(text, /samlp:Success/)
  })

  await t.test('after a wrong password the user stays at the CAS server', async () => {
    const before = service.heard.length
    const page = await loginAtCas(login, { ...alice, password: 'wrong' })
    assert.equal(page.url, login)
    assert.match(page.answer.text, /The credentials you provided cannot be determined to be authentic/)
    assert.equal(service.heard.length, before)
  })

  await t.test('the session at the CAS server lasts until logout', async () => {
    const browser = new HeadlessBrowser()
    await loginAtCas(login, { ...alice, browser })
    assert.ok((await browser.visit(login)).url.startsWith(service.origin))
    await browser.visit(`${cas.url}logout`)
    assert.equal((await browser.visit(login)).url, login)
  })

  await t.test(
    'a second server knows users by e-mail address, serves its own services only, and leaves nothing behind when it stops',
    async t => {
      const services = [`${service.origin.replaceAll('.', String.raw`\.`)}/auth/`]
      const other = await startDjangoCas(t, { users: [alice, ghost], identifies: 'mail', services })
      const at = (address: string): string => `${other.url}login?service=${encodeURIComponent(address)}`
      const page = await loginAtCas(at(address), alice)
      const query = new URLSearchParams({
        service: address,
        ticket: new URL(page.url).searchParams.get('ticket') ?? '',
      })
      assert.equal((await ask(`${other.url}validate?${query.toString()}`)).text, 'yes\nalice@example.org\n')
      assert.match((await loginAtCas(at(address), ghost)).url, /\/cas\/login/)
      assert.match((await loginAtCas(at(`${service.origin}/elsewhere`), alice)).url, /\/cas\/login/)

      assert.ok((await processesOf(other.pid)).length > 0)
      await Promise.all([other.stop(), other.stop()])
      assert.deepEqual(await processesOf(other.pid), [])
      await assert.rejects(ask(other.url), /ECONNREFUSED/)
      const { port } = new URL(cas.url)
      await assert.rejects(startDjangoCas(t, { users: [], port: Number(port) }), /EADDRINUSE/)
    },
  )
})
