import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import {
  type AssertionResponse,
  challengeOf,
  isText,
  type Passkey,
  readAssertion,
  type RegistrationResponse,
  verifyAssertion,
  verifyRegistration,
} from '../../src/features/passkeys/passkey-verification.ts'
import {
  type Algorithm,
  attestation,
  coseKey,
  flags,
  SoftwareAuthenticator,
} from '../support/software-authenticator.ts'

const origin = 'https://store.example.org:8443'
const relyingParty = { id: 'store.example.org', origin, name: 'Store' }
const challenge = randomBytes(32).toString('base64url')
const creation = { challenge, rp: { id: relyingParty.id }, user: { id: 'dXNlcg' } }
const request = { challenge, rpId: relyingParty.id }

const register = (response: RegistrationResponse, requiresVerification = true) =>
  verifyRegistration(relyingParty, response, challenge, requiresVerification)

const use = (response: AssertionResponse, passkey: Passkey, requiresVerification = true) =>
  verifyAssertion(relyingParty, response, challenge, passkey, requiresVerification)

async function registered(algorithm: Algorithm = 'ES256') {
  const authenticator = new SoftwareAuthenticator(origin, { algorithm })
  const passkey = await register(authenticator.create(creation))
  assert.ok(passkey)
  return { authenticator, passkey }
}

for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
  test(`a passkey with ${algorithm} is registered and verified`, async () => {
    const { authenticator, passkey } = await registered(algorithm)
    assert.equal(passkey.credentialId, authenticator.credentialId)
    assert.deepEqual(passkey.transports, ['internal'])
    const response = authenticator.get(request)
    assert.equal(challengeOf(response), challenge)
    assert.deepEqual(await use(response, passkey), { counter: 2, isUserVerified: true })
  })
}

test('a response without user verification is accepted only where the password has been checked', async () => {
  const { authenticator, passkey } = await registered()
  const response = () => authenticator.get(request, { flags: flags.UP })
  assert.equal(await use(response(), passkey), undefined)
  assert.deepEqual(await use(response(), passkey, false), { counter: 3, isUserVerified: false })
})

test('the attestation is not evaluated, so no certificate of a stranger is parsed or fetched', async () => {
  const authenticator = new SoftwareAuthenticator(origin)
  const { id, response } = authenticator.create(creation)
  const object = isoCBOR.decodeFirst<Map<string, Uint8Array>>(Buffer.from(response.attestationObject, 'base64url'))
  for (const format of ['packed', 'fido-u2f', 'android-safetynet', 'unheard-of']) {
    const attestationObject = attestation(object.get('authData') ?? new Uint8Array(), format)
    assert.ok(await register({ id, response: { ...response, attestationObject } }), format)
  }
})

const forgedStatements = {
  'another origin': { origin: 'https://store.example.org' },
  'an origin with another scheme': { origin: 'http://store.example.org:8443' },
  'an origin that begins like ours': { origin: 'https://store.example.org:8443.evil.example' },
  'a subdomain as origin': { origin: 'https://sub.store.example.org:8443' },
  'an empty origin': { origin: '' },
  'the RP id of another host': { rpId: 'evil.example' },
  'the RP id of a parent domain': { rpId: 'example.org' },
  'another challenge': { challenge: randomBytes(32).toString('base64url') },
  'an empty challenge': { challenge: '' },
  'another type': { type: 'webauthn.other' },
  'the type of a payment': { type: 'payment.get' },
  'no user presence': { flags: flags.UV },
  'no user verification': { flags: flags.UP },
  'neither presence nor verification': { flags: 0 },
  'a backup state that contradicts the eligibility': { flags: flags.UP | flags.UV | flags.BS },
  'announced extensions that are missing': { flags: flags.UP | flags.UV | flags.ED },
  'a page inside a page of another site': { crossOrigin: true },
  'a top origin': { crossOrigin: true, topOrigin: 'https://evil.example' },
} as const

for (const [title, forged] of Object.entries(forgedStatements)) {
  test(`refused, at registration and at sign-in: ${title}`, async () => {
    assert.equal(await register(new SoftwareAuthenticator(origin).create(creation, forged)), undefined)
    const { authenticator, passkey } = await registered()
    assert.equal(await use(authenticator.get(request, forged), passkey), undefined)
  })
}

test('refused: a response of the other kind', async () => {
  const fresh = new SoftwareAuthenticator(origin)
  assert.equal(await register(fresh.create(creation, { type: 'webauthn.get' })), undefined)
  const { authenticator, passkey } = await registered()
  assert.equal(await use(authenticator.get(request, { type: 'webauthn.create' }), passkey), undefined)
})

