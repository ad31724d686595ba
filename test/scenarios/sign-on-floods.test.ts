import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import type { Answer } from '../support/http-client.ts'
import { startWithCas } from '../support/cas-service.ts'
import { serviceResponse } from '../support/fake-cas.ts'
import { encode } from '../support/saml-idp.ts'
import { startWithSaml } from '../support/saml-service.ts'
import { eventually } from '../support/waiting.ts'

const behindProxy = { 'service.http.trusted-proxies.1': '127.0.0.1/32' }
/** Headers of a request that comes from this network. */
const from = (address: string) => ({ 'x-forwarded-for': address })
const FLOODER = '192.0.2.7'
const OTHER = '198.51.100.1'

/** Requests whose answers are counted as they come. */
function flood(count: number, send: (n: number) => Promise<Answer>) {
  const statuses: number[] = []
  const all = Promise.all(Array.from({ length: count }, (_, n) => send(n).then(({ status }) => statuses.push(status))))
  return { statuses, all }
}

test('a network that sends many expensive responses delays those of another by one each (D35.21)', async t => {
  const saml = await startWithSaml(t, behindProxy)
  const MESSAGES = 60
  const flooder = saml.browser()
  const begin = async (address: string) => (await flooder.get('auth/saml', from(address))).headers.location ?? ''
  const states: string[] = []
  for (let n = 0; n < MESSAGES; n++) {
    states.push(new URL(await begin(FLOODER)).searchParams.get('RelayState') ?? '')
  }
  const browser = saml.browser()
  const sent = await browser.leave()
  const hostile = encode(`<a xmlns="urn:a">${'<b/>'.repeat(9_900)}</a>`)
  const { statuses, all } = flood(MESSAGES, n =>
    flooder.bring({ SAMLResponse: hostile, RelayState: states[n] ?? '' }, '?idp=a', from(FLOODER)),
  )
  await eventually('the first of them is refused', () => statuses.length > 0)
  assert.equal((await browser.bring(browser.answerTo(sent), '?idp=a', from(OTHER))).status, 200)
  assert.ok(statuses.length < MESSAGES / 2, `answered after ${statuses.length} of another network`)
  await all
  assert.deepEqual(new Set(statuses), new Set([401]))
})

test('tickets of one network that a slow CAS server keeps do not refuse those of others (D35.22)', async t => {
  const { service, cas, browser } = await startWithCas(t, behindProxy)
  const kept: ServerResponse[] = []
  cas.misbehave = (response, { query }) => {
    if (query.get('ticket') === 'ST-other') response.end(serviceResponse('anna'))
    else kept.push(response)
  }
  const bring = async (address: string, ticket: string): Promise<Answer> => {
    const visitor = browser()
    await visitor.step('', from(address))
    return await visitor.step(`?ticket=${ticket}`, from(address))
  }
  const { statuses, all } = flood(180, n => bring(FLOODER, `ST-${n}`))
  await eventually('no more of them are taken', () => statuses.includes(503))
  const answer = bring(OTHER, 'ST-other')
  const answered = answer.then(({ status }) => status)
  let isOver = false
  void answered.then(() => (isOver = true))
  await eventually('the other ticket has its turn', () => {
    kept.pop()?.end(serviceResponse(undefined))
    return isOver
  })
  assert.equal(await answered, 200)
  cas.misbehave = response => response.end(serviceResponse(undefined))
  for (const response of kept) response.end(serviceResponse(undefined))
  await all
  assert.equal((await service.visitor().get('auth/user')).status, 200)
})

test('logins with long targets count as several, so that their memory is limited (D35.25)', async t => {
  const { service } = await startWithSaml(t)
  const visitor = service.visitor()
  const target = encodeURIComponent(`${service.base}${'x'.repeat(10_000)}`)
  const statuses: number[] = []
  for (let n = 0; n < 210; n++) statuses.push((await visitor.get(`auth/saml?successurl=${target}`)).status)
  assert.deepEqual([statuses.indexOf(503) > 190, statuses.at(0), statuses.at(-1)], [true, 303, 503])
})
