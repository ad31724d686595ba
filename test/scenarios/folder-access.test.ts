import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { exportOf, importInto } from '../support/archives.ts'
import { assertRefused, principal, readEntry, STORE } from '../support/content.ts'
import { infoNaming, moveInto, moving, share, shareContext } from '../support/folder-access.ts'
import type { Visitor } from '../support/http-client.ts'
import { idsOf as membersOf } from '../support/lists.ts'
import { newFile, newLink, openLink } from '../support/public-links.ts'
import { find, idsOf } from '../support/search.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

/** The access list of a folder is for everything in it, for as long as it is in it. */

const service = await startInProcess({ after })
const admin = await service.admin()
const anna = await newUser(service, admin)
const carla = await newUser(service, admin)
const dieter = await newUser(service, admin)

const newFolder = (visitor: Visitor, context: string, list?: string): Promise<string> =>
  newEntry(
    visitor,
    context,
    `?graphtype=list${list === undefined ? '' : `&list=${encodeURIComponent(`${visitor.base}${context}/resource/${list}`)}`}`,
  )
const statusOf = async (visitor: Visitor, context: string, id: string): Promise<number> =>
  (await visitor.get(`${context}/resource/${id}`)).status
const foundBy = async (visitor: Visitor, context: string): Promise<string[]> =>
  idsOf(await find(visitor, `context:${`${service.base}${context}`.replaceAll(/[:/.]/g, String.raw`\$&`)}`)).sort()

/** What the visitor may read, by the address and by search, which must agree. */
async function reads(visitor: Visitor, context: string, ids: readonly string[]): Promise<string[]> {
  const readable: string[] = []
  for (const id of ids) if ((await statusOf(visitor, context, id)) === 200) readable.push(id)
  const found = await foundBy(visitor, context)
  assert.deepEqual(
    found.filter(id => ids.includes(id)),
    [...readable].sort(),
    'the search agrees',
  )
  return readable
}

/** A context of Anna with a folder, a folder in it, and a file in each and outside. */
async function newPlace() {
  const context = await newContext(admin, [anna.id])
  const plans = await newFolder(anna.visitor, context)
  const inner = await newFolder(anna.visitor, context, plans)
  const one = await newFile(anna.visitor, context, { name: 'one.txt', bytes: '1', list: plans })
  const deep = await newFile(anna.visitor, context, { name: 'deep.txt', bytes: '2', list: inner })
  const outside = await newFile(anna.visitor, context, { name: 'outside.txt', bytes: '3' })
  return { context, plans, inner, one, deep, outside, all: [plans, inner, one, deep, outside] }
}

test('a share of a folder is for everything in it, at any depth, and ends with the next request; entries in it keep their form (D11.7)', async () => {
  const { context, plans, inner, one, deep, all } = await newPlace()
  const before = (await anna.visitor.get(`${context}/entry/${deep}`)).text
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, inner, one, deep])
  assert.deepEqual((await readEntry(carla.visitor, context, deep)).rights, ['readmetadata', 'readresource'])
  assert.equal((await anna.visitor.get(`${context}/entry/${deep}`)).text, before)
  await share(anna.visitor, context, plans, { writers: [carla.id] })
  assert.deepEqual((await readEntry(carla.visitor, context, deep)).rights, ['writemetadata', 'writeresource'])
  await share(anna.visitor, context, plans, { owners: [carla.id] })
  assert.deepEqual((await readEntry(carla.visitor, context, deep)).rights, ['administer'])
  await share(anna.visitor, context, plans, {})
  assert.deepEqual(await reads(carla.visitor, context, all), [])
})

test('what moves in is shared, what moves out is not, lists with everything in them (D11.7)', async () => {
  const { context, plans, inner, one, deep, outside, all } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  await moveInto(anna.visitor, context, outside, inner)
  assert.deepEqual(await reads(carla.visitor, context, all), all)
  const other = await newFolder(anna.visitor, context)
  await moveInto(anna.visitor, context, inner, other)
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, one])
  await moveInto(anna.visitor, context, other, plans)
  assert.deepEqual(await reads(carla.visitor, context, all), all)
  assert.equal((await anna.visitor.put(`${context}/resource/${plans}`, [other])).status, 204)
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, inner, deep, outside])
  assert.equal((await anna.visitor.put(`${context}/resource/${plans}`, [one])).status, 204)
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, one])
  assert.equal((await anna.visitor.delete(`${context}/entry/${plans}`)).status, 204)
  assert.deepEqual(await reads(carla.visitor, context, all), [])
})

