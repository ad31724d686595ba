import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assertRefused,
  type EntryJson,
  graphOf,
  principal,
  readEntry,
  STORE,
  textTerm,
  TITLE,
  uriTerm,
  valuesOf,
} from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PROV = 'http://www.w3.org/ns/prov#'
const SAME_AS = 'http://www.w3.org/2002/07/owl#sameAs'
const withRevisions = { 'service.repository.provenance': 'on' }

const service = await startInProcess({ after }, { settings: withRevisions })
const admin = await service.admin()
const context = await newContext(admin)

const titled = (visitor: Visitor, id: string, title: string, of = context) =>
  graphOf(`${visitor.base}${of}/resource/${id}`, TITLE, textTerm(title))

/** An entry whose title has been each of these, one after the other. */
async function withTitles(first: string, ...more: string[]): Promise<string> {
  const id = await newEntry(admin, context, '', { metadata: titled(admin, '_newId', first) })
  for (const title of more)
    assert.equal((await admin.put(`${context}/metadata/${id}`, titled(admin, id, title))).status, 204)
  return id
}

/** The revisions that the info of an entry tells of, by number. */
function revisionsOf(visitor: Visitor, entry: EntryJson, of = context) {
  const prefix = `${visitor.base}${of}/metadata/${entry.entryId}?rev=`
  const numbers = Object.keys(entry.info).filter(subject => subject.startsWith(prefix))
  return numbers.map(subject => {
    const values = (predicate: string) => (entry.info[subject]?.[predicate] ?? []).map(term => term.value)
    return {
      number: Number(subject.slice(prefix.length)),
      time: values(`${PROV}generatedAtTime`)[0],
      by: values(`${PROV}wasAttributedTo`),
      after: values(`${PROV}wasRevisionOf`),
      isPresent: values(SAME_AS).length === 1,
    }
  })
}

const read = (visitor: Visitor, id: string, number: number | string) =>
  visitor.get(`${context}/metadata/${id}?rev=${number}`)

test('each change of metadata, the first included, is a revision with time, author and predecessor (W2.8)', async () => {
  const { id: userId, visitor } = await newUser(service, admin)
  const id = await withTitles('One')
  const grant = graphOf(`${admin.base}${context}/metadata/${id}`, `${STORE}write`, principal(admin, userId))
  assert.equal((await admin.put(`${context}/entry/${id}`, grant)).status, 204)
  service.system.pass(5000)
  assert.equal((await visitor.put(`${context}/metadata/${id}`, titled(admin, id, 'Two'))).status, 204)

  const entry = await readEntry(admin, context, id)
  const [first, second, ...rest] = revisionsOf(admin, entry)
  assert.deepEqual(rest, [])
  const uri = (number: number) => `${admin.base}${context}/metadata/${id}?rev=${number}`
  const by = (user: string) => [`${admin.base}_principals/resource/${user}`]
  assert.deepEqual([first?.number, first?.by, first?.after, first?.isPresent], [1, by('_admin'), [], false])
  assert.deepEqual([second?.number, second?.by, second?.after, second?.isPresent], [2, by(userId), [uri(1)], true])
  assert.equal(entry.info[uri(2)]?.[SAME_AS]?.[0]?.value, `${admin.base}${context}/metadata/${id}`)
  assert.equal(second?.time, valuesOf(admin, entry, `${context}/entry/${id}`, 'http://purl.org/dc/terms/modified')[0])
  assert.ok(Date.parse(second?.time ?? '') - Date.parse(first?.time ?? '') >= 5000)

  assert.deepEqual((await read(admin, id, 1)).json(), titled(admin, id, 'One'))
  assert.deepEqual((await read(admin, id, 2)).json(), titled(admin, id, 'Two'))
})

test('what leaves the metadata as they are makes no revision, emptying them does', async () => {
  const id = await newEntry(admin, context)
  assert.deepEqual(revisionsOf(admin, await readEntry(admin, context, id)), [])
  await admin.put(`${context}/metadata/${id}`, titled(admin, id, 'Same'))
  await admin.put(`${context}/metadata/${id}`, titled(admin, id, 'Same'))
  await admin.put(`${context}/entry/${id}`, graphOf('http://ex.org/a', TITLE, textTerm('about')))
  assert.equal(revisionsOf(admin, await readEntry(admin, context, id)).length, 1)
  assert.equal((await admin.delete(`${context}/metadata/${id}`)).status, 204)
  assert.equal(revisionsOf(admin, await readEntry(admin, context, id)).length, 2)
  assert.deepEqual((await read(admin, id, 2)).json(), {})
})

