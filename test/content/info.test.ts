import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { InvalidInput } from '../../src/base/errors.ts'
import { type Acl, aclSlots, type Entry, type NewEntry, newEntry } from '../../src/model/entry.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../../src/model/addresses.ts'
import { describeInfo, readInfo, withInfo, withStatement, withSubjectMoved } from '../../src/content/info.ts'
import { type Graph, graphOf, literal, objectsOf, statementsOf, uri } from '../../src/graph/graph.ts'
import { dct, rdf, store } from '../../src/graph/vocabulary.ts'

const NOW = Date.UTC(2026, 10, 21, 9, 24, 5, 700)
const entryOf = (given: Partial<NewEntry> = {}): Entry =>
  newEntry({ context: '3', id: '7', by: '17', now: NOW, ...given })

const acl: fc.Arbitrary<Acl> = fc.dictionary(
  fc.constantFrom(...aclSlots),
  fc.uniqueArray(fc.constantFrom('_guest', '7', '8', './_principals/entry/admin').map(principalUri), {
    minLength: 1,
    maxLength: 3,
  }),
  { noNullPrototype: true },
)
const free: fc.Arbitrary<Graph> = fc
  .uniqueArray(
    fc.record({
      subject: fc.constantFrom('./3/entry/7', './3/resource/7', './3/metadata/7', 'http://ex.org/s'),
      predicate: fc.constantFrom('http://ex.org/p', store.term('status'), dct.format, rdf.type),
      object: fc.constantFrom(literal('text/plain'), uri('http://ex.org/Thing'), uri('./3')),
    }),
    { selector: statement => JSON.stringify(statement) },
  )
  .map(statements => JSON.parse(JSON.stringify(graphOf(statements))) as Graph)

const local: fc.Arbitrary<Partial<NewEntry>> = fc.record({
  graphType: fc.constantFrom('None', 'String', 'List', 'Graph'),
  resourceType: fc.constantFrom('InformationResource', 'NamedResource'),
})
const external: fc.Arbitrary<Partial<NewEntry>> = fc.record({
  entryType: fc.constantFrom('LinkReference', 'Reference'),
  graphType: fc.constantFrom('None', 'User'),
  externalResource: fc.constantFrom('http://ex.org/page', './_principals/resource/3'),
  externalMetadata: fc.constantFrom('http://ex.org/page.rdf', './_principals/metadata/3'),
})

test('info that is sent back unchanged changes nothing: ACL, free statements, types, addresses (W3.3.2)', () => {
  fc.assert(
    fc.property(fc.oneof(local, external), acl, free, (kind, acl, statements) => {
      const entry = entryOf({ ...kind, acl, statements })
      const info = describeInfo(entry)
      const asked = readInfo(info, entry)
      assert.deepEqual(asked.acl, acl)
      const again: Entry = {
        ...entry,
        acl: asked.acl,
        statements: asked.statements,
        entryType: asked.entryType ?? 'Local',
        graphType: asked.graphType ?? 'None',
        resourceType: asked.resourceType ?? 'InformationResource',
        externalResource: asked.externalResource,
        externalMetadata: asked.externalMetadata,
      }
      assert.deepEqual(asStatements(describeInfo(again)), asStatements(info))
    }),
  )
})

test('where an entry was created stays in its info, whatever is sent (W2.3)', () => {
  const origin = { './3/entry/7': { [store.originallyCreatedIn]: [uri('./3/resource/1')] } }
  const entry: Entry = { ...newEntry({ context: '3', id: '7', by: '17', now: NOW }), statements: origin }
  const sent = graphOf([
    { subject: './3/entry/7', predicate: store.originallyCreatedIn, object: uri('./3/resource/2') },
    { subject: './3/entry/7', predicate: 'urn:p', object: uri('urn:b') },
  ])
  const changed = withInfo(entry, readInfo(sent, entry))
  assert.deepEqual(changed.statements, {
    './3/entry/7': { ...origin['./3/entry/7'], 'urn:p': [uri('urn:b')] },
  })
})

const asStatements = (graph: Graph): string[] => [...statementsOf(graph)].map(item => JSON.stringify(item)).sort()

test('a new entry shows its structure, its dates, and its creator as the single contributor (W2.3, W2.5)', () => {
  const date = [
    { type: 'literal', value: '2026-11-21T09:24:05.700Z', datatype: 'http://www.w3.org/2001/XMLSchema#dateTime' },
  ]
  assert.deepEqual(describeInfo(entryOf()), {
    './3/entry/7': {
      [store.resource]: [uri('./3/resource/7')],
      [store.metadata]: [uri('./3/metadata/7')],
      [store.relation]: [uri('./3/relations/7')],
      [dct.created]: date,
      [dct.modified]: date,
      [dct.creator]: [uri('./_principals/resource/17')],
      [dct.contributor]: [uri('./_principals/resource/17')],
    },
  })
})

