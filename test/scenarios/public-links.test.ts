import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { deleteDeadLinks } from '../../src/features/links/link-rows.ts'
import { sql } from '../../src/stores/sql.ts'
import { openStore, userPath } from '../support/accounts.ts'
import { after } from '../support/after.ts'
import { membersOf } from '../support/archives.ts'
import { assertRefused } from '../support/content.ts'
import { newList, newTitled } from '../support/lists.ts'
import { LinkVisitor, newFile, newLink, openLink } from '../support/public-links.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { MORE_THAN_BUFFERS } from '../support/slow-reader.ts'

const service = await startInProcess({ after }, { settings: { 'service.http.jsonp': 'on' } })
const admin = await service.admin()
const anna = await newUser(service, admin)
const bert = await newUser(service, admin)
const context = await newContext(admin, [anna.id])
const report = await newFile(anna.visitor, context, { name: 'Report.txt', bytes: 'text of the report' })
const other = await newFile(anna.visitor, context, { name: 'Other.txt', bytes: 'text of the other' })

interface Listed {
  readonly id: string
  readonly state: string
  readonly item?: string
  readonly name?: string
  readonly hasPassword: boolean
  readonly downloads: number
  readonly createdBy: { readonly id: string; readonly name?: string }
}
const linksOf = async (entry: string, visitor = anna.visitor): Promise<readonly Listed[]> =>
  (await visitor.get(`${context}/links/${entry}`)).json<{ items: Listed[] }>().items

test('a link lets people without an account read one file, and nothing beside it (D25.10)', async () => {
  const link = await newLink(anna.visitor, context, report)
  assert.equal(link.url, `${service.base}ui/link#${link.secret}`)
  const visitor = await LinkVisitor.at(service, link)
  const { modified, ...item } = visitor.opened.item
  assert.ok(modified !== undefined && !Number.isNaN(Date.parse(modified)))
  assert.deepEqual(item, {
    id: report,
    name: 'Report.txt',
    kind: 'file',
    size: 18,
    mediaType: 'text/plain',
  })
  const file = await visitor.file()
  assert.equal(file.text, 'text of the report')
  assert.match(String(file.headers['content-security-policy']), /^sandbox;/)
  assert.equal(file.headers['cache-control'], 'no-store')
  for (const path of [
    `files/${other}`,
    'files/none',
    'members',
    `members?folder=${report}`,
    'zip',
    `zip?folder=${other}`,
  ]) {
    assertRefused(await visitor.ask(path), 404, 'not-found', path)
  }
  for (const path of [`${context}/resource/${report}`, `${context}/entry/${report}`, `${context}/links/${report}`]) {
    const answer = await service.visitor().ask(path, { headers: { cookie: visitor.cookie } })
    assertRefused(answer, 401, 'not-signed-in', path)
  }
  assert.deepEqual((await visitor.ask(`files/${report}`, { method: 'HEAD' })).text, '')
  for (const method of ['PUT', 'POST', 'DELETE']) {
    assert.equal((await visitor.ask(`files/${report}`, { method })).status, 405, method)
  }
})

test('a folder is read with all that lies in it at that moment, by pages and as a zip (D25.10)', async () => {
  const folder = await newTitled(anna.visitor, context, 'Photos', '?graphtype=list')
  const inside = `?graphtype=list&list=${encodeURIComponent(`${service.base}${context}/resource/${folder}`)}`
  const inner = await newTitled(anna.visitor, context, 'Summer', inside)
  const sea = await newFile(anna.visitor, context, { name: 'sea.txt', bytes: 'sea', list: inner })
  const sun = await newFile(anna.visitor, context, { name: 'sun.txt', bytes: 'sun', list: folder })
  await newEntry(anna.visitor, context, '?entrytype=link&resource=http%3A%2F%2Fex.org%2F')
  const closed = await newFile(anna.visitor, context, { name: 'closed.txt', bytes: 'closed', list: folder })
  const visitor = await LinkVisitor.at(service, await newLink(anna.visitor, context, folder))
  assert.deepEqual([visitor.opened.item.kind, visitor.opened.item.name], ['folder', 'Photos'])
  assert.deepEqual(await visitor.names(), ['Summer', 'sun.txt', 'closed.txt'])
  assert.deepEqual(await visitor.names(inner), ['sea.txt'])
  const first = (await visitor.ask('members?limit=2')).json<{ items: unknown[]; next?: number }>()
  assert.deepEqual([first.items.length, first.next], [2, 2])
  const second = (await visitor.ask('members?limit=2&offset=2')).json<{ items: unknown[]; next?: number }>()
  assert.deepEqual([second.items.length, second.next], [1, undefined])
  assert.equal((await visitor.file(sea)).text, 'sea')
  const zip = await visitor.ask('zip')
  assert.deepEqual(
    (await membersOf(zip.bytes)).map(({ name }) => name),
    ['Photos/', 'Photos/Summer/', 'Photos/Summer/sea.txt', 'Photos/sun.txt', 'Photos/closed.txt'],
  )
  assert.match(String((await visitor.ask(`zip?folder=${inner}`)).headers['content-disposition']), /Summer\.zip/)
  assertRefused(await visitor.file(report), 404, 'not-found', 'beside the folder')

  const elsewhere = await newList(anna.visitor, context)
  const move = `${service.base}${context}/entry/${sun}&fromList=${service.base}${context}/resource/${folder}`
  assert.equal((await anna.visitor.post(`${context}/resource/${elsewhere}?moveEntry=${move}`)).status, 200)
  assertRefused(await visitor.file(sun), 404, 'not-found', 'moved out of it')
  assert.deepEqual(await visitor.names(), ['Summer', 'closed.txt'])
  assert.equal((await anna.visitor.delete(`${context}/entry/${closed}`)).status, 204)
  assert.deepEqual(await visitor.names(), ['Summer'])
})

