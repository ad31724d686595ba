import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { InvalidInput } from '../../src/base/errors.ts'
import { RedirectTargets } from '../../src/features/sso/redirect-targets.ts'

const targets = new RedirectTargets('store.example:8443', ['ok.host', 'xn--mller-kva.example', 'Upper.example'])

const accepted: ReadonlyArray<readonly [text: string, href?: string]> = [
  ['https://ok.host/'],
  ['http://ok.host/a?b=c#d'],
  ['https://ok.host', 'https://ok.host/'],
  ['https://ok.host:9000/'],
  ['HTTPS://OK.HOST/A', 'https://ok.host/A'],
  ['https://ok.host/a/../b', 'https://ok.host/b'],
  ['https://ok.host/?x=@evil.example'],
  ['https://ok.host/?x=https://a@evil.example'],
  ['https://ok.host/#//evil.example'],
  ['https://ok.host/@evil.example'],
  ['https://müller.example/', 'https://xn--mller-kva.example/'],
  ['https://xn--mller-kva.example/'],
  ['https://upper.example/'],
  ['https://store.example:8443/'],
  ['https://ok.host/?q=%0d%0a'],
]

for (const [text, href = text] of accepted) {
  test(`people may be sent to ${text} (D8.7)`, () => assert.equal(targets.require(text, 'successurl'), href))
}

const refused: readonly string[] = [
  '',
  '/',
  'x',
  '//ok.host/',
  '///ok.host',
  '////ok.host',
  '/\\ok.host',
  '\\\\ok.host',
  'https:ok.host',
  'https:/ok.host',
  'https:///ok.host',
  'https://\\ok.host',
  'https://ok.host\\@evil.example',
  'https://evil.example\\ok.host',
  'https://evil.example/ok.host',
  'https://evil.example?ok.host',
  'https://evil.example#ok.host',
  'https://ok.host.evil.example/',
  'https://evilok.host/',
  'https://sub.ok.host/',
  'https://ok.host./',
  'https://user@ok.host/',
  'http://user@ok.host/',
  'xhttps://ok.host/',
  'ftp://ok.host/',
  'https://user:password@ok.host/',
  'https://@ok.host/',
  'https://:@ok.host/',
  'https://ok.host@evil.example/',
  'https://ok.host%40evil.example/',
  'https://ok.host%2eevil.example/',
  'https://evil.example:443@ok.host/',
  ' https://ok.host/',
  'https://ok.host/ ',
  'https://ok.host/\n',
  'ht\ttps://ok.host/',
  'https://ok\n.host/',
  'https://ok.host\t/',
  'https://ok.host/\u0000',
  'https://ok.host/\u00A0',
  'https://ok.host/\u202E',
  '\u0001https://ok.host/',
  'javascript:alert(1)',
  'javascript://ok.host/%0aalert(1)',
  'JaVaScRiPt://ok.host/%0aalert(1)',
  'data:text/html,x',
  'data://ok.host/x',
  'blob:https://ok.host/x',
  'file://ok.host/x',
  'ftp://ok.host/',
  'vbscript://ok.host/x',
  'view-source:https://ok.host/',
  'filesystem:https://ok.host/',
  'https://m\u00FCller.example.evil/',
  'https://müIler.example/',
  'https://\u043Ek.host/',
  'https://store.example/',
  'https://store.example:8444/',
  'https://ok.host:99999/',
  'https://[::1]/',
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://',
  'https://?ok.host',
]

for (const text of refused) {
  test(`no redirect goes to ${JSON.stringify(text)} (D8.7)`, () => {
    assert.throws(() => targets.require(text, 'successurl'), { code: 'invalid-redirect', message: /`successurl`/ })
  })
}

test('an accepted address always has a listed host and no user name (D8.7)', () => {
  const piece = fc.constantFrom(
    'https:',
    'http:',
    '/',
    '//',
    '\\',
    '@',
    'ok.host',
    'evil.example',
    ':',
    '.',
    '?',
    '#',
    '%2f',
    '\t',
    'a',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), pieces => {
      const text = pieces.join('')
      try {
        const url = new URL(targets.require(text, 'x'))
        assert.equal(url.hostname, 'ok.host')
        assert.deepEqual([url.username, url.password], ['', ''])
        assert.match(text, /^https?:\/\/ok\.host/)
      } catch (error) {
        if (!(error instanceof InvalidInput)) throw error
      }
    }),
    { numRuns: 2000 },
  )
})
