import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MetadataRefused } from '../../src/features/saml/metadata.ts'
import { parseSignedMetadata } from '../../src/features/saml/verify-worker.ts'
import { aggregateXml, entityXml, FEDERATION_ID, signFederation, singleXml } from '../support/federation.ts'
import { buildMetadata, DSIG, edit, IDP, keyNamed, NOW } from '../support/saml-idp.ts'

const keys = [keyNamed('P-256').pem, keyNamed('other').pem]
const plain = buildMetadata({ attributes: ` ID="${FEDERATION_ID}"` })
const signed = signFederation(plain)
const read = (xml: string) => parseSignedMetadata(xml, keys, NOW)

const honest: Readonly<Record<string, { readonly xml: string; readonly validUntil?: number }>> = {
  'without an end': { xml: signed },
  'with an end': {
    xml: signFederation(buildMetadata({ attributes: ` ID="${FEDERATION_ID}" validUntil="2026-12-21T10:00:00Z"` })),
    validUntil: Date.UTC(2026, 11, 21, 10),
  },
  'with an end of the role': {
    xml: signFederation(edit(plain, '<md:IDPSSODescriptor ', f => `${f}validUntil="2026-12-01T00:00:00Z" `)),
    validUntil: Date.UTC(2026, 11),
  },
  'in an aggregate with an end, beside a service provider': {
    xml: signFederation(
      aggregateXml([
        `<md:EntityDescriptor entityID="urn:sp"><md:SPSSODescriptor/></md:EntityDescriptor>`,
        entityXml({ entityId: IDP.replaceAll('&', '&#38;') }),
      ]),
    ),
    validUntil: Date.UTC(2026, 11, 21, 10),
  },
  'with comments that were added later': {
    xml: `${signed.replace('</md:KeyDescriptor>', '$&<!-- x -->')}<!-- fetched today -->`,
  },
  'with single logout': {
    xml: signFederation(
      buildMetadata({ attributes: ` ID="${FEDERATION_ID}"`, logout: { redirect: 'https://idp.example/logout' } }),
    ),
  },
}

for (const [title, { xml, validUntil }] of Object.entries(honest)) {
  test(`signed metadata of one provider are read: ${title} (D31.7)`, () => {
    const metadata = read(xml)
    assert.equal(metadata.entityId, IDP)
    assert.deepEqual(metadata.keys, [keyNamed('idp').pem])
    assert.equal(metadata.validUntil, validUntil)
    assert.equal(metadata.logout?.redirect !== undefined, title === 'with single logout')
  })
}

const attackersCertificate = (xml: string): string => edit(xml, keyNamed('idp').base64, keyNamed('attacker').base64)

/** By what is wrong: the document, and the code of the refusal. */
const attacks: Readonly<Record<string, readonly [MetadataRefused['check'], () => string]>> = {
  'no signature': ['metadata-signature', () => plain],
  'no signature and no ID': ['metadata-signature', () => buildMetadata()],
  'signed by another key': ['metadata-signature', () => signFederation(plain, { key: keyNamed('attacker') })],
  'signed by the key that it describes': ['metadata-signature', () => signFederation(plain, { key: keyNamed('idp') })],
  'another signing key': ['metadata-signature', () => attackersCertificate(signed)],
  'another address': ['metadata-signature', () => edit(signed, 'idp.example/sso', 'evil.example/sso')],
  'another entity id': [
    'metadata-signature',
    () => edit(signed, 'https://idp.example/metadata', 'https://evil.example/metadata'),
  ],
  'an end that was taken away': [
    'metadata-signature',
    () =>
      edit(
        signFederation(buildMetadata({ attributes: ` ID="${FEDERATION_ID}" validUntil="2026-12-21T10:00:00Z"` })),
        ' validUntil="2026-12-21T10:00:00Z"',
        '',
      ),
  ],
  'a second key, added': [
    'metadata-signature',
    () =>
      edit(
        signed,
        '</md:KeyDescriptor>',
        f =>
          `${f}<md:KeyDescriptor><ds:KeyInfo xmlns:ds="${DSIG}"><ds:X509Data><ds:X509Certificate>${keyNamed('attacker').base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
      ),
  ],
  'the signed document inside a forged one': [
    'metadata-signature',
    () => aggregateXml([attackersCertificate(plain.replace(/<\?xml.*\?>/, '')), signed.replace(/<\?xml.*\?>/, '')]),
  ],
  'the signature of the entity in an aggregate without one': [
    'metadata-signature',
    () => aggregateXml([signFederation(singleXml())]).replace(FEDERATION_ID, '_outer'),
  ],
  'SHA-1': ['metadata-signature', () => signFederation(plain, { method: `${DSIG}rsa-sha1`, digest: `${DSIG}sha1` })],
  'a signature over a part': ['metadata-signature', () => signFederation(plain, { uri: '#_part' })],
  'an end that has passed': [
    'metadata',
    () => signFederation(buildMetadata({ attributes: ` ID="${FEDERATION_ID}" validUntil="2026-01-01T00:00:00Z"` })),
  ],
  'two providers': ['metadata', () => signFederation(aggregateXml([entityXml(), entityXml({ entityId: 'urn:b' })]))],
  'no provider': ['metadata', () => signFederation(aggregateXml([]))],
  'a DOCTYPE': [
    'metadata',
    () => `<!DOCTYPE r SYSTEM "http://evil.example/x.dtd">${signed.replace(/<\?xml.*\?>/, '')}`,
  ],
  'half of it': ['metadata', () => signed.slice(0, -40)],
  HTML: ['metadata', () => '<!doctype html><title>Sign in</title>'],
}

for (const [title, [check, xml]] of Object.entries(attacks)) {
  test(`signed metadata of one provider are refused: ${title} (D31.7)`, () => {
    assert.throws(
      () => read(xml()),
      error => {
        assert.ok(error instanceof MetadataRefused, String(error))
        assert.equal(error.check, check, error.message)
        return true
      },
    )
  })
}
