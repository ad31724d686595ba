import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import {
  type AssertionResponse,
  challengeOf,
  type Passkey,
  type RegistrationResponse,
  verifyAssertion,
  verifyRegistration,
} from '../../src/accounts/factors/passkey-verification.ts'
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
  'no key at all': new Map(),
}

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
