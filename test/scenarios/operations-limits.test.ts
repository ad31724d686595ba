import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { assertRefused, graphOf, principal, type QuotaJson, readEntry, STORE, textTerm } from '../support/content.ts'
import { startFakeClamd } from '../support/fake-clamd.ts'
import { infoNaming, moveInto, share } from '../support/folder-access.ts'
import { newList } from '../support/lists.ts'
import { newEntries, operate, operateWhole } from '../support/operations.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after }, { settings: { 'service.http.json.max-size': '262144' } })
const admin = await service.admin()
const { id: ownerId, visitor: owner } = await newUser(service, admin)
const { id: strangerId, visitor: stranger } = await newUser(service, admin)

const codesOf = ({ failures }: { failures: ReadonlyArray<{ entry: string; code: string }> }) =>
  failures.map(({ entry, code }) => [entry, code])

test('texts that cannot be ids, or cannot be stored, are refused before anything is stored (D51.10)', async () => {
  const context = await newContext(admin, [ownerId])
  const entry = await newEntry(owner, context)
  const cases: ReadonlyArray<object> = [
    { action: 'trash', entries: ['x'.repeat(129)] },
    { action: 'trash', entries: ['a\0b'] },
    { action: 'trash', entries: [entry, ''] },
    { action: 'trash', entries: [entry], except: ['../x'] },
    { action: 'trash', list: 'a\0b' },
    { action: 'move', entries: [entry], to: { context: 'a\0b' } },
    { action: 'move', entries: [entry], to: { context, list: 'a/b' } },
    { action: 'share', entries: [entry], share: { principal: 'a\0b', role: 'reader' } },
    { action: 'tag', entries: [entry], tags: { add: ['a\0b'] } },
  ]
  for (const body of cases)
    assertRefused(await owner.post(`${context}/operations`, body), 400, 'invalid-value', JSON.stringify(body))
  assert.equal((await owner.get(`${context}/operations`)).json<{ results: number }>().results, 0)
})

test('a share keeps the limit of access lists (D15.2, D51.3)', async () => {
  const context = await newContext(admin, [ownerId])
  const [entry = ''] = await newEntries(owner, context, 1)
  const owners = Array.from({ length: 999 }, (_, number) => `p${number}`)
  const info = infoNaming(owner, [context, entry], { owners: [ownerId, ...owners.slice(1)], only: true })
  assert.equal((await owner.put(`${context}/entry/${entry}`, info)).status, 204)
  const shared = (role: string) => ({ action: 'share', entries: [entry], share: { principal: strangerId, role } })
  assert.deepEqual(codesOf(await operate(owner, context, shared('writer'))), [[entry, 'graph-too-large']])
  assertRefused(await stranger.get(`${context}/entry/${entry}`), 403, 'not-allowed')
})

test('a tag keeps the limit of metadata (D15.2, D51.3)', async () => {
  const context = await newContext(admin, [ownerId])
  const about = `${owner.base}${context}/resource/_newId`
  const long = graphOf(about, 'http://purl.org/dc/terms/description', textTerm('x'.repeat(260_000)))
  const entry = await newEntry(owner, context, '', { metadata: long })
  const tags = (add: readonly string[], remove: readonly string[] = []) => ({
    action: 'tag',
    entries: [entry],
    tags: { add, remove },
  })
  await operateWhole(owner, context, tags(['short']), 1)
  const many = Array.from({ length: 50 }, (_, number) => `${10 + number}${'y'.repeat(198)}`)
  assert.deepEqual(codesOf(await operate(owner, context, tags(many))), [[entry, 'graph-too-large']])
  await operateWhole(owner, context, tags([], ['short']), 1)
})

test('an access token begins nothing in a context that it does not open (D24.4, D51.3)', async () => {
  const [open, closed] = [await newContext(admin, [ownerId]), await newContext(admin, [ownerId])]
  const [inside, outside] = [await newEntry(owner, open), await newEntry(owner, closed)]
  const asked = { name: 'robot', expires: '2027-01-01', scopes: ['write'], contexts: [open] }
  const { token } = (await owner.post('auth/access-tokens', asked)).json<{ token: string }>()
  const headers = { authorization: `Bearer ${token}` }
  const begun = async (context: string, body: object) =>
    await service.visitor().ask(`${context}/operations`, { method: 'POST', headers, json: body })
  assertRefused(await begun(closed, { action: 'trash', entries: [outside] }), 403, 'not-allowed')
  const out = { action: 'copy', entries: [inside], to: { context: closed } }
  assertRefused(await begun(open, out), 403, 'not-allowed')
  assert.equal((await begun(open, { action: 'trash', entries: ['none'] })).status, 202)
  assert.equal((await owner.get(`${closed}/operations`)).json<{ results: number }>().results, 0)
})

