import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { FetchFailed, fetchText } from '../../src/base/fetch.ts'
import { startWithCas } from '../support/cas-service.ts'
import { selfSigned } from '../support/self-signed.ts'

test('the certificate of the tests is well made', () => {
  const certificate = new X509Certificate(selfSigned().cert)
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
  assert.ok(certificate.verify(certificate.publicKey))
})

test('a CAS server with an untrusted certificate is refused, even on this host (D9.4)', async t => {
  const { cas, browser } = await startWithCas(t, {}, { tls: selfSigned() })
  const someone = browser()
  await someone.leave()
  const answer = await someone.step(`?ticket=${cas.issue('anna')}`, { accept: 'application/json' })
  assert.deepEqual([answer.status, answer.json()['check']], [401, 'cas-unreachable'])
  assert.equal(cas.asked.length, 0)
})

test('disable-verification accepts that server, and affects no other connection of the process (D9.4)', async t => {
  const { cas, browser } = await startWithCas(
    t,
    { 'service.https.disable-verification': 'true' },
    { tls: selfSigned() },
  )
  const someone = browser()
  assert.equal((await someone.signInBy(cas, 'anna')).status, 200)
  assert.equal(await someone.whoAmI(), 'anna')
  assert.equal(cas.asked.length, 1)

  await assert.rejects(fetchText({ url: cas.url, timeout: 5000, maxBytes: 1000, verifyTls: true }), FetchFailed)
  await assert.rejects(fetch(cas.url), /fetch failed/)
  assert.equal(process.env['NODE_TLS_REJECT_UNAUTHORIZED'], undefined)
  assert.equal(cas.asked.length, 1)
})
