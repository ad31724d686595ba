import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { TokenSealer } from '../../src/accounts/tokens.ts'
import { FakeSystem } from '../support/fake-system.ts'

const secret = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)
const vaultOf = (...secrets: Uint8Array[]): TokenSealer => new TokenSealer(secrets, new FakeSystem())
const TOKEN = 'x'.repeat(43)

test('names and seals are those that another implementation makes (Python’s cryptography 48: HKDF, HMAC, AES-GCM)', () => {
  const vault = vaultOf(Uint8Array.from({ length: 32 }, (_, index) => index))
  const token = 'A'.repeat(43)
  const sealed =
    '2Y9y3-72.ZGVmZ2hpamtsbW5vdnQZ34yqh-Li68UANZUgQArKMzKdNDxcwixQTQTwRIDlJkXX8N_VFqwWmKFHTk_mqBvRqgowqrhKp-Q' +
    '.sxVyLPHthfNQj8UHGs5E1X1YZbO55urQRSWDF2cmqSA'
  assert.deepEqual(vault.idsOf(token), ['GtYr6ghQKnepPEia5v0eTv5ePKPbNwjF6JEVE7XskSQ'])
  assert.equal(vault.open(sealed, '7'), token)
  assert.equal(vault.isOf(sealed, token, '7'), true)
})

test('a seal opens for its owner only, and reveals nothing about the token', () => {
  const vault = vaultOf(secret(1))
  fc.assert(
    fc.property(fc.base64String({ minLength: 1 }), fc.string(), fc.string(), (token, owner, other) => {
      const sealed = vault.seal(token, owner)
      assert.equal(vault.open(sealed, owner), token)
      assert.equal(vault.isOf(sealed, token, owner), true)
      assert.equal(vault.isOf(sealed, `${token}x`, owner), false)
      assert.notEqual(vault.seal(token, owner), sealed)
      if (token.length > 3) assert.equal(sealed.includes(token), false)
      if (other === owner) return
      assert.equal(vault.open(sealed, other), undefined)
      assert.equal(vault.isOf(sealed, token, other), false)
    }),
  )
})

test('a seal with any character changed, cut off or doubled opens no more', () => {
  const vault = vaultOf(secret(1))
  const sealed = vault.seal(TOKEN, '7')
  const body = sealed.slice(0, sealed.lastIndexOf('.'))
  // The last character of a part carries bits that stand for nothing.
  for (let at = 0; at < body.length - 1; at++) {
    if (body[at] === '.') continue
    const changed = body.slice(0, at) + (body[at] === 'A' ? 'B' : 'A') + body.slice(at + 1)
    assert.equal(vault.open(changed, '7'), undefined, changed)
  }
  for (const bad of ['', '.', '..', sealed.slice(1), body.slice(0, 40), `${body}${body}`]) {
    assert.equal(vault.open(bad, '7'), undefined, bad)
    assert.equal(vault.isOf(bad, TOKEN, '7'), false, bad)
  }
})

test('a seal is not that of another owner, token or seal', () => {
  const vault = vaultOf(secret(1), secret(2))
  const sealed = vault.seal(TOKEN, '7')
  assert.equal(vault.isOf(sealed, TOKEN, '7'), true)
  assert.equal(vault.isOf(sealed, TOKEN, '8'), false)
  assert.equal(vault.isOf(sealed, 'y'.repeat(43), '7'), false)
})

test('a new first secret seals, the old ones still find and open; a secret taken away does neither', () => {
  const before = vaultOf(secret(1))
  const rotated = vaultOf(secret(2), secret(1))
  const after = vaultOf(secret(2))
  const old = before.seal(TOKEN, '7')
  assert.equal(rotated.open(old, '7'), TOKEN)
  assert.equal(rotated.isOf(old, TOKEN, '7'), true)
  assert.ok(rotated.idsOf(TOKEN).includes(before.idsOf(TOKEN)[0]))
  assert.equal(after.open(old, '7'), undefined)
  assert.equal(after.isOf(old, TOKEN, '7'), false)
  assert.equal(after.open(rotated.seal(TOKEN, '7'), '7'), TOKEN)
  assert.deepEqual(after.idsOf(TOKEN), [rotated.idsOf(TOKEN)[0]])
})

test('a vault without a secret, or with one of another length, is not made', () => {
  for (const secrets of [[], [new Uint8Array(31)], [secret(1), new Uint8Array(0)]]) {
    assert.throws(() => vaultOf(...secrets), {
      constructor: TypeError,
      message: 'a token sealer needs secrets of 32 bytes',
    })
  }
})

test('an empty token has a seal too, the shortest one; what is shorter is none', () => {
  const vault = vaultOf(secret(1))
  const sealed = vault.seal('', '7')
  assert.deepEqual([vault.open(sealed, '7'), vault.isOf(sealed, '', '7')], ['', true])
  const [name = '', text = ''] = sealed.split('.')
  const shorter = Buffer.from(text, 'base64url').subarray(0, -1).toString('base64url')
  for (const bad of [`${name}.${shorter}`, `${name}.`, name]) assert.equal(vault.open(bad, '7'), undefined)
})
