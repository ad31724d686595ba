import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { assertRefused } from '../support/content.ts'
import { newTitled } from '../support/lists.ts'
import { LinkVisitor, newFile, newLink } from '../support/public-links.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'
import { MORE_THAN_BUFFERS } from '../support/slow-reader.ts'
import { openDatabaseOf } from '../support/store.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after }, { settings: { 'service.http.trusted-proxies.1': '127.0.0.1/32' } })
const admin = await service.admin()
const [anna, bert] = [await newUser(service, admin), await newUser(service, admin)]
const context = await newContext(admin, [anna.id, bert.id])
const folder = await newTitled(admin, context, 'Many', '?graphtype=list')
// More than the buffers of a connection hold, so that a zip is in progress while its client reads nothing.
await newFile(admin, context, { name: 'large.bin', bytes: 'x'.repeat(MORE_THAN_BUFFERS), list: folder })
const database = await openDatabaseOf(service.folder)
// Members that do not exist count like those that the caller may not read.
await database.run(sql`INSERT INTO list_members (context, member, list, position)
  WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 9900)
  SELECT ${context}, 'none' || n, ${folder}, 1000 + n FROM numbers`)
await database.close()

const zip = `${context}/zip?entries=${folder}`
const cookie = (visitor: { readonly cookie: string | undefined }) => ({ cookie: `auth_token=${visitor.cookie}` })

/** Begins a download and reads nothing of it. */
async function begin(path: string, headers: OutgoingHttpHeaders): Promise<IncomingMessage> {
  const asked = request(service.base + path, { headers, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  assert.equal(response.statusCode, 200)
  response.on('error', () => {})
  return response
}

test('the zips in progress of one caller have a limit, which leaves others theirs and ends with the zips (D35.15)', async () => {
  const [first, second] = [await begin(zip, cookie(anna.visitor)), await begin(zip, cookie(anna.visitor))]
  const refused = await anna.visitor.get(zip)
  assertRefused(refused, 503, 'overloaded')
  assert.equal(refused.headers['retry-after'], '1')
  const other = await begin(zip, cookie(bert.visitor))
  first.destroy()
  await eventually('the place is free again', async () => {
    const { status } = await anna.visitor.ask(zip, { method: 'HEAD' })
    return status === 200
  })
  // What has no zip in its response counts until that has ended.
  for (let count = 0; count < 5; count++) {
    assert.equal((await anna.visitor.ask(zip, { method: 'HEAD' })).status, 200)
    assertRefused(await anna.visitor.get(`${zip},none`), 404, 'not-found')
  }
  for (const one of [second, other]) one.destroy()
})

test('visitors of a public link have the limit of their network; what is refused is no download (D35.15)', async () => {
  const link = await newLink(admin, context, folder, { maxDownloads: 3 })
  const visitor = await LinkVisitor.at(service, link)
  const path = `auth/link/${visitor.opened.link}/zip`
  const from = (address: string) => ({ cookie: visitor.cookie, 'x-forwarded-for': address })
  const begun = [await begin(path, from('203.0.113.1')), await begin(path, from('203.0.113.1'))]
  assertRefused(await visitor.ask('zip', { headers: from('203.0.113.1') }), 503, 'overloaded')
  begun.push(await begin(path, from('203.0.113.2')), await begin(zip, cookie(admin)))
  for (const one of begun) one.destroy()
})
