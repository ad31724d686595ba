import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Parser } from 'n3'
import { findSyntax } from '../../src/graph/syntaxes.ts'
import { archiveOf, exportOf, importInto, membersOf } from '../support/archives.ts'
import {
  assertRefused,
  type GraphJson,
  graphOf,
  principal,
  readEntry,
  STORE,
  textTerm,
  TITLE,
  uriTerm,
} from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { putFile } from '../support/uploads.ts'

const source = await startInProcess({ after })
const target = await startInProcess({ after })
const [from, to] = [await source.admin(), await target.admin()]
const person = await newUser(source, from)
await to.post('_principals?graphtype=user', { resource: { name: person.name } })

const bnode = { type: 'bnode', value: '_:x' } as const

/** A context with an entry of every kind that EntryStore has too. */
async function fullContext(): Promise<string> {
  const context = await newContext(from)
  await from.put(context, { alias: 'Ducks & co' })
  const own = (id: string) => `${from.base}${context}/resource/${id}`
  const blank: GraphJson = {
    'http://ex.org/a': { 'http://ex.org/part': [bnode] },
    '_:x': { [TITLE]: [textTerm('part')] },
  }
  await newEntry(from, context, '?id=note&graphtype=string', { resource: 'A "text"\n', metadata: blank })
  await newEntry(from, context, '?id=graph&graphtype=graph', { resource: graphOf(own('graph'), TITLE, textTerm('g')) })
  await newEntry(from, context, '?id=link&entrytype=link&resource=http://ex.org/page', { metadata: blank })
  const elsewhere = 'resource=http://ex.org/thing&cached-external-metadata=http://ex.org/thing.rdf'
  const cached = { 'cached-external-metadata': graphOf('http://ex.org/thing', TITLE, textTerm('A thing')) }
  await newEntry(from, context, `?id=reference&entrytype=reference&${elsewhere}`, cached)
  await newEntry(from, context, `?id=both&entrytype=linkreference&${elsewhere}`, cached)
  await newEntry(from, context, '?id=picture')
  const type = { 'content-type': 'image/png', 'content-disposition': 'attachment; filename="sun.png"' }
  await putFile(from, `${context}/resource/picture`, 'bytes', type)
  await newEntry(from, context, '?id=list&graphtype=list', { resource: ['picture', 'note'] })
  const { info } = await readEntry(from, context, 'note')
  const acl = {
    [own('note')]: { [`${STORE}write`]: [principal(from, person.id)], 'http://ex.org/extra': [textTerm('kept')] },
  }
  assert.equal((await from.put(`${context}/entry/note`, { ...info, ...acl })).status, 204)
  return context
}
const context = await fullContext()
const ids = (await from.get(context)).json<string[]>()

const exportAs = async (type: string, more = '') =>
  new Map(
    (await membersOf(await exportOf(from, context, `?rdfFormat=${type}${more}`))).map(({ name, bytes }) => [
      name,
      bytes.toString(),
    ]),
  )

/** Without what an export of EntryStore has none of, and in any order. */
async function comparable(visitor: Visitor, place: string, id: string): Promise<unknown> {
  const { text } = await visitor.get(`${place}/entry/${id}?includeAll`)
  const here = text
    .replaceAll(`${visitor.base}${place}/`, 'here:')
    .replaceAll(visitor.base, 'base:')
    .replaceAll(/_principals\/resource\/\d+/g, 'a user')
    .replaceAll(/"_:\w+"/g, '"_:node"')
  return sorted(JSON.parse(here))
}

function sorted(value: unknown): unknown {
  const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
  if (Array.isArray(value)) return value.map(sorted).sort(byText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, inner]): [string, unknown] => [key, sorted(inner)])
      .sort(byText),
  )
}

test('with rdfFormat an export has the members and the properties of EntryStore (D18.26)', async () => {
  const members = await exportAs('application/trig')
  assert.deepEqual([...members.keys()], ['triples.rdf', 'export.properties', 'resources/picture'])
  assert.equal(members.get('resources/picture'), 'bytes')
  const properties = members.get('export.properties') ?? ''
  const escaped = from.base.replaceAll(':', '\\:')
  for (const line of [
    `contextEntryURI=${escaped}_contexts/entry/${context}`,
    `contextResourceURI=${escaped}${context}`,
    `contextMetadataURI=${escaped}_contexts/metadata/${context}`,
    `contextRelationURI=${escaped}_contexts/relations/${context}`,
    `baseURI=${escaped}`,
    `exportingUser=${escaped}_principals/resource/_admin`,
    `containedUsers=_admin\\:admin,${person.id}\\:${person.name.toLowerCase()}`,
  ])
    assert.ok(properties.split('\n').includes(line), `${line} is not in ${properties}`)
  assert.match(properties, /^exportDate=\d{4}-\d\d-\d\dT\d\d\\:\d\d\\:\d\d\.\d{3}\+0000$/m)
  const { headers } = await from.get(`${context}/export?rdfFormat=application/trig`)
  assert.equal(headers['content-disposition'], `attachment; filename=context_${context}_export.zip`)
})