test('those who administer the entry create, see and revoke its links; a revoked one ends at once (D25.8)', async () => {
  const link = await newLink(anna.visitor, context, report, { name: 'For the review' })
  const visitor = await LinkVisitor.at(service, link)
  const others = [
    [bert.visitor, 403, 'not-allowed'],
    [service.visitor(), 401, 'not-signed-in'],
  ] as const
  for (const [who, status, code] of others) {
    assertRefused(await who.post(`${context}/links/${report}`, {}), status, code)
    assertRefused(await who.get(`${context}/links/${report}`), status, code)
  }
  assertRefused(await bert.visitor.delete(`auth/links/${link.id}`), 404, 'not-found')
  assertRefused(await service.visitor().delete(`auth/links/${link.id}`), 401, 'not-signed-in')
  const mine = (await linksOf(report)).find(({ id }) => id === link.id)
  assert.deepEqual(
    [mine?.name, mine?.item, mine?.state, mine?.hasPassword, mine?.createdBy],
    ['For the review', 'Report.txt', 'active', false, { id: anna.id, name: anna.name }],
  )
  assert.equal((await anna.visitor.delete(`auth/links/${link.id}`)).status, 204)
  assertRefused(await visitor.file(), 404, 'link-gone')
  assertRefused(await openLink(service, link), 404, 'link-gone')
  assertRefused(await anna.visitor.delete(`auth/links/${link.id}`), 404, 'not-found')
  for (const wish of [
    { name: 'x'.repeat(101) },
    { expires: '2001-01-01' },
    { expires: 'soon' },
    { expires: '2999-02-30' },
    { maxDownloads: 1_000_001 },
  ]) {
    assertRefused(await anna.visitor.post(`${context}/links/${report}`, wish), 400, 'invalid-value')
  }
  assertRefused(await anna.visitor.post(`${context}/links/${report}`, { maxDownloads: 0 }), 400, 'invalid-json')
  assertRefused(await anna.visitor.post(`${context}/links/${report}`, { password: 'short' }), 400, 'password-rules')
  const text = await newEntry(anna.visitor, context, '?graphtype=string')
  assertRefused(await anna.visitor.post(`${context}/links/${text}`, {}), 400, 'invalid-type')
})

test('administrators see and revoke the links of all users, others only their own (D25.8)', async () => {
  const link = await newLink(anna.visitor, context, other)
  const all = (await admin.get('auth/links?all')).json<{ items: Listed[]; results: number }>()
  assert.ok(all.items.some(({ id, createdBy }) => id === link.id && createdBy.name === anna.name))
  const own = (await admin.get(`auth/links?user=${anna.name}`)).json<{ items: Listed[]; results: number }>()
  assert.equal(own.results, (await anna.visitor.get('auth/links')).json<{ results: number }>().results)
  assert.equal((await bert.visitor.get('auth/links')).json<{ results: number }>().results, 0)
  assertRefused(await bert.visitor.get('auth/links?all'), 403, 'not-allowed')
  assertRefused(await bert.visitor.get(`auth/links?user=${anna.name}`), 403, 'not-allowed')
  assertRefused(await service.visitor().get('auth/links'), 401, 'not-signed-in')
  assert.equal((await admin.delete(`auth/links/${link.id}`)).status, 204)
  assertRefused(await openLink(service, link), 404, 'link-gone')
})

