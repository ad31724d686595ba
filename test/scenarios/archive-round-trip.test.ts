import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  DCT,
  type EntryJson,
  type GraphJson,
  graphOf,
  principal,
  type QuotaJson,
  readEntry,
  STORE,
  textTerm,
  TITLE,
  uriTerm,
  valuesOf,
} from '../support/content.ts'
import { exportOf, importInto } from '../support/archives.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { blobsOf } from '../support/blobs.ts'
import { putFile } from '../support/uploads.ts'

const settings = { 'service.repository.provenance': 'on', 'service.data.quota': 'on' }
const source = await startInProcess({ after }, { settings })
const target = await startInProcess({ after }, { settings })
const [from, to] = [await source.admin(), await target.admin()]

const picture = randomBytes(300_000)

/** A context with an entry of every kind. */
async function fullContext(): Promise<{ context: string; ids: string[]; userName: string }> {
  const context = await newContext(from)
  const { id: user, name: userName } = await newUser(source, from)
  const own = (id: string) => `${from.base}${context}/resource/${id}`
  await newEntry(from, context, '?id=note&graphtype=string', { resource: 'A text, with "quotes" and ünïcode\n' })
  await newEntry(from, context, '?id=graph&graphtype=graph', { resource: graphOf(own('graph'), TITLE, textTerm('g')) })
  await newEntry(from, context, '?id=link&entrytype=link&resource=http://ex.org/page', {
    metadata: graphOf('http://ex.org/page', TITLE, textTerm('A page')),
  })
  const elsewhere = 'resource=http://ex.org/thing&cached-external-metadata=http://ex.org/thing.rdf'
  const cached = { 'cached-external-metadata': graphOf('http://ex.org/thing', TITLE, textTerm('A thing')) }
  await newEntry(from, context, `?id=reference&entrytype=reference&${elsewhere}`, cached)
  await newEntry(from, context, `?id=both&entrytype=linkreference&${elsewhere}`, cached)
  await newEntry(from, context, '?id=thing&informationresource=false')
  await newEntry(from, context, '?id=picture')
  const type = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="sun.png"' }
  assert.equal((await putFile(from, `${context}/resource/picture`, picture, type)).status, 201)
  await newEntry(from, context, '?id=empty')
  assert.equal((await putFile(from, `${context}/resource/empty`, '')).status, 201)
  await newEntry(from, context, '?id=inner&graphtype=list', { resource: ['picture', 'note'] })
  await newEntry(from, context, '?id=outer&graphtype=list', { resource: ['link', 'inner'] })
  const pointing: GraphJson = {
    [own('note')]: {
      [TITLE]: [{ ...textTerm('Notiz'), lang: 'de' } as never],
      'http://ex.org/about': [uriTerm(`${from.base}${context}/entry/picture`)],
      'http://ex.org/part': [{ type: 'bnode', value: '_:part' }],
    },
    '_:part': { 'http://ex.org/n': [{ type: 'literal', value: '7', datatype: 'http://ex.org/number' } as never] },
  }
  for (const title of ['Draft', 'Second draft']) {
    await from.put(`${context}/metadata/note`, graphOf(own('note'), TITLE, textTerm(title)))
  }
  assert.equal((await from.put(`${context}/metadata/note`, pointing)).status, 204)
  const info = (await readEntry(from, context, 'note')).info
  const acl = {
    [`${from.base}${context}/metadata/note`]: { [`${STORE}read`]: [principal(from, user), principal(from, '_users')] },
    [own('note')]: { [`${STORE}write`]: [principal(from, user)], 'http://ex.org/extra': [textTerm('kept')] },
  }
  assert.equal((await from.put(`${context}/entry/note`, { ...info, ...acl })).status, 204)
  assert.equal(await newEntry(from, context), '1')
  assert.equal((await from.delete(`${context}/entry/1`)).status, 204)
  const ids = (await from.get(context)).json<string[]>()
  return { context, ids, userName }
}

/** An entry as a text in which addresses of either store look alike. */
async function described(visitor: Visitor, context: string, id: string): Promise<unknown> {
  const { text } = await visitor.get(`${context}/entry/${id}?includeAll`)
  return JSON.parse(text.replaceAll(`${visitor.base}${context}/`, 'here:').replaceAll(visitor.base, 'base:'))
}

const fillLevel = async (visitor: Visitor, context: string): Promise<number> =>
  (await visitor.get(`${context}/quota`)).json<QuotaJson>().fillLevel

