import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { assertRefused } from '../support/content.ts'
import { LinkVisitor, newFile, newLink, openLink } from '../support/public-links.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const anna = await newUser(service, admin)
const bert = await newUser(service, admin)
const context = await newContext(admin, [anna.id, bert.id])
const file = await newFile(anna.visitor, context, { name: 'report.txt', bytes: 'text' })

test('the creator of a link reads its address again, and nobody else does (D25.8)', async () => {
  const link = await newLink(anna.visitor, context, file)
  const again = await anna.visitor.get(`auth/links/${link.id}`)
  assert.deepEqual(again.json(), { url: link.url })
  assert.equal(again.headers['cache-control'], 'no-store')
  for (const other of [bert.visitor, admin]) assertRefused(await other.get(`auth/links/${link.id}`), 404, 'not-found')
  assertRefused(await service.visitor().get(`auth/links/${link.id}`), 401, 'not-signed-in')
  assert.equal((await anna.visitor.delete(`auth/links/${link.id}`)).status, 204)
  assertRefused(await anna.visitor.get(`auth/links/${link.id}`), 404, 'not-found')
})

test('note, expiry, limit and password of a link are changed, and its address stays (D25.8)', async () => {
  const link = await newLink(anna.visitor, context, file, { name: 'first', maxDownloads: 5 })
  const listed = async () =>
    (await anna.visitor.get(`${context}/links/${file}`))
      .json<{ items: Array<Record<string, unknown>> }>()
      .items.find(({ id }) => id === link.id)
  const change = async (wish: object, visitor = anna.visitor) => await visitor.put(`auth/links/${link.id}`, wish)
  const expires = new Date(service.system.now() + 86_400_000).toISOString()
  assert.equal((await change({ name: 'second', expires, password: 'Good-Password-12' })).status, 204)
  const changed = await listed()
  assert.deepEqual(
    [changed?.['name'], changed?.['expires'], changed?.['maxDownloads'], changed?.['hasPassword']],
    ['second', expires, undefined, true],
  )
  assertRefused(await openLink(service, link), 403, 'link-password-required')
  assert.equal((await change({ name: 'second' }, bert.visitor)).status, 204, 'others who administer the file may too')
  assert.equal((await listed())?.['hasPassword'], true, 'the password stays where none is sent')
  assert.equal((await change({ password: '' })).status, 204)
  assert.equal((await listed())?.['hasPassword'], false)
  await LinkVisitor.at(service, link)

  assertRefused(await change({ maxDownloads: 2_000_000 }), 400, 'invalid-value')
  assertRefused(await change({ password: 'short' }), 400, 'password-rules')
  assertRefused(await change({ expires: '2001-01-01' }), 400, 'invalid-value')
  const stranger = await newUser(service, admin)
  assertRefused(await change({}, stranger.visitor), 404, 'not-found')
  const events = (await admin.get('management/audit?event=link-changed')).json<{ events: unknown[] }>().events
  assert.equal(events.length, 3)
})
