import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HeadlessBrowser } from '../support/headless-browser.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import {
  type Failure,
  keyFiles,
  signIn,
  ssoReport,
  startProcessWithSaml,
  startWithSaml,
  whoIs,
} from '../support/saml-at-peers.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'Alice@Example.org' }
const ghost = { name: 'ghost', password: 'boo' }
const admin = { name: 'root', password: 'toor', mail: 'admin' }

test('users sign in by SAML at simplesamlphp', async t => {
  if (!requirePeer(t, simpleSamlPhp)) return
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice, ghost, admin] })

  await t.test('the real program: request by redirect, response by POST, session, sign-out (I5.3)', async t => {
    const service = await startProcessWithSaml(t, { own: { idp } })
    const { browser, page, user } = await signIn(service, alice, '?idp=own')
    assert.deepEqual(
      page.trail.map(({ method, url }) => [method, new URL(url).origin === new URL(service.base).origin]),
      [
        ['GET', true],
        ['GET', false],
        ['GET', false],
        ['POST', false],
        ['POST', true],
      ],
    )
    assert.match(page.answer.text, /signed in as <strong>alice@example\.org</)
    assert.equal(user, 'alice@example.org')

    const out = await browser.visit(`${service.base}auth/logout`)
    assert.equal(out.url, `${service.base}auth/login?left=own`)
    assert.equal(await whoIs(service, browser), 'guest')
    assert.match(service.output(), /metadata loaded/)
    assert.doesNotMatch(service.output(), /refused/)

    const refused = await signIn(service, ghost, '?idp=own')
    const [failure] = (await ssoReport(service)).failures
    assert.equal(await service.stop(), 0)
    const line = service
      .output()
      .split('\n')
      .find(one => one.includes('a sign-on was refused'))
    const { provider, check, correlation } = JSON.parse(line ?? '{}') as Failure
    assert.deepEqual([provider, check, correlation], ['own', 'name-id', failure?.correlation])
    assert.ok(refused.page.answer.text.includes(correlation), 'the person can quote it')
  })

  await t.test('a request by POST is sent to the provider in a form (D8.2)', async t => {
    const service = await startWithSaml(t, { own: { idp, settings: { 'redirect-method': 'post' } } })
    const { page, user } = await signIn(service, alice, '?idp=own')
    const sent = page.trail.find(({ form }) => form?.['SAMLRequest'] !== undefined)
    assert.equal(sent?.method, 'POST')
    assert.match(Buffer.from(sent.form?.['SAMLRequest'] ?? '', 'base64').toString(), /^<samlp:AuthnRequest/)
    assert.equal(user, 'alice@example.org')
  })

  for (const signed of ['assertion', 'response', 'both'] as const) {
    await t.test(`a response is accepted when the provider signs ${signed} (D8.3)`, async t => {
      const service = await startWithSaml(t, { own: { idp, trust: { signed } } })
      assert.equal((await signIn(service, alice, '?idp=own')).user, 'alice@example.org')
    })
  }

  await t.test('a response without any signature is rejected (D8.3)', async t => {
    const service = await startWithSaml(t, { own: { idp, trust: { signed: 'nothing' } } })
    const { page, user } = await signIn(service, alice, '?idp=own')
    assert.deepEqual([page.answer.status, user], [401, 'guest'])
    assert.equal((await ssoReport(service)).failures[0]?.check, 'signature-missing')
  })

  for (const method of ['get', 'post']) {
    await t.test(`a provider that requires signed requests gets them by ${method} (D8.2)`, async t => {
      const { keyFile, certificateFile, certificate } = await keyFiles()
      const trust = { requestsSignedBy: certificate }
      const use = { idp, settings: { 'redirect-method': method }, trust }
      const service = await startWithSaml(
        t,
        { own: use },
        {
          'service.auth.saml.signing.key-file': keyFile,
          'service.auth.saml.signing.certificate-file': certificateFile,
        },
      )
      assert.equal((await signIn(service, alice, '?idp=own')).user, 'alice@example.org')
      const without = await startWithSaml(t, { own: use })
      const { page, user } = await signIn(without, alice, '?idp=own')
      assert.match(page.answer.text, /no signature found/)
      assert.equal(user, 'guest')
    })
  }

  for (const signed of ['assertion', 'response', 'both'] as const) {
    await t.test(`an encrypted assertion is accepted when the provider signs ${signed} (D8.3)`, async t => {
      const { keyFile, certificateFile, certificate } = await keyFiles()
      const service = await startWithSaml(
        t,
        { own: { idp, trust: { encryptTo: certificate, signed } } },
        {
          'service.auth.saml.encryption.key-file': keyFile,
          'service.auth.saml.encryption.certificate-file': certificateFile,
        },
      )
      const { page, user } = await signIn(service, alice, '?idp=own')
      const sent = Buffer.from(page.trail.at(-1)?.form?.['SAMLResponse'] ?? '', 'base64').toString()
      assert.match(sent, /<saml:EncryptedAssertion>/)
      assert.equal(user, 'alice@example.org')
    })
  }

  await t.test('an encrypted assertion is rejected with the reason if the service has no key (D8.3)', async t => {
    const { certificate } = await keyFiles()
    const service = await startWithSaml(t, { own: { idp, trust: { encryptTo: certificate } } })
    assert.equal((await signIn(service, alice, '?idp=own')).user, 'guest')
    assert.equal((await ssoReport(service)).failures[0]?.check, 'decryption')
  })

  await t.test(
    'new users are created with auto-provisioning only; existing users can sign in without it (D8.4)',
    async t => {
      const service = await startWithSaml(t, { own: { idp, settings: { 'user-auto-provisioning': 'off' } } })
      const { page, user } = await signIn(service, alice, '?idp=own')
      assert.deepEqual([page.answer.status, user], [401, 'guest'])
      const [failure] = (await ssoReport(service)).failures
      assert.deepEqual(
        [failure?.provider, failure?.check, failure?.received],
        ['own', 'unknown-user', 'alice@example.org'],
      )

      const created = await (await service.admin()).post('_principals?graphtype=user', {
        resource: { name: 'alice@example.org' },
      })
      assert.equal(created.status, 201, created.text)
      assert.equal((await signIn(service, alice, '?idp=own')).user, 'alice@example.org')
    },
  )

  await t.test('users without an e-mail address are rejected, and so is admin (D8.4)', async t => {
    const service = await startWithSaml(t, { own: { idp } })
    assert.equal((await signIn(service, ghost, '?idp=own')).user, 'guest')
    assert.equal((await signIn(service, admin, '?idp=own')).user, 'guest')
    const { failures } = await ssoReport(service)
    assert.deepEqual(
      failures.map(({ check, received }) => [check, received]),
      [
        ['reserved-user', 'admin'],
        ['name-id', 'a transient NameID'],
      ],
    )
  })

  await t.test('a captured response cannot be used again, not even by its owner (D8.2, D8.3)', async t => {
    const service = await startWithSaml(t, { own: { idp } })
    const { page, browser } = await signIn(service, alice, '?idp=own')
    const { url, form = {} } = page.trail.at(-1) ?? {}
    assert.ok(url !== undefined && form['SAMLResponse'] !== undefined)
    for (const whose of [browser, new HeadlessBrowser()]) {
      const again = await whose.submit(page, { action: url, method: 'POST', fields: form })
      assert.equal(again.answer.status, 401)
    }
    // With a fresh login of the thief's own it still answers another request.
    const thief = new HeadlessBrowser()
    const begun = await thief.visit(`${service.base}auth/saml?idp=own`)
    const relayState = new URL(begun.trail.at(0)?.answer.headers.location ?? '').searchParams.get('RelayState') ?? ''
    await thief.submit(page, { action: url, method: 'POST', fields: { ...form, RelayState: relayState } })
    assert.equal(await whoIs(service, thief), 'guest')
    assert.deepEqual(
      (await ssoReport(service)).failures.map(({ check }) => check),
      ['in-response-to', 'relay-state', 'relay-state'],
    )
  })

  await t.test('the deprecated settings for one provider still work, on the same code (D8.8)', async t => {
    const port = Number(new URL(idp.metadataUrl).port)
    const service = await startWithSaml(
      t,
      {},
      {
        'service.auth.saml': 'on',
        'service.auth.saml.relying-party-id': `urn:legacy:${port}`,
        'service.auth.saml.idp-metadata.url': idp.metadataUrl,
        'service.auth.saml.user-auto-provisioning': 'on',
        'service.auth.saml.max-age': '60',
      },
    )
    await idp.trust([{ entityId: `urn:legacy:${port}`, acs: [`${service.base}auth/saml`] }])
    const { page, user, browser } = await signIn(service, alice)
    assert.equal(user, 'alice@example.org')
    assert.match(page.answer.headers['set-cookie']?.join() ?? '', /Max-Age=60;/)
    service.system.pass(60_000)
    assert.equal(await whoIs(service, browser), 'guest', 'its own max-age has passed')
  })
})