/** Order says nothing in a graph. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort(byText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]): [string, unknown] => [key, sorted(inner)])
      .sort(byText),
  )
}

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

test('what is exported and imported into another store is the same there, to the last byte (W3.16)', async () => {
  const { context, ids, userName } = await fullContext()
  const created = await to.post('_principals?graphtype=user', { resource: { name: userName } })
  const userThere = created.json<{ entryId: string }>().entryId
  await newContext(to)
  const copy = await newContext(to)
  const old = await newEntry(to, copy)
  await putFile(to, `${copy}/resource/${old}`, 'goes away')

  const archive = await exportOf(from, context)
  const done = await importInto(to, copy, archive)
  assert.equal(done.status, 200, done.text)
  assert.deepEqual(done.json(), { entries: ids.length, files: 2, bytes: picture.length })

  assert.deepEqual((await to.get(copy)).json(), ids)
  const userHere = (await from.get(`${context}/entry/note`)).text.match(/_principals\/resource\/([0-9]+)/)?.[1] ?? ''
  for (const id of ids) {
    const here = JSON.stringify(await described(from, context, id))
    const expected = JSON.parse(
      here.replaceAll(`base:_principals/resource/${userHere}"`, `base:_principals/resource/${userThere}"`),
    )
    assert.deepEqual(sorted(await described(to, copy, id)), sorted(expected), id)
  }
  const there = await to.get(`${copy}/resource/picture`)
  assert.ok(picture.equals(there.bytes))
  assert.equal(there.headers['content-type'], 'image/png')
  assert.equal((await to.get(`${copy}/resource/empty`)).bytes.length, 0)
  assert.equal((await to.get(`${copy}/resource/note`)).text, 'A text, with "quotes" and ünïcode\n')
  for (const rev of [1, 2, 3]) {
    const [a, b] = [
      await from.get(`${context}/metadata/note?rev=${rev}`),
      await to.get(`${copy}/metadata/note?rev=${rev}`),
    ]
    assert.equal(b.text.replaceAll(`${to.base}${copy}/`, ''), a.text.replaceAll(`${from.base}${context}/`, ''))
  }
  const relations = (await readEntry(to, copy, 'picture')).relations
  assert.deepEqual(relations?.[`${to.base}${copy}/resource/inner`]?.[`${STORE}hasListMember`], [
    uriTerm(`${to.base}${copy}/entry/picture`),
  ])
  assert.equal(await fillLevel(to, copy), picture.length)
  assert.equal((await blobsOf(target)).stored.length, 2)
  assert.equal(await newEntry(to, copy), '2', 'a number that was given before is not given again')
  assert.equal((await to.get('search?type=solr&query=title:Notiz')).json()['results'], 1)
})

test('an import puts everything back as it was; what came later is gone, and dates still rise', async () => {
  const { context, ids } = await fullContext()
  const archive = await exportOf(from, context)
  const before = await readEntry(from, context, 'note')
  await from.delete(`${context}/entry/picture`)
  await from.put(`${context}/metadata/note`, {})
  await newEntry(from, context, '?id=later')
  const changed = await readEntry(from, context, 'note')
  assert.equal((await importInto(from, context, archive)).status, 200)
  assert.deepEqual((await from.get(context)).json(), ids)
  assert.ok(picture.equals((await from.get(`${context}/resource/picture`)).bytes))
  const back = await readEntry(from, context, 'note')
  assert.deepEqual(sorted(back.metadata), sorted(before.metadata))
  const modified = (entry: EntryJson) =>
    Date.parse(valuesOf(from, entry, `${context}/entry/note`, `${DCT}modified`)[0] ?? '')
  assert.ok(modified(back) > modified(changed), 'a client with the later state must not pass for one with the present')
  assert.equal(await fillLevel(from, context), picture.length)
})

test('rights go to the user of the same name; rights of unknown users go to no one, not even to a later user with their id', async () => {
  const context = await newContext(from)
  const stranger = await newEntry(from, '_principals', '?graphtype=user&id=stranger', {
    resource: { name: 'stranger' },
  })
  const id = await newEntry(from, context)
  const acl = graphOf(`${from.base}${context}/metadata/${id}`, `${STORE}read`, principal(from, stranger))
  assert.equal((await from.put(`${context}/entry/${id}`, acl)).status, 204)
  const copy = await newContext(to)
  const everybody = graphOf(`${to.base}${copy}`, `${STORE}read`, principal(to, '_guest'))
  assert.equal((await to.put(`_contexts/entry/${copy}`, everybody)).status, 204)
  assert.equal((await importInto(to, copy, await exportOf(from, context))).status, 200)
  const readers = valuesOf(to, await readEntry(to, copy, id), `${copy}/metadata/${id}`, `${STORE}read`)
  assert.deepEqual(readers, [`urn:stowage:unknown-principal:${stranger}`])
  assert.equal((await target.visitor().get(`${copy}/metadata/${id}`)).status, 401)
  const password = 'Good-Password-12'
  await newEntry(to, '_principals', `?graphtype=user&id=${stranger}`, { resource: { name: 'newcomer', password } })
  const newcomer = target.visitor()
  assert.equal((await newcomer.signIn('newcomer', password)).status, 200)
  assert.equal((await newcomer.get(`${copy}/metadata/${id}`)).status, 403)
})

test('with metadataOnly files stay behind', async () => {
  const { context } = await fullContext()
  const archive = await exportOf(from, context, '?metadataOnly')
  assert.ok(archive.length < picture.length / 2)
  const copy = await newContext(to)
  assert.deepEqual((await importInto(to, copy, archive)).json()['files'], 0)
  assert.equal((await to.get(`${copy}/resource/picture`)).status, 204)
  assert.equal(await fillLevel(to, copy), 0)
})

test('an import as a form, or from a client that prefers HTML, answers an empty textarea (W3.16)', async () => {
  const context = await newContext(from)
  await newEntry(from, context, '?id=one')
  const boundary = 'xXx'
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\nContent-Type: application/zip\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head), await exportOf(from, context), Buffer.from(`\r\n--${boundary}--\r\n`)])
  const copy = await newContext(from)
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
  const answer = await from.ask(`${copy}/import`, { method: 'POST', body, headers })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.text, '<textarea></textarea>')
  assert.match(String(answer.headers['content-type']), /^text\/html/)
  assert.deepEqual((await from.get(copy)).json(), ['one'])
  const ofJava = { 'content-type': 'application/zip', accept: 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2' }
  const archive = await exportOf(from, context)
  const again = await from.ask(`${copy}/import`, { method: 'POST', body: archive, headers: ofJava })
  assert.deepEqual([again.status, again.text], [200, '<textarea></textarea>'])
})
