import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exportOf, importInto, membersOf, withText } from '../support/archives.ts'
import { assertRefused, type GraphJson, principal, readEntry, STORE } from '../support/content.ts'
import { idsOf, newList } from '../support/lists.ts'
import { LinkVisitor, newFile, newLink } from '../support/public-links.ts'
import { newContext, newUser, startInProcess } from '../support/service.ts'

/** What others put into a list by the right to write to it, which is no right on what they put in (D11.3). */

const service = await startInProcess({ after })
const admin = await service.admin()
const owner = await newUser(service, admin)
/** May write to some lists of the owner, and read nothing else. */
const helper = await newUser(service, admin)

/** The info that lets the helper write to a list. */
const shared = (context: string, list: string): GraphJson => ({
  [`${service.base}${context}/resource/${list}`]: { [`${STORE}write`]: [principal(admin, helper.id)] },
  [`${service.base}${context}/entry/${list}`]: { [`${STORE}write`]: [principal(admin, owner.id)] },
})

/** A context of the owner with a folder that the helper may write to, and a file that nobody else may read. */
async function newPlace() {
  const context = await newContext(admin, [owner.id])
  const folder = await newList(owner.visitor, context)
  assert.equal((await owner.visitor.put(`${context}/entry/${folder}`, shared(context, folder))).status, 204)
  const secret = await newFile(owner.visitor, context, { name: 'secret.txt', bytes: 'secret' })
  const path = `${context}/resource/${folder}`
  return { context, folder, secret, path }
}

const moveInto = (context: string, list: string, id: string, from?: string) => {
  const fromList = from === undefined ? '' : `&fromList=${service.base}${context}/resource/${from}`
  return `${context}/resource/${list}?moveEntry=${service.base}${context}/entry/${id}${fromList}`
}

const principalsOf = async (context: string, id: string): Promise<string> =>
  JSON.stringify((await readEntry(admin, context, id)).info)

test('a link to a folder shows nothing that was added by people who do not administer it (D25.10)', async () => {
  const { context, folder, secret, path } = await newPlace()
  const visitor = await LinkVisitor.at(service, await newLink(owner.visitor, context, folder))
  assertRefused(await helper.visitor.get(`${context}/resource/${secret}`), 403, 'not-allowed')
  const inList = `?list=${encodeURIComponent(`${service.base}${path}`)}`
  const theirs = await newFile(helper.visitor, context, { name: 'theirs.txt', bytes: 'theirs', list: folder })
  const isHidden = async (how: string): Promise<void> => {
    assert.deepEqual(await visitor.names(), ['theirs.txt'], how)
    assertRefused(await visitor.file(secret), 404, 'not-found', how)
    const names = (await membersOf((await visitor.ask('zip')).bytes)).map(({ name }) => name)
    assert.deepEqual(names.slice(1), [`${folder}/theirs.txt`], how)
  }
  assert.equal((await helper.visitor.put(path, [theirs, secret])).status, 204)
  await isHidden('the list with one more member')
  assert.equal((await helper.visitor.put(path, [theirs])).status, 204)
  assert.equal((await helper.visitor.post(moveInto(context, folder, secret))).status, 200)
  await isHidden('a move')
  assert.equal((await owner.visitor.put(path, [secret, theirs])).status, 204)
  await isHidden('the owner orders the list')
  assert.equal((await helper.visitor.post(`${context}${inList}&graphtype=list`, { resource: [] })).status, 201)
  const own = (await idsOf(owner.visitor, context, folder)).at(-1) ?? ''
  assert.equal((await helper.visitor.post(moveInto(context, own, secret, folder))).status, 200)
  assert.deepEqual(await visitor.names(), ['theirs.txt', own])
  assertRefused(await visitor.file(secret), 404, 'not-found', 'in a list of the helper')

  assert.equal((await owner.visitor.post(moveInto(context, folder, secret, own))).status, 200)
  assert.deepEqual(await visitor.names(), ['theirs.txt', own, 'secret.txt'])
  assert.equal((await visitor.file(secret)).text, 'secret')
  assert.equal((await owner.visitor.put(path, [secret])).status, 204)
  assert.deepEqual(await visitor.names(), ['secret.txt'], 'what was put in by who administers it stays so')
})

test('whoever creates a list with members that they do not administer does not share those', async () => {
  const { context, folder, secret } = await newPlace()
  const inList = `?graphtype=list&list=${encodeURIComponent(`${service.base}${context}/resource/${folder}`)}`
  const made = await helper.visitor.post(`${context}${inList}`, { resource: [secret] })
  assert.equal(made.status, 201)
  const inner = made.json<{ entryId: string }>().entryId
  assert.deepEqual(await idsOf(owner.visitor, context, inner), [secret])
  const visitor = await LinkVisitor.at(service, await newLink(owner.visitor, context, folder))
  assert.deepEqual(await visitor.names(inner), [])
  assertRefused(await visitor.file(secret), 404, 'not-found')
})

test('?applyACLtoChildren gives no rights on what was added by people who do not administer it (W3.3.2)', async () => {
  const { context, folder, secret, path } = await newPlace()
  const theirs = await newFile(owner.visitor, context, { name: 'own.txt', bytes: 'own', list: folder })
  assert.equal((await helper.visitor.put(path, [theirs, secret])).status, 204)
  const before = await principalsOf(context, secret)
  const all = `${context}/entry/${folder}?applyACLtoChildren`
  assert.equal((await owner.visitor.put(all, shared(context, folder))).status, 204)
  assert.equal(await principalsOf(context, secret), before)
  assert.equal((await helper.visitor.get(`${context}/resource/${theirs}`)).text, 'own')
  assertRefused(await helper.visitor.get(`${context}/resource/${secret}`), 403, 'not-allowed')
})

test('what was added without the right stays so in the trash and in an export, and does not move to another context', async () => {
  const { context, folder, secret, path } = await newPlace()
  assert.equal((await helper.visitor.put(path, [secret])).status, 204)
  const link = await newLink(owner.visitor, context, folder)
  const namesNow = async (): Promise<string[]> => await (await LinkVisitor.at(service, link)).names()
  for (const id of [folder, secret]) {
    assert.equal((await owner.visitor.post(`${context}/trash/${id}`)).status, 204)
    assert.equal((await owner.visitor.post(`${context}/trash/${id}/restore`)).status, 200)
    assert.deepEqual(await idsOf(owner.visitor, context, folder), [secret])
    assert.deepEqual(await namesNow(), [], id)
  }
  const archive = await exportOf(admin, context)
  assert.equal((await importInto(admin, context, archive)).status, 200)
  assert.deepEqual(await idsOf(owner.visitor, context, folder), [secret])
  assert.deepEqual(await (await LinkVisitor.at(service, await newLink(owner.visitor, context, folder))).names(), [])
  const wrong = await withText(archive, 'entries/000001.ndjson', text =>
    text.replaceAll('"trusted":false', '"trusted":0'),
  )
  assertRefused(await importInto(admin, context, wrong), 400, 'invalid-archive')

  const other = await newContext(admin, [owner.id])
  const target = await newList(owner.visitor, other)
  const move = `${other}/resource/${target}?moveEntry=${service.base}${context}/entry/${folder}`
  const moved = await owner.visitor.post(move)
  assert.equal(moved.status, 200, moved.text)
  const [list = ''] = await idsOf(owner.visitor, other, target)
  assert.deepEqual(await idsOf(owner.visitor, other, list), [])
  assert.equal((await owner.visitor.get(`${context}/resource/${secret}`)).text, 'secret')
})
