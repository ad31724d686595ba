import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valuesOf } from '../../src/sso/attributes.ts'
import { ReplyReader } from '../../src/sso/cas/reply-reader.ts'
import { SsoRefused } from '../../src/sso/refusal.ts'
import { after } from '../support/after.ts'
import { NOW } from '../support/saml-idp.ts'

const reader = new ReplyReader()
after(() => reader.close())
const expected = { serviceUrl: 'https://store.example/auth/cas', now: NOW, clockSkew: 60_000 }

const replyWith = (groups: number, name = 'anna'): string =>
  `<cas:serviceResponse xmlns:cas="http://www.yale.edu/tp/cas"><cas:authenticationSuccess><cas:user>${name}</cas:user><cas:attributes>` +
  Array.from({ length: groups }, (_, at) => `<cas:memberOf>group ${at}</cas:memberOf>`).join('') +
  '</cas:attributes></cas:authenticationSuccess></cas:serviceResponse>'

/** Some are parsed on the spot, some on a thread: 16,384 characters are the border. */
const sizes = [0, 1, 400, 420, 4_000, 9_000]

test('replies of all sizes are read alike, large ones on a thread (D27.6)', async () => {
  // One after the other, since the time that a reply may take includes the wait for the thread.
  for (const groups of sizes) {
    const user = await reader.read({ version: 'cas3', text: replyWith(groups), expected })
    assert.equal(user.name, 'anna')
    assert.equal(valuesOf(user.attributes, 'memberOf').length, groups)
  }
})

test('as many large replies come at once as there are validations', async () => {
  const names = Array.from({ length: 32 }, (_, n) => `user${n}`)
  const users = await Promise.all(
    names.map(name => reader.read({ version: 'cas3', text: replyWith(600, name), expected })),
  )
  assert.deepEqual(
    users.map(({ name }) => name),
    names,
  )
})

test('large replies are refused by the same checks as small ones (D27.6)', async () => {
  const hostile: Readonly<Record<string, (groups: number) => string>> = {
    'a DOCTYPE': groups => `<!DOCTYPE r SYSTEM "http://evil.example/x.dtd">${replyWith(groups)}`,
    'an element in the name': groups => replyWith(groups, '<b>anna</b>'),
    'a second outcome': groups =>
      replyWith(groups).replace('</cas:attributes>', '<cas:authenticationFailure/></cas:attributes>'),
    'a bare ampersand': groups =>
      replyWith(groups).replace('</cas:attributes>', '<cas:x>a & b</cas:x></cas:attributes>'),
    'no end': groups => replyWith(groups).slice(0, -5),
  }
  for (const [title, make] of Object.entries(hostile)) {
    const refusals = await Promise.all(
      [1, 4_000].map(groups =>
        reader.read({ version: 'cas3', text: make(groups), expected }).catch((error: unknown) => error),
      ),
    )
    for (const refusal of refusals) {
      assert.ok(refusal instanceof SsoRefused, `${title}: ${String(refusal)}`)
      assert.equal(refusal.failed.check, 'cas-reply', title)
    }
  }
  const many = reader.read({ version: 'cas3', text: replyWith(10_001), expected })
  await assert.rejects(many, error => error instanceof SsoRefused && error.failed.check === 'cas-reply')
})
