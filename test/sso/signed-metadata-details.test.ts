import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FederationEntity } from '../../src/features/saml/federation-entity.ts'
import { type IdpMetadata, MetadataRefused, parseMetadata } from '../../src/features/saml/metadata.ts'
import { SignedMetadataReader } from '../../src/features/saml/signed-metadata.ts'
import { aggregateXml, type EntityShape, entityXml, signFederation, singleXml } from '../support/federation.ts'
import { buildMetadata, DSIG, edit, keyNamed, NOW } from '../support/saml-idp.ts'

function read(xml: string, { requiresEnd = true } = {}) {
  const entities: FederationEntity[] = []
  const options = { keys: [keyNamed('other').publicKey], now: NOW, requiresEnd }
  const reader = new SignedMetadataReader(options, entity => entities.push(entity))
  reader.write(Buffer.from(xml))
  return { ...reader.end(), entities }
}

const ONE = 'https://one.example/'
const one = (more: EntityShape = {}) => entityXml({ entityId: ONE, ...more })
const readAll = (...entities: readonly string[]) => read(signFederation(aggregateXml(entities)))
const inner = (content: string, until: string) =>
  `<md:EntitiesDescriptor validUntil="${until}">${content}</md:EntitiesDescriptor>`
const refusedBy = (xml: string) => {
  try {
    read(xml)
  } catch (error) {
    assert.ok(error instanceof MetadataRefused, String(error))
    return [error.check, error.message]
  }
  return assert.fail('it was accepted')
}

test('an entity that cannot be used is named with the reason, ten of them at most (D31.1)', () => {
  const reasonsOf = (entity: string) => {
    const { entities, unusable, reasons } = readAll(entity, entityXml())
    assert.deepEqual([entities.length, unusable], [1, 1])
    return reasons
  }
  const over = 'it was valid until 2026-11-21T10:00:00.000Z'
  assert.deepEqual(reasonsOf(inner(one(), '2026-11-21T10:00:00Z')), [`${ONE}: ${over}`])
  assert.deepEqual(reasonsOf(one({ attributes: ' validUntil="2026-11-21T10:00:00Z"' })), [`${ONE}: ${over}`])
  assert.deepEqual(reasonsOf(edit(one(), ` entityID="${ONE}"`, '')), [
    'without entityID: the identity provider has no entityID',
  ])
  const large = (characters: number) => one({ more: `<x xmlns="urn:x">${'y'.repeat(characters)}</x>` })
  assert.deepEqual(reasonsOf(large(524_288)), [`${ONE}: it is too large`])
  assert.deepEqual(readAll(large(520_000)).reasons, [])
  const many = Array.from({ length: 11 }, (_, at) => one({ entityId: `urn:${at}`, sso: 'x' }))
  const { unusable, reasons } = readAll(...many)
  assert.deepEqual([unusable, reasons.length, reasons[9]?.slice(0, 7)], [11, 10, 'urn:9: '])
})

test('an end of an entity is kept where it is not that of the whole aggregate (D31.1)', () => {
  const endsOf = (xml: string, options?: { readonly requiresEnd: boolean }) =>
    read(signFederation(xml), options).entities.map(({ idp }) => idp.validUntil)
  const [early, common] = ['2026-11-30T00:00:00Z', '2026-12-21T10:00:00Z'].map(text => Date.parse(text))
  const late = ' validUntil="2027-12-21T10:00:00Z"'
  assert.deepEqual(endsOf(aggregateXml([one()])), [undefined])
  assert.deepEqual(endsOf(aggregateXml([one({ attributes: late })])), [undefined])
  assert.deepEqual(endsOf(aggregateXml([one({ attributes: ' validUntil="2026-11-30T00:00:00Z"' })])), [early])
  assert.deepEqual(endsOf(aggregateXml([inner(one(), '2026-11-30T00:00:00Z'), entityXml()])), [early, undefined])
  assert.deepEqual(endsOf(singleXml()), [common])
  assert.deepEqual(endsOf(singleXml({}, ''), { requiresEnd: false }), [undefined])
  assert.equal(read(signFederation(singleXml({}, '')), { requiresEnd: false }).validUntil, Infinity)
})