test('a link has the rights that its creator has now: disabled, demoted or deleted, it ends (D25.9)', async () => {
  const carl = await newUser(service, admin)
  const own = await newContext(admin, [carl.id])
  const file = await newFile(carl.visitor, own, { name: 'a.txt', bytes: 'of carl' })
  const link = await newLink(carl.visitor, own, file)
  const visitor = await LinkVisitor.at(service, link)
  const works = async (): Promise<boolean> => {
    const [opened, read] = [await openLink(service, link), await visitor.file()]
    if (opened.status === 200 && read.status === 200) return true
    assertRefused(opened, 404, 'link-gone')
    assertRefused(read, 404, 'link-gone')
    return false
  }
  assert.ok(await works())
  await admin.put(userPath(carl.id), { disabled: true })
  assert.equal(await works(), false, 'disabled')
  await admin.put(userPath(carl.id), { disabled: false })
  assert.ok(await works())

  const info = (await admin.get(`_contexts/entry/${own}`)).json<{ info: Record<string, unknown> }>().info
  const before = info[`${service.base}_contexts/entry/${own}`]
  assert.equal((await admin.put(`_contexts/entry/${own}`, {})).status, 204)
  assert.equal(await works(), false, 'demoted')
  const [listed] = (await admin.get(`${own}/links/${file}`)).json<{ items: Listed[] }>().items
  assert.equal(listed?.state, 'gone')
  const owners = { [`${service.base}_contexts/entry/${own}`]: before }
  assert.equal((await admin.put(`_contexts/entry/${own}`, owners)).status, 204)
  assert.ok(await works())
  assert.equal((await admin.delete(`_principals/entry/${carl.id}`)).status, 204)
  assert.equal(await works(), false, 'deleted')
})

test('in the trash a link sleeps; after a restore it works again; a later entry with the id is another one (D25.9)', async () => {
  const id = await newEntry(anna.visitor, context, '?id=reused')
  const put = await anna.visitor.ask(`${context}/resource/${id}`, { method: 'PUT', body: 'first' })
  assert.equal(put.status, 201)
  const link = await newLink(anna.visitor, context, id)
  const visitor = await LinkVisitor.at(service, link)
  assert.equal((await anna.visitor.post(`${context}/trash/${id}`)).status, 204)
  assertRefused(await visitor.file(), 404, 'link-gone')
  assertRefused(await openLink(service, link), 404, 'link-gone')
  assert.equal((await anna.visitor.post(`${context}/trash/${id}/restore`)).status, 200)
  assert.equal((await visitor.file()).text, 'first')
  assert.equal((await anna.visitor.delete(`${context}/entry/${id}`)).status, 204)
  service.system.pass(1000)
  await newEntry(anna.visitor, context, '?id=reused')
  await anna.visitor.ask(`${context}/resource/${id}`, { method: 'PUT', body: 'second' })
  assertRefused(await visitor.file(), 404, 'link-gone')
  assertRefused(await openLink(service, link), 404, 'link-gone')
  assert.deepEqual(await linksOf(id), [])
})

test('the secret is stored as a digest and is in no list, audit row or address; an id alone opens nothing (D25.8, D25.12)', async t => {
  const password = 'Good-Password-12'
  const link = await newLink(anna.visitor, context, report, { password })
  const visitor = await LinkVisitor.at(service, link, password)
  await visitor.file()
  const database = await openStore(t, service)
  const rows = JSON.stringify(await database.all(sql`SELECT * FROM public_links`))
  const audit = (await admin.get('management/audit?limit=100')).text
  const lists = (await admin.get('auth/links?all')).text + (await anna.visitor.get(`${context}/links/${report}`)).text
  assert.ok(rows.includes(link.id) && lists.includes(link.id))
  for (const event of ['link-created', 'link-used']) assert.match(audit, new RegExp(`"${event}"[^}]*`))
  for (const text of [rows, audit, lists]) {
    assert.ok(!text.includes(link.secret) && !text.includes(password))
  }
  const second = await LinkVisitor.at(service, await newLink(anna.visitor, context, other))
  const keys = [second.cookie, visitor.cookie.slice(0, -1) + (visitor.cookie.endsWith('A') ? 'B' : 'A'), '']
  for (const key of keys) {
    const value = key.slice(key.indexOf('=') + 1)
    const cookie = `stowage_link_${link.id}=${value}`
    const answer = await service.visitor().ask(`auth/link/${link.id}/files/${report}`, { headers: { cookie } })
    assertRefused(answer, 404, 'link-gone')
  }
  const [existing, unknown] = [
    await service.visitor().get(`auth/link/${link.id}/members`),
    await service.visitor().get('auth/link/AAAAAAAAAAAA/members'),
  ]
  assert.equal(existing.text, unknown.text)
  for (const secret of ['', 'A'.repeat(43), `${link.secret}A`, link.secret.toLowerCase()]) {
    assertRefused(await openLink(service, { secret }, password), 404, 'link-gone')
  }
  const script = await visitor.ask('members?callback=read')
  assert.doesNotMatch(script.text, /items/, 'other sites could read it')
})