test('what somebody put into a list without owning it is not copied with the list (D51.2)', async () => {
  const context = await newContext(admin, [ownerId])
  const secret = await newEntry(owner, context)
  assert.equal((await putFile(owner, `${context}/resource/${secret}`, 'secret')).status, 201)
  await share(owner, context, secret, { owners: [ownerId], only: true })
  const list = await newList(owner, context)
  await share(owner, context, list, { writers: [strangerId] })
  assertRefused(await stranger.get(`${context}/resource/${secret}`), 403, 'not-allowed')
  assert.equal((await stranger.put(`${context}/resource/${list}`, [secret])).status, 204)
  const common = await newContext(admin, [ownerId, strangerId])
  await operateWhole(owner, context, { action: 'copy', entries: [list], to: { context: common } }, 1)
  const copies = (await admin.get(common)).json<string[]>()
  assert.equal(copies.length, 1)
  assert.deepEqual((await stranger.get(`${common}/resource/${copies[0]}`)).json(), [])
  assert.equal((await readEntry(owner, context, secret)).rights?.[0], 'administer')
})

test('a copy of a closed entry or folder is for its user only, also beside the original (D51.2)', async () => {
  const context = await newContext(admin, [ownerId])
  const [folder, single] = [await newList(owner, context), await newEntry(owner, context)]
  const inside = await newEntry(owner, context)
  await moveInto(owner, context, inside, folder)
  const originals = [folder, single, inside]
  for (const id of [single, inside]) assert.equal((await putFile(owner, `${context}/resource/${id}`, 'x')).status, 201)
  for (const id of [folder, single]) await share(owner, context, id, { owners: [ownerId], only: true })
  const rights = {
    ...graphOf(`${admin.base}${context}`, `${STORE}read`, principal(admin, strangerId)),
    ...graphOf(`${admin.base}_contexts/entry/${context}`, `${STORE}write`, principal(admin, ownerId)),
  }
  assert.equal((await admin.put(`_contexts/entry/${context}`, rights)).status, 204)
  const open = await newEntry(owner, context)
  await operateWhole(owner, context, { action: 'copy', entries: [folder, single, open], to: { context } }, 4)
  const all = (await admin.get(context)).json<string[]>()
  const copies = all.filter(id => ![...originals, open].includes(id))
  assert.equal(copies.length, 4)
  const readable: string[] = []
  for (const id of copies) {
    assert.equal((await owner.get(`${context}/entry/${id}`)).status, 200)
    if ((await stranger.get(`${context}/entry/${id}`)).status === 200) readable.push(id)
  }
  assert.equal(readable.length, 1, 'only the copy of the open entry')
})

test('a file that is replaced, deleted or added during the copy is not copied with the description of another (D51.2)', async t => {
  const clamd = await startFakeClamd(t)
  const settings = { 'service.data.quota': 'on', 'service.data.virus-scan': clamd.place }
  const admin = await (await startInProcess(t, { settings })).admin()
  const context = await newContext(admin)
  const [replaced = '', deleted = '', added = '', same = ''] = await newEntries(admin, context, 4)
  const put = async (id: string, bytes: string): Promise<void> =>
    assert.equal((await putFile(admin, `${context}/resource/${id}`, bytes)).status, 201)
  for (const id of [replaced, deleted, same]) await put(id, `file of ${id}`)
  const change = async (): Promise<void> => {
    clamd.misbehave = undefined
    await put(replaced, 'another file')
    assert.equal((await admin.delete(`${context}/resource/${deleted}`)).status, 204)
    await put(added, 'a first file')
  }
  // The bytes of all three copies have been read when the scanner has them.
  const scans: Array<() => void> = []
  clamd.misbehave = socket => {
    scans.push(() => socket.end('stream: OK\0'))
    if (scans.length === 3) void change().finally(() => scans.forEach(finish => finish()))
  }
  const to = await newContext(admin)
  const body = { action: 'copy', entries: [replaced, deleted, added, same], to: { context: to } }
  const failed = [
    [replaced, 'conflict'],
    [deleted, 'not-found'],
    [added, 'conflict'],
  ]
  assert.deepEqual(codesOf(await operate(admin, context, body)), failed)
  const copies = (await admin.get(to)).json<string[]>()
  assert.equal(copies.length, 1)
  const bytes = `file of ${same}`
  assert.equal((await admin.get(`${to}/resource/${copies[0]}`)).text, bytes)
  assert.equal((await admin.get(`${to}/quota`)).json<QuotaJson>().fillLevel, bytes.length)
})

test('changes of access lists are on record one by one (D17.3, D51.6)', async () => {
  const context = await newContext(admin, [ownerId])
  const ids = await newEntries(owner, context, 2)
  const body = { action: 'share', entries: [...ids, 'none'], share: { principal: strangerId, role: 'reader' } }
  assert.equal((await operate(owner, context, body)).done, 2)
  const { events } = (await admin.get(`management/audit?place=${context}&event=access-changed`)).json<{
    events: ReadonlyArray<{ detail: { entry: string } }>
  }>()
  assert.deepEqual(
    events.map(({ detail }) => detail.entry).filter(entry => entry.startsWith(`${context}/`)),
    ids.map(id => `${context}/${id}`).reverse(),
  )
})