test('refused: a signature by another key, an altered one, an empty one, one over other data', async () => {
  const { authenticator, passkey } = await registered()
  const other = new SoftwareAuthenticator(origin)
  assert.equal(await use(authenticator.get(request, { signedBy: other }), passkey), undefined)
  const { id, response } = authenticator.get(request)
  const bytes = Buffer.from(response.signature, 'base64url')
  for (let index = 0; index < bytes.length; index += 5) {
    const altered = Buffer.from(bytes)
    altered.writeUInt8(altered.readUInt8(index) ^ 1, index)
    const signature = altered.toString('base64url')
    assert.equal(await use({ id, response: { ...response, signature } }, passkey), undefined, `byte ${index}`)
  }
  for (const signature of ['', 'AA', '*', 'A'.repeat(4000)]) {
    assert.equal(await use({ id, response: { ...response, signature } }, passkey), undefined, signature)
  }
  const later = authenticator.get(request).response
  assert.equal(await use({ id, response: { ...later, signature: response.signature } }, passkey), undefined)
})

test('refused: the passkey of another user, or its id on a response of our own', async () => {
  const [mine, theirs] = [await registered(), await registered()]
  const response = mine.authenticator.get(request)
  assert.equal(await use(response, theirs.passkey), undefined)
  assert.equal(await use({ ...response, id: theirs.passkey.credentialId }, theirs.passkey), undefined)
  assert.equal(await register({ ...mine.authenticator.create(creation), id: theirs.passkey.credentialId }), undefined)
})

test('refused: the same key under another credential id', async () => {
  const { authenticator, passkey } = await registered()
  const response = { ...authenticator.get(request), id: new SoftwareAuthenticator(origin).credentialId }
  assert.equal(await use(response, passkey), undefined)
})

test('a browser that says nothing about the page around ours is believed; a top origin alone is refused', async () => {
  const { authenticator, passkey } = await registered()
  const silent = { crossOrigin: undefined } as unknown as { crossOrigin: boolean }
  assert.ok(await use(authenticator.get(request, silent), passkey))
  const framed = { ...silent, topOrigin: 'https://evil.example' }
  assert.equal(await use(authenticator.get(request, framed), passkey), undefined)
})

test('refused: a passkey that begins or ceases to be copied to other devices', async () => {
  const { authenticator, passkey } = await registered()
  const synced = { flags: flags.UP | flags.UV | flags.BE | flags.BS }
  assert.equal(await use(authenticator.get(request, synced), passkey), undefined)
  const other = new SoftwareAuthenticator(origin)
  const copied = await register(other.create(creation, synced))
  assert.equal(copied?.isSyncable, true)
  assert.ok(await use(other.get(request, synced), copied))
  assert.equal(await use(other.get(request), copied), undefined)
})

const rsaKey = (modulusLength: number) => coseKey(generateKeyPairSync('rsa', { modulusLength }).publicKey)
/** An RSA key with a random number of `bits` bits as modulus, because a registration contains no signature by the key. */
function rsaNumber(bits: number): Map<number, number | Uint8Array> {
  const modulus = new Uint8Array(randomBytes(bits / 8))
  modulus.set([255])
  return new Map([...rsaKey(2048), [-1, modulus]])
}
const p384 = coseKey(generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey)
const ed25519 = new SoftwareAuthenticator(origin, { algorithm: 'EdDSA' }).publicKey
const good = new SoftwareAuthenticator(origin).publicKey
const keys: Readonly<Record<string, ReadonlyMap<number, number | Uint8Array>>> = {
  'RSA with 1024 bits': rsaKey(1024),
  'another curve under the name of P-256': p384,
  'another curve': new Map([...p384, [-1, 2]]),
  'an algorithm that was not offered': new Map([...good, [3, -35]]),
  'SHA-1': new Map([...rsaKey(2048), [3, -65535]]),
  'an algorithm of another type of key': new Map([...good, [3, -257]]),
  'P-256 under the type of another key': new Map([...good, [1, 1]]),
  'RSA under the type of another key': new Map([...rsaKey(2048), [1, 2]]),
  'Ed25519 under the type of another key': new Map([...ed25519, [1, 2]]),
  'a point that is not on the curve': new Map([...good, [-3, new Uint8Array(32)]]),
  'no algorithm': new Map([...good].filter(([label]) => label !== 3)),
  'half a point': new Map([...good].filter(([label]) => label !== -3)),
  'P-256 under the number of another curve': new Map([...good, [-1, 2]]),
  'Ed25519 under the number of another curve': new Map([...ed25519, [-1, 4]]),
  'RSA without an exponent': new Map([...rsaKey(2048)].filter(([label]) => label !== -2)),
  'RSA with the exponent 1': new Map([...rsaKey(2048), [-2, new Uint8Array([1])]]),
  'RSA with more than 8192 bits': rsaNumber(8200),
  'no key at all': new Map(),
}

