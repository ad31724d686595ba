import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { find, idsOf, searchPath } from '../support/search.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const guest = service.visitor()
let words = 0

/** A context with an entry that everybody may read, and the word in its title. */
async function place() {
  const context = await newContext(admin)
  const word = `bandicoot${++words}x`
  const metadata = (id: string, title: string) =>
    graphOf(`${admin.base}${context}/resource/${id}`, TITLE, textTerm(title))
  await newEntry(admin, context, '?id=it', { metadata: metadata('it', word) })
  const allow = async (...who: string[]) => {
    const named = { [`${STORE}read`]: who.map(one => principal(admin, one)) }
    const put = await admin.put(
      `${context}/entry/it`,
      who.length === 0 ? {} : { [`${admin.base}${context}/metadata/it`]: named },
    )
    assert.equal(put.status, 204, put.text)
  }
  await allow('_guest')
  return { context, word, metadata, allow, query: `title:${word}` }
}

/** What the visitor finds, twice: the second answer may be the kept one. */
async function twice(visitor: Visitor, query: string, more = '') {
  const first = await find(visitor, query, more)
  assert.deepEqual(await find(visitor, query, more), first)
  return first
}

test('a repeated search shows what has changed in a hit, in its rights and around it (W3.10.2)', async () => {
  const { context, word, metadata, allow, query } = await place()
  assert.deepEqual(idsOf(await twice(guest, query)), ['it'])

  await newEntry(admin, context, '?id=other', { metadata: metadata('other', `${word} other`) })
  assert.deepEqual(idsOf(await twice(admin, query)).sort(), ['it', 'other'])
  assert.equal((await admin.put(`${context}/metadata/other`, metadata('other', 'else'))).status, 204)
  assert.deepEqual(idsOf(await twice(admin, query)), ['it'])

  await newEntry(admin, context, '?id=list&graphtype=list', { resource: ['it'] })
  const [listed] = (await twice(admin, query)).resource.children
  assert.match(JSON.stringify(listed?.relations), /hasListMember/)

  await allow()
  assert.equal((await twice(guest, query)).results, 0)
  await allow('_guest')
  assert.equal((await twice(guest, query)).results, 1)

  assert.equal((await admin.delete(`${context}/entry/it`)).status, 204)
  assert.equal((await twice(guest, query)).results, 0)
  assert.equal((await twice(admin, query)).results, 0)
})

test('a repeated search follows the groups of its caller, and is nobody else’s (W3.10.5)', async () => {
  const { allow, query } = await place()
  const [one, other] = [await newUser(service, admin), await newUser(service, admin)]
  const group = await newEntry(admin, '_principals', '?graphtype=group')
  const setMembers = async (...ids: string[]) =>
    assert.equal((await admin.put(`_principals/resource/${group}`, ids)).status, 204)
  await allow(group)
  await setMembers(one.id)
  const counts = async () => {
    const found = []
    for (const visitor of [one.visitor, other.visitor, guest]) found.push((await twice(visitor, query)).results)
    return found
  }
  assert.deepEqual(await counts(), [1, 0, 0])
  await setMembers(other.id)
  assert.deepEqual(await counts(), [0, 1, 0])
  await setMembers(one.id, other.id)
  assert.deepEqual(await counts(), [1, 1, 0])
})

test('kept answers differ by what the client accepts, and by the syntax that it asks for', async () => {
  const { context, word, metadata, query } = await place()
  const long = metadata('it', `${word} ${'and so on '.repeat(200)}`)
  assert.equal((await admin.put(`${context}/metadata/it`, long)).status, 204)
  const path = searchPath(query)
  for (let turn = 0; turn < 2; turn++) {
    const plain = await guest.get(path)
    const coded = await guest.get(path, { 'accept-encoding': 'gzip' })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(coded.headers['content-encoding'], 'gzip')
    assert.deepEqual(coded.json(), plain.json())
    const { metadata: jsonLd } =
      (await twice(guest, query, '&rdfFormat=application/ld%2Bjson')).resource.children[0] ?? {}
    assert.match(JSON.stringify(jsonLd), /"@id"/)
    assert.equal((await guest.ask(path, { method: 'HEAD' })).text, '')
  }
})
