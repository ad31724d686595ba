import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { exportOf, importInto, membersOf } from '../support/archives.ts'
import { backUp, fsckIsClean, restore as restoreStore, succeeded } from '../support/backups.ts'
import {
  assertRefused,
  graphOf,
  principal,
  type QuotaJson,
  readEntry,
  STORE,
  TITLE,
  textTerm,
} from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { idsOf, newList, newTitled, parentLists } from '../support/lists.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess(
  { after },
  { settings: { 'service.data.quota': 'on', 'service.repository.provenance': 'on' } },
)
const admin = await service.admin()

interface TrashJson {
  readonly items: ReadonlyArray<{
    readonly entryId: string
    readonly name: string
    readonly entries: number
    readonly bytes: number
    readonly deleted: string
    readonly deletedBy: { readonly id: string; readonly name?: string }
    readonly list?: string
    readonly expires?: string
  }>
  readonly results: number
  readonly bytes: number
}

async function readTrash(visitor: Visitor, context: string, query = ''): Promise<TrashJson> {
  const answer = await visitor.get(`${context}/trash${query}`)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<TrashJson>()
}
const level = async (context: string): Promise<number> =>
  (await admin.get(`${context}/quota`)).json<QuotaJson>().fillLevel
const found = async (visitor: Visitor, context: string): Promise<number> =>
  (await visitor.get(`search?type=solr&query=${encodeURIComponent(`context:${admin.base}${context}`)}`)).json<{
    results: number
  }>().results

async function newFile(context: string, bytes: string, list?: string): Promise<string> {
  const query = list === undefined ? '' : `?list=${encodeURIComponent(`${admin.base}${context}/resource/${list}`)}`
  const id = await newTitled(admin, context, `File of ${bytes.length}`, query)
  assert.equal((await putFile(admin, `${context}/resource/${id}`, bytes)).status, 201)
  return id
}
const trash = async (visitor: Visitor, context: string, id: string): Promise<void> => {
  const { status, text } = await visitor.post(`${context}/trash/${id}`)
  assert.equal(status, 204, text)
}

test('what is in the trash is found by no other route, and comes back as it was (D25.1, D25.3)', async () => {
  const context = await newContext(admin)
  const album = await newList(admin, context)
  const id = await newFile(context, 'abc', album)
  const about = `${admin.base}${context}/resource/${id}`
  const other = await newEntry(admin, context, '', { metadata: graphOf(about, 'http://ex.org/next', textTerm('x')) })
  const retitled = graphOf(about, TITLE, textTerm('Second title'))
  assert.equal((await admin.put(`${context}/metadata/${id}`, retitled)).status, 204)
  const before = await readEntry(admin, context, id)
  const foundBefore = await found(admin, context)

  await trash(admin, context, id)
  for (const kind of ['entry', 'resource', 'metadata', 'relations'])
    assertRefused(await admin.get(`${context}/${kind}/${id}`), 404, 'not-found', kind)
  assertRefused(await admin.get(`${context}/metadata/${id}?rev=1`), 404, 'not-found')
  assert.deepEqual(await idsOf(admin, context, album), [])
  assert.deepEqual((await admin.get(context)).json(), [album, other])
  assert.equal(await found(admin, context), foundBefore - 1)
  assertRefused(await admin.post(`${context}?id=${id}`), 409, 'id-taken')
  assertRefused(await admin.post(`${context}/trash/${id}`), 404, 'not-found')
  const { items, results, bytes } = await readTrash(admin, context)
  assert.deepEqual([results, bytes, items.length], [1, 3, 1])
  assert.deepEqual(
    items.map(({ entryId, name, entries, deletedBy, list }) => [entryId, name, entries, deletedBy, list]),
    [[id, 'Second title', 1, { id: '_admin', name: 'admin' }, album]],
  )
  assert.equal(Date.parse(items[0]?.expires ?? '') - Date.parse(items[0]?.deleted ?? ''), 30 * 86_400_000)

  const restored = await admin.post(`${context}/trash/${id}/restore`)
  assert.deepEqual(restored.json(), { entryURI: `${admin.base}${context}/entry/${id}`, list: album })
  assert.deepEqual(await readEntry(admin, context, id), before)
  assert.equal((await admin.get(`${context}/resource/${id}`)).text, 'abc')
  assert.equal((await admin.get(`${context}/metadata/${id}?rev=1`)).status, 200)
  assert.deepEqual(await idsOf(admin, context, album), [id])
  assert.equal(await found(admin, context), foundBefore)
  assert.equal((await readTrash(admin, context)).results, 0)
  assertRefused(await admin.post(`${context}/trash/${id}/restore`), 404, 'not-found')
})