test('the session of the same browser does not widen a link, and pages of other sites cannot open one (D25.10)', async () => {
  const link = await newLink(anna.visitor, context, report)
  const visitor = await LinkVisitor.at(service, link)
  const cookie = `auth_token=${anna.visitor.cookie}; ${visitor.cookie}`
  const answer = await visitor.ask(`files/${other}`, { headers: { cookie } })
  assertRefused(answer, 404, 'not-found')
  const foreign = await openLink(service, link, undefined, { origin: 'https://evil.example' })
  assertRefused(foreign, 403, 'cross-site-request')
})

test('an access token creates and revokes no link: it would outlive the token (D25.8)', async () => {
  const expires = new Date(service.system.now() + 86_400_000).toISOString()
  const created = await anna.visitor.post('auth/access-tokens', { name: 'x', expires, scopes: ['write'] })
  const headers = { authorization: `Bearer ${created.json<{ token: string }>().token}` }
  const link = await newLink(anna.visitor, context, report)
  const attempts = [
    ['POST', `${context}/links/${report}`],
    ['DELETE', `auth/links/${link.id}`],
    ['GET', 'auth/links'],
  ] as const
  for (const [method, path] of attempts) {
    const json = method === 'POST' ? {} : undefined
    assertRefused(await service.visitor().ask(path, { method, json, headers }), 403, 'access-token-scope', path)
  }
})

test('a zip that is being sent ends when its link is revoked (D25.8)', async () => {
  const folder = await newTitled(anna.visitor, context, 'Large', '?graphtype=list')
  // More than the buffers of a connection hold, so that the second file waits for the visitor to read on.
  const bytes = 'x'.repeat(MORE_THAN_BUFFERS)
  for (const name of ['a.bin', 'b.bin']) await newFile(anna.visitor, context, { name, bytes, list: folder })
  const link = await newLink(anna.visitor, context, folder)
  const visitor = await LinkVisitor.at(service, link)
  const asked = request(`${service.base}auth/link/${link.id}/zip`, { headers: { cookie: visitor.cookie } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  // The connection is reset, which the answer reports as well.
  asked.on('error', () => {})
  assert.equal(answer.statusCode, 200)
  assert.equal((await anna.visitor.delete(`auth/links/${link.id}`)).status, 204)
  let received = 0
  answer.on('data', (chunk: Buffer) => (received += chunk.length))
  await assert.rejects(finished(answer), 'the zip breaks off')
  assert.ok(received < bytes.length * 2)
})

test('what can never work again is deleted; what is in the trash is kept (D25.9)', async t => {
  const database = await openStore(t, service)
  const present = async (): Promise<number> => {
    await deleteDeadLinks(database, service.system.now())
    return (await database.all(sql`SELECT id FROM public_links WHERE entry = 'short-lived'`)).length
  }
  await newEntry(anna.visitor, context, '?id=short-lived')
  await newLink(anna.visitor, context, 'short-lived')
  await newLink(anna.visitor, context, 'short-lived', { expires: new Date(service.system.now() + 1000).toISOString() })
  assert.equal(await present(), 2)
  service.system.pass(2000)
  assert.equal(await present(), 1)
  assert.equal((await anna.visitor.post(`${context}/trash/short-lived`)).status, 204)
  assert.equal(await present(), 1)
  assert.equal((await anna.visitor.delete(`${context}/trash/short-lived`)).status, 204)
  assert.equal(await present(), 0)
})

test('public links can be switched off', async t => {
  const single = await startInProcess(t, { settings: { 'service.public-links': 'off' } })
  const owner = await single.admin()
  const place = await newContext(owner)
  const file = await newFile(owner, place, { name: 'a', bytes: 'a' })
  assertRefused(await owner.post(`${place}/links/${file}`, {}), 404, 'not-found')
  assertRefused(await openLink(single, { secret: 'A'.repeat(43) }), 404, 'not-found')
})
