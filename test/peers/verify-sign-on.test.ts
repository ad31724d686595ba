import assert from 'node:assert/strict'
import { test } from 'node:test'
import { djangoCas, startDjangoCas } from '../support/peers/django-cas.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { simpleSamlPhp, startSimpleSaml } from '../support/peers/simplesamlphp.ts'
import { startProcessWithSaml } from '../support/saml-at-peers.ts'
import { startProcess } from '../support/service.ts'
import { roundTripOf } from '../support/verify-sign-on.ts'

const alice = { name: 'alice', password: 'wonder land&ü', mail: 'alice@example.org' }

test('verify signs in at simplesamlphp, by redirect and by POST, and names a wrong password', async t => {
  if (!requirePeer(t, simpleSamlPhp)) return
  const idp = await startSimpleSaml(t, { host: 'localhost', users: [alice] })
  for (const method of ['get', 'post']) {
    const service = await startProcessWithSaml(t, { own: { idp, settings: { 'redirect-method': method } } })
    const start = 'auth/saml?idp=own'
    const { name, password } = alice
    const expected = { state: 'kept', seen: 'alice is alice@example.org' }
    assert.deepEqual(await roundTripOf(service, { start, name, password }), expected, method)
    const wrong = await roundTripOf(service, { start, name, password: 'wrong' })
    assert.match(JSON.stringify(wrong), /"broken","seen":"it ends at http:\/\/localhost:\d+\/.* with 200"/)
  }
})

test('verify signs in at django-cas-server', async t => {
  if (!requirePeer(t, djangoCas)) return
  const cas = await startDjangoCas(t, { host: 'localhost', users: [alice] })
  const service = await startProcess(t, {
    settings: {
      'service.auth.cas': 'on',
      'service.auth.cas.server.url': cas.url,
      'service.auth.cas.user-auto-provisioning': 'on',
    },
  })
  const { name, password } = alice
  const outcome = await roundTripOf(service, { start: 'auth/cas', name, password })
  assert.deepEqual(outcome, { state: 'kept', seen: 'alice is alice' })
})