test('entities without the role of an identity provider are passed over in silence (D31.1)', () => {
  const service = edit(one(), /IDPSSODescriptor/g, 'SPSSODescriptor')
  const foreign = `<md:EntityDescriptor entityID="${ONE}"><x:IDPSSODescriptor xmlns:x="urn:x"></x:IDPSSODescriptor></md:EntityDescriptor>`
  const { entities, unusable } = readAll(service, foreign, entityXml())
  assert.deepEqual([entities.length, unusable], [1, 0])
})

test('what nothing here uses is left out of an entity, and only that (D31.1)', () => {
  // More names of elements than an entity can have.
  const tooMuch = Array.from({ length: 201 }, (_, at) => `<n${at}></n${at}>`).join('')
  const ui = 'xmlns:mdui="urn:oasis:names:tc:SAML:metadata:ui"'
  for (const more of [
    `<mdui:Logo ${ui} height="1" width="1">${tooMuch}</mdui:Logo>`,
    `<mdui:Description ${ui} xml:lang="en"><b>${tooMuch}</b>${tooMuch}</mdui:Description>`,
    `<ds:Signature xmlns:ds="${DSIG}">${tooMuch}</ds:Signature>`,
    `<md:ContactPerson>${tooMuch}</md:ContactPerson>`,
    `<md:AttributeAuthorityDescriptor>${tooMuch}</md:AttributeAuthorityDescriptor>`,
    `<md:SPSSODescriptor>${tooMuch}</md:SPSSODescriptor>`,
  ]) {
    const { entities, unusable } = readAll(one({ more, keywords: 'behind' }))
    assert.deepEqual([entities.map(({ scopes }) => scopes), unusable], [[['uni.example']], 0], more.slice(0, 30))
  }
  for (const more of [
    `<Logo xmlns="urn:other">${tooMuch}</Logo>`,
    `<mdui:Other ${ui}>${tooMuch}</mdui:Other>`,
    `<ds:Other xmlns:ds="${DSIG}">${tooMuch}</ds:Other>`,
    `<Signature xmlns="urn:other">${tooMuch}</Signature>`,
  ])
    assert.equal(readAll(one({ more })).unusable, 1, more.slice(0, 30))
})

test('the signature is the first element, of a limited size (D31.1)', () => {
  const plain = aggregateXml([one()])
  const unsigned =
    'it is not signed: the first element in its root must be a ds:Signature that refers to the root by its ID'
  const before = (content: string) => plain.replace(/^<md:EntitiesDescriptor[^>]*>/, `$&${content}`)
  for (const first of [`<ds:Other xmlns:ds="${DSIG}"></ds:Other>`, '<Signature xmlns="urn:other"></Signature>'])
    assert.deepEqual(refusedBy(before(first)), ['metadata-signature', unsigned])
  assert.deepEqual(refusedBy(aggregateXml([])), ['metadata-signature', unsigned])
  const tooLarge = ['metadata', 'its signature is too large']
  const parts = (count: number) => `<ds:Signature xmlns:ds="${DSIG}">${'<ds:x></ds:x>'.repeat(count)}</ds:Signature>`
  assert.deepEqual(refusedBy(before(parts(6000))), tooLarge)
  assert.deepEqual(refusedBy(before(' '.repeat(1_048_577))), tooLarge)
  const [check] = refusedBy(before(parts(1000)))
  assert.equal(check, 'metadata-signature')
  assert.equal(read(signFederation(before(' '.repeat(1000)))).entities.length, 1)
})

