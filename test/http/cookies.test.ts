import assert from 'node:assert/strict'
import type { FastifyReply } from 'fastify'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AuthCookie, RequestCookies, setCookie, setsAuthCookie } from '../../src/http/protocol/cookies.ts'

const A = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const B = 'BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB'

const table: ReadonlyArray<readonly [what: string, header: string | undefined, tokens: readonly string[]]> = [
  ['no header', undefined, []],
  ['an empty header', '', []],
  ['the cookie alone', `auth_token=${A}`, [A]],
  [
    'a whole Set-Cookie text, as a client of ours sends it back',
    `auth_token=${A}; Max-Age=31536000; SameSite=Strict; HttpOnly; Secure; Path=/`,
    [A],
  ],
  ['a Set-Cookie text with an Expires date', `auth_token=${A}; Expires=Sun, 22 Nov 2026 10:00:00 GMT; Path=/a=b`, [A]],
  ['other cookies around it', `theme=dark; auth_token=${A}; lang=sv`, [A]],
  ['no blanks', `a=1;auth_token=${A};b=2`, [A]],
  ['blanks and tabs everywhere', `  auth_token =\t${A}  ;`, [A]],
  ['two of them, in their order', `auth_token=${B}; auth_token=${A}`, [B, A]],
  ['the same one twice', `auth_token=${A}; auth_token=${A}`, [A]],
  ['an empty value', 'auth_token=', []],
  ['a name that only ends alike', `x_auth_token=${A}; xauth_token=${A}`, []],
  ['a name that only begins alike', `auth_token2=${A}; auth_token.x=${A}`, []],
  ['another case of the name', `AUTH_TOKEN=${A}`, []],
  ['the name in a value', `x=auth_token=${A}`, []],
  ['a value in quotes', `auth_token="${A}"`, [A]],
  ['what Java sends for a cookie of version 1', `$Version="1"; auth_token="${A}";$Path="/";$Domain="a.example"`, [A]],
  ['a quotation mark on one side', `auth_token="${A}; auth_token=${B}"`, []],
  ['an escape in the value', `auth_token=${A}%20`, []],
  ['a value too short to be a token', 'auth_token=abc', []],
  ['a value too long to be a token', `auth_token=${'A'.repeat(257)}`, []],
  ['a value that would be a path in a store', 'auth_token=../../etc/passwd/xxxxx', []],
  ['a bare name', 'auth_token', []],
  ['nothing but separators', ';;=;= ;', []],
]
for (const [what, header, tokens] of table) {
  test(`${what} in the Cookie header gives ${tokens.length} tokens (D2.8)`, () => {
    assert.deepEqual(RequestCookies.parse(header).authTokens, tokens)
  })
}

test('no Cookie header makes the parser throw, and what it gives is made of URL-safe characters (D2.5)', () => {
  const piece = fc.oneof(fc.string(), fc.constantFrom(';', '=', 'auth_token=', A, ' ', '"'))
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      const header = pieces.join('')
      for (const token of RequestCookies.parse(header).authTokens) assert.match(token, /^[A-Za-z0-9_-]{16,256}$/)
      if (RequestCookies.parse(header).authTokens.length > 0) assert.ok(header.includes('auth_token'))
    }),
  )
})

test('a request names the cookie also with a value that cannot be a token, so that it gets cleared (D2.7)', () => {
  assert.equal(RequestCookies.parse('auth_token=x').hasAuthToken, true)
  assert.equal(RequestCookies.parse('a=1; auth_token=; b=2').hasAuthToken, true)
  assert.equal(RequestCookies.parse('xauth_token=1; auth_token2=1').hasAuthToken, false)
  assert.equal(RequestCookies.parse(undefined).hasAuthToken, false)
})

const attributes = (line: string): string[] =>
  line
    .split('; ')
    .slice(1)
    .filter(part => !/^(?:Max-Age|Expires)=/.test(part))

for (const sameSite of ['none', 'lax', 'strict'] as const) {
  for (const secure of [true, false]) {
    for (const httpOnly of [true, false]) {
      test(`samesite=${sameSite}, secure=${secure}, httponly=${httpOnly}: set and cleared with the same flags (D2.8)`, () => {
        const cookie = new AuthCookie({ path: '/a/b/', httpOnly, secure, sameSite, hostPrefix: false })
        const expected = [
          'Path=/a/b/',
          `SameSite=${{ none: 'None', lax: 'Lax', strict: 'Strict' }[sameSite]}`,
          ...(httpOnly ? ['HttpOnly'] : []),
          ...(secure || sameSite === 'none' ? ['Secure'] : []),
        ]
        assert.deepEqual(attributes(cookie.set(A, 5)), expected)
        assert.deepEqual(attributes(cookie.clear()), expected)
        assert.match(cookie.set(A, 5), new RegExp(`^auth_token=${A}; Max-Age=5; `))
        assert.match(cookie.clear(), /^auth_token=; Max-Age=0; /)
      })
    }
  }
}

test('a cookie with a life has Max-Age and Expires, because Java knows current cookies by the latter (D2.5)', () => {
  const cookie = new AuthCookie({ path: '/', httpOnly: true, secure: true, sameSite: 'strict', hostPrefix: false })
  const before = Date.now()
  for (const [line, life] of [
    [cookie.set(A, 3600), 3600],
    [cookie.setDevice(B, 86_400), 86_400],
  ] as const) {
    const [, maxAge, expires = ''] = /; Max-Age=(\d+); Expires=([^;]+ GMT); /.exec(line) ?? []
    assert.equal(maxAge, String(life))
    const end = Date.parse(expires)
    // A date of HTTP has no milliseconds.
    assert.ok(end > before + life * 1000 - 1000 && end <= Date.now() + life * 1000, line)
  }
  assert.match(cookie.clear(), /; Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT; /)
})

