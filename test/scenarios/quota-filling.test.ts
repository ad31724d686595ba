import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused, type QuotaJson, readEntry } from '../support/content.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'
import { putChunked, putFile, putForm } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()

async function newSpace(quota: number) {
  const context = await newContext(admin)
  assert.equal((await admin.put(`${context}/quota`, { quota })).status, 200)
  return {
    context,
    newPath: async (): Promise<string> => `${context}/resource/${await newEntry(admin, context)}`,
    level: async (): Promise<number> => (await admin.get(`${context}/quota`)).json<QuotaJson>().fillLevel,
    setQuota: (value: number) => admin.put(`${context}/quota`, { quota: value }),
  }
}
const bytes = (count: number): string => 'x'.repeat(count)

test('a file that fills the quota exactly is stored, one byte more is refused with the numbers (D7.3, D7.4)', async () => {
  const space = await newSpace(1000)
  const [one, two] = [await space.newPath(), await space.newPath()]
  assert.equal((await putFile(admin, one, bytes(1000))).status, 201)
  assert.equal(await space.level(), 1000)
  const refused = await putFile(admin, two, 'x')
  assertRefused(refused, 413, 'quota-exceeded')
  const { quota, fillLevel, needed } = refused.json()
  assert.deepEqual([quota, fillLevel, needed], [1000, 1000, 1])
  assert.equal((await putFile(admin, two, '')).status, 201, 'an empty file always fits')
})

test('replacing counts the difference, whichever way the bytes come (D7.3, D7.6)', async () => {
  const space = await newSpace(1000)
  const path = await space.newPath()
  for (const size of [900, 1000, 10, 999, 0]) {
    assert.equal((await putFile(admin, path, bytes(size))).status, 201)
    assert.equal(await space.level(), size)
    assert.equal((await putChunked(admin, path, [bytes(size)])).status, 201)
    assert.equal((await putForm(admin, path, [{ name: '0', fileName: 'a', content: bytes(size) }])).status, 201)
    assert.equal(await space.level(), size)
  }
})

test('a refused replacement leaves bytes, ETag, digest, info and fill level as they were (D7.4)', async () => {
  const space = await newSpace(1000)
  const path = await space.newPath()
  await putFile(admin, path, bytes(700))
  const id = path.slice(path.lastIndexOf('/') + 1)
  const [before, entry] = [await admin.get(path), await readEntry(admin, space.context, id)]
  service.system.pass(3000)
  const form = [{ name: '0', fileName: 'a', content: bytes(1001) }]
  for (const refused of [
    await putFile(admin, path, bytes(1001)),
    await putChunked(admin, path, [bytes(1000), 'x']),
    await putForm(admin, path, form),
  ])
    assertRefused(refused, 413, 'quota-exceeded')
  const got = await admin.get(path)
  assert.equal(got.text, before.text)
  for (const name of ['etag', 'digest', 'last-modified']) assert.equal(got.headers[name], before.headers[name])
  assert.deepEqual(await readEntry(admin, space.context, id), entry)
  assert.equal(await space.level(), 700)
  assert.deepEqual((await blobsOf(service)).incoming, [])
  assert.equal((await putFile(admin, path, bytes(1000))).status, 201, 'no room was lost')
})

test('above a lowered quota shrinking, keeping the size and deleting work, growing does not (D7.3)', async () => {
  const space = await newSpace(-1)
  const [one, two] = [await space.newPath(), await space.newPath()]
  await putFile(admin, one, bytes(500))
  await putFile(admin, two, bytes(500))
  assert.equal((await space.setQuota(100)).status, 200)
  assertRefused(await putFile(admin, one, bytes(501)), 413, 'quota-exceeded')
  assert.equal((await putFile(admin, one, bytes(500))).status, 201)
  assert.equal((await putFile(admin, one, bytes(499))).status, 201)
  assert.equal((await putChunked(admin, one, [bytes(499)])).status, 201)
  assert.equal((await admin.delete(two)).status, 204)
  assert.equal(await space.level(), 499)
  assert.equal((await admin.delete(one)).status, 204)
  assert.equal(await space.level(), 0)
})