test('a Reference has no local metadata, but the address of the remote graph and of its copy (W2.3)', () => {
  const info = describeInfo(
    entryOf({ entryType: 'Reference', externalResource: 'http://ex.org/a', externalMetadata: 'http://ex.org/a.rdf' }),
  )
  const about = info['./3/entry/7'] ?? {}
  assert.equal(about[store.metadata], undefined)
  assert.deepEqual(about[store.resource], [uri('http://ex.org/a')])
  assert.deepEqual(about[store.externalMetadata], [uri('http://ex.org/a.rdf')])
  assert.deepEqual(about[store.cachedExternalMetadata], [uri('./3/cached-external-metadata/7')])
  assert.deepEqual(about[rdf.type], [uri(store.Reference)])
})

test('the resource of a context is addressed by its id alone (W1.1)', () => {
  const info = describeInfo(entryOf({ context: CONTEXTS, id: '31', graphType: 'Context' }))
  assert.deepEqual(objectsOf(info, './_contexts/entry/31', store.resource), [uri('./31')])
  assert.deepEqual(objectsOf(info, './31', rdf.type), [uri(store.term('Context'))])
})

test('a home context is shown as the entry of the context, and accepted in both forms (W2.3)', () => {
  const group = entryOf({ context: PRINCIPALS, id: '4', graphType: 'Group' })
  const r = './_principals/resource/4'
  const reported = describeInfo(group, { homeContext: '31' })
  assert.deepEqual(objectsOf(reported, r, store.homeContext), [uri('./_contexts/entry/31')])
  for (const form of ['./_contexts/entry/31', './31']) {
    const asked = readInfo({ [r]: { [store.homeContext]: [uri(form)] } }, group)
    assert.equal(asked.homeContextUri, form)
    assert.deepEqual(asked.statements, {})
  }
})

test('dates, creator, contributors and addresses that a client sends are passed over (W2.5, W3.3.2)', () => {
  const entry = entryOf()
  const forged = {
    './3/entry/7': {
      [dct.created]: [literal('1999-01-01T00:00:00.000Z')],
      [dct.modified]: [literal('1999-01-01T00:00:00.000Z')],
      [dct.creator]: [uri('./_principals/resource/8')],
      [dct.contributor]: [uri('./_principals/resource/8')],
      [store.resource]: [uri('http://ex.org/elsewhere')],
      [store.metadata]: [uri('http://ex.org/elsewhere')],
      [store.relation]: [uri('http://ex.org/elsewhere')],
    },
  }
  assert.deepEqual(readInfo(forged, entry), { acl: {}, statements: {} })
})

test('principals of an ACL are kept to the letter, but they must be IRIs (W2.4)', () => {
  const odd = './_principals/resource/http://127.0.0.1:8080/_principals/entry/admin'
  const about = (object: ReturnType<typeof uri>): Graph => ({ './3/metadata/7': { [store.read]: [object] } })
  assert.deepEqual(readInfo(about(uri(odd)), entryOf()).acl, { mread: [odd] })
  assert.throws(() => readInfo(about(literal('admin')), entryOf()), {
    constructor: InvalidInput,
    code: 'invalid-graph',
  })
})

test('when the resource of a link moves, the ACL and the statements about the old one go along', () => {
  const link = entryOf({ entryType: 'Link', externalResource: 'http://ex.org/old' })
  const asked = readInfo(
    {
      './3/entry/7': { [store.resource]: [uri('http://ex.org/new')], [rdf.type]: [uri(store.Link)] },
      'http://ex.org/old': { [store.read]: [uri(principalUri('8'))], 'http://ex.org/p': [literal('a')] },
    },
    link,
  )
  assert.equal(asked.externalResource, 'http://ex.org/new')
  assert.deepEqual(asked.acl, { rread: [principalUri('8')] })
  assert.deepEqual(asked.statements, { 'http://ex.org/new': { 'http://ex.org/p': [literal('a')] } })
})

test('a statement is replaced, or taken away, without touching its neighbours', () => {
  const graph: Graph = { a: { p: [literal('1'), literal('2')], q: [literal('3')] }, b: { p: [literal('4')] } }
  assert.deepEqual(withStatement(graph, 'a', 'p', literal('5')), {
    a: { q: [literal('3')], p: [literal('5')] },
    b: { p: [literal('4')] },
  })
  assert.deepEqual(withStatement(graph, 'a', 'p', undefined), { a: { q: [literal('3')] }, b: { p: [literal('4')] } })
  assert.deepEqual(withSubjectMoved(graph, 'a', 'b'), {
    b: { p: [literal('1'), literal('2'), literal('4')], q: [literal('3')] },
  })
})

test('an access list names at most a thousand users and groups (D15.2)', () => {
  const info = (count: number): Graph => ({
    './3/resource/7': { [store.read]: Array.from({ length: count }, (_, index) => uri(principalUri(`${index}`))) },
  })
  assert.equal(readInfo(info(1000), entryOf()).acl.rread?.length, 1000)
  assert.throws(() => readInfo(info(1001), entryOf()), { code: 'graph-too-large' })
})