test('a cookie without a life has neither Max-Age nor Expires (D2.5)', () => {
  const cookie = new AuthCookie({ path: '/', httpOnly: true, secure: true, sameSite: 'strict', hostPrefix: false })
  assert.equal(cookie.set(A, undefined), `auth_token=${A}; Path=/; SameSite=Strict; HttpOnly; Secure`)
})

test('what the service sets, its own parser reads (W3.1.2)', () => {
  const cookie = new AuthCookie({ path: '/store/', httpOnly: true, secure: true, sameSite: 'none', hostPrefix: false })
  assert.deepEqual(RequestCookies.parse(cookie.set(A, 86_400)).authTokens, [A])
  assert.deepEqual(RequestCookies.parse(cookie.clear()).authTokens, [])
})

test('with the prefix __Host- both cookies have it, and one that another host of the domain may have set does not count (D32.3)', () => {
  const cookie = new AuthCookie({ path: '/', httpOnly: true, secure: true, sameSite: 'strict', hostPrefix: true })
  const end = '(?=.*; Path=/; SameSite=Strict; HttpOnly; Secure$)'
  assert.match(cookie.set(A, 5), new RegExp(`^${end}__Host-auth_token=${A}; Max-Age=5; `))
  assert.match(cookie.clear(), new RegExp(`^${end}__Host-auth_token=; Max-Age=0; `))
  assert.match(cookie.setDevice(B, 5), /^__Host-stowage_device=B+; Max-Age=5; /)
  const read = (header: string) => RequestCookies.parse(header, true)
  const own = read(`__Host-auth_token=${A}; auth_token=${B}; __Host-stowage_device=${B}; stowage_device=${A}; x=${A}`)
  assert.deepEqual([own.authTokens, own.deviceToken, own.tokens('x')], [[A], B, [A]])
  assert.deepEqual(own.withoutAuth().authTokens, [])
  const foreign = read(`auth_token=${A}; stowage_device=${A}; __host-auth_token=${A}; __Host-__Host-auth_token=${A}`)
  assert.deepEqual([foreign.authTokens, foreign.hasAuthToken, foreign.deviceToken], [[], false, undefined])
  assert.deepEqual(read(`__Host-stowage_cas=${A}`).tokens('__Host-stowage_cas'), [A], 'other cookies keep their names')
  assert.deepEqual(RequestCookies.parse(`__Host-auth_token=${A}`).authTokens, [], 'without the setting')
})

test('without its login a request keeps its other cookies, and the token of its device (I4)', () => {
  const cookies = RequestCookies.parse(`auth_token=${A}; stowage_device=${B}; x=1`)
  assert.deepEqual([cookies.hasAuthToken, cookies.deviceToken], [true, B])
  const rest = cookies.withoutAuth()
  assert.deepEqual([rest.hasAuthToken, rest.authTokens, rest.deviceToken, rest.only('x')], [false, [], B, '1'])
})

test('a cookie of any form is read if it has one value; an item before it has no effect', () => {
  const cookies = RequestCookies.parse('a; x= a b ; y=1; y=2; z=3; z=3;=4')
  assert.deepEqual(
    ['x', 'y', 'z', '', 'a'].map(name => cookies.only(name)),
    ['a b', undefined, '3', '4', undefined],
  )
  assert.equal(RequestCookies.none.only('x'), undefined)
})

/** A response as far as cookies need it. Like that of Fastify, it appends to the header. */
function responseWith(...lines: string[]) {
  let present: string | string[] | undefined = lines.length > 1 ? lines : lines[0]
  const reply = {
    getHeader: (name: string) => (name === 'set-cookie' ? present : 'auth_token=of another header'),
    removeHeader: (name: string) => {
      if (name === 'set-cookie') present = undefined
    },
    header: (name: string, value: string | string[]) => {
      assert.equal(name, 'set-cookie')
      present = present === undefined ? value : [present, value].flat()
    },
  } as unknown as FastifyReply
  return { reply, sent: () => present }
}

test('a cookie that is set replaces the one of its name and leaves the others', () => {
  const { reply, sent } = responseWith()
  setCookie(reply, 'a=1; Path=/')
  assert.equal(sent(), 'a=1; Path=/')
  setCookie(reply, 'aa=2')
  setCookie(reply, 'a=3')
  assert.deepEqual(sent(), ['aa=2', 'a=3'])
  setCookie(reply, 'aa=')
  assert.deepEqual(sent(), ['a=3', 'aa='])
})

test('a response that sets or clears the cookie of the login is recognised by its name', () => {
  for (const line of [`auth_token=${A}`, 'auth_token=; Max-Age=0', `__Host-auth_token=${A}`]) {
    assert.equal(setsAuthCookie(responseWith(line).reply), true, line)
    assert.equal(setsAuthCookie(responseWith('x=1', line).reply), true, line)
  }
  for (const line of ['x=auth_token=', 'xauth_token=1', 'auth_token2=1', '__Host-x=1'])
    assert.equal(setsAuthCookie(responseWith(line).reply), false, line)
  assert.equal(setsAuthCookie(responseWith().reply), false)
})