test('folders in shared folders add people of their own, or shut out those above (D11.7)', async () => {
  const { context, plans, inner, one, deep, all } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  await share(anna.visitor, context, inner, { readers: [dieter.id] })
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, inner, one, deep])
  assert.deepEqual(await reads(dieter.visitor, context, all), [inner, deep])
  await share(anna.visitor, context, inner, { readers: [dieter.id], only: true })
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, one])
  assert.deepEqual(await reads(dieter.visitor, context, all), [inner, deep])
  await share(anna.visitor, context, deep, { owners: [anna.id], only: true })
  assert.deepEqual(await reads(dieter.visitor, context, all), [inner])
  await share(anna.visitor, context, deep, { readers: [carla.id] })
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, one, deep])
})

const letRead = (context: string, reader: string): Promise<void> =>
  shareContext(admin, context, { owners: [anna.id], readers: [reader] })

test('a closed folder closes what is in it to the readers of the context, and nothing that a client does by accident opens it (D11.7, D11.8)', async () => {
  const { context, plans, inner, one, deep, outside, all } = await newPlace()
  await letRead(context, dieter.id)
  await share(anna.visitor, context, plans, { writers: [carla.id], only: true })
  assert.deepEqual(await reads(dieter.visitor, context, all), [outside])
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, inner, one, deep])

  // A client that knows nothing of folders replaces the access list of one.
  const list = `${service.base}${context}/resource/${plans}`
  const put = await anna.visitor.put(`${context}/entry/${plans}`, {
    [list]: { [`${STORE}write`]: [principal(anna.visitor, carla.id)] },
    [list.replace('/resource/', '/metadata/')]: { [`${STORE}read`]: [principal(anna.visitor, carla.id)] },
  })
  assert.equal(put.status, 204)
  assert.deepEqual(await reads(dieter.visitor, context, all), [outside])

  // Who may only write takes nothing out of it.
  const top = await newFolder(anna.visitor, context)
  await share(anna.visitor, context, top, { writers: [carla.id] })
  assertRefused(await carla.visitor.post(moving(carla.visitor, context, one, top)), 403, 'not-allowed')
  assertRefused(await carla.visitor.put(`${context}/resource/${plans}`, [inner]), 403, 'not-allowed')
  await moveInto(carla.visitor, context, one, inner)
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, inner, one, deep], 'within it they may')
  assert.deepEqual(await reads(dieter.visitor, context, all), [outside])
  await moveInto(anna.visitor, context, one, top)
  assert.deepEqual(await reads(dieter.visitor, context, all), [one, outside], 'its owner opens it')
})

test('a writer of a shared folder reads nothing that they put into it (D11.3, D11.7)', async () => {
  const { context, plans, outside } = await newPlace()
  await share(anna.visitor, context, plans, { writers: [carla.id] })
  const members = await membersOf(carla.visitor, context, plans)
  assert.equal((await carla.visitor.put(`${context}/resource/${plans}`, [...members, outside])).status, 204)
  assert.deepEqual(await reads(carla.visitor, context, [outside]), [])
  assert.equal((await carla.visitor.put(`${context}/resource/${plans}`, members)).status, 204)
  await moveInto(carla.visitor, context, outside, plans)
  assert.deepEqual(await reads(carla.visitor, context, [outside]), [])
})

test('what is created in a shared folder is for its people, and ends with their access; its creator owns it (D11.2)', async () => {
  const { context, plans } = await newPlace()
  await share(anna.visitor, context, plans, { writers: [carla.id], readers: [dieter.id] })
  const theirs = await newFile(carla.visitor, context, { name: 'theirs.txt', bytes: 'x', list: plans })
  assert.deepEqual((await readEntry(carla.visitor, context, theirs)).rights, ['administer'])
  assert.deepEqual(await reads(dieter.visitor, context, [theirs]), [theirs])
  await share(anna.visitor, context, plans, { writers: [carla.id] })
  assert.deepEqual(await reads(dieter.visitor, context, [theirs]), [])
  const list = encodeURIComponent(`${service.base}${context}/resource/${plans}`)
  const info = infoNaming(carla.visitor, [context, '_newId'], { owners: [carla.id], only: true })
  const own = await newEntry(carla.visitor, context, `?graphtype=string&list=${list}`, { info, resource: 'mine' })
  await share(anna.visitor, context, plans, { writers: [carla.id], readers: [dieter.id] })
  assert.deepEqual(await reads(dieter.visitor, context, [own]), [])
})

