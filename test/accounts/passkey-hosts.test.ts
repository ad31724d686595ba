import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relyingPartyOf } from '../../src/features/passkeys/passkeys.ts'

const offered = {
  'https://store.example.org/': 'store.example.org',
  'https://store.example.org:8443/path/': 'store.example.org',
  'http://localhost:8181/': 'localhost',
  'http://store.localhost/': 'store.localhost',
  'https://node7/': 'node7',
  'https://7.example.org/': '7.example.org',
  'https://store.example.org./': 'store.example.org.',
  'https://Bücher.example/': 'xn--bcher-kva.example',
} as const

for (const [base, host] of Object.entries(offered)) {
  test(`passkeys at ${base} are bound to ${host}`, () => {
    assert.deepEqual(relyingPartyOf(base, 'Store'), { id: host, origin: new URL(base).origin, name: 'Store' })
  })
}

for (const base of [
  undefined,
  'http://store.example.org/',
  'http://127.0.0.1:8181/',
  'https://192.0.2.7/',
  'https://[2001:db8::1]/',
  'http://notlocalhost/',
]) {
  test(`no browser offers passkeys at ${base ?? 'an unknown address'}`, () => {
    assert.equal(relyingPartyOf(base, 'Store'), undefined)
  })
}
