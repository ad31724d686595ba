import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FederationEntity } from '../../src/features/saml/federation-entity.ts'
import { MetadataRefused } from '../../src/features/saml/metadata.ts'
import { SignedMetadataReader, type SignedMetadataSummary } from '../../src/features/saml/signed-metadata.ts'
import {
  aggregateXml,
  entityXml,
  FEDERATION_ID,
  largeAggregate,
  signFederation,
  singleXml,
} from '../support/federation.ts'
import { Refusals } from '../support/refusals.ts'
import { DSIG, DSIG_MORE, edit, ENVELOPED, keyNamed, NOW, WITH_COMMENTS, XENC } from '../support/saml-idp.ts'

interface Read extends SignedMetadataSummary {
  readonly entities: readonly FederationEntity[]
}

function read(xml: string, { pieces = 65_536, now = NOW } = {}): Read {
  const entities: FederationEntity[] = []
  const reader = new SignedMetadataReader({ keys: [keyNamed('other').publicKey], now, requiresEnd: true }, one =>
    entities.push(one),
  )
  const bytes = Buffer.from(xml)
  for (let at = 0; at < bytes.length; at += pieces) reader.write(bytes.subarray(at, at + pieces))
  return { ...reader.end(), entities }
}

const two = [entityXml(), entityXml({ entityId: 'https://b.example/idp', scopes: ['b.example'] })]
const ids = ({ entities }: Read): string[] => entities.map(({ entityId }) => entityId)
const both = ['https://idp.uni.example/idp', 'https://b.example/idp']
const MD = 'urn:oasis:names:tc:SAML:2.0:metadata'
const valid = ' validUntil="2026-12-21T10:00:00Z"'

const honest: Readonly<Record<string, () => string>> = {
  'an aggregate': () => signFederation(aggregateXml(two)),
  'an XML declaration, comments and line ends around': () =>
    `<?xml version="1.0" encoding="utf-8"?>\r\n<!-- terms of use -->\r\n${signFederation(aggregateXml(two))}\r\n<!-- end -->\r\n`,
  'comments inside, also within a text': () =>
    signFederation(edit(aggregateXml(two), 'University of Example', 'University <!-- a > b -->of Example')),
  'signed with comments, of which there are none': () =>
    signFederation(aggregateXml(two), { transforms: [ENVELOPED, WITH_COMMENTS] }),
  'line ends of Windows': () =>
    signFederation(aggregateXml(two).replaceAll('<md:IDPSSODescriptor', '\r\n<md:IDPSSODescriptor')),
  'nested aggregates': () =>
    signFederation(
      aggregateXml([
        `<md:EntitiesDescriptor Name="inner">${two[0] ?? ''}</md:EntitiesDescriptor>`,
        `<md:EntitiesDescriptor>${two[1] ?? ''}</md:EntitiesDescriptor>`,
      ]),
    ),
  'attributes out of order, in other quotes, with spaces': () =>
    signFederation(
      edit(
        aggregateXml(two),
        '<md:IDPSSODescriptor',
        "<md:IDPSSODescriptor   zz='1'\n\t b:a='&quot;&#9;&#xA;&amp;&lt;>' xmlns:b='urn:b' errorURL=\"a\tb\"",
      ),
    ),
  'a default namespace and others that nothing uses': () =>
    signFederation(
      edit(
        aggregateXml(two),
        '<md:EntitiesDescriptor ',
        '<md:EntitiesDescriptor xmlns="urn:default" xmlns:xs="urn:xs" ',
      ),
    ),
  'elements without a prefix': () =>
    signFederation(
      aggregateXml(two).replaceAll('<md:', '<').replaceAll('</md:', '</').replaceAll('xmlns:md=', 'xmlns='),
    ),
  'a default namespace that is taken back': () =>
    signFederation(
      edit(aggregateXml(two), '<md:KeyDescriptor', '<x xmlns="urn:x"><y xmlns=""><z/></y></x><md:KeyDescriptor'),
    ),
  'prefixes out of order': () =>
    signFederation(
      edit(
        aggregateXml(two),
        '<md:KeyDescriptor',
        '<z:x xmlns:z="urn:1" xmlns:b="urn:3" xmlns:a="urn:2" b:p="1" a:p="2"></z:x><md:KeyDescriptor',
      ),
    ),
  'an inclusive list of prefixes': () =>
    signFederation(
      edit(aggregateXml(two), '<md:EntitiesDescriptor ', '<md:EntitiesDescriptor xmlns:xs="urn:xs" xmlns:q="urn:q" '),
      { inclusive: ['xs', 'md', 'absent'] },
    ),
  'characters by number and of all planes': () =>
    signFederation(aggregateXml([entityXml({ names: { sv: 'H&#xF6;gskolan &#13; 𝒳 &gt; ]]&gt;' } }), two[1] ?? ''])),
  'a signature with SHA-512 and a curve': () =>
    signFederation(aggregateXml(two), { digest: `${XENC}sha512`, method: `${DSIG_MORE}rsa-sha512` }),
  'base64 in lines': () =>
    signFederation(aggregateXml(two), { wrap: text => `\n${text.replaceAll(/.{60}/g, '$&\n')}\n` }),
  'service providers between': () =>
    signFederation(
      aggregateXml([
        two[0] ?? '',
        `<md:EntityDescriptor entityID="urn:sp"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"/></md:EntityDescriptor>`,
        two[1] ?? '',
      ]),
    ),
  'entities with signatures of their own': () =>
    signFederation(
      aggregateXml([
        edit(
          two[0] ?? '',
          '<md:IDPSSODescriptor',
          `<ds:Signature xmlns:ds="${DSIG}"><ds:Object>x</ds:Object></ds:Signature><md:IDPSSODescriptor`,
        ),
        two[1] ?? '',
      ]),
    ),
}