test('a list takes everything in it along, and brings it back in its order (D25.3)', async () => {
  const context = await newContext(admin)
  const [outer, inner] = [await newList(admin, context), await newList(admin, context)]
  const move = `${admin.base}${context}/entry/${inner}`
  assert.equal((await admin.post(`${context}/resource/${outer}?moveEntry=${move}&removeAll`)).status, 200)
  const files = [
    await newFile(context, 'a', inner),
    await newFile(context, 'bb', inner),
    await newFile(context, 'ccc', inner),
  ]
  const order = [files[2] ?? '', files[0] ?? '', files[1] ?? '']
  assert.equal((await admin.put(`${context}/resource/${inner}`, order)).status, 204)
  await trash(admin, context, files[0] ?? '')
  service.system.pass(1000)
  await trash(admin, context, outer)
  assert.deepEqual((await admin.get(context)).json(), [])
  const { items, bytes } = await readTrash(admin, context)
  assert.deepEqual(
    items.map(item => [item.entryId, item.entries, item.bytes]),
    [
      [outer, 4, 5],
      [files[0], 1, 1],
    ],
  )
  assert.equal(bytes, 6)
  assertRefused(await admin.post(`${context}/trash/${inner}/restore`), 404, 'not-found', 'only as a whole')

  assert.equal((await admin.post(`${context}/trash/${outer}/restore`)).status, 200)
  assert.deepEqual(await idsOf(admin, context, outer), [inner])
  assert.deepEqual(await idsOf(admin, context, inner), [files[2], files[1]])
  assert.equal((await admin.post(`${context}/trash/${files[0]}/restore`)).json()['list'], inner)
  assert.deepEqual(await idsOf(admin, context, inner), [files[2], files[1], files[0]])
})

test('when the list is gone the entry comes back in none (D25.3)', async () => {
  const context = await newContext(admin)
  const album = await newList(admin, context)
  const id = await newFile(context, 'x', album)
  await trash(admin, context, id)
  assert.equal((await admin.delete(`${context}/entry/${album}`)).status, 204)
  assert.deepEqual((await admin.post(`${context}/trash/${id}/restore`)).json(), {
    entryURI: `${admin.base}${context}/entry/${id}`,
  })
  assert.deepEqual(await parentLists(admin, context, id), [])
})

test('who may no longer write to the list that held an entry brings it back into none (D25.3)', async () => {
  const user = await newUser(service, admin)
  const context = await newContext(admin)
  const album = await newList(admin, context)
  const id = await newFile(context, 'x', album)
  const share = async (path: string, right: string): Promise<void> => {
    const resource = `${admin.base}${context}/resource/${path}`
    const entry = `${admin.base}${context}/entry/${path}`
    const subject = right === 'administer' ? entry : resource
    const graph = { [subject]: { [`${STORE}write`]: [principal(admin, user.id)] } }
    assert.equal((await admin.put(`${context}/entry/${path}`, right === 'none' ? {} : graph)).status, 204)
  }
  await share(id, 'administer')
  for (const [right, list] of [
    ['write', album],
    ['none', undefined],
  ] as const) {
    await share(album, right)
    await trash(user.visitor, context, id)
    const restored = await user.visitor.post(`${context}/trash/${id}/restore`)
    assert.deepEqual([restored.status, restored.json()['list']], [200, list], right)
    assert.deepEqual(await idsOf(admin, context, album), list === undefined ? [] : [id])
  }
})

test('bytes in the trash count until they are deleted, one entry or all (D25.2)', async () => {
  const context = await newContext(admin)
  assert.equal((await admin.put(`${context}/quota`, { quota: 10 })).status, 200)
  const [one, two] = [await newFile(context, 'aaaa'), await newFile(context, 'bbbbb')]
  const album = await newList(admin, context, [two])
  await trash(admin, context, one)
  await trash(admin, context, album)
  assert.equal(await level(context), 9)
  const next = await newEntry(admin, context)
  assertRefused(await putFile(admin, `${context}/resource/${next}`, 'cc'), 413, 'quota-exceeded')
  assert.equal((await admin.delete(`${context}/trash/${one}`)).status, 204)
  assert.equal(await level(context), 5)
  assert.equal((await putFile(admin, `${context}/resource/${next}`, 'ccccc')).status, 201)
  assert.deepEqual((await admin.delete(`${context}/trash`)).json(), { deleted: 1 })
  assert.equal(await level(context), 5)
  assert.deepEqual(await readTrash(admin, context), { items: [], results: 0, bytes: 0 })
  assert.equal((await admin.delete(`${context}/entry/${next}`)).status, 204)
  assert.equal(await level(context), 0)
})

