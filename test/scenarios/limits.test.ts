import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { assertRefused, graphOf, readEntry, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { find, type HitJson } from '../support/search.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const settings = {
  'service.http.json.max-size': '1m',
  'service.repository.provenance': 'on',
}
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()
const context = await newContext(admin)
const P = 'http://example.org/p'

test('a body is measured with every _newId replaced by the id that it stands for (D15.2)', async () => {
  const id = 'x'.repeat(128)
  const body = (count: number): unknown => ({
    metadata: graphOf(`${admin.base}${context}/resource/_newId`, P, textTerm('_newId'.repeat(count))),
  })
  assertRefused(await admin.post(`${context}?id=${id}`, body(9000)), 413, 'body-too-large')
  assert.equal(await newEntry(admin, context, `?id=${id}`, body(8000)), id)
})

test('an address with _newId in it is measured as it comes out (D15.2)', async () => {
  const resource = `http://example.org/${'_newId'.repeat(200)}`
  const path = `${context}?entrytype=link&id=${'y'.repeat(128)}&resource=${resource}`
  assertRefused(await admin.post(path), 400, 'invalid-uri')
})

test('a graph has a limit on its statements, in whichever syntax it comes (D15.2)', async () => {
  const id = await newEntry(admin, context)
  const turtle = (count: number): string =>
    `<urn:a> <urn:p> ${Array.from({ length: count }, (_, n) => `<urn:${n}>`).join(', ')} .`
  const put = (count: number) =>
    admin.ask(`${context}/metadata/${id}`, {
      method: 'PUT',
      body: turtle(count),
      headers: { 'content-type': 'text/turtle' },
    })
  assertRefused(await put(25_001), 413, 'graph-too-large')
  assert.equal((await put(25_000)).status, 204)
  const objects = Array.from({ length: 25_001 }, (_, n) => uriTerm(`urn:${n}`))
  assertRefused(await admin.put(`${context}/metadata/${id}`, graphOf('urn:a', P, ...objects)), 413, 'graph-too-large')
  const created = await admin.post(context, { metadata: graphOf('urn:a', P, ...objects) })
  assertRefused(created, 413, 'graph-too-large')
})

test('of statements that point at an entry a response has a thousand (D15.3)', async () => {
  const target = await newEntry(admin, context)
  const from = await newEntry(admin, context)
  const subject = `${admin.base}${context}/resource/${from}`
  const object = uriTerm(`${admin.base}${context}/resource/${target}`)
  const many = Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`${P}${n}`, [object]]))
  assert.equal((await admin.put(`${context}/metadata/${from}`, { [subject]: many })).status, 204)
  const { relations } = await readEntry(admin, context, target)
  assert.equal(Object.keys(relations?.[subject] ?? {}).length, 1000)
})

test('a large hit comes without its graphs and says so; the others, and the entry itself, are whole (D15.3)', async () => {
  const place = await newContext(admin)
  const about = (n: number): string => `${admin.base}${place}/resource/e${n}`
  const make = (n: number, length: number): Promise<string> =>
    newEntry(admin, place, `?id=e${n}`, {
      metadata: { [about(n)]: { [TITLE]: [textTerm('plenty')], [P]: [textTerm('x'.repeat(length))] } },
    })
  await make(1, 600_000)
  await make(2, 10)
  const found = await find(admin, 'title:plenty')
  assert.equal(found.results, 2)
  const hitOf = (id: string): HitJson | undefined => found.resource.children.find(({ entryId }) => entryId === id)
  const [large, small] = [hitOf('e1'), hitOf('e2')]
  assert.ok(large && small)
  assert.equal(large.truncated, true)
  assert.equal(large.metadata, undefined)
  assert.deepEqual(large.rights, ['administer'])
  assert.ok(large.info[`${admin.base}${place}/entry/e1`])
  assert.deepEqual(small.metadata?.[about(2)]?.[TITLE], [textTerm('plenty')])
  assert.equal(JSON.stringify(small).includes('truncated'), false)
  assert.ok((await readEntry(admin, place, 'e1')).metadata?.[about(1)])
})

test('hits together have a limit: after four megabytes the rest comes without graphs (D15.3)', async () => {
  const place = await newContext(admin)
  for (let n = 0; n < 12; n++) {
    const metadata = {
      [`${admin.base}${place}/resource/e${n}`]: { [TITLE]: [textTerm('heap'), textTerm('x'.repeat(450_000))] },
    }
    await newEntry(admin, place, `?id=e${n}`, { metadata })
  }
  const { resource } = await find(admin, 'title:heap')
  const whole = resource.children.filter(({ metadata }) => metadata !== undefined)
  assert.equal(resource.children.length, 12)
  assert.equal(whole.length, 9)
})

