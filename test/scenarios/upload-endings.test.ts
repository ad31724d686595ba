import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareUsage } from '../../src/files/recount.ts'
import { exportOf, importInto } from '../support/archives.ts'
import { blobsOf } from '../support/blobs.ts'
import { assertRefused } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { openDatabaseOf } from '../support/store.ts'
import { createUpload, giveUp, headOf, joinParts, NEW_ENTRY, newUpload, PART, sendBytes } from '../support/tus.ts'
import { putFile } from '../support/uploads.ts'

const service = await startInProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const [anna, berta] = [await newUser(service, admin), await newUser(service, admin)]

/** A context that both own, until `takeFrom` leaves it to one of them. */
const sharedContext = (): Promise<string> => newContext(admin, [anna.id, berta.id])

async function leaveTo(context: string, ...owners: readonly string[]): Promise<void> {
  const write = owners.map(owner => ({ type: 'uri', value: `${admin.base}_principals/resource/${owner}` }))
  const info = { [`${admin.base}_contexts/entry/${context}`]: { 'http://entrystore.org/terms/write': write } }
  assert.equal((await admin.put(`_contexts/entry/${context}`, info)).status, 204)
}

const exists = async (context: string, entry: string): Promise<number> =>
  (await admin.get(`${context}/entry/${entry}`)).status

/** Every row agrees with its sums, and nothing is reserved for these owners. */
async function assertNothingReserved(...owners: readonly string[]): Promise<void> {
  const database = await openDatabaseOf(service.folder)
  try {
    for (const row of await compareUsage(database)) {
      const { kind, owner, used, files, reserved, reservedFiles, usedSum, filesSum } = row
      const sums = [usedSum, filesSum, row.reservedSum, row.reservedFilesSum]
      assert.deepEqual([used, files, reserved, reservedFiles], sums, `${kind} ${owner}`)
      if (owners.includes(owner)) assert.deepEqual([reserved, reservedFiles], [0, 0], `${kind} ${owner}`)
    }
  } finally {
    await database.close()
  }
}

const deleteEntry = async (visitor: typeof admin, context: string, entry: string): Promise<void> =>
  assert.equal((await visitor.delete(`${context}/entry/${entry}`)).status, 204)

test('an old upload never takes the entry that somebody else has under its id by now (D42.5)', async () => {
  const context = await sharedContext()
  const old: string[] = []
  for (const id of ['1', '2', 'own']) {
    await newEntry(berta.visitor, context, `?id=${id}`)
    old.push(await newUpload(berta.visitor, `${context}/${id}`, 10, NEW_ENTRY))
    await deleteEntry(berta.visitor, context, id)
  }
  const entries = [
    await newEntry(anna.visitor, context),
    await newEntry(anna.visitor, context),
    await newEntry(anna.visitor, context, '?id=own'),
  ]
  assert.deepEqual(entries, ['3', '4', 'own'], 'the service gives no number a second time (W1.6)')
  for (const path of old) {
    assertRefused(await sendBytes(berta.visitor, path, 0, Buffer.alloc(10)), 404, 'not-found')
    assertRefused(await giveUp(berta.visitor, path), 404, 'not-found')
  }
  for (const entry of entries) assert.equal(await exists(context, entry), 200)
  assert.equal(await newEntry(berta.visitor, context, '?id=1'), '1', 'a client may choose it again')
})

test('giving an upload up deletes no entry that its user could not delete (D42.5)', async () => {
  const context = await sharedContext()
  const entry = await newEntry(berta.visitor, context)
  const path = await newUpload(berta.visitor, `${context}/${entry}`, 10, NEW_ENTRY)
  await leaveTo(context, anna.id)
  assert.equal((await giveUp(berta.visitor, path)).status, 204)
  assert.equal(await exists(context, entry), 200)
  await assertNothingReserved(context, berta.id)
})

test('uploads end with their entry, and what they have reserved with them: deleted, trashed, moved, replaced (D42.2)', async () => {
  const context = await sharedContext()
  const other = await sharedContext()
  const list = (await admin.post(`${other}?graphtype=list&id=list`)).json<{ entryId: string }>().entryId
  const archive = await exportOf(admin, await newContext(admin))
  const ends: Record<string, (entry: string) => Promise<number>> = {
    deleted: async entry => (await berta.visitor.delete(`${context}/entry/${entry}`)).status,
    trashed: async entry => (await berta.visitor.post(`${context}/trash/${entry}`)).status,
    moved: async entry =>
      (await admin.post(`${other}/resource/${list}?moveEntry=${admin.base}${context}/entry/${entry}`)).status,
    replaced: async () => (await importInto(admin, context, archive)).status,
    'with its context': async () => (await admin.delete(`_contexts/entry/${context}`)).status,
  }
  for (const [how, end] of Object.entries(ends)) {
    const entry = await newEntry(berta.visitor, context)
    const path = await newUpload(berta.visitor, `${context}/${entry}`, 1000)
    const part = await newUpload(berta.visitor, `${context}/${entry}`, 500, PART)
    assert.equal((await sendBytes(berta.visitor, path, 0, Buffer.alloc(10))).status, 204)
    const status = await end(entry)
    assert.ok(status >= 200 && status < 300, `${how}: ${status}`)
    for (const one of [path, part]) assert.equal((await headOf(berta.visitor, one)).status, 404, how)
    await assertNothingReserved(context, berta.id)
    assert.ok(!(await berta.visitor.get('auth/uploads')).text.includes(path), how)
  }
})

