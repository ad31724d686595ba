import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { hasRightChecksum, looksLikeToken, tokenText } from '../../src/features/tokens/access-tokens.ts'

test('a token has a prefix, 256 bits and a checksum, so that scanners find it (D24.2)', () => {
  // By hand: 256 zero bits, and the CRC-32 of 43 zeros in base 62.
  assert.match(tokenText(new Uint8Array(32)), /^stow_0{43}[0-9A-Za-z]{6}$/)
  const highest = tokenText(new Uint8Array(32).fill(255))
  assert.equal(highest.length, 54)
  for (const token of [tokenText(new Uint8Array(32)), highest, tokenText(randomBytes(32))]) {
    assert.ok(looksLikeToken(token) && hasRightChecksum(token))
  }
})

test('a wrong checksum, another prefix, length or alphabet is no token (D24.2)', () => {
  const token = tokenText(new Uint8Array(32).fill(7))
  const flipped = (at: number): string => token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)
  for (let at = 5; at < token.length; at++) assert.equal(hasRightChecksum(flipped(at)), false, String(at))
  for (const text of [
    '',
    'stow_',
    token.slice(1),
    `${token}0`,
    token.replace('stow_', 'ghp_'),
    `${token}\n`,
    ` ${token}`,
  ]) {
    assert.equal(looksLikeToken(text) || hasRightChecksum(text), false, text)
  }
})