test('the largest RSA key that is accepted has 8192 bits, the smallest exponent is 3', async () => {
  for (const exponent of [3, 17]) {
    const publicKey = isoCBOR.encode(new Map([...rsaNumber(8192), [-2, new Uint8Array([exponent])]]))
    assert.ok(await register(new SoftwareAuthenticator(origin).create(creation, { publicKey })))
  }
})

for (const [title, key] of Object.entries(keys)) {
  test(`refused as a public key: ${title}`, async () => {
    const publicKey = isoCBOR.encode(new Map(key))
    assert.equal(await register(new SoftwareAuthenticator(origin).create(creation, { publicKey })), undefined)
  })
}

const cbor: Readonly<Record<string, Uint8Array>> = {
  nothing: Buffer.alloc(0),
  'a number': Buffer.from([0]),
  'an empty map': Buffer.from([0xa0]),
  'a map that announces 2³² members': Buffer.from([0xba, 0xff, 0xff, 0xff, 0xff]),
  'a text that announces 2⁶⁴ bytes': Buffer.from([0x7b, ...Buffer.alloc(8, 0xff)]),
  'an array of endless length': Buffer.from([0x9f, 0, 0xff]),
  'twenty thousand arrays within each other': Buffer.alloc(20_000, 0x81),
  'the same member twice': Buffer.from([0xa2, 0x61, 0x61, 0, 0x61, 0x61, 0]),
  'no authenticator data': Buffer.from(isoCBOR.encode(new Map([['fmt', 'none']]))),
  'authenticator data as text': Buffer.from(isoCBOR.encode(new Map([['authData', 'x'.repeat(200)]]))),
  'authenticator data that is too short': Buffer.from(attestation(Buffer.alloc(36)), 'base64url'),
  'authenticator data full of ones': Buffer.from(attestation(Buffer.alloc(2000, 0xff)), 'base64url'),
  'more than 24 kB': Buffer.from(attestation(Buffer.alloc(30_000)), 'base64url'),
}

for (const [title, bytes] of Object.entries(cbor)) {
  test(`refused as an attestation object: ${title}`, async () => {
    const { id, response } = new SoftwareAuthenticator(origin).create(creation)
    const attestationObject = Buffer.from(bytes).toString('base64url')
    assert.equal(await register({ id, response: { ...response, attestationObject } }), undefined)
  })
}

test('refused: authenticator data with something before, behind or missing', async () => {
  const { authenticator, passkey } = await registered()
  const { id, response } = authenticator.get(request)
  const data = Buffer.from(response.authenticatorData, 'base64url')
  const odd = [data.subarray(1), data.subarray(0, -1), Buffer.concat([data, Buffer.from([0])]), Buffer.alloc(7000)]
  for (const bytes of odd) {
    const authenticatorData = bytes.toString('base64url')
    assert.equal(await use({ id, response: { ...response, authenticatorData } }, passkey), undefined)
  }
})

test('refused: client data that is no JSON, no object, too long, or not base64url', async () => {
  const { authenticator, passkey } = await registered()
  const { id, response } = authenticator.get(request)
  const texts = ['', 'null', '[]', '{', '"x"', '7', ' '.repeat(9000)].map(text =>
    Buffer.from(text).toString('base64url'),
  )
  for (const clientDataJSON of [...texts, 'ä', `${response.clientDataJSON}=`]) {
    assert.equal(await use({ id, response: { ...response, clientDataJSON } }, passkey), undefined)
  }
})

test('a second spelling of the same credential id is refused', async () => {
  const authenticator = new SoftwareAuthenticator(origin)
  const response = authenticator.create(creation)
  const last = response.id.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const id = response.id.slice(0, -1) + (alphabet[alphabet.indexOf(last) + 1] ?? '')
  assert.deepEqual(Buffer.from(id, 'base64url'), Buffer.from(response.id, 'base64url'))
  assert.equal(await register({ ...response, id }), undefined)
})

test('an attestation object may have 24 KiB', async () => {
  const { id, response } = new SoftwareAuthenticator(origin).create(creation)
  const object = isoCBOR.decodeFirst<Map<string, Uint8Array>>(Buffer.from(response.attestationObject, 'base64url'))
  const sized = (bytes: number): string => {
    const filled = (filler: number) =>
      isoCBOR.encode(
        new Map<string, string | Uint8Array | Map<string, Uint8Array>>([
          ['fmt', 'packed'],
          ['attStmt', new Map([['x', new Uint8Array(filler)]])],
          ['authData', object.get('authData') ?? new Uint8Array()],
        ]),
      )
    return Buffer.from(filled(1000 + bytes - filled(1000).length)).toString('base64url')
  }
  assert.equal(sized(24_576).length, 32_768)
  assert.ok(await register({ id, response: { ...response, attestationObject: sized(24_576) } }))
  assert.equal(await register({ id, response: { ...response, attestationObject: sized(24_577) } }), undefined)
})