test('a refused change is no revision (D1.5)', async () => {
  const id = await withTitles('Kept')
  const { visitor } = await newUser(service, admin)
  assertRefused(await visitor.put(`${context}/metadata/${id}`, titled(admin, id, 'Mine')), 403, 'not-allowed')
  const old = { 'if-match': '"1"' }
  const json = titled(admin, id, 'Late')
  assertRefused(
    await admin.ask(`${context}/metadata/${id}`, { method: 'PUT', json, headers: old }),
    412,
    'precondition-failed',
  )
  assert.equal(revisionsOf(admin, await readEntry(admin, context, id)).length, 1)
})

test('an unknown revision is 404, an invalid number 400, and no revision can be written (405)', async () => {
  const id = await withTitles('Only')
  for (const number of [0, 2, 999_999_999_999_999]) assertRefused(await read(admin, id, number), 404, 'not-found')
  for (const text of ['', 'x', '-1', '1.5', '1%00']) {
    assertRefused(await read(admin, id, text), 400, text === '1%00' ? 'bad-request' : 'invalid-query', text)
  }
  const json = titled(admin, id, 'Forged')
  for (const method of ['PUT', 'DELETE']) {
    const answer = await admin.ask(`${context}/metadata/${id}?rev=1`, { method, ...(method === 'PUT' ? { json } : {}) })
    assertRefused(answer, 405, 'method-not-allowed')
  }
  assert.deepEqual((await admin.get(`${context}/metadata/${id}`)).json(), titled(admin, id, 'Only'))
})

test('a revision has a date and a tag of its own, which later changes leave alone (W3.0.5)', async () => {
  const id = await withTitles('Old')
  const before = await read(admin, id, 1)
  service.system.pass(10_000)
  await admin.put(`${context}/metadata/${id}`, titled(admin, id, 'New'))
  const later = await read(admin, id, 1)
  assert.equal(later.headers.etag, before.headers.etag)
  assert.equal(later.headers['last-modified'], before.headers['last-modified'])
  const present = await admin.get(`${context}/metadata/${id}`)
  assert.notEqual(present.headers.etag, before.headers.etag)
  const asked = { 'if-none-match': String(before.headers.etag) }
  assert.equal((await admin.get(`${context}/metadata/${id}?rev=1`, asked)).status, 304)
  assert.equal((await admin.get(`${context}/metadata/${id}`, asked)).status, 200)
  const turtle = await admin.get(`${context}/metadata/${id}?rev=1&format=text/turtle`)
  assert.match(turtle.text, /"Old"/)
  assert.notEqual(turtle.headers.etag, before.headers.etag)
})

test('without the current right to read the metadata, older revisions are refused too (W4.4)', async () => {
  const { id: userId, visitor } = await newUser(service, admin)
  const id = await withTitles('Secret of old', 'Harmless')
  const acl = (reader: string) =>
    graphOf(`${admin.base}${context}/metadata/${id}`, `${STORE}read`, principal(admin, reader))
  await admin.put(`${context}/entry/${id}`, acl(userId))
  assert.equal((await read(visitor, id, 1)).status, 200)
  await admin.put(`${context}/entry/${id}`, acl('_admin'))
  for (const number of [1, 2, 3]) {
    assertRefused(await read(visitor, id, number), 403, 'not-allowed')
    assertRefused(await read(service.visitor(), id, number), 401, 'not-signed-in')
  }
  const entry = await visitor.get(`${context}/entry/${id}?includeAll`)
  assert.doesNotMatch(entry.text, /Secret of old|Harmless/)
})

