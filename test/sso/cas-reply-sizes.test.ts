import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valuesOf } from '../../src/features/sso/attributes.ts'
import { verifyReply } from '../../src/features/cas/reply.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import { NOW } from '../support/saml-idp.ts'

const expected = { serviceUrl: 'https://store.example/auth/cas', now: NOW, clockSkew: 60_000 }

const replyWith = (groups: number, name = 'anna'): string =>
  `<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas"><cas:authenticationSuccess><cas:user>${name}</cas:user><cas:attributes>` +
  Array.from({ length: groups }, (_, at) => `<cas:memberOf>group ${at}</cas:memberOf>`).join('') +
  '</cas:attributes></cas:authenticationSuccess></cas:serviceResponse>'

const sizes = [0, 1, 400, 420, 4_000, 9_000]

test('replies of all sizes are read alike (D27.6)', () => {
  for (const groups of sizes) {
    const user = verifyReply('cas3', replyWith(groups), expected)
    assert.equal(user.name, 'anna')
    assert.equal(valuesOf(user.attributes, 'memberOf').length, groups)
  }
})

test('large replies are refused by the same checks as small ones (D27.6)', () => {
  const hostile: Readonly<Record<string, (groups: number) => string>> = {
    'a DOCTYPE': groups => `<!DOCTYPE r SYSTEM "http://evil.example/x.dtd">${replyWith(groups)}`,
    'an element in the name': groups => replyWith(groups, '<b>anna</b>'),
    'a second outcome': groups =>
      replyWith(groups).replace('</cas:attributes>', '<cas:authenticationFailure/></cas:attributes>'),
    'a bare ampersand': groups =>
      replyWith(groups).replace('</cas:attributes>', '<cas:x>a & b</cas:x></cas:attributes>'),
    'no end': groups => replyWith(groups).slice(0, -5),
  }
  const isReply = (error: unknown): boolean => error instanceof SsoRefused && error.failed.check === 'cas-reply'
  for (const [title, make] of Object.entries(hostile))
    for (const groups of [1, 4_000]) assert.throws(() => verifyReply('cas3', make(groups), expected), isReply, title)
  assert.throws(() => verifyReply('cas3', replyWith(10_001), expected), isReply)
})
