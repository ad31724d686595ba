import assert from 'node:assert/strict'
import { test } from 'node:test'
import { refuseCrossSite } from '../../src/http/protocol/cross-site.ts'

const OTHER = 'https://other.example'
const LISTED = 'https://app.example'

test('a page of another site changes nothing with the cookie of a user; reading changes nothing (D2.9)', () => {
  const isAllowed = (origin: string): boolean => origin === LISTED
  const allowed: ReadonlyArray<Record<string, string>> = [
    {},
    { origin: LISTED },
    { origin: LISTED, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
  ]
  const refused: ReadonlyArray<readonly [headers: Record<string, string>, who: string]> = [
    [{ origin: OTHER }, OTHER],
    [{ origin: 'null' }, 'null'],
    [{ origin: OTHER, 'sec-fetch-site': 'same-origin' }, OTHER],
    [{ 'sec-fetch-site': 'cross-site' }, 'another site'],
  ]
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'get']) {
    for (const headers of allowed) refuseCrossSite(method, headers, isAllowed)
    for (const [headers, who] of refused) {
      const message = `A page of ${who} may not change anything here.`
      assert.throws(() => refuseCrossSite(method, headers, isAllowed), { code: 'cross-site-request', message })
    }
  }
  for (const method of ['GET', 'HEAD', 'OPTIONS']) refuseCrossSite(method, { origin: OTHER }, isAllowed)
})