test('addresses of single logout that cannot be used are left out, each by itself (D30.2)', () => {
  const service = (binding: string, rest: string) =>
    `<md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${binding}" ${rest}/>`
  const logoutOf = (...services: readonly string[]): IdpMetadata['logout'] =>
    parseMetadata(
      buildMetadata().replace('<md:SingleSignOnService', found => services.join('') + found),
      NOW,
    ).logout
  const [get, post] = ['https://idp/get', 'https://idp/post']
  const redirect = { url: get, responseUrl: get }
  assert.deepEqual(logoutOf(), {})
  assert.deepEqual(logoutOf(service('Redirect', `Location="${get}"`)), { redirect })
  assert.deepEqual(logoutOf(service('POST', `Location="${post}" ResponseLocation=""`)), {
    post: { url: post, responseUrl: post },
  })
  assert.deepEqual(
    logoutOf(
      service('POST', `Location="${post}" ResponseLocation="${post}2"`),
      service('Redirect', `Location="${get}"`),
    ),
    { redirect, post: { url: post, responseUrl: `${post}2` } },
  )
  const strange = [
    `Location="x"`,
    `Location="javascript:x"`,
    `Location="${get}" ResponseLocation="x"`,
    `Location="x" ResponseLocation="${get}"`,
    '',
  ]
  for (const rest of strange) assert.deepEqual(logoutOf(service('Redirect', rest)), {}, rest)
  assert.deepEqual(logoutOf(service('SOAP', `Location="${get}"`)), {})
})

test('metadata without a provider, an id, a key or a good end are refused with the reason (D8.6)', () => {
  const plain = buildMetadata()
  for (const [xml, message] of [
    [edit(plain, /protocolSupportEnumeration="[^"]*"/, ''), 'no identity provider of SAML 2.0 is in it'],
    [edit(plain, / entityID="[^"]*"/, ''), 'the identity provider has no entityID'],
    [edit(plain, / entityID="[^"]*"/, ' entityID=""'), 'the identity provider has no entityID'],
    [buildMetadata({ keys: [] }), 'no usable key for signatures is in it'],
    [buildMetadata({ attributes: ' validUntil="soon"' }), 'a validUntil in it is no date'],
    [
      buildMetadata({ attributes: ' validUntil="2026-11-21T10:00:00Z"' }),
      'it was valid until 2026-11-21T10:00:00.000Z',
    ],
    [
      edit(plain, /<ds:X509Certificate>[^<]*/, '<ds:X509Certificate>AAAA'),
      'no usable key for signatures is in it; a certificate cannot be read: "AAAA…"',
    ],
    [
      edit(plain, 'https://idp.example/sso', 'ftp://idp.example/sso'),
      'its address "ftp://idp.example/sso" is not an http(s) address',
    ],
    [edit(plain, 'https://idp.example/sso', 'https://'), 'its address "https://" is not an http(s) address'],
  ] as const)
    assert.throws(() => parseMetadata(xml, NOW), { name: 'MetadataRefused', message, check: 'metadata' })
})

test('depth, attributes and durations have the limits that they name (D31.1)', () => {
  // Root, entity, role and extensions are around it.
  const nested = (levels: number) =>
    signFederation(aggregateXml([one({ more: '<x>'.repeat(levels) + '</x>'.repeat(levels) })]))
  assert.equal(read(nested(36)).entities.length, 1)
  assert.deepEqual(refusedBy(nested(37)), ['metadata', 'it is nested more than 40 deep'])
  const wide = (count: number) => {
    const attributes = Array.from({ length: count }, (_, at) => ` a${at}="1"`)
    return signFederation(aggregateXml([one({ more: `<x${attributes.join('')}></x>` })]))
  }
  assert.equal(read(wide(100)).entities.length, 1)
  assert.deepEqual(refusedBy(wide(101)), ['metadata', 'an element in it has too many attributes'])
  const document = aggregateXml([one()], ' validUntil="2026-12-21T10:00:00Z" cacheDuration=" PT6H "')
  assert.equal(read(signFederation(document)).cacheDuration, 21_600_000)
})
