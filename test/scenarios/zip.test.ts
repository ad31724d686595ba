import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import { finished } from 'node:stream/promises'
import { test } from 'node:test'
import { membersOf } from '../support/archives.ts'
import { blobsOf, blobStoreOf } from '../support/blobs.ts'
import { assertRefused, LABEL, principal, STORE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newTitled } from '../support/lists.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { MORE_THAN_BUFFERS } from '../support/slow-reader.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

const inList = (context: string, list: string | undefined): string =>
  list === undefined ? '' : `list=${encodeURIComponent(`${admin.base}${context}/resource/${list}`)}`

async function newFile(context: string, name: string, bytes: string, list?: string): Promise<string> {
  const id = await newEntry(admin, context, `?${inList(context, list)}`)
  const headers = { 'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}` }
  const stored = await putFile(admin, `${context}/resource/${id}`, bytes, headers)
  assert.equal(stored.status, 201, stored.text)
  return id
}
const newFolder = (context: string, title: string, list?: string): Promise<string> =>
  newTitled(admin, context, title, `?graphtype=list&${inList(context, list)}`)

async function zipOf(visitor: Visitor, context: string, ...ids: string[]) {
  const answer = await visitor.get(`${context}/zip?entries=${ids.join(',')}`)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/zip')
  const members = await membersOf(answer.bytes)
  const files = Object.fromEntries(members.map(({ name, bytes }) => [name, bytes.toString()]))
  return { files, disposition: String(answer.headers['content-disposition']) }
}

test('a folder is a zip with its folders, empty ones too, and every file in them (D25.7)', async () => {
  const context = await newContext(admin)
  const [outer, alone] = [await newFolder(context, 'Reports'), await newFile(context, 'alone.txt', 'alone')]
  const inner = await newFolder(context, '2026', outer)
  await newFolder(context, 'Empty', outer)
  await newFile(context, 'a.txt', 'text of a', inner)
  await newFile(context, 'b.bin', 'bytes of b', outer)
  const { files, disposition } = await zipOf(admin, context, outer, alone, inner)
  const expected = {
    'Reports/': '',
    'Reports/2026/': '',
    'Reports/2026/a.txt': 'text of a',
    'Reports/Empty/': '',
    'Reports/b.bin': 'bytes of b',
    'alone.txt': 'alone',
  }
  assert.deepEqual(files, expected, 'what is selected twice is in it once')
  assert.match(disposition, new RegExp(`filename="?${context}\\.zip`))
  assert.match((await zipOf(admin, context, outer)).disposition, /filename="?Reports\.zip/)
})

test('each file in the zip of a folder has the date of its last change, not that of the download (D25.7)', async () => {
  const context = await newContext(admin)
  const folder = await newFolder(context, 'Dated')
  const changed: number[] = []
  for (const name of ['older.txt', 'newer.txt']) {
    await newFile(context, name, name, folder)
    changed.push(service.system.now())
    service.system.pass(600_000)
  }
  const answer = await admin.get(`${context}/zip?entries=${folder}`)
  const members = await membersOf(answer.bytes)
  // A zip counts in steps of two seconds.
  const off = ['older.txt', 'newer.txt'].map((name, at) => {
    const modified = members.find(member => member.name === `Dated/${name}`)?.modified?.getTime() ?? 0
    return Math.abs(modified - (changed[at] ?? 0)) <= 2000
  })
  assert.deepEqual(off, [true, true])
})

test('names in a zip are safe on every system and unique in their folder (D25.7)', async () => {
  const context = await newContext(admin)
  const ids = [
    await newFile(context, 'same.txt', '1'),
    await newFile(context, 'SAME.txt', '2'),
    await newFolder(context, '../../etc'),
    await newFolder(context, '..'),
    await newFolder(context, 'a\u0000b\u202e/c:d'),
    await newFolder(context, 'nul.txt'),
    await newFolder(context, `${'x'.repeat(300)}.tar`),
    await newFile(context, 'straße.txt', '3'),
    await newFile(context, 'STRASSE.txt', '4'),
    await newFile(context, 'ΟΔΟΣ', '5'),
    await newFile(context, 'οδοσ', '6'),
    await newFolder(context, 'COM¹.txt'),
    await newFolder(context, 'lpt3 .txt'),
  ]
  const names = Object.keys((await zipOf(admin, context, ...ids)).files)
  assert.deepEqual(names, [
    'same.txt',
    'SAME (2).txt',
    '.._.._etc/',
    `${ids[3]}/`,
    'a_b__c_d/',
    '_nul.txt/',
    `${'x'.repeat(116)}.tar/`,
    'straße.txt',
    'STRASSE (2).txt',
    'ΟΔΟΣ',
    'οδοσ (2)',
    '_COM¹.txt/',
    '_lpt3 .txt/',
  ])
})

test('each file is checked for rights: what the caller may not read is left out, or refused (D25.7)', async () => {
  const { id, visitor } = await newUser(service, admin)
  const context = await newContext(admin)
  const folder = await newFolder(context, 'Shared')
  const [open, secret] = [
    await newFile(context, 'open.txt', 'open', folder),
    await newFile(context, 'secret', 's', folder),
  ]
  const principal = { type: 'uri', value: `${admin.base}_principals/resource/${id}` }
  for (const one of [folder, open]) {
    // A title is metadata, which they may not read; a label is info.
    const about = `${admin.base}${context}/resource/${one}`
    const info = {
      [about]: { 'http://entrystore.org/terms/read': [principal], [LABEL]: [{ type: 'literal', value: 'open.txt' }] },
    }
    assert.equal((await admin.put(`${context}/entry/${one}`, info)).status, 204)
  }
  const { files } = await zipOf(visitor, context, folder)
  assert.deepEqual(files, { [`${folder}/`]: '', [`${folder}/open.txt`]: 'open' })
  assertRefused(await visitor.get(`${context}/zip?entries=${secret}`), 403, 'not-allowed')
  assertRefused(await service.visitor().get(`${context}/zip?entries=${open}`), 401, 'not-signed-in')
  assertRefused(await admin.get(`${context}/zip?entries=nothing`), 404, 'not-found')
  for (const entries of ['', ',', Array.from({ length: 501 }, (_, n) => n).join()]) {
    assertRefused(await admin.get(`${context}/zip?entries=${entries}`), 400, 'invalid-query')
  }
  assertRefused(await admin.get('_principals/zip?entries=_admin'), 400, 'invalid-type')
})

test('a zip or an export that is being sent ends with the session, the account, the token or the right (D25.7)', async () => {
  const context = await newContext(admin)
  // More than the buffers of a connection hold, so that the second file waits for the client to read on.
  const bytes = 'x'.repeat(MORE_THAN_BUFFERS)
  const ids = [await newFile(context, 'a.bin', bytes), await newFile(context, 'b.bin', bytes)]
  const mayRead = async (readers: readonly string[]): Promise<void> => {
    const read = readers.map(id => principal(admin, id))
    const info = { [`${admin.base}${context}`]: { [`${STORE}read`]: read } }
    assert.equal((await admin.put(`_contexts/entry/${context}`, info)).status, 204)
  }
  /** Whether the answer breaks off; in no case does it have the second file. */
  const breaksOff = async (
    headers: OutgoingHttpHeaders,
    path: string,
    end: () => Promise<unknown>,
  ): Promise<boolean> => {
    const asked = request(admin.base + path, { headers }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    // The connection is reset, which the answer reports as well.
    asked.on('error', () => {})
    assert.equal(answer.statusCode, 200)
    await end()
    let received = 0
    answer.on('data', (chunk: Buffer) => (received += chunk.length))
    const breaks = await finished(answer).then(
      () => false,
      () => true,
    )
    assert.ok(received < bytes.length * 2)
    return breaks
  }
  const zip = `${context}/zip?entries=${ids.join(',')}`
  const cookie = (visitor: Visitor) => ({ cookie: `auth_token=${visitor.cookie}` })
  for (const end of ['session', 'account', 'right'] as const) {
    const { id, visitor } = await newUser(service, admin)
    await mayRead([id])
    const breaks = await breaksOff(cookie(visitor), zip, async () => {
      if (end === 'right') return await mayRead([])
      if (end === 'account') return await admin.put(`_principals/resource/${id}`, { disabled: true })
      return await visitor.get('auth/logout')
    })
    // A file that the caller may no longer read is left out like others.
    assert.equal(breaks, end !== 'right', end)
  }
  const { id, visitor } = await newUser(service, admin)
  await mayRead([id])
  const expires = new Date(service.system.now() + 86_400_000).toISOString()
  const created = await visitor.post('auth/access-tokens', { name: 'zip', expires, scopes: ['read'] })
  const token = created.json<{ id: string; token: string }>()
  const revoke = () => visitor.delete(`auth/access-tokens/${token.id}`)
  assert.ok(await breaksOff({ authorization: `Bearer ${token.token}` }, zip, revoke))
  const root = await service.admin()
  assert.ok(await breaksOff(cookie(root), `${context}/export`, () => root.get('auth/logout')))
})

test('a client that leaves ends the zip, and the service goes on (D25.7)', async () => {
  const context = await newContext(admin)
  const ids = await Promise.all([1, 2, 3].map(n => newFile(context, `${n}.bin`, 'x'.repeat(4_000_000))))
  const headers = { cookie: `auth_token=${admin.cookie}` }
  await new Promise<void>((resolve, reject) => {
    const asked = request(`${admin.base}${context}/zip?entries=${ids.join()}`, { headers }, response => {
      response.once('data', () => response.destroy())
      response.once('close', resolve)
    })
    asked.once('error', reject)
    asked.end()
  })
  assert.equal(Object.keys((await zipOf(admin, context, ...ids)).files).length, 3)
})

test('a zip whose first file is missing is refused, also where its response is delayed (D35.34)', async () => {
  const context = await newContext(admin)
  const before = new Set((await blobsOf(service)).stored)
  const file = await newFile(context, 'gone.txt', 'gone')
  const [blob = ''] = (await blobsOf(service)).stored.filter(key => !before.has(key))
  await (await blobStoreOf(service.folder)).delete(blob)
  const path = `${context}/zip?entries=${file}`
  assertRefused(await admin.get(path), 503, 'file-missing')
  // As the published client sends its uploads: the response waits until it listens.
  const superagent = ['Accept-Encoding: gzip, deflate', 'Connection: close', 'Transfer-Encoding: chunked']
  const head = [`GET /${path} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`, ...superagent]
  const delayed = await sendRaw(admin.base, head, '0\r\n\r\n')
  await delayed.until(/^HTTP\/1\.1 503 [^]*"code":"file-missing"/)
})