for (const [what, xml] of Object.entries(honest)) {
  test(`signed metadata are read: ${what} (D31.1)`, () => {
    const text = xml()
    for (const pieces of [65_536, 7])
      assert.deepEqual(ids(read(text, { pieces })), both, `in pieces of ${pieces} bytes`)
  })
}

test('an entity is read with its names, scopes, categories and keys (D31.1)', () => {
  const shape = {
    entityId: 'https://a.example/idp?x=1&amp;y=2',
    names: { en: 'Alpha &amp; Beta', de: 'Alfa' },
    keywords: 'physics',
    scopes: ['A.example', 'b.example'],
    patterns: ['^.+\\.a\\.example$'],
    categories: ['http://refeds.org/category/hide-from-discovery'],
    assurance: ['https://refeds.org/sirtfi'],
  }
  const { entities, validUntil, cacheDuration } = read(
    signFederation(aggregateXml([entityXml(shape)], `${valid} cacheDuration="P1DT2H3M4S"`)),
  )
  const [entity] = entities
  assert.deepEqual(
    { ...entity, idp: undefined },
    {
      entityId: 'https://a.example/idp?x=1&y=2',
      idp: undefined,
      names: { en: 'Alpha & Beta', de: 'Alfa' },
      keywords: 'physics',
      scopes: ['a.example', 'b.example'],
      scopePatterns: ['^.+\\.a\\.example$'],
      categories: ['http://refeds.org/category/hide-from-discovery', 'https://refeds.org/sirtfi'],
    },
  )
  assert.deepEqual(entity?.idp.keys, [keyNamed('idp').pem])
  assert.equal(entity?.idp.redirectUrl, 'https://idp.uni.example/sso')
  assert.equal(validUntil, Date.UTC(2026, 11, 21, 10))
  assert.equal(cacheDuration, 93_784_000)
})

test('the document of a metadata query service is read in the same way (D31.2)', () => {
  assert.deepEqual(ids(read(signFederation(singleXml()))), ['https://idp.uni.example/idp'])
})

