import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { createUpload, giveUp, headOf, NEW_ENTRY, newUpload, sendBytes } from '../support/tus.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const [anna, berta] = [await newUser(service, admin), await newUser(service, admin)]
/** Anna owns it, and Berta writes to it. */
const context = await newContext(admin, [anna.id])
const principal = (id: string) => ({ type: 'uri', value: `${admin.base}_principals/resource/${id}` })
const terms = 'http://entrystore.org/terms/'
assert.equal(
  (
    await admin.put(`_contexts/entry/${context}`, {
      [`${admin.base}_contexts/entry/${context}`]: { [`${terms}write`]: [principal(anna.id)] },
      [`${admin.base}${context}`]: { [`${terms}write`]: [principal(berta.id)] },
    })
  ).status,
  204,
)

interface Reserving {
  readonly uri: string
  readonly reserved: number
  readonly uploader: { readonly id: string; readonly name?: string }
}

const uploadsOf = async (visitor: Visitor, owner: string, query = '') => {
  const answer = await visitor.get(`quota/${owner}/uploads${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<{ items: readonly Reserving[]; results: number }>()
}

const reservedOf = async (owner: string): Promise<unknown[]> => {
  const { reserved, reservedFiles } = (await admin.get(`quota/${owner}`)).json()
  return [reserved, reservedFiles]
}

test('owners of a quota and administrators see what uploads reserve of it, and end them (D42.7)', async t => {
  assert.equal((await admin.put('quota/groups/lab', { quota: -1, contexts: [context] })).status, 200)
  t.after(() => admin.delete('quota/groups/lab'))
  const entry = `${context}/${await newEntry(anna.visitor, context)}`
  const owners = [`users/${anna.id}`, `contexts/${context}`, 'groups/lab', 'store']
  const enders: ReadonlyArray<readonly [Visitor, readonly string[]]> = [
    [anna.visitor, owners.slice(0, 2)],
    [admin, owners],
  ]
  for (const [visitor, readable] of enders) {
    const paths = [await newUpload(berta.visitor, entry, 700), await newUpload(berta.visitor, entry, 300)]
    assert.equal((await sendBytes(berta.visitor, paths[0] ?? '', 0, Buffer.alloc(100))).status, 204)
    for (const owner of readable) {
      const { items, results } = await uploadsOf(visitor, owner)
      assert.deepEqual(
        items.map(({ uri, reserved, uploader }) => [uri, reserved, uploader]),
        [
          [visitor.base + paths[0], 700, { id: berta.id, name: berta.name }],
          [visitor.base + paths[1], 300, { id: berta.id, name: berta.name }],
        ],
        owner,
      )
      assert.equal(results, 2)
      assert.equal((await uploadsOf(visitor, owner, '?limit=1&offset=1')).items[0]?.reserved, 300)
    }
    assert.deepEqual(await reservedOf(`users/${anna.id}`), [1000, 2])
    for (const path of paths) {
      assert.equal((await giveUp(visitor, path)).status, 204)
      assert.equal((await headOf(berta.visitor, path)).status, 404)
    }
    for (const owner of owners.slice(0, 3)) assert.deepEqual(await reservedOf(owner), [0, 0], owner)
  }
  const { events } = (await admin.get('management/audit?event=upload-ended')).json<{
    events: ReadonlyArray<{ actorId: string; userId: string; detail: unknown }>
  }>()
  assert.deepEqual(new Set(events.map(({ actorId }) => actorId)), new Set([anna.id, '_admin']))
  assert.deepEqual([events.length, events[0]?.userId, events[0]?.detail], [4, berta.id, { context, entry: '1' }])
})

test('nobody else sees or ends uploads of others (D42.7)', async () => {
  const stranger = await newUser(service, admin)
  const entry = `${context}/${await newEntry(anna.visitor, context)}`
  const path = await newUpload(anna.visitor, entry, 10)
  for (const owner of [`users/${anna.id}`, `contexts/${context}`, 'store']) {
    assertRefused(await service.visitor().get(`quota/${owner}/uploads`), 401, 'not-signed-in')
    for (const { visitor } of [stranger, berta])
      assertRefused(await visitor.get(`quota/${owner}/uploads`), 403, 'not-allowed')
  }
  assertRefused(await anna.visitor.get('quota/store/uploads'), 403, 'not-allowed')
  for (const { visitor } of [stranger, berta]) assertRefused(await giveUp(visitor, path), 404, 'not-found')
  assert.equal((await uploadsOf(anna.visitor, `users/${anna.id}`)).results, 1)
  assert.equal((await giveUp(anna.visitor, path)).status, 204)
  assertRefused(await admin.get('quota/users/none/uploads'), 404, 'not-found')
})

test('an entry that was created for an upload goes when others end the upload, if its user could delete it (D42.5)', async () => {
  const own = await newContext(admin, [anna.id, berta.id])
  const id = await newEntry(berta.visitor, own)
  const path = await newUpload(berta.visitor, `${own}/${id}`, 10, NEW_ENTRY)
  assert.equal((await giveUp(anna.visitor, path)).status, 204)
  assert.equal((await admin.get(`${own}/entry/${id}`)).status, 404)
})

test('uploads of one user reserve at most half of the quota of another user (D42.8)', async t => {
  t.after(() => admin.delete(`quota/users/${anna.id}`))
  const { fillLevel } = (await admin.get(`quota/users/${anna.id}`)).json<{ fillLevel: number }>()
  assert.equal(fillLevel, 0)
  assert.equal((await admin.put(`quota/users/${anna.id}`, { quota: 1000, maxFiles: 5 })).status, 200)
  const entryOf = async (): Promise<string> => `${context}/${await newEntry(anna.visitor, context)}`
  const begin = async (visitor: Visitor, length: number, entry?: string) =>
    await createUpload(visitor, entry ?? (await entryOf()), { 'upload-length': String(length) })

  const refused = await begin(berta.visitor, 501)
  assertRefused(refused, 413, 'too-much-reserved')
  assert.equal(refused.json()['owner'], 'user')
  assert.deepEqual(await reservedOf(`users/${anna.id}`), [0, 0], 'what is refused reserves nothing')
  assert.equal((await begin(berta.visitor, 300)).status, 201)
  assert.equal((await begin(berta.visitor, 200)).status, 201)
  assertRefused(await begin(berta.visitor, 1), 413, 'too-much-reserved')
  assert.equal((await begin(berta.visitor, 0)).status, 201, 'an empty file is there at once')
  assert.equal((await begin(anna.visitor, 500)).status, 201, 'it is her own quota')
  for (const { uri } of (await uploadsOf(anna.visitor, `users/${anna.id}`)).items)
    assert.equal((await giveUp(anna.visitor, uri.slice(anna.visitor.base.length))).status, 204)

  const file = await entryOf()
  assert.equal((await putFile(anna.visitor, file.replace('/', '/resource/'), Buffer.alloc(800))).status, 201)
  assert.equal((await begin(berta.visitor, 800, file)).status, 201, 'it needs no more than the file it replaces')
})

test('uploads of one user reserve at most half of the store; those of administrators are not limited so (D42.8)', async t => {
  t.after(() => admin.delete('quota/store'))
  assert.equal((await admin.put('quota/store', { quota: 10_000 })).status, 200)
  const { fillLevel, reserved } = (await admin.get('quota/store')).json<{ fillLevel: number; reserved: number }>()
  const own = await newContext(admin, [berta.id])
  const entry = `${own}/${await newEntry(berta.visitor, own)}`
  const refused = await createUpload(berta.visitor, entry, { 'upload-length': '5001' })
  assertRefused(refused, 413, 'too-much-reserved')
  assert.equal(refused.json()['owner'], 'store')
  const path = await newUpload(admin, entry, 10_000 - fillLevel - reserved)
  assert.equal((await giveUp(admin, path)).status, 204)
  await newUpload(berta.visitor, entry, 5000)
})