test('a long list asked for without a limit comes in pages of 500, with all ids (D15.3)', async () => {
  const place = await newContext(admin)
  const ids = Array.from({ length: 501 }, (_, n) => `m${n}`.padEnd(128, '-'))
  for (const id of ids) await newEntry(admin, place, `?id=${id}`)
  const list = await newEntry(admin, place, '?graphtype=list', { resource: ids })
  const page = (await readEntry(admin, place, list)).resource as {
    children: unknown[]
    allUnsorted: string[]
    size: number
    limit: number
  }
  assert.deepEqual([page.children.length, page.limit, page.size], [500, 500, 501])
  assert.deepEqual(page.allUnsorted, ids)

  for (const [accepted, coding] of [
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['identity', undefined],
  ] as const) {
    for (const offset of [0, 10]) {
      const path = `${place}/entry/${list}?includeAll&limit=2&offset=${offset}`
      const plain = await admin.get(path)
      const { headers, bytes } = await admin.get(path, { 'accept-encoding': accepted })
      assert.equal(headers['content-encoding'], coding)
      const unpacked = coding === 'gzip' ? gunzipSync(bytes) : coding === 'br' ? brotliDecompressSync(bytes) : bytes
      assert.equal(unpacked.toString(), plain.text)
      assert.equal(headers.etag, coding ? plain.headers.etag?.replace(/"$/, `.${coding}"`) : plain.headers.etag)
      const head = await admin.ask(path, { method: 'HEAD', headers: { 'accept-encoding': accepted } })
      assert.deepEqual([head.status, head.headers['content-encoding']], [200, undefined])
    }
  }
})

test('info lists the hundred latest revisions; the others are read by their number (D15.3)', async () => {
  const id = await newEntry(admin, context)
  const path = `${context}/metadata/${id}`
  for (let n = 1; n <= 102; n++) {
    assert.equal((await admin.put(path, graphOf('urn:a', P, textTerm(String(n))))).status, 204)
  }
  const { info } = await readEntry(admin, context, id)
  const revisions = Object.keys(info).filter(subject => subject.includes('?rev='))
  assert.equal(revisions.length, 100)
  assert.ok(revisions.includes(`${admin.base}${path}?rev=102`))
  assert.equal((await admin.get(`${path}?rev=1`)).status, 200)
})

test('an access list has a limit (D15.2)', async () => {
  const id = await newEntry(admin, context)
  const principals = Array.from({ length: 1001 }, (_, n) => uriTerm(`${admin.base}_principals/resource/${n}`))
  const info = graphOf(`${admin.base}${context}/entry/${id}`, 'http://entrystore.org/terms/write', ...principals)
  assertRefused(await admin.put(`${context}/entry/${id}`, info), 413, 'graph-too-large')
})

test('sixty documents of one user at once do not keep others from having theirs read (D15.4)', async () => {
  const [one, other] = [await newUser(service, admin), await newUser(service, admin)]
  const turtle = Array.from(
    { length: 1500 },
    (_, n) => `<urn:subject:number:${n}> <urn:p> "a literal of some length" .`,
  ).join('\n')
  const validate = (visitor: Visitor) =>
    visitor.ask('validator', { method: 'POST', body: turtle, headers: { 'content-type': 'text/turtle' } })
  const done: string[] = []
  const many = Array.from({ length: 60 }, async () => {
    const answer = await validate(one.visitor)
    done.push('one')
    return answer
  })
  const answer = await validate(other.visitor)
  done.push('other')
  assert.equal(answer.status, 200)
  for (const { status, text } of await Promise.all(many)) assert.equal(status, 200, text)
  // They are parsed after the documents that had begun and, round-robin, one more.
  assert.ok(done.indexOf('other') < 30, `the other's was number ${done.indexOf('other')}`)
})

test('changes to all members of a list keep what the members hold', async () => {
  const place = await newContext(admin)
  const metadata = graphOf(
    `${admin.base}${place}/resource/kept`,
    TITLE,
    textTerm('kept'),
    textTerm('x'.repeat(100_000)),
  )
  await newEntry(admin, place, '?id=kept', { metadata })
  const list = await newEntry(admin, place, '?graphtype=list', { resource: ['kept'] })
  const path = `${place}/entry/${list}`
  const { info } = await readEntry(admin, place, list)
  const acl = graphOf(
    `${admin.base}${path}`,
    'http://entrystore.org/terms/write',
    uriTerm(`${admin.base}_principals/resource/_admin`),
  )
  assert.equal((await admin.put(`${path}?applyACLtoChildren`, { ...info, ...acl })).status, 204)
  assert.deepEqual((await readEntry(admin, place, 'kept')).metadata, metadata)
})
