import assert from 'node:assert/strict'
import { constants, createHash, publicEncrypt, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { decryptElement } from '../../src/features/saml/decryption.ts'
import { messageLimits, parseXml } from '../../src/features/sso/xml.ts'
import { ciphers, encryptedKeyFor, encryptXml, type Encrypting } from '../support/saml-encryption.ts'
import { DSIG, DSIG_MORE, keyNamed, XENC } from '../support/saml-idp.ts'

const SAML = 'urn:oasis:names:tc:SAML:2.0:assertion'
const XENC11 = 'http://www.w3.org/2009/xmlenc11#'
const ASSERTION = `<saml:Assertion xmlns:saml="${SAML}">é</saml:Assertion>`
const pem = (name: Parameters<typeof keyNamed>[0]) =>
  keyNamed(name).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const [own, other] = [pem('service'), pem('other')]

const decrypt = (xml: string, name: 'Assertion' | 'NameID' = 'Assertion', keys: readonly string[] = [own]) =>
  decryptElement(parseXml(xml, messageLimits), name, keys)
/** Encrypts and decrypts. @param change of the encrypted XML */
const through = (encrypting: Encrypting = {}, change = (xml: string) => xml, text = ASSERTION) =>
  decrypt(change(encryptXml(text, encrypting)))
const failed = { check: 'decryption', expected: 'an encrypted Assertion', received: undefined }
const refused = (work: () => unknown, details: object = failed) => assert.throws(work, { failed: details })
const replacing =
  (found: string | RegExp, by: string) =>
  (xml: string): string => {
    const changed = xml.replace(found, by)
    assert.notEqual(changed, xml, String(found))
    return changed
  }

/** With one bit changed: a byte of one value would be the same as before once in 256 runs. */
const flipped = (bytes: Buffer, place: number): Buffer =>
  Buffer.from(bytes.map((byte, at) => (at === place ? byte ^ 1 : byte)))

const known = (Object.keys(ciphers) as Array<keyof typeof ciphers>).filter(name => name !== 'tripledes-cbc')

test('every known cipher decrypts, and text that was changed does not (D8.3)', () => {
  for (const cipher of known) {
    assert.equal(through({ cipher }), ASSERTION, cipher)
    refused(() => through({ cipher, damage: bytes => flipped(bytes, bytes.length - 1) }))
    refused(() => through({ cipher, damage: () => Buffer.alloc(0) }))
  }
  refused(() => through({ damage: bytes => flipped(bytes, 20) }))
})

/** RSA-OAEP with one hash for the message and one for the mask (RFC 8017, 7.1.1). */
function wrapWith(hash: string, maskHash: string, label = ''): (key: Buffer) => Buffer {
  const digest = (name: string, ...parts: readonly Buffer[]) =>
    parts.reduce((sum, part) => sum.update(part), createHash(name)).digest()
  const mask = (seed: Buffer, length: number): Buffer => {
    const parts: Buffer[] = []
    for (let at = 0; Buffer.concat(parts).length < length; at++) {
      const counter = Buffer.alloc(4)
      counter.writeUInt32BE(at)
      parts.push(digest(maskHash, seed, counter))
    }
    return Buffer.concat(parts).subarray(0, length)
  }
  const xor = (one: Buffer, two: Buffer) => Buffer.from(one.map((byte, at) => byte ^ (two[at] ?? 0)))
  return key => {
    const { publicKey } = keyNamed('service')
    const bytes = (publicKey.asymmetricKeyDetails?.modulusLength ?? 0) / 8
    const labelHash = digest(hash, Buffer.from(label))
    const size = labelHash.length
    const filler = Buffer.alloc(bytes - key.length - 2 * size - 2)
    const block = Buffer.concat([labelHash, filler, Buffer.from([1]), key])
    const seed = randomBytes(size)
    const maskedBlock = xor(block, mask(seed, block.length))
    const maskedSeed = xor(seed, mask(maskedBlock, size))
    const padded = Buffer.concat([Buffer.alloc(1), maskedSeed, maskedBlock])
    return publicEncrypt({ key: publicKey, padding: constants.RSA_NO_PADDING }, padded)
  }
}

const digestUri = (hash: string) => ({ sha1: `${DSIG}sha1`, sha384: `${DSIG_MORE}sha384` })[hash] ?? `${XENC}${hash}`
/** States other hashes than those of the support. */
const stating = (digest: string | undefined, mask: string | undefined, params = '') =>
  replacing(
    /(<xenc:EncryptionMethod Algorithm="[^"]*rsa-oaep[^"]*">).*?(<\/xenc:EncryptionMethod>)/,
    `$1${params}${digest === undefined ? '' : `<ds:DigestMethod Algorithm="${digestUri(digest)}"/>`}` +
      `${mask === undefined ? '' : `<m:MGF xmlns:m="${XENC11}" Algorithm="${XENC11}mgf1${mask}"/>`}$2`,
  )

test('the hashes of the message and of the mask are those that the key states, else SHA-1 (D8.3)', () => {
  const hashes = ['sha1', 'sha256', 'sha384', 'sha512']
  for (const hash of hashes)
    for (const mask of hashes) {
      const encrypting = { wrapping: 'rsa-oaep', wrap: wrapWith(hash, mask) } as const
      assert.equal(through(encrypting, stating(hash, mask)), ASSERTION, `${hash} ${mask}`)
    }
  const digestOnly = { wrapping: 'rsa-oaep', wrap: wrapWith('sha256', 'sha1') } as const
  assert.equal(through(digestOnly, stating('sha256', undefined)), ASSERTION)
  const maskOnly = { wrapping: 'rsa-oaep', wrap: wrapWith('sha1', 'sha256') } as const
  assert.equal(through(maskOnly, stating(undefined, 'sha256')), ASSERTION)
  const fixed = { wrap: wrapWith('sha256', 'sha1') } as const
  assert.equal(through(fixed, stating('sha256', undefined)), ASSERTION)
  refused(() => through(digestOnly, stating('sha1', undefined)))
  refused(() => through(maskOnly, stating(undefined, 'sha512')))
  refused(() => through({}, stating('sha1', 'sha1')))
})

test('a key can be wrapped with a label (D8.3)', () => {
  const params = `<xenc:OAEPparams>${Buffer.from('label').toString('base64')}</xenc:OAEPparams>`
  const labelled = { wrap: wrapWith('sha1', 'sha1', 'label') }
  assert.equal(through(labelled, stating(undefined, undefined, params)), ASSERTION)
  const mixed = { wrapping: 'rsa-oaep', wrap: wrapWith('sha256', 'sha1', 'label') } as const
  assert.equal(through(mixed, stating('sha256', undefined, params)), ASSERTION)
  refused(() => through(labelled))
  refused(() => through({}, stating(undefined, undefined, params)))
})

test('other algorithms are refused by their names (D8.3)', () => {
  const methods = known.map(name => ciphers[name].uri).sort()
  const wrappings = [`${XENC}rsa-oaep-mgf1p`, `${XENC11}rsa-oaep`].sort()
  const digests = `${DSIG}sha1 ${XENC}sha256 ${DSIG_MORE}sha384 ${XENC}sha512`
  const masks = ['sha1', 'sha256', 'sha384', 'sha512'].map(hash => `${XENC11}mgf1${hash}`).join(' ')
  const failureOf = (work: () => unknown) => {
    try {
      work()
    } catch (error) {
      return (error as { readonly failed: { readonly expected: string; readonly received: string } }).failed
    }
    return assert.fail('it was accepted')
  }
  const listed = ({ expected, received }: ReturnType<typeof failureOf>) => [expected.split(' ').sort(), received]
  const { uri } = ciphers['tripledes-cbc']
  assert.deepEqual(listed(failureOf(() => through({ cipher: 'tripledes-cbc' }))), [methods, uri])
  assert.deepEqual(listed(failureOf(() => through({ wrapping: 'rsa-1_5' }))), [wrappings, `${XENC}rsa-1_5`])
  const nameless = replacing(/<xenc:EncryptionMethod Algorithm="[^"]*"\/>/, '<xenc:EncryptionMethod/>')
  assert.deepEqual(listed(failureOf(() => through({}, nameless))), [methods, ''])
  const encrypting = { wrapping: 'rsa-oaep' } as const
  const check = 'decryption'
  refused(() => through(encrypting, stating('md5', 'sha256')), { check, expected: digests, received: `${XENC}md5` })
  refused(() => through(encrypting, stating('sha256', 'md5')), { check, expected: masks, received: `${XENC11}mgf1md5` })
  const bare = replacing(/<ds:DigestMethod [^>]*>/, '<ds:DigestMethod/>')
  refused(() => through(encrypting, bare), { check, expected: digests, received: '' })
})

test('with CBC the last byte says how much padding there is, from 1 to 16 bytes (D8.3)', () => {
  const text = `${ASSERTION}${' '.repeat(31 - ((Buffer.byteLength(ASSERTION) + 15) % 16))}`
  assert.equal(Buffer.byteLength(text) % 16, 0)
  const ending = (length: number, last: number) => Buffer.concat([Buffer.alloc(length - 1, 32), Buffer.from([last])])
  const padded = (cut: number, padding: Buffer) =>
    through({ cipher: 'aes128-cbc', padding }, undefined, text.slice(0, text.length - cut))
  assert.equal(padded(0, ending(16, 16)), text)
  assert.equal(padded(1, ending(1, 1)), text.slice(0, -1))
  refused(() => padded(1, ending(17, 17)))
  refused(() => padded(0, ending(16, 0)))
})

test('the key of the cipher is in the data or beside it, alone or among those of other recipients (D8.3)', () => {
  const beside = { keyBeside: true }
  assert.equal(through(beside), ASSERTION)
  const reference = /<ds:RetrievalMethod [^>]*>/
  assert.equal(through(beside, replacing(reference, '')), ASSERTION)
  assert.equal(through(beside, replacing(reference, '<ds:RetrievalMethod/>')), ASSERTION)
  assert.equal(through(beside, replacing(reference, '<ds:RetrievalMethod URI="#"/>')), ASSERTION)
  assert.equal(through(beside, replacing(reference, '<ds:RetrievalMethod URI="#other"/>')), ASSERTION)
  assert.equal(through(beside, replacing(/<ds:KeyInfo .*<\/ds:KeyInfo>/, '')), ASSERTION)
  const [foreign, weak] = [encryptedKeyFor(keyNamed('other')), encryptedKeyFor(keyNamed('service'), 'rsa-1_5')]
  const key = /<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/
  for (const encrypting of [{}, beside]) {
    for (const keys of [`${foreign}$&`, `$&${foreign}`, `${weak}$&${weak}`, `${foreign.repeat(9)}$&`])
      assert.equal(through(encrypting, replacing(key, keys)), ASSERTION, keys)
    refused(() => through(encrypting, replacing(key, foreign)))
    const tooMany = { check: 'decryption', expected: 'at most 10 EncryptedKey', received: '11' }
    refused(() => through(encrypting, replacing(key, `${foreign.repeat(10)}$&`)), tooMany)
  }
  assert.equal(through({}, replacing('</xenc:EncryptedData>', `</xenc:EncryptedData>${foreign}`)), ASSERTION)
  refused(() => through(beside, replacing(/<xenc:EncryptedKey .*<\/xenc:EncryptedKey>/, '')))
})

test('each part of an encrypted element is there once (D8.3)', () => {
  const one = { check: 'decryption', expected: 'one EncryptedData', received: undefined }
  const data = /<xenc:EncryptedData .*<\/xenc:EncryptedData>/
  refused(() => through({}, replacing(data, '')), one)
  refused(() => through({}, replacing(data, '$&$&')), one)
  for (const part of [
    /<xenc:EncryptionMethod [^>]*\/>/,
    /<ds:KeyInfo .*<\/ds:KeyInfo>/,
    /<xenc:CipherData>(?!.*CipherData>.*CipherData>).*<\/xenc:CipherData>/,
    /<xenc:CipherValue>(?!.*CipherValue>.*CipherValue>).*<\/xenc:CipherValue>/,
  ]) {
    refused(() => through({}, replacing(part, '')))
    refused(() => through({}, replacing(part, '$&$&')))
  }
})

test('each configured key is tried, and without one the reason is said (D8.3)', () => {
  const xml = encryptXml(ASSERTION)
  assert.equal(decrypt(xml, 'Assertion', [other, own]), ASSERTION)
  refused(() => decrypt(xml, 'Assertion', [other]))
  const expected = (name: string) => `an unencrypted ${name}: no decryption key is configured`
  for (const name of ['Assertion', 'NameID'] as const)
    refused(() => decrypt(xml, name, []), { check: 'decryption', expected: expected(name), received: undefined })
})

test('the content must be the element that was expected, as XML (D8.3)', () => {
  const nameId = `<NameID xmlns="${SAML}">x</NameID>`
  assert.equal(decrypt(encryptXml(nameId), 'NameID'), nameId)
  refused(() => decrypt(encryptXml(ASSERTION), 'NameID'), { ...failed, expected: 'an encrypted NameID' })
  for (const text of [nameId, '<Assertion xmlns="urn:other"/>', 'text', '<a', `<!DOCTYPE a>${ASSERTION}`])
    refused(() => through({}, undefined, text))
  refused(() =>
    through(
      { cipher: 'aes128-cbc', padding: Buffer.concat([Buffer.from([0xff]), Buffer.alloc(15, 1)]) },
      undefined,
      ' '.repeat(16),
    ),
  )
})