test('an import reads that export, and nothing of it is lost or found fault with (D18.26)', async () => {
  for (const type of ['application/trig', 'application/trix']) {
    const copy = await newContext(to)
    const done = await importInto(to, copy, await exportOf(from, context, `?rdfFormat=${type}`))
    assert.equal(done.status, 200, done.text)
    const { entries, files, report } = done.json<{ entries: number; files: number; report: { findings: unknown[] } }>()
    assert.deepEqual([entries, files, report.findings], [ids.length, 1, []])
    for (const id of ids) assert.deepEqual(await comparable(to, copy, id), await comparable(from, context, id), id)
    assert.deepEqual((await to.get(`${copy}/resource/list`)).json(), ['picture', 'note'])
    assert.equal((await to.get(`${copy}/resource/note`)).text, 'A "text"\n')
    assert.equal((await to.get(`${copy}/resource/picture`)).text, 'bytes')
  }
})

test('the own format has the same statements and properties at its end, for other programs (D18.26)', async () => {
  const members = await membersOf(await exportOf(from, context))
  assert.deepEqual(
    members.slice(-3).map(({ name }) => name),
    ['summary.json', 'triples.rdf', 'export.properties'],
  )
  const foreign = members.filter(({ name }) => /^(triples|export)\./.test(name))
  const copy = await newContext(to)
  const done = await importInto(to, copy, await archiveOf(foreign))
  assert.equal(done.status, 200, done.text)
  assert.equal(done.json<{ entries: number }>().entries, ids.length)
})

test('every syntax has the same statements, and blank nodes of different graphs stay apart', async () => {
  const trig = new Parser({ format: 'TriG' }).parse((await exportAs('application/trig')).get('triples.rdf') ?? '')
  assert.ok(new Set(trig.map(({ graph }) => graph.value)).size > ids.length)
  const distinct = new Set(trig.map(({ subject, predicate, object }) => `${subject.id} ${predicate.id} ${object.id}`))
  const parts = new Set(trig.filter(({ object }) => object.value === 'part').map(({ subject }) => subject.value))
  assert.equal(parts.size, 2)
  for (const type of ['text/turtle', 'text/n3', 'application/n-triples', 'application/rdf+xml']) {
    const text = (await exportAs(type)).get('triples.rdf') ?? ''
    const graph = (await findSyntax(type)?.read(text, 'http://ex.org/')) ?? {}
    const count = Object.values(graph).flatMap(predicates => Object.values(predicates).flat()).length
    assert.equal(count, distinct.size, type)
  }
  const turtle = (await exportAs('text/turtle')).get('triples.rdf') ?? ''
  assert.ok(turtle.includes(`store:${context} a es:Context`), turtle)
  assert.ok(turtle.includes(`<${from.base}_contexts/entry/${context}> es:resource store:${context};`))
})

test('such an export has the access list of the context as its info has it (D18.26)', async () => {
  const context = await newContext(from, [person.id])
  const members = await membersOf(await exportOf(from, context, '?rdfFormat=application/trig'))
  const { bytes = Buffer.from('') } = members.find(({ name }) => name === 'triples.rdf') ?? {}
  const rights = new Parser({ format: 'TriG' })
    .parse(bytes.toString())
    .filter(({ predicate }) => predicate.value === `${STORE}write`)
    .map(({ subject, object }) => [subject.value, object.value])
  assert.deepEqual(rights, [[`${from.base}_contexts/entry/${context}`, principal(from, person.id).value]])
})

test('with metadataOnly such an export has the metadata alone', async () => {
  const members = await exportAs('application/trig', '&metadataOnly')
  assert.deepEqual([...members.keys()], ['triples.rdf', 'export.properties'])
  const quads = new Parser({ format: 'TriG' }).parse(members.get('triples.rdf') ?? '')
  assert.ok(quads.length > 0)
  for (const { graph } of quads) assert.match(graph.value, /\/(cached-external-)?metadata\/[a-z]+$/)
})

test('a syntax that does not exist, or cannot say what is to be said, is 406 before the zip begins', async () => {
  for (const type of ['application/ld+json', 'application/rdf+json', 'image/png'])
    assertRefused(await from.get(`${context}/export?rdfFormat=${type}`), 406, 'not-acceptable', type)
  const other = await newContext(from)
  await newEntry(from, other, '', { metadata: graphOf('http://ex.org/', 'http://ex.org/1', uriTerm('http://ex.org/')) })
  assertRefused(await from.get(`${other}/export?rdfFormat=application/rdf+xml`), 406, 'not-acceptable')
  assert.equal((await from.get(`${other}/export?rdfFormat=text/turtle`)).status, 200)
  assertRefused(await person.visitor.get(`${context}/export?rdfFormat=text/turtle`), 403, 'not-allowed')
})