test('an entity that cannot be used is left out, and counted with its reason (D31.1)', () => {
  const broken = {
    key: edit(two[0] ?? '', /<ds:X509Certificate>[^<]*/, '<ds:X509Certificate>AAAA'),
    location: entityXml({ sso: 'javascript:alert(1)' }),
    expired: entityXml({ attributes: ' validUntil="2026-11-21T09:59:59Z"' }),
    large: entityXml({ more: `<x xmlns="urn:x">${'y'.repeat(600_000)}</x>` }),
  }
  for (const [what, entity] of Object.entries(broken)) {
    const { entities, unusable, reasons } = read(signFederation(aggregateXml([entity, two[1] ?? ''])))
    assert.deepEqual(
      entities.map(({ entityId }) => entityId),
      ['https://b.example/idp'],
      what,
    )
    assert.equal(unusable, 1)
    assert.match(reasons[0] ?? '', /^https:\/\/idp\.uni\.example\/idp: /)
  }
})

test('the time for which metadata may be kept is read in days, hours, minutes and seconds (D31.1)', () => {
  for (const [duration, milliseconds] of [
    ['P1D', 86_400_000],
    ['PT6H', 21_600_000],
    ['PT30M', 1_800_000],
    ['PT10S', 10_000],
    ['PT10.5S', 10_000],
    ['P2DT1M', 172_860_000],
    ['P1Y', undefined],
    ['P1M', undefined],
    ['-P1D', undefined],
    ['soon', undefined],
  ] as const) {
    const { cacheDuration } = read(signFederation(aggregateXml(two, `${valid} cacheDuration="${duration}"`)))
    assert.equal(cacheDuration, milliseconds, duration)
  }
})

test('elements of other namespaces are no entities (D31.1)', () => {
  const other = '<x:EntityDescriptor xmlns:x="urn:x" entityID="https://evil.example/idp"/>'
  assert.deepEqual(ids(read(signFederation(aggregateXml([other, ...two])))), both)
})

test('an entity of an inner aggregate ends with it (D31.1)', () => {
  const inner = `<md:EntitiesDescriptor validUntil="2026-11-22T00:00:00Z">${two[0] ?? ''}</md:EntitiesDescriptor>`
  const { entities } = read(signFederation(aggregateXml([inner, two[1] ?? ''])))
  assert.deepEqual(
    entities.map(({ idp }) => idp.validUntil),
    [Date.UTC(2026, 10, 22), undefined],
  )
})

test('an inner aggregate ends with its own end tag, not with that of another element in it (D31.1)', () => {
  const others = {
    extensions: '<md:Extensions></md:Extensions>',
    'of another namespace': '<x:EntitiesDescriptor xmlns:x="urn:x"></x:EntitiesDescriptor>',
  }
  for (const [what, other] of Object.entries(others)) {
    const inner = `<md:EntitiesDescriptor validUntil="2026-11-22T00:00:00Z">${other}${two[0] ?? ''}</md:EntitiesDescriptor>`
    const { entities } = read(signFederation(aggregateXml([inner, two[1] ?? ''])))
    assert.deepEqual(
      entities.map(({ idp }) => idp.validUntil),
      [Date.UTC(2026, 10, 22), undefined],
      what,
    )
  }
})

const signed = signFederation(aggregateXml(two))
const signature = /<ds:Signature[^]*<\/ds:Signature>/.exec(signed)?.[0] ?? ''
const otherId = (xml: string): string => xml.replaceAll(FEDERATION_ID, '_evil')
const evil = entityXml({ entityId: 'https://evil.example/idp', key: keyNamed('attacker') })