test('the trash belongs to those who owned the folder, and what comes back has its folder again (D11.9)', async () => {
  const { context, plans, inner, one, deep, all } = await newPlace()
  await letRead(context, dieter.id)
  await share(anna.visitor, context, plans, { owners: [carla.id], only: true })
  const trash = async (visitor: Visitor): Promise<string[]> => {
    const answer = await visitor.get(`${context}/trash`)
    return answer.status === 200
      ? answer.json<{ items: { entryId: string }[] }>().items.map(({ entryId }) => entryId)
      : []
  }
  assert.equal((await carla.visitor.post(`${context}/trash/${inner}`)).status, 204)
  assert.deepEqual(await trash(carla.visitor), [inner])
  assert.deepEqual(await trash(dieter.visitor), [])
  assert.equal((await carla.visitor.post(`${context}/trash/${inner}/restore`)).status, 200)
  assert.deepEqual(await reads(carla.visitor, context, all), [plans, inner, one, deep])
  assert.deepEqual(await membersOf(carla.visitor, context, inner), [deep])

  // The folder goes, and what comes back then is for who brings it back.
  assert.equal((await carla.visitor.post(`${context}/trash/${inner}`)).status, 204)
  assert.equal((await anna.visitor.delete(`${context}/entry/${plans}?recursive=true`)).status, 204)
  assert.deepEqual(await trash(carla.visitor), [], 'nobody knows any more whom the folder named')
  assert.equal((await anna.visitor.post(`${context}/trash/${inner}/restore`)).status, 200)
  assert.deepEqual(await reads(dieter.visitor, context, [inner, deep]), [])
  assert.deepEqual(await reads(anna.visitor, context, [inner, deep]), [inner, deep])
})

test('an export keeps what folders give, and an import gives it again (D11.7)', async () => {
  const { context, plans, inner, one, deep, all } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id], only: true })
  const archive = await exportOf(admin, context)
  const copy = await newContext(admin, [anna.id])
  await letRead(copy, dieter.id)
  const answer = await importInto(admin, copy, archive)
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(await reads(carla.visitor, copy, all), [plans, inner, one, deep])
  assert.deepEqual(await reads(dieter.visitor, copy, [plans, inner, one, deep]), [])
})

test('a folder that moves to another context keeps what it gives (D11.7)', async () => {
  const { context, plans, inner, all } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  const other = await newContext(admin, [anna.id])
  const target = await newFolder(anna.visitor, other)
  await share(anna.visitor, other, target, { readers: [dieter.id] })
  assert.equal((await anna.visitor.post(moving(anna.visitor, other, plans, target, context))).status, 200)
  const everything = (await foundBy(anna.visitor, other)).filter(id => id !== target)
  assert.equal(everything.length, 4)
  assert.deepEqual(await reads(carla.visitor, other, everything), everything)
  assert.deepEqual(await reads(dieter.visitor, other, everything), everything)
  assert.deepEqual(await reads(carla.visitor, context, [inner, ...all]), [])
})

test('a file that moves from a folder to one of another context with the same id is found by its people (D11.7)', async () => {
  const { context, plans, one } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  const other = await newContext(admin, [anna.id])
  const target = await newFolder(anna.visitor, other)
  assert.equal(target, plans)
  await share(anna.visitor, other, target, { readers: [dieter.id], only: true })
  assert.equal((await anna.visitor.post(moving(anna.visitor, other, one, target, context))).status, 200)
  const moved = (await foundBy(anna.visitor, other)).filter(id => id !== target)
  assert.equal(moved.length, 1)
  assert.deepEqual(await reads(dieter.visitor, other, moved), moved)
  assert.deepEqual(await reads(carla.visitor, other, moved), [])
})

test('a share is one event of the audit log (D17.3)', async () => {
  const { context, plans } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  const answer = await admin.get(`management/audit?event=access-changed&limit=100`)
  const events = answer.json<{ events: { detail: { entry?: string } }[] }>().events
  assert.equal(events.filter(({ detail }) => detail.entry?.startsWith(`${context}/`)).length, 1)
})

