import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BaseAddress } from '../../src/http/base-address.ts'
import { FlowCookie } from '../../src/http/browser-cookies.ts'
import { RequestCookies } from '../../src/http/protocol/cookies.ts'

const https = new BaseAddress('https://store.example/a/')
const http = new BaseAddress('http://store.example/a/')
const VALUE = 'A'.repeat(43)
const OTHER = 'B'.repeat(43)

test('the cookie of a sign-in that is not complete lives fifteen minutes, and belongs to this host where https allows it', () => {
  const attributes = 'Path=/; SameSite=Lax; HttpOnly'
  const withoutExpires = (line: string): string => line.replace(/ Expires=[^;]+ GMT;/, '')
  const cookie = new FlowCookie(https, false, 'oidc')
  assert.equal(withoutExpires(cookie.set(VALUE)), `__Host-stowage_oidc=${VALUE}; Max-Age=900; ${attributes}; Secure`)
  assert.equal(withoutExpires(cookie.clear()), `__Host-stowage_oidc=; Max-Age=0; ${attributes}; Secure`)
  assert.equal(
    withoutExpires(new FlowCookie(http, false, '2fa').set(VALUE)),
    `stowage_2fa=${VALUE}; Max-Age=900; ${attributes}`,
  )
  assert.equal(
    withoutExpires(new FlowCookie(http, true, '2fa').clear()),
    `stowage_2fa=; Max-Age=0; ${attributes}; Secure`,
  )
  assert.equal(
    withoutExpires(new FlowCookie(http, false, 'cas').set(VALUE)),
    `stowage_cas=${VALUE}; Max-Age=900; ${attributes}`,
  )
})

test('it is read if there is one of its name; several mean that another page has set one', () => {
  const read = (header: string, base = https) => new FlowCookie(base, true, 'cas').read(RequestCookies.parse(header))
  assert.equal(read(`x=1; __Host-stowage_cas=${VALUE}`), VALUE)
  assert.equal(read(`stowage_cas=${VALUE}`), undefined)
  assert.equal(read(`stowage_cas=${VALUE}`, http), VALUE)
  assert.equal(read(`__Host-stowage_cas=${VALUE}; __Host-stowage_cas=${OTHER}`), undefined)
  assert.equal(read(`__Host-stowage_oidc=${VALUE}`), undefined)
  assert.equal(read('__Host-stowage_cas=short'), undefined)
  assert.equal(read(''), undefined)
})