test('a trash of many entries is emptied of what the caller administers (D25.5)', async () => {
  const context = await newContext(admin)
  const { id: user, visitor } = await newUser(service, admin)
  const ids: string[] = []
  for (let count = 0; count < 120; count++) ids.push(await newEntry(admin, context))
  for (const id of [ids[0], ids[119]]) {
    const info = graphOf(`${admin.base}${context}/entry/${id}`, `${STORE}write`, principal(admin, user))
    assert.equal((await admin.put(`${context}/entry/${id}`, info)).status, 204)
  }
  for (const id of ids) await trash(admin, context, id)
  assert.deepEqual((await visitor.delete(`${context}/trash`)).json(), { deleted: 2 })
  assertRefused(await visitor.delete(`${context}/trash`), 403, 'not-allowed')
  assert.equal((await readTrash(admin, context)).results, 118)
  assert.deepEqual((await admin.delete(`${context}/trash`)).json(), { deleted: 118 })
  assert.deepEqual((await admin.delete(`${context}/trash`)).json(), { deleted: 0 })
})

test('DELETE deletes at once, without the trash; a context takes its trash along (D25.1)', async () => {
  const context = await newContext(admin)
  const [one, two] = [await newFile(context, 'a'), await newFile(context, 'b')]
  assert.equal((await admin.delete(`${context}/entry/${one}`)).status, 204)
  assert.equal((await readTrash(admin, context)).results, 0)
  await trash(admin, context, two)
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  assertRefused(await admin.get(`${context}/trash`), 404, 'not-found')
})

test('an export leaves the trash out, and an import empties it (D25.4)', async () => {
  const context = await newContext(admin)
  const [kept, gone] = [await newFile(context, 'kept'), await newFile(context, 'gone')]
  await trash(admin, context, gone)
  const archive = await exportOf(admin, context)
  const names = (await membersOf(archive)).map(({ name }) => name)
  assert.ok(names.some(name => name.split('/').includes(kept)))
  assert.ok(!names.some(name => name.split('/').includes(gone)))
  const imported = await importInto(admin, context, archive)
  assert.equal(imported.status, 200, imported.text)
  assert.deepEqual((await admin.get(context)).json(), [kept])
  assert.equal((await readTrash(admin, context)).results, 0)
  assert.equal(await level(context), 4)
})

test('whoever administers an entry trashes, sees, restores and deletes it; nobody else does (D25.5)', async () => {
  const [writer, owner] = [await newUser(service, admin), await newUser(service, admin)]
  const context = await newContext(admin, [owner.id])
  const [own, other] = [await newFile(context, 'a'), await newFile(context, 'b')]
  const album = await newList(admin, context, [other])
  const grant = (id: string) =>
    admin.put(`${context}/entry/${id}`, {
      [`${admin.base}${context}/entry/${id}`]: {
        'http://entrystore.org/terms/write': [{ type: 'uri', value: `${admin.base}_principals/resource/${writer.id}` }],
      },
    })
  for (const id of [own, album]) assert.equal((await grant(id)).status, 204)
  assertRefused(await service.visitor().post(`${context}/trash/${own}`), 401, 'not-signed-in')
  assertRefused(await writer.visitor.post(`${context}/trash/${other}`), 403, 'not-allowed')
  assertRefused(await writer.visitor.post(`${context}/trash/${album}`), 403, 'not-allowed', 'not what is in it')
  assert.deepEqual(await idsOf(admin, context, album), [other], 'nothing has moved')
  await trash(writer.visitor, context, own)
  await trash(owner.visitor, context, other)
  assert.deepEqual(
    (await readTrash(writer.visitor, context)).items.map(({ entryId }) => entryId),
    [own],
  )
  assert.equal((await readTrash(owner.visitor, context)).results, 2)
  assertRefused(await service.visitor().get(`${context}/trash`), 401, 'not-signed-in')
  assertRefused(await writer.visitor.post(`${context}/trash/${other}/restore`), 403, 'not-allowed')
  assertRefused(await writer.visitor.delete(`${context}/trash/${other}`), 403, 'not-allowed')
  assert.deepEqual((await writer.visitor.delete(`${context}/trash`)).json(), { deleted: 1 })
  assert.equal((await owner.visitor.post(`${context}/trash/${other}/restore`)).status, 200)
  assertRefused(await admin.post(`_principals/trash/${writer.id}`), 400, 'invalid-type')
})

