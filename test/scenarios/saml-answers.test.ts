import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startWithSaml } from '../support/saml-service.ts'
import { TICK } from '../support/token-store.ts'

const program = { accept: 'application/json' }

test('what the request was sent with comes back once, and from its own provider (D8.2)', async t => {
  const { browser, idps, service } = await startWithSaml(t, {}, ['a', 'b'])
  const [, b] = idps
  const someone = browser()
  const refused = async (form: Record<string, string>, query = '?idp=a'): Promise<unknown> => {
    const answer = await browser().bring(form, query, program)
    assert.equal(answer.status, 401, answer.text)
    assert.equal(answer.json()['code'], 'sso-refused')
    return answer.json()['check']
  }

  const sent = await someone.leave()
  const good = someone.answerTo(sent)
  assert.equal((await someone.bring(good)).status, 200)
  assert.equal(await refused(good), 'relay-state', 'the same once more')

  const next = await someone.leave()
  assert.equal(await refused({ ...someone.answerTo(next), RelayState: 'unknown' }), 'relay-state')
  assert.equal(await refused({ SAMLResponse: someone.answerTo(next)['SAMLResponse'] ?? '' }), 'relay-state')
  const other = await someone.leave()
  assert.equal(await refused({ ...someone.answerTo(next), RelayState: other.relayState }), 'in-response-to')

  const toA = await someone.leave('?idp=a')
  assert.equal(await refused(someone.answerTo(toA), '?idp=b'), 'idp', "at another provider's address")
  const again = await someone.leave('?idp=a')
  const byB = someone.answerTo(again, b ? { idp: b } : {})
  assert.equal(await refused(byB), 'issuer', 'the word of another provider')
  const toB = await someone.leave('?idp=b')
  assert.equal(
    await refused(someone.answerTo(toB, { acsUrl: toA.acsUrl, ...(b ? { idp: b } : {}) }), '?idp=b'),
    'destination',
  )

  const slow = await someone.leave()
  service.system.pass(900_000 - TICK)
  assert.equal((await browser().bring(someone.answerTo(slow, { assertionId: '_slow' }))).status, 200)
  const late = await someone.leave()
  service.system.pass(900_000)
  assert.equal(await refused(someone.answerTo(late, { assertionId: '_late' })), 'relay-state')
})

test('a failed response consumes the flow, so responses cannot be tried repeatedly', async t => {
  const { browser } = await startWithSaml(t)
  const someone = browser()
  const sent = await someone.leave()
  const bad = someone.answerTo(sent, { edit: xml => xml.replaceAll('urn:stowage', 'urn:other') })
  assert.equal((await someone.bring(bad, '?idp=a', program)).json()['check'], 'audience')
  assert.equal((await someone.bring(someone.answerTo(sent), '?idp=a', program)).json()['check'], 'relay-state')
})

test('a login that began at the provider is refused, unless it is allowed for that provider (D8.3)', async t => {
  const { browser, idps } = await startWithSaml(t, { 'service.auth.saml.idp.b.allow-unsolicited': 'on' }, ['a', 'b'])
  const [, b] = idps
  assert.ok(b)
  const someone = browser()
  const unasked = (idp: string, requestId?: string) => ({
    SAMLResponse:
      someone.answerTo(
        {
          acsUrl: `https://store.example/auth/saml?idp=${idp}`,
          requestId: '',
          relayState: '',
          xml: '',
          url: new URL('x:'),
        },
        { requestId, idp: idp === 'b' ? b : (idps[0] ?? b) },
      )['SAMLResponse'] ?? '',
  })
  const checkOf = async (form: Record<string, string>, query: string) =>
    (await browser().bring(form, query, program)).json()['check']
  assert.equal(await checkOf(unasked('a'), '?idp=a'), 'relay-state')
  assert.equal(await checkOf(unasked('b', '_something'), '?idp=b'), 'in-response-to')
  const answer = await someone.bring({ ...unasked('b'), RelayState: 'https://evil.example/' }, '?idp=b')
  assert.equal(answer.status, 200, answer.text)
  assert.equal(await someone.whoAmI(), 'anna@a.example')
  assert.equal(await checkOf(unasked('b'), '?idp=b'), 'replay')
})

