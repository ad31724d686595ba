import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { type IdpMetadata, parseMetadata } from '../../src/features/saml/metadata.ts'
import { work } from '../../src/features/saml/verify-worker.ts'
import { Refusals } from '../support/refusals.ts'
import { certificateOf } from '../support/self-signed.ts'
import { buildMetadata, edit, IDP, keyNamed, newEcKey, newRsaKey, NOW } from '../support/saml-idp.ts'

const plain = buildMetadata()
const MD = 'urn:oasis:names:tc:SAML:2.0:metadata'
const body = (xml: string): string => xml.replace(/<\?xml[^>]*>/, '')
const aggregate = (...entities: string[]): string =>
  `<md:EntitiesDescriptor xmlns:md="${MD}"><md:EntitiesDescriptor>${entities.map(body).join('')}</md:EntitiesDescriptor></md:EntitiesDescriptor>`
const sp = `<md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${keyNamed('attacker').base64}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor></md:SPSSODescriptor>`
const entitySp = `<md:EntityDescriptor xmlns:md="${MD}" entityID="urn:sp">${sp}</md:EntityDescriptor>`
const pems = (...names: Parameters<typeof keyNamed>[0][]): string[] => names.map(name => keyNamed(name).pem)

const { publicKey: ed25519Key } = generateKeyPairSync('ed25519')
const ed25519 = { ...keyNamed('idp'), base64: base64Of(certificateOf({ ...keyNamed('idp'), publicKey: ed25519Key })) }
const nameless = base64Of(certificateOf(keyNamed('other'), '2099', false))

function base64Of(pem: string): string {
  return pem.replaceAll(/-----[A-Z ]+-----|\s/g, '')
}

interface Shape {
  readonly xml: () => string
  readonly wanted?: Partial<IdpMetadata>
}