/** None of them is what the federation has signed. */
const attacks: Readonly<Record<string, () => string>> = {
  'no signature': () => aggregateXml(two),
  'a signature by another key': () => signFederation(aggregateXml(two), { key: keyNamed('attacker') }),
  'a signature with a secret': () => signFederation(aggregateXml(two), { method: `${DSIG_MORE}hmac-sha256` }),
  'a signature with SHA-1': () => signFederation(aggregateXml(two), { method: `${DSIG}rsa-sha1` }),
  'a digest with SHA-1': () => signFederation(aggregateXml(two), { digest: `${DSIG}sha1` }),
  'another canonical form': () =>
    signFederation(aggregateXml(two), {
      transforms: [`${DSIG}enveloped-signature`, 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'],
    }),
  'a transform by stylesheet': () =>
    signFederation(aggregateXml(two), { transforms: ['http://www.w3.org/TR/1999/REC-xslt-19991116'] }),
  'a reference to everything': () => signFederation(aggregateXml(two), { uri: '' }),
  'a reference to another element': () => signFederation(aggregateXml(two), { uri: '#_other' }),
  'an entity added': () => edit(signed, '</md:EntitiesDescriptor>', `${evil}</md:EntitiesDescriptor>`),
  'an entity removed': () => edit(signed, two[1] ?? '', ''),
  'an address changed': () => edit(signed, 'https://idp.uni.example/sso', 'https://evil.example/sso'),
  'a key changed': () => signed.replaceAll(keyNamed('idp').base64, keyNamed('attacker').base64),
  'a scope changed': () => edit(signed, '>uni.example<', '>other.example<'),
  'the end of validity changed': () => edit(signed, '2026-12-21', '2029-12-21'),
  'a space added': () => edit(signed, '<md:IDPSSODescriptor', ' <md:IDPSSODescriptor'),
  'a namespace changed': () =>
    edit(signed, 'xmlns:shibmd="urn:mace:shibboleth:metadata:1.0"', 'xmlns:shibmd="urn:mace:shibboleth:metadata:1.1"'),
  'the signed document inside another': () =>
    `<md:EntitiesDescriptor xmlns:md="${MD}" ID="_outer"${valid}>${evil}${signed}</md:EntitiesDescriptor>`,
  'the signed document inside another with the same ID': () =>
    `<md:EntitiesDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}"${valid}>${evil}${signed}</md:EntitiesDescriptor>`,
  'the signature moved to a forged root with the same ID': () =>
    `<md:EntitiesDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}"${valid}>${signature}${evil}</md:EntitiesDescriptor>`,
  'the signature moved to a root that holds the signed one': () =>
    `<md:EntitiesDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}"${valid}>${signature}${evil}${edit(signed, signature, '')}</md:EntitiesDescriptor>`,
  'the signed document inside the signature': () =>
    otherId(`<md:EntitiesDescriptor xmlns:md="${MD}" ID="${FEDERATION_ID}"${valid}>`) +
    `${edit(signature, '</ds:Signature>', `<ds:Object>${edit(signed, signature, '')}</ds:Object></ds:Signature>`)}${evil}</md:EntitiesDescriptor>`,
  'an entity inside the signature': () => edit(signed, '</ds:SignedInfo>', `</ds:SignedInfo>${evil}`),
  'a second signature': () => edit(signed, '</ds:Signature>', `</ds:Signature>${signature}`),
  'the signature at the end': () =>
    edit(edit(signed, signature, ''), '</md:EntitiesDescriptor>', `${signature}</md:EntitiesDescriptor>`),
  'no ID at the root': () => edit(signed, ` ID="${FEDERATION_ID}"`, ''),
  'the ID twice': () =>
    signFederation(
      aggregateXml([edit(two[0] ?? '', '<md:IDPSSODescriptor', `<md:IDPSSODescriptor ID="${FEDERATION_ID}"`)]),
    ),
  'a comment in a document that is signed with comments': () =>
    signFederation(edit(aggregateXml(two), 'University of Example', 'University <!-- a -->of Example'), {
      transforms: [ENVELOPED, WITH_COMMENTS],
    }),
  'a comment in the digest': () => edit(signed, '<ds:DigestValue>', '<ds:DigestValue>A<!-- -->'),
  'a processing instruction': () => edit(signed, '<md:IDPSSODescriptor', '<?x y?><md:IDPSSODescriptor'),
  'a CDATA section': () => edit(signed, 'University of Example', '<![CDATA[University of Example]]>'),
  'a DOCTYPE': () => `<!DOCTYPE md:EntitiesDescriptor>${signed}`,
  'a DOCTYPE with entities that grow': () =>
    `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${edit(signed, 'University of Example', '&b;')}`,
  'an entity of a file': () =>
    `<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${edit(signed, 'University of Example', '&a;')}`,
  'an unknown entity': () => edit(signed, 'University of Example', '&constructor;'),
  'an undeclared prefix': () => edit(signed, '<md:KeyDescriptor', '<evil:KeyDescriptor'),
  'a space before the address of a namespace': () =>
    signFederation(edit(aggregateXml(two), 'xmlns:shibmd="', 'xmlns:shibmd=" ')),
  'a space after the address of a namespace': () =>
    signFederation(
      edit(
        aggregateXml(two),
        'xmlns:shibmd="urn:mace:shibboleth:metadata:1.0"',
        'xmlns:shibmd="urn:mace:shibboleth:metadata:1.0 "',
      ),
    ),
  'an attribute twice': () => edit(signed, ' use="signing"', ' use="signing" use="signing"'),
  'text after the root': () => `${signed}text`,
  'a second root': () => signed + signed,
  'the end missing': () => signed.slice(0, -30),
  'XML 1.1': () => `<?xml version="1.1"?>${signed}`,
  'another encoding': () => `<?xml version="1.0" encoding="ISO-8859-1"?>${signed}`,
  'no date of its end': () => signFederation(aggregateXml(two, '')),
  'an end that is over': () => signFederation(aggregateXml(two, ' validUntil="2026-11-21T10:00:00Z"')),
  'an end that is no date': () => signFederation(aggregateXml(two, ' validUntil="soon"')),
  'no metadata': () => signFederation(`<html ID="${FEDERATION_ID}"><p/></html>`),
  nothing: () => '',
  'elements 1,000 deep': () =>
    signFederation(aggregateXml([])).replace(
      '</md:EntitiesDescriptor>',
      `${'<a>'.repeat(1000)}${'</a>'.repeat(1000)}$&`,
    ),
  'an attribute of 3 MB': () => edit(signed, ' use="signing"', ` use="${'s'.repeat(3_000_000)}"`),
  'a text of 3 MB': () => edit(signed, 'University of Example', 'U'.repeat(3_000_000)),
  'a comment of 3 MB': () => `<!--${'x'.repeat(3_000_000)}-->${signed}`,
  'a name of 3 MB': () => edit(signed, '<md:KeyDescriptor', `<md:${'K'.repeat(3_000_000)}`),
  'text without end before the signature': () =>
    edit(signed, '<ds:Signature', `${'<!-- --> '.repeat(1_100_000)}<ds:Signature`),
  'many attributes': () =>
    edit(signed, ' use="signing"', Array.from({ length: 101 }, (_, at) => ` a${at}="1"`).join('')),
  'a compressed document': () => '\u001f\u008b\b\u0000\u0000',
}

const known = new Refusals('signed-metadata')

for (const [what, xml] of Object.entries(attacks)) {
  test(`signed metadata are refused: ${what} (D31.1)`, () => {
    assert.throws(
      () => read(xml()),
      (error: unknown) => {
        assert.ok(error instanceof MetadataRefused)
        known.assertKnown(what, { check: error.check, received: error.message })
        return true
      },
    )
  })
}

test('bytes that are not UTF-8 are refused (D31.1)', () => {
  const reader = new SignedMetadataReader(
    { keys: [keyNamed('other').publicKey], now: NOW, requiresEnd: true },
    () => {},
  )
  assert.throws(() => reader.write(Buffer.from([0x3c, 0xff, 0xfe])), MetadataRefused)
})

test('each refusal says what is wrong (D31.1)', () => {
  const reasonOf = (xml: string): string => {
    try {
      read(xml)
      return ''
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.match(reasonOf(aggregateXml(two)), /it is not signed/)
  assert.match(
    reasonOf(signFederation(aggregateXml(two), { key: keyNamed('attacker') })),
    /refused \(signature\): expected one of 1 keys/,
  )
  assert.match(reasonOf(edit(signed, 'uni.example/sso', 'evil.example/sso')), /its digest differs/)
  assert.match(
    reasonOf(signFederation(aggregateXml(two, ' validUntil="2026-01-01T00:00:00Z"'))),
    /valid until 2026-01-01/,
  )
})

test('a large aggregate is read piece by piece (D31.1)', () => {
  const entities: string[] = []
  const reader = new SignedMetadataReader({ keys: [keyNamed('other').publicKey], now: NOW, requiresEnd: true }, one =>
    entities.push(one.entityId),
  )
  for (const text of largeAggregate({ entities: 50, bytes: 400_000 })) reader.write(Buffer.from(text))
  assert.ok(reader.end().bytes > 350_000)
  assert.equal(new Set(entities).size, 50)
})
