import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { archiveOf, importInto, type Member } from '../support/archives.ts'
import { fixtures } from '../support/entrystore.ts'
import { newContext, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after }, { settings: { 'service.repository.provenance': 'on' } })
const admin = await service.admin()

const BASE = 'http://localhost:8181/'
const TRIG = readFileSync(join(fixtures, 'context-export-triples.rdf'), 'utf8')

const member = (name: string, content: string): Member => ({ name, bytes: Buffer.from(content), isDeflated: true })

/** A context export, laid out as EntryStore does it. */
const exportWith = (triples: string, properties: Readonly<Record<string, string>> = {}): Promise<Buffer> => {
  const all = {
    contextEntryURI: `${BASE}_contexts/entry/1`,
    contextResourceURI: `${BASE}1`,
    baseURI: BASE,
    exportingUser: `${BASE}_principals/resource/_admin`,
    containedUsers: '1:donald,4,_admin:admin',
    ...properties,
  }
  const lines = Object.entries(all).map(([key, value]) => `${key}=${value.replaceAll(':', '\\:')}\n`)
  return archiveOf([
    member('triples.rdf', triples),
    member('export.properties', `#Export\n${lines.join('')}`),
    member('resources/report_1', 'hello world\n'),
    member('resources/report_1.sha256', '0'.repeat(64)),
    member('resources/99', 'orphan'),
  ])
}

interface Result {
  readonly entries: number
  readonly files: number
  readonly report: {
    readonly quads: {
      readonly read: number
      readonly imported: number
      readonly derived: number
      readonly duplicate: number
      readonly reported: number
    }
    readonly findings: ReadonlyArray<{ readonly code: string; readonly examples: readonly string[] }>
  }
}

test('a context export of EntryStore replaces the content of a context; users are matched by name (D21.11)', async () => {
  const donald = (await admin.post('_principals?graphtype=user', { resource: { name: 'donald' } })).json<{
    entryId: string
  }>().entryId
  const context = await newContext(admin)
  const answer = await importInto(admin, context, await exportWith(TRIG))
  assert.equal(answer.status, 200, answer.text)
  const { entries, files, report } = answer.json<Result>()
  assert.deepEqual([entries, files], [12, 1])
  const { read, imported, derived, duplicate, reported } = report.quads
  assert.equal(read, imported + derived + duplicate + reported)
  const orphans = report.findings.find(({ code }) => code === 'file-orphan')
  assert.deepEqual(orphans?.examples, ['resources/99'])

  assert.equal((await admin.get(`${context}/resource/report_1`)).text, 'hello world\n')
  const entry = (await admin.get(`${context}/entry/report_1?includeAll`)).text
  assert.ok(entry.includes(`_principals/resource/${donald}"`), 'the access list names the user of this name')
  assert.ok(!entry.includes('localhost:8181'), 'addresses of the old server are those of this one')
  assert.deepEqual((await admin.get(`${context}/resource/2`)).json(), ['3', '4'])
  assert.equal((await admin.get(`${context}/resource/7`)).text, 'a <b> & "c"\u0001\r\n\tå end')
  // Groups have no names in such an archive: nobody is meant, and nobody new will be.
  assert.ok(entry.includes('urn:stowage:unknown-principal:4'))
})

test('groups are matched by the names that the caller gives (D21.11)', async () => {
  const group = (await admin.post('_principals?graphtype=group', { resource: { name: 'editors' } })).json<{
    entryId: string
  }>().entryId
  const context = await newContext(admin)
  const archive = await exportWith(TRIG)
  const answer = await importInto(admin, context, archive, '?groups=4:editors,8:nobody')
  assert.equal(answer.status, 200, answer.text)
  const entry = (await admin.get(`${context}/entry/report_1?includeAll`)).text
  assert.ok(entry.includes(`_principals/resource/${group}"`), 'the access list names the group of this name')
  assert.ok(!entry.includes('unknown-principal:4'))
  for (const groups of ['editors', '4', ':x', '4:', '../4:x']) {
    const refused = await importInto(admin, context, archive, `?groups=${groups}`)
    assert.equal(refused.status, 400, groups)
    assert.equal(refused.json<{ code: string }>().code, 'invalid-query')
  }
})

test('an incomplete context export is refused, and nothing is changed', async () => {
  const context = await newContext(admin)
  const cases: ReadonlyArray<readonly [Buffer, RegExp]> = [
    [
      await exportWith('@prefix dc: <http://purl.org/dc/terms/> . <http://localhost:8181/1/resource/1> dc:title "x" .'),
      /not-an-export/,
    ],
    [await exportWith(TRIG.slice(0, TRIG.length - 20)), /truncated/],
    [await exportWith(TRIG, { contextEntryURI: `${BASE}_contexts/entry/_principals` }), /not-an-export/],
    [
      await exportWith(
        `<${BASE}1/metadata/1> { <${BASE}1/resource/1> <http://purl.org/dc/terms/title> "only metadata" . }`,
      ),
      /not-an-export/,
    ],
    [await archiveOf([member('triples.rdf', TRIG)]), /not-an-export/],
  ]
  for (const [archive, reason] of cases) {
    const answer = await importInto(admin, context, archive)
    assert.equal(answer.status, 400, answer.text)
    assert.equal(answer.json<{ code: string }>().code, 'invalid-archive')
    assert.match(answer.text, reason)
  }
  assert.deepEqual((await admin.get(context)).json(), [])
})

test('statements of users in a context export make no user, name or right', async () => {
  const context = await newContext(admin)
  const es = 'http://entrystore.org/terms/'
  const hostile = `
    <${BASE}1/metadata/5> { <${BASE}_principals/resource/_admin> <${es}saltedHashedSecret> "x" .
      <${BASE}_principals/entry/_admin> <${es}alias> "nobody" .
      <${BASE}1/entry/6> <${es}write> <${BASE}_principals/resource/_guest> . }
    <${BASE}1/entry/66> { <${BASE}1/entry/66> <${es}resource> <${BASE}1/resource/66> .
      <${BASE}1/resource/66> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${es}User> . }
    <${BASE}_principals/entry/77> { <${BASE}_principals/entry/77> <${es}resource> <${BASE}_principals/resource/77> .
      <${BASE}_principals/resource/77> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <${es}User> . }`
  const answer = await importInto(admin, context, await exportWith(TRIG + hostile))
  assert.equal(answer.status, 200, answer.text)
  const codes = answer.json<Result>().report.findings.map(({ code }) => code)
  assert.ok(codes.includes('misplaced-type') && codes.includes('orphan-graph'), codes.join())
  assert.equal((await admin.get('_principals/entry/77')).status, 404)
  assert.equal((await service.visitor().put(`${context}/metadata/6`, {})).status, 401)
  assert.equal((await service.admin()).base, admin.base)
})