const shapes: Readonly<Record<string, Shape>> = {
  'one entity': {
    xml: () => plain,
    wanted: {
      entityId: IDP,
      redirectUrl: 'https://idp.example/sso',
      postUrl: 'https://idp.example/post',
      validUntil: undefined,
    },
  },
  'an aggregate with one provider': { xml: () => aggregate(entitySp, plain), wanted: { entityId: IDP } },
  'the roles of provider and service in one entity': {
    xml: () => edit(plain, '<md:IDPSSODescriptor', found => sp + found),
  },
  'a role of an older protocol before the right one': {
    xml: () =>
      edit(
        plain,
        /<md:IDPSSODescriptor [^]*<\/md:IDPSSODescriptor>/,
        found =>
          found
            .replace('SAML:2.0:protocol', 'SAML:1.1:protocol')
            .replace(keyNamed('idp').base64, keyNamed('attacker').base64) + found,
      ),
  },
  'several protocols': {
    xml: () => edit(plain, 'protocolSupportEnumeration="', 'protocolSupportEnumeration="urn:x\n '),
  },
  'a key without use': { xml: () => buildMetadata({ use: undefined }) },
  'a key for encryption is not for signatures': {
    xml: () =>
      edit(
        plain,
        '<md:KeyDescriptor',
        buildMetadata({ use: 'encryption', keys: [keyNamed('other')] }).match(
          /<md:KeyDescriptor .*<\/md:KeyDescriptor>/,
        )?.[0] + '<md:KeyDescriptor',
      ),
  },
  'two keys': {
    xml: () => buildMetadata({ keys: [keyNamed('idp'), keyNamed('other')] }),
    wanted: { keys: pems('idp', 'other') },
  },
  'one key twice': { xml: () => buildMetadata({ keys: [keyNamed('idp'), keyNamed('idp')] }) },
  'elliptic keys': {
    xml: () => buildMetadata({ keys: [keyNamed('P-256'), keyNamed('P-384')] }),
    wanted: { keys: pems('P-256', 'P-384') },
  },
  'weak keys are left out': {
    xml: () => buildMetadata({ keys: [newRsaKey(1024), keyNamed('idp'), newEcKey('secp224r1')] }),
  },
  'certificates that cannot be used are left out, with the reasons': {
    xml: () =>
      edit(
        buildMetadata({ keys: [newRsaKey(1024), newEcKey('secp224r1'), keyNamed('idp')] }),
        '</md:KeyDescriptor>',
        found =>
          found.replace(
            '</md',
            '<ds:X509Certificate xmlns:ds="http://www.w3.org/2000/09/xmldsig#">AAAA</ds:X509Certificate></md',
          ),
      ),
    wanted: {
      unused: [
        'the certificate "CN=127.0.0.1" has an RSA key of 1024 bits; 2048 are needed',
        'a certificate cannot be read: "AAAA…"',
        'the certificate "CN=127.0.0.1" has a key on the curve secp224r1; one of prime256v1, secp384r1, secp521r1 is needed',
      ],
    },
  },
  'a certificate of a key that is neither RSA nor EC': {
    xml: () => buildMetadata({ keys: [ed25519, keyNamed('idp')] }),
    wanted: {
      unused: ['the certificate "CN=127.0.0.1" has a key of the type ed25519; RSA or EC is needed'],
    },
  },
  'a certificate that names nobody': {
    xml: () => edit(plain, keyNamed('idp').base64, nameless),
    wanted: { keys: pems('other') },
  },
  'a certificate between the lines of PEM': {
    xml: () => edit(plain, keyNamed('idp').base64, `\n${keyNamed('idp').certificate}\n`),
  },
  'processing instructions': {
    xml: () =>
      edit(plain, '<md:IDPSSODescriptor', found => `<?a <b> ?>${found}`).replace(
        '?>',
        '?><?xml-stylesheet href="a.xsl"?>',
      ) + '<?end?>',
  },
  'CDATA, whose signs mean nothing': {
    xml: () =>
      edit(plain, keyNamed('idp').base64, found => `<![CDATA[${found}]]>`).replace(
        '</md:EntityDescriptor>',
        '<md:Extensions><![CDATA[<!-- & <?x <md:IDPSSODescriptor>]]></md:Extensions></md:EntityDescriptor>',
      ),
  },
  'blanks around addresses and the name': {
    xml: () =>
      edit(
        buildMetadata({ logout: { redirect: 'https://idp.example/slo', responses: 'https://idp.example/answer' } }),
        /(?<=Location=")[^"]*/g,
        found => `\n ${found} `,
      ).replace(/(?<=entityID=")[^"]*/, ' $& '),
    wanted: {
      redirectUrl: 'https://idp.example/sso',
      postUrl: 'https://idp.example/post',
      logout: { redirect: { url: 'https://idp.example/slo', responseUrl: 'https://idp.example/answer' } },
    },
  },
  'an end after the year 9999': {
    xml: () => buildMetadata({ attributes: ' validUntil="123456-01-02T03:04:05Z"' }),
    wanted: { validUntil: Date.UTC(9999, 0, 2, 3, 4, 5) },
  },
  'a certificate in lines with tabs': {
    xml: () => edit(plain, keyNamed('idp').base64, found => `\n\t${found.replaceAll(/.{64}/g, '$&\r\n\t')}\n`),
  },
  'a certificate that is over is a key all the same': {
    xml: () =>
      buildMetadata({ keys: [] })
        .replace('</md:IDPSSODescriptor>', '</md:IDPSSODescriptor>')
        .replace(/(?<=protocol">)/, buildMetadata().match(/<md:KeyDescriptor .*<\/md:KeyDescriptor>/)?.[0] ?? ''),
  },
  'redirect only': {
    xml: () => buildMetadata({ postUrl: undefined }),
    wanted: { postUrl: undefined, redirectUrl: 'https://idp.example/sso' },
  },
  'valid for another moment': {
    xml: () => buildMetadata({ attributes: ` validUntil="${new Date(NOW + 1).toISOString()}"` }),
    wanted: { validUntil: NOW + 1 },
  },
  'the earliest of several ends counts': {
    xml: () =>
      edit(
        buildMetadata({ attributes: ' validUntil="2099-01-01T00:00:00Z"' }),
        '<md:IDPSSODescriptor ',
        '<md:IDPSSODescriptor validUntil="2050-01-01T00:00:00Z" ',
      ),
    wanted: { validUntil: Date.UTC(2050, 0) },
  },
  'comments, as Shibboleth writes them, and names in several languages': {
    xml: () =>
      edit(plain, '<md:IDPSSODescriptor', f => `<!-- <x> --- -->${f}`)
        .replace(
          '</md:EntityDescriptor>',
          '<!-- y --><md:Organization><md:OrganizationName xml:lang="de">Ü</md:OrganizationName></md:Organization></md:EntityDescriptor>',
        )
        .replace('<ds:X509Certificate>', '<!-- <md:IDPSSODescriptor> --><ds:X509Certificate>') + '<!-- end -->',
  },
  'other prefixes and unknown elements': {
    xml: () =>
      edit(
        plain.replaceAll('md:', 'ns0:').replace('xmlns:md', 'xmlns:ns0'),
        '<ns0:IDPSSO',
        '<ns0:Extensions><x xmlns="urn:x"/></ns0:Extensions><ns0:IDPSSO',
      ),
  },
}

for (const [title, { xml, wanted = {} }] of Object.entries(shapes)) {
  test(`metadata are read: ${title} (D8.6)`, () => {
    const read = parseMetadata(xml(), NOW)
    assert.deepEqual(read.keys, wanted.keys ?? pems('idp'))
    for (const [name, value] of Object.entries(wanted)) assert.deepEqual(read[name as keyof IdpMetadata], value, name)
    assert.equal(read.entityId, IDP)
  })
}

test('certificates are reported with name, fingerprint and end, including expired ones (D8.5)', () => {
  const { certificates } = parseMetadata(buildMetadata({ keys: [newRsaKey(2048, '2021')] }), NOW)
  assert.equal(certificates.length, 1)
  assert.equal(certificates[0]?.subject, 'CN=127.0.0.1')
  assert.equal(certificates[0]?.expires, Date.UTC(2021, 11, 31, 23, 59, 59))
  assert.match(certificates[0]?.sha256 ?? '', /^[0-9a-f]{64}$/)
})

const refused: Readonly<Record<string, readonly [xml: () => string, message: RegExp]>> = {
  'two providers': [
    () => aggregate(plain, plain.replace(/entityID="[^"]*"/, 'entityID="urn:x"')),
    /2 identity providers/,
  ],
  'a service only': [() => entitySp, /no identity provider/],
  'a provider of SAML 1 only': [() => edit(plain, 'SAML:2.0:protocol', 'SAML:1.1:protocol'), /no identity provider/],
  'no name': [() => edit(plain, / entityID="[^"]*"/, ''), /no entityID/],
  'no key': [() => buildMetadata({ keys: [] }), /no usable key/],
  'weak keys only': [() => buildMetadata({ keys: [newRsaKey(1024)] }), /no usable key.*; the certificate .* 1024 bits/],
  'keys for encryption only': [() => buildMetadata({ use: 'encryption' }), /no usable key/],
  'a certificate that is none': [
    () => edit(plain, keyNamed('idp').base64, 'AAAA'),
    /no usable key.*; a certificate cannot be read/,
  ],
  'no longer valid': [
    () => buildMetadata({ attributes: ` validUntil="${new Date(NOW).toISOString()}"` }),
    /was valid until 2026-11-21/,
  ],
  'an end that is no date': [() => buildMetadata({ attributes: ' validUntil="soon"' }), /no date/],
  'an address of another kind': [() => edit(plain, 'https://idp.example/sso', 'javascript:alert(1)'), /not an http/],
  'an address that is relative': [() => edit(plain, 'https://idp.example/sso', '/sso'), /not an http/],
  'cut off': [() => plain.slice(0, -30), /not well-formed|does not end/],
  HTML: [() => '<!DOCTYPE html><html><body>Sign in</body></html>', /DOCTYPE/],
  'HTML without DOCTYPE': [() => '<html><body><br>Sign in</body></html>', /./],
  'a DOCTYPE': [() => edit(plain, '<md:EntityDescriptor', '<!DOCTYPE x><md:EntityDescriptor'), /DOCTYPE/],
  'a comment that does not end': [() => edit(plain, '<md:IDPSSODescriptor', f => `<!-- ${f}`), /comment/],
  'CDATA that does not end': [() => edit(plain, '<ds:X509Certificate>', f => `${f}<![CDATA[`), /CDATA/],
  'a processing instruction that does not end': [
    () => edit(plain, '<md:IDPSSODescriptor', f => `<?x ${f}`),
    /instruction/,
  ],
  'a DOCTYPE after CDATA and a comment': [
    () => edit(plain, '<md:EntityDescriptor', f => `<!-- x --><!DOCTYPE x [<!ENTITY y "z">]>${f}`),
    /DOCTYPE/,
  ],
  'CDATA around elements': [
    () => edit(plain, /<md:IDPSSODescriptor [^]*<\/md:IDPSSODescriptor>/, f => `<![CDATA[${f}]]>`),
    /no identity provider/,
  ],
  'an end in a year of six digits that is no date': [
    () => buildMetadata({ attributes: ' validUntil="123456-13-01T00:00:00Z"' }),
    /no date/,
  ],
  nothing: [() => '', /well-formed/],
  'another namespace': [() => plain.replaceAll(MD, 'urn:x'), /no identity provider/],
}

const known = new Refusals('metadata')

for (const [title, [xml, message]] of Object.entries(refused)) {
  test(`metadata are refused: ${title} (D8.6)`, async () => {
    assert.throws(() => parseMetadata(xml(), NOW), message)
    const outcome = await work({ kind: 'metadata', text: xml(), now: NOW, keys: [] })
    assert.ok('refused' in outcome)
    known.assertKnown(title, { check: outcome.check, received: outcome.refused })
  })
}

test('a defect of the program is no refusal of metadata: it is thrown', async () => {
  for (const keys of [[], [keyNamed('idp').pem]]) {
    const broken = undefined as unknown as string
    await assert.rejects(work({ kind: 'metadata', text: broken, now: NOW, keys }), TypeError)
  }
})