test('who administers an entry reads from which folder people have access (D18.20)', async () => {
  const { context, plans, inner, deep } = await newPlace()
  const titled = `${service.base}${context}/resource/${plans}`
  const title = { [titled]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Plans' }] } }
  assert.equal((await anna.visitor.put(`${context}/metadata/${plans}`, title)).status, 204)
  await share(anna.visitor, context, plans, { readers: [carla.id], writers: [dieter.id] })
  const read = async (): Promise<{ folders: unknown; fromContext: boolean; principals: { id: string }[] }> => {
    const answer = await anna.visitor.get(`${context}/access/${deep}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json()
  }
  const acl = { admin: [], rread: [carla.id], rwrite: [dieter.id], mread: [carla.id], mwrite: [dieter.id] }
  const { folders, fromContext, principals } = await read()
  assert.deepEqual({ folders, fromContext }, { folders: [{ entryId: plans, name: 'Plans', acl }], fromContext: true })
  assert.deepEqual(new Set(principals.map(({ id }) => id)), new Set([anna.id, carla.id, dieter.id]))
  await share(anna.visitor, context, inner, { readers: [dieter.id], only: true })
  const closed = { entryId: inner, name: inner, acl: { rread: [dieter.id], mread: [dieter.id] } }
  assert.deepEqual((await read()).folders, [closed])
  assert.equal((await read()).fromContext, false)
  await share(anna.visitor, context, deep, { owners: [anna.id], only: true })
  assert.deepEqual((await read()).folders, [])
  assertRefused(await carla.visitor.get(`${context}/access/${deep}`), 403, 'not-allowed')
})

test('a preview of a move counts the people who lose or get access, those in groups included', async () => {
  const { context, plans, one, outside } = await newPlace()
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  assert.equal((await admin.put(`_principals/resource/${group}`, [carla.id, dieter.id])).status, 204)
  await share(anna.visitor, context, plans, { readers: [group, carla.id] })
  const preview = async (entries: string, list?: string) => {
    const answer = await anna.visitor.get(
      `${context}/access?entries=${entries}${list === undefined ? '' : `&list=${list}`}`,
    )
    assert.equal(answer.status, 200, answer.text)
    return answer.json()
  }
  const nobody = { users: 0, isEverybody: false }
  const both = { users: 2, isEverybody: false }
  assert.deepEqual(await preview(one), { losing: both, gaining: nobody })
  assert.deepEqual(await preview(outside, plans), { losing: nobody, gaining: both })
  assert.deepEqual(await preview(`${one},${outside}`, plans), { losing: nobody, gaining: both })
  assert.deepEqual(await preview(one, plans), { losing: nobody, gaining: nobody })
  await share(anna.visitor, context, plans, { readers: ['_users'] })
  assert.deepEqual(await preview(outside, plans), { losing: nobody, gaining: { users: 0, isEverybody: true } })
  assertRefused(await carla.visitor.get(`${context}/access?entries=${one}`), 403, 'not-allowed')
  assertRefused(await anna.visitor.get(`${context}/access?entries=${one}&list=${outside}`), 400, 'unknown-list')
})

test('a preview of a move to another context counts who has access to both (D11.7)', async () => {
  const { context, plans, one, outside } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  const other = await newContext(admin, [anna.id])
  const target = await newFolder(anna.visitor, other)
  await letRead(other, dieter.id)
  const preview = async (entries: string, list = ''): Promise<unknown> => {
    const answer = await anna.visitor.get(`${context}/access?entries=${entries}&to=${other}${list}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.json()
  }
  const [nobody, single] = [0, 1].map(users => ({ users, isEverybody: false }))
  assert.deepEqual(await preview(one), { losing: single, gaining: single })
  assert.deepEqual(await preview(outside), { losing: nobody, gaining: single })
  assert.deepEqual(await preview(plans), { losing: nobody, gaining: single }, 'a folder keeps whom it names')
  await share(anna.visitor, other, target, { readers: [carla.id], only: true })
  assert.deepEqual(await preview(one, `&list=${target}`), { losing: nobody, gaining: nobody })
  await share(anna.visitor, context, one, { owners: [anna.id], only: true })
  assert.deepEqual(await preview(one, `&list=${target}`), { losing: nobody, gaining: nobody }, 'it decides alone')

  const foreign = await newContext(admin)
  assertRefused(await anna.visitor.get(`${context}/access?entries=${one}&to=${foreign}`), 403, 'not-allowed')
  assertRefused(await anna.visitor.get(`${context}/access?entries=${one}&to=${other}&list=${one}`), 400, 'unknown-list')
})

test('a public link ends when its creator no longer owns the folder that the file is in (D25.10, D11.7)', async () => {
  const { context, plans, one } = await newPlace()
  await share(anna.visitor, context, plans, { owners: [carla.id] })
  const link = await newLink(carla.visitor, context, one)
  assert.equal((await openLink(service, link)).status, 200)
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  assertRefused(await openLink(service, link), 404, 'link-gone')
})

test('a zip has what the caller may read when each file is read, and a folder gives it (D25.7, D11.7)', async () => {
  const { context, plans, one } = await newPlace()
  await share(anna.visitor, context, plans, { readers: [carla.id] })
  assert.equal((await carla.visitor.get(`${context}/zip?entries=${plans}`)).status, 200)
  await share(anna.visitor, context, plans, {})
  assertRefused(await carla.visitor.get(`${context}/zip?entries=${one}`), 403, 'not-allowed')
})

test('applyACLtoChildren copies, as in EntryStore, and a copy does not end with the share (W3.3.2)', async () => {
  const { context, plans, one } = await newPlace()
  const named = infoNaming(anna.visitor, [context, plans], { owners: [anna.id], readers: [carla.id], only: true })
  const answer = await anna.visitor.put(`${context}/entry/${plans}?applyACLtoChildren=true`, named)
  assert.equal(answer.status, 204, answer.text)
  await share(anna.visitor, context, plans, { owners: [anna.id], only: true })
  assert.deepEqual(await reads(carla.visitor, context, [plans, one]), [one])
})
