import assert from 'node:assert/strict'
import { test } from 'node:test'
import { java, type JavaClient, runJava } from '../support/peers/java.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { ADMIN_PASSWORD, newContext, startProcess } from '../support/service.ts'

const clients: readonly JavaClient[] = ['HttpURLConnection', 'HttpClient']
for (const client of clients) {
  test(`${client} of the JDK with a CookieManager signs in, creates, uploads, reads and signs out (D2.1, D2.5)`, async t => {
    if (!requirePeer(t, java)) return
    const service = await startProcess(t, { settings: { 'service.auth.cookie.secure': 'off' } })
    const context = await newContext(await service.admin())
    const [signedIn, user, created, stored, read, entry, feed, deleted, signedOut, refused, ...rest] = await runJava(
      client,
      [service.base, 'admin', ADMIN_PASSWORD, context],
    )
    assert.match(signedIn ?? '', /^200 /)
    assert.match(user ?? '', /^200 .*"user":"admin"/)
    assert.match(created ?? '', /^201 /)
    assert.match(stored ?? '', /^201 /)
    assert.equal(read, '200 from Java')
    assert.match(entry ?? '', /^200 <\?xml .*<rdf:RDF/, 'no preference for JSON')
    assert.match(feed ?? '', /^200 <\?xml .*<rss version="2\.0"/)
    assert.equal(deleted, '204')
    assert.match(signedOut ?? '', /^20[04]/)
    assert.match(refused ?? '', /^401 .*"code":"not-signed-in"/)
    assert.deepEqual(rest, [])
  })
}
