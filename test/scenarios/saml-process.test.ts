import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ask } from '../support/http-client.ts'
import { buildResponse, encode, signResponse } from '../support/saml-idp.ts'
import { readProviderForm, RELYING_PARTY, samlSettings, startSamlIdp } from '../support/saml-service.ts'
import { startProcess } from '../support/service.ts'
import { until } from '../support/waiting.ts'

test('the program checks responses on threads of its own, and stops with status 0 afterwards (D8.3)', async t => {
  const idp = await startSamlIdp(t)
  const acs = 'https://store.example/auth/saml'
  const program = await startProcess(t, {
    settings: {
      ...samlSettings([idp]),
      'service.auth.saml.default-idp': 'a',
      'service.auth.saml.assertion-consumer-service.url': acs,
    },
  })
  const login = async (about: Parameters<typeof buildResponse>[0] = {}) => {
    const sent = readProviderForm(await ask(`${program.base}auth/saml`), program.base)
    const xml = buildResponse({
      issuer: idp.entityId,
      audience: RELYING_PARTY,
      acsUrl: `${acs}?idp=a`,
      requestId: sent.requestId,
      now: Date.now(),
      ...about,
    })
    const form = { SAMLResponse: encode(signResponse(xml)), RelayState: sent.relayState }
    return await ask(`${program.base}auth/saml?idp=a`, { form, headers: { accept: 'application/json' } })
  }
  const answer = await login()
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.json()['user'], 'anna@a.example')
  const refused = await login({ audience: 'urn:secret' })
  assert.deepEqual([refused.status, refused.json()['check']], [401, 'audience'])
  await until(program.output, output =>
    /"provider":"a".*"check":"audience".*"expected":"urn:stowage".*"received":"urn:secret"/.test(output),
  )
  assert.ok(!refused.text.includes('urn:secret'))
  assert.equal(await program.stop(), 0)
})