test('who administers a list but not all in it neither restores nor deletes it (D25.5)', async () => {
  const delegate = await newUser(service, admin)
  const context = await newContext(admin)
  const other = await newFile(context, 'b')
  const inner = await newList(admin, context, [other])
  const album = await newList(admin, context, [inner])
  for (const id of [album, inner]) {
    const info = graphOf(`${admin.base}${context}/entry/${id}`, `${STORE}write`, principal(admin, delegate.id))
    assert.equal((await admin.put(`${context}/entry/${id}`, info)).status, 204)
  }
  await trash(admin, context, album)
  const own = await newEntry(admin, context)
  const info = graphOf(`${admin.base}${context}/entry/${own}`, `${STORE}write`, principal(admin, delegate.id))
  assert.equal((await admin.put(`${context}/entry/${own}`, info)).status, 204)
  await trash(delegate.visitor, context, own)
  for (const refused of [
    await delegate.visitor.post(`${context}/trash/${album}/restore`),
    await delegate.visitor.delete(`${context}/trash/${album}`),
  ]) {
    assertRefused(refused, 403, 'not-allowed')
    assert.match(refused.text, new RegExp(`the entry \\\\?"${other}\\\\?", which is in this list`))
  }
  assert.deepEqual((await delegate.visitor.delete(`${context}/trash`)).json(), { deleted: 1 })
  assert.equal((await admin.post(`${context}/trash/${album}/restore`)).status, 200)
  assert.deepEqual(await idsOf(admin, context, inner), [other])
})

test('the trash is paged, and each change of it is on record (D25.5)', async () => {
  const context = await newContext(admin)
  const ids = [await newFile(context, 'a'), await newFile(context, 'b'), await newFile(context, 'c')]
  for (const id of ids) {
    service.system.pass(1000)
    await trash(admin, context, id)
  }
  const page = await readTrash(admin, context, '?limit=1&offset=1')
  assert.deepEqual(
    page.items.map(({ entryId }) => entryId),
    [ids[1]],
  )
  assert.deepEqual([page.results, page.bytes], [3, 3])
  await admin.post(`${context}/trash/${ids[0]}/restore`)
  await admin.delete(`${context}/trash/${ids[1]}`)
  const { events } = (await admin.get('management/audit?limit=5')).json<{
    events: ReadonlyArray<{ event: string; actorId: string; detail: { entry: string } }>
  }>()
  assert.deepEqual(events.map(({ event, actorId, detail }) => [event, actorId, detail.entry]).reverse(), [
    ...ids.map(id => ['entry-trashed', '_admin', id]),
    ['entry-restored', '_admin', ids[0]],
    ['trash-deleted', '_admin', ids[1]],
  ])
})

test('a backup has the trash, and a restored store restores from it (D25.4)', async t => {
  const settings = { 'service.data.quota': 'on', 'service.repository.provenance': 'on' }
  const first = await startInProcess(t, { settings })
  const visitor = await first.admin()
  const context = await newContext(visitor)
  const album = await newList(visitor, context)
  const list = `?list=${encodeURIComponent(`${visitor.base}${context}/resource/${album}`)}`
  const id = await newTitled(visitor, context, 'In the backup', list)
  assert.equal((await putFile(visitor, `${context}/resource/${id}`, 'kept')).status, 201)
  await trash(visitor, context, album)
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(first.folder, backup))
  const folder = await temporaryFolder()
  succeeded(await restoreStore(backup, folder))
  await fsckIsClean(folder)
  const second = await (await startInProcess(t, { settings, folder })).admin()
  assert.equal((await second.post(`${context}/trash/${album}/restore`)).status, 200)
  assert.deepEqual(await idsOf(second, context, album), [id])
  assert.equal((await second.get(`${context}/resource/${id}`)).text, 'kept')
  assert.equal((await second.get(`${context}/metadata/${id}?rev=1`)).status, 200)
})