test('authenticator data may have 6 KiB', async () => {
  const { authenticator, passkey } = await registered()
  const extended = (bytes: number) => {
    const filled = (filler: number) => isoCBOR.encode(new Map([['x', new Uint8Array(filler)]]))
    // 37 bytes are those without extensions.
    const extensions = filled(1000 + bytes - 37 - filled(1000).length)
    return authenticator.get(request, { flags: flags.UP | flags.UV | flags.ED, extensions })
  }
  assert.equal(extended(6144).response.authenticatorData.length, 8192)
  assert.ok(await use(extended(6144), passkey))
  assert.equal(await use(extended(6145), passkey), undefined)
})

test('of the transports that a browser names, eight at most are kept, and only names', async () => {
  const registeredWith = async (transports?: readonly string[]) => {
    const { id, response } = new SoftwareAuthenticator(origin).create(creation)
    return (await register({ id, response: { ...response, transports } }))?.transports
  }
  const longest = 'a'.repeat(20)
  const wrong = ['USB', 'usb!', '!usb', '', `${longest}a`, 'smart card', 'usb\n']
  assert.deepEqual(await registeredWith([...wrong, 'smart-card', longest]), ['smart-card', longest])
  const nine = [...'abcdefghi']
  assert.deepEqual(await registeredWith(nine), nine.slice(0, 8))
  assert.deepEqual(await registeredWith(), [])
})

test('an assertion is read if it has the form of one, whatever else was sent beside it', () => {
  const response = { clientDataJSON: 'a', authenticatorData: 'b', signature: 'c' }
  for (const userHandle of [undefined, null, '', 'handle']) {
    const sent = { id: 'id', more: 1, response: { ...response, userHandle, more: 1 } }
    assert.deepEqual(readAssertion(sent), { id: 'id', response: { ...response, userHandle } })
  }
  const malformed: readonly unknown[] = [
    undefined,
    null,
    'text',
    7,
    {},
    { id: 'id' },
    { id: 'id', response: null },
    { id: 'id', response: 'text' },
    { response },
    { id: 7, response },
    ...Object.keys(response).map(name => ({ id: 'id', response: { ...response, [name]: undefined } })),
    ...Object.keys(response).map(name => ({ id: 'id', response: { ...response, [name]: 7 } })),
    { id: 'id', response: { ...response, userHandle: 7 } },
    { id: 'id', response: { ...response, userHandle: {} } },
  ]
  for (const sent of malformed) assert.equal(readAssertion(sent), undefined, JSON.stringify(sent))
})

test('the challenge is read from client data of at most 8192 characters, and only a text counts', () => {
  const data = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const asked = (clientDataJSON: string) =>
    challengeOf({ id: 'id', response: { clientDataJSON, authenticatorData: '', signature: '' } })
  assert.equal(asked(data({ challenge: 'x' })), 'x')
  assert.equal(asked(data({ challenge: '' })), '')
  for (const value of [{}, { challenge: 7 }, { challenge: null }, { challenge: ['x'] }, null, [], 'x']) {
    assert.equal(asked(data(value)), undefined, JSON.stringify(value))
  }
  assert.equal(asked('*'), undefined)
  assert.equal(asked(Buffer.from('{').toString('base64url')), undefined)
  const sized = (bytes: number) => data({ challenge: 'x', pad: 'x'.repeat(bytes - data.length - 26) })
  const rest = 6144 - Buffer.from(sized(1000), 'base64url').length
  assert.equal(sized(1000 + rest).length, 8192)
  assert.equal(asked(sized(1000 + rest)), 'x')
  assert.equal(asked(sized(1001 + rest)), undefined)
})

test('a text of WebAuthn is base64url in its one spelling, with a length of its own', () => {
  for (const text of ['AA', 'AAA', 'AAAA', 'a-_0', 'Zm9v']) assert.equal(isText(text, 4), true, text)
  const wrong = ['', 'A', 'AB', 'AAB', 'AAAAA', 'AAAAAAAA', '=AAA', 'AA==', 'A+A/', 'AA\n', ' AA', 'Ä', 'AA.A']
  for (const value of [...wrong, undefined, null, 7, ['AA'], { length: 2 }]) {
    assert.equal(isText(value, 4), false, JSON.stringify(value))
  }
  assert.equal(isText('AAAA', 3), false)
})