for (const [framing, upload] of [
  ['of declared size', putFile],
  [
    'chunked',
    (visitor: typeof admin, path: string, body: string) =>
      putChunked(visitor, path, [body.slice(0, 50), body.slice(50)]),
  ],
] as const) {
  test(`of 30 parallel uploads against a quota for 10, ten are stored: ${framing} (D7.3)`, async () => {
    const space = await newSpace(1000)
    const paths: string[] = []
    while (paths.length < 30) paths.push(await space.newPath())
    const answers = await Promise.all(paths.map(path => upload(admin, path, bytes(100))))
    assert.equal(answers.filter(answer => answer.status === 201).length, 10)
    for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 413, 'quota-exceeded')
    assert.equal(await space.level(), 1000)
    const stored = await Promise.all(paths.map(async path => (await admin.get(path)).bytes.length))
    assert.equal(
      stored.reduce((sum, size) => sum + size, 0),
      1000,
    )
  })
}

test('a chunked body beside the limit takes what there is, though less than a step (D7.3)', async () => {
  const space = await newSpace(300_000)
  const path = await space.newPath()
  assert.equal((await putChunked(admin, path, Array<string>(30).fill(bytes(10_000)))).status, 201)
  assert.equal(await space.level(), 300_000)
  assertRefused(await putChunked(admin, path, Array<string>(31).fill(bytes(10_000))), 413, 'quota-exceeded')
  assert.equal(await space.level(), 300_000)
})

test('an upload in progress holds its room, and gives it back when its client leaves (D7.3)', async () => {
  const space = await newSpace(1000)
  const [slow, quick] = [await space.newPath(), await space.newPath()]
  const head = (path: string) => [`PUT /${path} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`, 'Content-Length: 900']
  const request = await sendRaw(admin.base, head(slow), bytes(10))
  await eventually('it has begun', async () => (await blobsOf(service)).incoming.length === 1)
  assertRefused(await putFile(admin, quick, bytes(101)), 413, 'quota-exceeded')
  assert.equal((await putFile(admin, quick, bytes(100))).status, 201)
  request.socket.destroy()
  await eventually('its room is free', async () => (await putFile(admin, quick, bytes(1000))).status === 201)
  assert.equal(await space.level(), 1000)
})

test('a quota lowered during an upload counts when the upload ends (D7.3)', async () => {
  const space = await newSpace(1000)
  const path = await space.newPath()
  const head = [
    `PUT /${path} HTTP/1.1`,
    `Cookie: auth_token=${admin.cookie}`,
    'Content-Length: 900',
    'Connection: close',
  ]
  const request = await sendRaw(admin.base, head, bytes(10))
  await eventually('it has begun', async () => (await blobsOf(service)).incoming.length === 1)
  assert.equal((await space.setQuota(500)).status, 200)
  request.socket.write(bytes(890))
  await request.closed
  assert.match(request.received(), /^HTTP\/1\.1 413 /)
  assert.equal(await space.level(), 0)
  assert.equal((await admin.get(path)).status, 204)
  assert.equal((await putFile(admin, path, bytes(500))).status, 201, 'no reservation is left')
})

test('metadata, texts and links take no room (I8)', async () => {
  const space = await newSpace(0)
  const id = await newEntry(admin, space.context, '?graphtype=string', { resource: bytes(500) })
  assert.equal((await admin.put(`${space.context}/metadata/${id}`, {})).status, 204)
  assert.equal(await space.level(), 0)
  assertRefused(await putFile(admin, await space.newPath(), 'x'), 413, 'quota-exceeded')
})

test('the default quota holds for contexts without one of their own (I8)', async t => {
  const small = await startInProcess(t, {
    settings: { 'service.data.quota': 'ON', 'service.data.quota.default': '1K' },
  })
  const boss = await small.admin()
  const context = await newContext(boss)
  const path = `${context}/resource/${await newEntry(boss, context)}`
  assertRefused(await putFile(boss, path, bytes(1025)), 413, 'quota-exceeded')
  assert.equal((await putFile(boss, path, bytes(1024))).status, 201)
  await boss.put(`${context}/quota`, { quota: 2000 })
  assert.equal((await putFile(boss, path, bytes(2000))).status, 201)
  await boss.delete(`${context}/quota`)
  assertRefused(await putFile(boss, path, bytes(2001)), 413, 'quota-exceeded')
})

test('with quota off nothing is refused, and the fill level is right when it is switched on (D7.5)', async t => {
  const off = await startInProcess(t)
  const before = await off.admin()
  const context = await newContext(before)
  const path = `${context}/resource/${await newEntry(before, context)}`
  assert.equal((await putFile(before, path, bytes(3000))).status, 201)
  await off.close()
  const running = await startInProcess(t, { folder: off.folder, settings: { 'service.data.quota': 'on' } })
  const boss = await running.admin()
  assert.equal((await boss.get(`${context}/quota`)).json()['fillLevel'], 3000)
})
