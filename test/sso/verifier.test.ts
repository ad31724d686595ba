import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { MetadataRefused, parseMetadata } from '../../src/features/saml/metadata.ts'
import { Verifier } from '../../src/features/saml/verifier.ts'
import { work } from '../../src/features/saml/verify-worker.ts'
import { after } from '../support/after.ts'
import { signFederation, singleXml } from '../support/federation.ts'
import {
  buildMetadata,
  buildResponse,
  encode,
  expected,
  keyNamed,
  NAME,
  NOW,
  signResponse,
} from '../support/saml-idp.ts'
import { buildLogoutRequest, expectedLogout, posted, redirected } from '../support/saml-logout.ts'

const response = encode(signResponse(buildResponse()))
const [byRedirect, byForm] = [redirected(buildLogoutRequest()), posted(buildLogoutRequest())]
const verifier = new Verifier({ threads: 1, queue: 10 })
after(() => verifier.close())
const key = keyNamed('other').pem

test('what a thread reads of a message is what the check reads (D8.3)', async () => {
  assert.equal((await verifier.verify(response, expected())).name, NAME)
  for (const received of [byRedirect, byForm]) {
    const outcome = await work({ kind: 'logout', received, expected: expectedLogout() })
    assert.ok('result' in outcome)
    assert.deepEqual(await verifier.verifyLogout(received, expectedLogout()), outcome.result)
    assert.equal(await verifier.statedIssuer(received), expectedLogout().issuer)
  }
})

test('a refusal on a thread is one of the message (D8.5)', async () => {
  const issuer = 'urn:other'
  const failed = { check: 'issuer', expected: issuer, received: expectedLogout().issuer }
  await assert.rejects(verifier.verifyLogout(byRedirect, expectedLogout({ issuer })), { failed })
  const odd = { binding: 'post', kind: 'SAMLRequest', encoded: encode('<a') } as const
  for (const read of [() => verifier.statedIssuer(odd), () => verifier.verifyLogout(odd, expectedLogout())])
    await assert.rejects(read(), (error: unknown) => error instanceof SsoRefused && error.failed.check === 'xml-xml')
  const encoded = encode('<!DOCTYPE a><a/>')
  await assert.rejects(verifier.verify(encoded, expected()), {
    failed: { check: 'xml-doctype', expected: 'plain XML', received: 'holds a DOCTYPE' },
  })
})

test('metadata are read on a thread, and must be signed where a key is given (D31.7)', async () => {
  const plain = buildMetadata()
  assert.deepEqual(await verifier.parseMetadata(plain, NOW, []), parseMetadata(plain, NOW))
  const signed = signFederation(singleXml())
  assert.equal((await verifier.parseMetadata(signed, NOW, [key])).entityId, 'https://idp.uni.example/idp')
  const refusalOf = async (text: string, keys: readonly string[]) => {
    const error = await verifier.parseMetadata(text, NOW, keys).catch((reason: unknown) => reason)
    assert.ok(error instanceof MetadataRefused, String(error))
    return [error.check, error.message]
  }
  assert.deepEqual((await refusalOf(plain, [key]))[0], 'metadata-signature')
  assert.deepEqual((await refusalOf(signed, [keyNamed('idp').pem]))[0], 'metadata-signature')
  assert.deepEqual(await refusalOf('<a xmlns="urn:a"/>', []), ['metadata', 'no identity provider of SAML 2.0 is in it'])
  assert.deepEqual(await refusalOf('<!DOCTYPE a><a/>', []), ['metadata', 'holds a DOCTYPE'])
  await assert.rejects(
    verifier.parseMetadata(signed, NOW, ['no key']),
    (error: unknown) => !(error instanceof MetadataRefused),
  )
})