test('statements about revisions in a PUT of info are passed over, the own ones stay (W2.8)', async () => {
  const id = await withTitles('Mine')
  const forged = {
    [`${admin.base}${context}/metadata/${id}?rev=1`]: {
      [`${PROV}wasAttributedTo`]: [principal(admin, '_guest')],
      'http://ex.org/note': [textTerm('kept')],
    },
    [`${admin.base}${context}/metadata/${id}?rev=7`]: {
      [SAME_AS]: [uriTerm(`${admin.base}${context}/metadata/${id}`)],
      [`${PROV}generatedAtTime`]: [textTerm('never')],
    },
  }
  const entry = await readEntry(admin, context, id)
  assert.equal((await admin.put(`${context}/entry/${id}`, { ...entry.info, ...forged })).status, 204)
  const now = await readEntry(admin, context, id)
  assert.deepEqual(revisionsOf(admin, now), revisionsOf(admin, entry))
  assert.deepEqual(valuesOf(admin, now, `${context}/metadata/${id}?rev=1`, 'http://ex.org/note'), ['kept'])
})

test('revisions go with their entry: a new one with its id has none of them', async () => {
  const id = await withTitles('First life', 'Its end')
  assert.equal((await admin.delete(`${context}/entry/${id}`)).status, 204)
  assertRefused(await read(admin, id, 1), 404, 'not-found')
  await newEntry(admin, context, `?id=${id}`)
  assertRefused(await read(admin, id, 1), 404, 'not-found')
  assert.deepEqual(revisionsOf(admin, await readEntry(admin, context, id)), [])

  const whole = await newContext(admin)
  const inside = await newEntry(admin, whole, '', { metadata: titled(admin, '_newId', 'x', whole) })
  assert.equal((await admin.get(`${whole}/metadata/${inside}?rev=1`)).status, 200)
  assert.equal((await admin.delete(`_contexts/entry/${whole}`)).status, 204)
  assertRefused(await admin.get(`${whole}/metadata/${inside}?rev=1`), 404, 'not-found')
})

test('an entry that moves to another context takes its revisions along, under its new address (W3.8.5)', async () => {
  const id = await withTitles('Early', 'Late')
  const target = await newContext(admin)
  const list = await newEntry(admin, target, '?graphtype=list')
  const moved = await admin.ask(`${target}/resource/${list}?moveEntry=${context}/entry/${id}`, { method: 'POST' })
  assert.equal(moved.status, 200, moved.text)
  const newId = moved.json<{ entryURI: string }>().entryURI.split('/').at(-1) ?? ''
  const entry = await readEntry(admin, target, newId)
  const reported = revisionsOf(admin, entry, target)
  assert.deepEqual(
    reported.map(({ number, isPresent }) => [number, isPresent]),
    [
      [1, false],
      [2, true],
    ],
  )
  const first = await admin.get(`${target}/metadata/${newId}?rev=1`)
  assert.deepEqual(first.json(), titled(admin, newId, 'Early', target))
})

test('with revisions off none are shown or stored; after switching on again, the existing state is stored first', async t => {
  const folder = await temporaryFolder()
  const start = async (settings: Record<string, string>) => {
    const running = await startInProcess(t, { folder, settings })
    return { ...running, admin: await running.admin() }
  }
  const one = await start(withRevisions)
  const store = await newContext(one.admin)
  const id = await newEntry(one.admin, store, '', { metadata: titled(one.admin, '_newId', 'one', store) })
  await one.close()

  const two = await start({})
  assert.equal((await two.admin.put(`${store}/metadata/${id}`, titled(two.admin, id, 'two', store))).status, 204)
  assert.deepEqual(revisionsOf(two.admin, await readEntry(two.admin, store, id), store), [])
  assertRefused(await two.admin.get(`${store}/metadata/${id}?rev=1`), 404, 'not-found')
  await two.close()

  const three = await start(withRevisions)
  const found = revisionsOf(three.admin, await readEntry(three.admin, store, id), store)
  assert.deepEqual(
    found.map(({ number, isPresent }) => [number, isPresent]),
    [[1, false]],
  )
  await three.admin.put(`${store}/metadata/${id}`, titled(three.admin, id, 'three', store))
  const titles: string[] = []
  for (const number of [1, 2, 3]) {
    const graph = (await three.admin.get(`${store}/metadata/${id}?rev=${number}`)).json<EntryJson['info']>()
    titles.push(Object.values(graph)[0]?.[TITLE]?.[0]?.value ?? '')
  }
  assert.deepEqual(titles, ['one', 'two', 'three'])
  await three.close()
})
