import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { exportOf, importInto } from '../support/archives.ts'
import { assertRefused, type GraphJson, principal, readEntry, STORE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { idsOf as membersOf, newList } from '../support/lists.ts'
import { find, idsOf } from '../support/search.ts'
import { newFile } from '../support/public-links.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

/** An access list of an entry that adds to what its context gives, by the name `_context` in each of its five places. */

const service = await startInProcess({ after })
const admin = await service.admin()
const owner = await newUser(service, admin)
/** Reads or writes the context. */
const bo = await newUser(service, admin)
/** Gets a single file. */
const karin = await newUser(service, admin)

const slots = [
  ['entry', 'write'],
  ['resource', 'read'],
  ['resource', 'write'],
  ['metadata', 'read'],
  ['metadata', 'write'],
] as const

/** An info whose five places name these. */
const naming = (
  context: string,
  id: string,
  idsIn: (place: (typeof slots)[number]) => readonly string[],
): GraphJson => {
  const info: GraphJson = {}
  for (const place of slots) {
    const [kind, predicate] = place
    const subject = `${service.base}${context}/${kind}/${id}`
    const terms = idsIn(place).map(one => principal(admin, one))
    if (terms.length > 0) info[subject] = { ...info[subject], [STORE + predicate]: terms }
  }
  return info
}

/** Adds a reader to what the context gives. */
const adding = (context: string, id: string, reader: string): GraphJson =>
  naming(context, id, ([, predicate]) => (predicate === 'read' ? ['_context', reader] : ['_context']))

async function putInfo(visitor: Visitor, context: string, id: string, info: GraphJson, query = ''): Promise<void> {
  const answer = await visitor.put(`${context}/entry/${id}${query}`, info)
  assert.equal(answer.status, 204, answer.text)
}

/** Gives users roles in the context, beside its owner. */
async function setContext(context: string, roles: { readonly read?: string; readonly write?: string }): Promise<void> {
  const inside: GraphJson[string] = {}
  if (roles.read !== undefined) inside[`${STORE}read`] = [principal(admin, roles.read)]
  if (roles.write !== undefined) inside[`${STORE}write`] = [principal(admin, roles.write)]
  const answer = await admin.put(`_contexts/entry/${context}`, {
    [`${service.base}_contexts/entry/${context}`]: { [`${STORE}write`]: [principal(admin, owner.id)] },
    [service.base + context]: inside,
  })
  assert.equal(answer.status, 204, answer.text)
}

const statusOf = async (visitor: Visitor, context: string, id: string): Promise<number> =>
  (await visitor.get(`${context}/resource/${id}`)).status

const foundBy = async (visitor: Visitor, context: string): Promise<string[]> =>
  idsOf(await find(visitor, `context:${`${service.base}${context}`.replaceAll(/[:/.]/g, String.raw`\$&`)}`)).sort()

test('a list that adds to the context leaves its people their rights, also those who come later; a revoked one ends at once (D18.19)', async () => {
  const context = await newContext(admin, [owner.id])
  const file = await newFile(owner.visitor, context, { name: 'shared.txt', bytes: 'shared' })
  const other = await newFile(owner.visitor, context, { name: 'other.txt', bytes: 'other' })
  await putInfo(owner.visitor, context, file, adding(context, file, karin.id))
  assert.deepEqual(
    [await statusOf(karin.visitor, context, file), await statusOf(karin.visitor, context, other)],
    [200, 403],
  )
  assert.deepEqual(await foundBy(karin.visitor, context), [file])
  assert.equal(await statusOf(bo.visitor, context, file), 403)

  await setContext(context, { read: bo.id })
  assert.equal(await statusOf(bo.visitor, context, file), 200, 'who gets access to the context gets it to the file')
  assert.deepEqual(await foundBy(bo.visitor, context), [file, other].sort())
  assert.deepEqual((await readEntry(bo.visitor, context, file)).rights, ['readmetadata', 'readresource'])
  assertRefused(await bo.visitor.put(`${context}/metadata/${file}`, {}), 403, 'not-allowed')

  await setContext(context, { write: bo.id })
  assert.deepEqual((await readEntry(bo.visitor, context, file)).rights, ['administer'], 'as for every file there')
  assert.deepEqual((await readEntry(karin.visitor, context, file)).rights, ['readmetadata', 'readresource'])

  await setContext(context, {})
  assert.equal(await statusOf(bo.visitor, context, file), 403)
  assert.deepEqual(await foundBy(bo.visitor, context), [])
  assert.deepEqual(await foundBy(karin.visitor, context), [file])
  await putInfo(owner.visitor, context, file, {})
  assert.equal(await statusOf(karin.visitor, context, file), 403)
  assert.deepEqual(await foundBy(karin.visitor, context), [])
})

test('a guest reads a file that adds to a public context, and finds it', async () => {
  const context = await newContext(admin, [owner.id])
  const file = await newFile(owner.visitor, context, { name: 'public.txt', bytes: 'x' })
  await putInfo(owner.visitor, context, file, adding(context, file, karin.id))
  const guest = service.visitor()
  assert.equal(await statusOf(guest, context, file), 401)
  await setContext(context, { read: '_guest' })
  assert.equal(await statusOf(guest, context, file), 200)
  assert.deepEqual(await foundBy(guest, context), [file])
  assert.equal(
    (await find(guest, 'public:true', '')).resource.children.some(({ entryId }) => entryId === file),
    true,
  )
})

test('a client that does not know the name and replaces one place of the list closes the entry, and opens nothing (D18.19)', async () => {
  const context = await newContext(admin, [owner.id])
  await setContext(context, { write: bo.id })
  const file = await newFile(owner.visitor, context, { name: 'closed.txt', bytes: 'x' })
  for (const left of slots) {
    await putInfo(
      owner.visitor,
      context,
      file,
      naming(context, file, () => ['_context']),
    )
    assert.deepEqual((await readEntry(bo.visitor, context, file)).rights, ['administer'])
    const rest = naming(context, file, place => (place === left ? [karin.id] : ['_context']))
    await putInfo(owner.visitor, context, file, rest)
    assert.equal(await statusOf(bo.visitor, context, file), 403, left.join(' '))
    assert.deepEqual(await foundBy(bo.visitor, context), [], left.join(' '))
  }
})

test('the name stands for no user and no group: nobody can create one with this id', async () => {
  for (const kind of ['user', 'group']) {
    assertRefused(await admin.post(`_principals?graphtype=${kind}&id=_context`), 400, 'invalid-id')
  }
})

test('what is created in a folder that adds to the context adds too; a closed folder or entry stays closed (D18.19)', async () => {
  const context = await newContext(admin, [owner.id])
  await setContext(context, { write: bo.id })
  const folder = await newList(owner.visitor, context)
  await putInfo(owner.visitor, context, folder, adding(context, folder, karin.id))
  const inside = await newFile(owner.visitor, context, { name: 'in.txt', bytes: 'x', list: folder })
  assert.deepEqual(
    [await statusOf(karin.visitor, context, inside), await statusOf(bo.visitor, context, inside)],
    [200, 200],
  )
  assert.deepEqual(await membersOf(bo.visitor, context, folder), [inside])

  const list = encodeURIComponent(`${service.base}${context}/resource/${folder}`)
  const info = { [`${service.base}${context}/resource/_newId`]: { [`${STORE}read`]: [principal(admin, karin.id)] } }
  const made = await owner.visitor.post(`${context}?list=${list}`, { info })
  assert.equal(made.status, 201, made.text)
  const closed = made.json<{ entryId: string }>().entryId
  assert.equal((await bo.visitor.get(`${context}/metadata/${closed}`)).status, 403, 'it was created for Karin only')

  const secret = await newList(owner.visitor, context)
  await putInfo(
    owner.visitor,
    context,
    secret,
    naming(context, secret, () => [owner.id]),
  )
  const infoOf = naming(context, '_newId', () => ['_context'])
  const there = encodeURIComponent(`${service.base}${context}/resource/${secret}`)
  const second = await owner.visitor.post(`${context}?list=${there}`, { info: infoOf })
  assert.equal(second.status, 201, second.text)
  const hidden = second.json<{ entryId: string }>().entryId
  assert.equal((await bo.visitor.get(`${context}/metadata/${hidden}`)).status, 403, 'the folder is closed')
})

test('a file that adds to its context adds to the one it moves to, unless the folder there is closed (D18.19)', async () => {
  const [from, to] = [await newContext(admin, [owner.id]), await newContext(admin, [owner.id])]
  await setContext(to, { read: bo.id })
  const [open, closed] = [await newList(owner.visitor, to), await newList(owner.visitor, to)]
  await putInfo(
    owner.visitor,
    to,
    closed,
    naming(to, closed, () => [owner.id]),
  )
  const move = async (folder: string): Promise<string> => {
    const file = await newFile(owner.visitor, from, { name: 'moves.txt', bytes: 'x' })
    await putInfo(owner.visitor, from, file, adding(from, file, karin.id))
    const path = `${to}/resource/${folder}?moveEntry=${service.base}${from}/entry/${file}`
    const moved = await owner.visitor.post(path)
    assert.equal(moved.status, 200, moved.text)
    return (await membersOf(owner.visitor, to, folder)).at(-1) ?? ''
  }
  const inOpen = await move(open)
  assert.deepEqual([await statusOf(bo.visitor, to, inOpen), await statusOf(karin.visitor, to, inOpen)], [200, 200])
  const inClosed = await move(closed)
  assert.deepEqual([await statusOf(bo.visitor, to, inClosed), await statusOf(karin.visitor, to, inClosed)], [403, 200])
})

test('an export and import keeps that a list adds to the context', async () => {
  const [from, to] = [await newContext(admin, [owner.id]), await newContext(admin, [owner.id])]
  await setContext(to, { read: bo.id })
  const file = await newFile(owner.visitor, from, { name: 'kept.txt', bytes: 'x' })
  await putInfo(owner.visitor, from, file, adding(from, file, karin.id))
  const imported = await importInto(admin, to, await exportOf(admin, from))
  assert.equal(imported.status, 200, imported.text)
  assert.deepEqual([await statusOf(bo.visitor, to, file), await statusOf(karin.visitor, to, file)], [200, 200])
})