test('uploads end with their user, and what they have reserved on others with them (D42.2)', async () => {
  const carl = await newUser(service, admin)
  const context = await newContext(admin, [anna.id, carl.id])
  const entry = await newEntry(anna.visitor, context)
  const path = await newUpload(carl.visitor, `${context}/${entry}`, 1000)
  assert.equal((await sendBytes(carl.visitor, path, 0, Buffer.alloc(10))).status, 204)
  await deleteEntry(admin, '_principals', carl.id)
  await assertNothingReserved(context, anna.id)
  assert.equal(await exists(context, entry), 200)
})

test('parts are joined only into the file of the entry that they were sent for, and count for its user (D42.3)', async t => {
  t.after(() => admin.delete(`quota/users/${anna.id}`))
  const context = await sharedContext()
  const parts = async (entry: string): Promise<string[]> => {
    const made: string[] = []
    for (let count = 0; count < 2; count++) {
      const part = await newUpload(berta.visitor, `${context}/${entry}`, 500, PART)
      assert.equal((await sendBytes(berta.visitor, part, 0, Buffer.alloc(500))).status, 204)
      made.push(part)
    }
    return made
  }
  const place = `${context}/${await newEntry(anna.visitor, context, '?id=mine')}`
  const old = await parts('mine')
  await deleteEntry(anna.visitor, context, 'mine')
  await newEntry(berta.visitor, context, '?id=mine')
  assertRefused(await joinParts(berta.visitor, place, old), 404, 'not-found')
  await assertNothingReserved(context, anna.id, berta.id)
  assert.equal((await joinParts(berta.visitor, place, await parts('mine'))).status, 201)
  await assertNothingReserved(context, anna.id, berta.id)

  const [hers, other] = [await newEntry(anna.visitor, context), await newEntry(anna.visitor, context)]
  assert.equal((await admin.put(`quota/users/${anna.id}`, { quota: 2000 })).status, 200)
  assert.equal((await putFile(anna.visitor, `${context}/resource/${other}`, Buffer.alloc(1000))).status, 201)
  const joined = await parts(hers)
  assertRefused(await putFile(berta.visitor, `${context}/resource/${hers}`, Buffer.alloc(1)), 413, 'quota-exceeded')
  assert.equal((await joinParts(berta.visitor, `${context}/${hers}`, joined)).status, 201)
  const { fillLevel } = (await admin.get(`quota/users/${anna.id}`)).json<{ fillLevel: number }>()
  assert.equal(fillLevel, 2000)
  assertRefused(
    await createUpload(berta.visitor, `${context}/${hers}`, { 'upload-length': '1001' }),
    413,
    'quota-exceeded',
  )
  await assertNothingReserved(context, anna.id, berta.id)
})

test('a joining request can be repeated, and parts whose creation was not answered are in the list (D42.3)', async () => {
  const context = await sharedContext()
  const entry = `${context}/${await newEntry(berta.visitor, context)}`
  const parts = [await newUpload(berta.visitor, entry, 3, PART), await newUpload(berta.visitor, entry, 4, PART)]
  const listOf = async (query = '') =>
    (await berta.visitor.get(`auth/uploads${query}`)).json<{
      results: number
      items: ReadonlyArray<{ uri: string; partial?: boolean }>
    }>()
  const listed = (await listOf()).items.filter(({ uri }) => parts.includes(uri.slice(berta.visitor.base.length)))
  assert.deepEqual(
    listed.map(({ partial }) => partial),
    [true, true],
  ) // prettier-ignore
  const [one, two] = [await listOf('?limit=1'), await listOf('?limit=1&offset=1')]
  assert.deepEqual([one.items.length, two.items.length, one.results], [1, 1, two.results])
  assert.notEqual(one.items[0]?.uri, two.items[0]?.uri)
  for (const [index, text] of ['one', 'two.'].entries())
    assert.equal((await sendBytes(berta.visitor, parts[index] ?? '', 0, text)).status, 204)

  const [first, beside] = await Promise.all([
    joinParts(berta.visitor, entry, parts),
    joinParts(berta.visitor, entry, parts),
  ])
  for (const { status, text } of [first, beside]) assert.ok([201, 423].includes(status), text)
  const again = await joinParts(berta.visitor, entry, parts)
  assert.deepEqual([again.status, again.headers['upload-offset']], [201, '7'], again.text)
  const made = [first, beside].find(({ status }) => status === 201)
  assert.equal(again.headers['location'], made?.headers['location'])
  assert.equal((await berta.visitor.get(entry.replace('/', '/resource/'))).text, 'onetwo.')
  assertRefused(await joinParts(berta.visitor, entry, parts.toReversed()), 404, 'not-found')
  await assertNothingReserved(context, berta.id)
  assert.deepEqual((await blobsOf(service)).incoming, [])
})