test('of fifty parallel requests with the same assertion, one is signed in (D8.3)', async t => {
  const { browser, service } = await startWithSaml(t, { 'service.auth.saml.idp.a.allow-unsolicited': 'on' })
  const someone = browser()
  const { acsUrl } = await someone.leave()
  const sent = { acsUrl, requestId: '', relayState: '', xml: '', url: new URL('x:') }
  const SAMLResponse = someone.answerTo(sent, { requestId: undefined })['SAMLResponse'] ?? ''
  const visitors = Array.from({ length: 50 }, browser)
  const answers = await Promise.all(visitors.map(visitor => visitor.bring({ SAMLResponse }, '?idp=a', program)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  assert.deepEqual(
    new Set(answers.filter(({ status }) => status !== 200).map(answer => answer.json()['check'])),
    new Set(['replay']),
  )
  assert.equal(visitors.filter(({ cookie }) => cookie !== undefined).length, 1)
  const admin = await service.admin()
  const { events } = (await admin.get('management/audit?user=anna@a.example')).json<{
    events: Array<{ event: string }>
  }>()
  assert.deepEqual(events.map(({ event }) => event).sort(), ['login', 'user-created'])
})

test('of fifty parallel requests with the same response and RelayState, one is signed in', async t => {
  const { browser } = await startWithSaml(t)
  const form = browser().answerTo(await browser().leave())
  const answers = await Promise.all(Array.from({ length: 50 }, () => browser().bring(form, '?idp=a', program)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
})

test('the id of an assertion is accepted once per provider, as long as the assertion is valid (D8.3)', async t => {
  const { browser, idps, service } = await startWithSaml(t, {}, ['a', 'b'])
  const [, b] = idps
  assert.ok(b)
  const statusOf = async (query: string, respond: object) => {
    const who = browser()
    const sent = await who.leave(query)
    return (await who.bring(who.answerTo(sent, respond), query, program)).status
  }
  assert.equal(await statusOf('?idp=a', {}), 200)
  assert.equal(await statusOf('?idp=a', {}), 401)
  assert.equal(await statusOf('?idp=b', { idp: b }), 200)
  service.system.pass(360_000 - TICK)
  assert.equal(await statusOf('?idp=a', {}), 401)
  service.system.pass(TICK)
  assert.equal(await statusOf('?idp=a', {}), 200)
})

test('administrators see the reason of a refusal, the user only its number (D8.5)', async t => {
  const { browser, service, idp } = await startWithSaml(t)
  const someone = browser()
  const sent = await someone.leave()
  const answer = await someone.bring(
    someone.answerTo(sent, { edit: xml => xml.replaceAll('urn:stowage', 'urn:secret') }),
  )
  assert.equal(answer.status, 401)
  assert.match(String(answer.headers['content-type']), /^text\/html/)
  assert.doesNotMatch(answer.text, /urn:/)
  const correlation = /[0-9a-f]{10}/.exec(answer.text)?.[0]
  assert.ok(correlation)
  assert.doesNotMatch(answer.text, /audience/)

  assert.equal((await browser().get('management/sso')).status, 401)
  const admin = await service.admin()
  const reported = (await admin.get('management/sso')).json<{
    failures: Array<Record<string, unknown>>
    saml: Array<Record<string, unknown>>
  }>()
  assert.deepEqual(reported.failures, [
    {
      time: new Date(service.system.now()).toISOString(),
      provider: 'a',
      correlation,
      check: 'audience',
      expected: 'urn:stowage',
      received: 'urn:secret',
    },
  ])
  const [provider] = reported.saml
  assert.equal(provider?.['entityId'], idp.entityId)
  const [certificate] = (provider?.['certificates'] ?? []) as Array<Record<string, unknown>>
  assert.equal(certificate?.['expires'], '2099-12-31T23:59:59.000Z')
  assert.ok(Number(certificate?.['daysLeft']) > 26_000)
  assert.deepEqual(provider?.['metadata'], {
    url: idp.metadataUrl,
    loaded: new Date(service.system.now()).toISOString(),
  })
})
