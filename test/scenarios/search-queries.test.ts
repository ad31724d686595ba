import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedPattern } from '../../src/features/search/bounded-pattern.ts'
import { predicateHash } from '../../src/search/index-fields.ts'
import { after } from '../support/after.ts'
import { assertRefused, DCT, graphOf, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { escaped, find, idsOf, searchPath } from '../support/search.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const resource = (id: string): string => `${admin.base}${context}/resource/${id}`

/** Ids of the entries made below, by what they are about. */
const made: Record<string, string> = {}
const ISSUED = `${DCT}issued`
const EXTENT = `${DCT}extent`
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const XSD = 'http://www.w3.org/2001/XMLSchema#'
const typed = (value: string, type: string) => ({ ...textTerm(value), datatype: XSD + type })

async function make(name: string, statements: Record<string, object[]>, query = ''): Promise<void> {
  const id = `e-${name}`
  const metadata = { [resource(id)]: statements }
  made[name] = await newEntry(admin, context, `?id=${id}${query}`, { metadata })
}

await make('duck', {
  [TITLE]: [{ ...textTerm('Donald Duck'), lang: 'en' }],
  [`${DCT}description`]: [textTerm('A drake who runs into troubles')],
  [TYPE]: [uriTerm('http://example.org/Duck')],
  [ISSUED]: [typed('1934-06-09', 'date')],
  [EXTENT]: [typed('47', 'integer')],
  [`${DCT}subject`]: [textTerm('comics'), uriTerm('http://example.org/subjects/birds')],
})
await make('mouse', {
  [TITLE]: [textTerm('Mickey Mouse'), { ...textTerm('Musse Pigg'), lang: 'sv' }],
  [`${DCT}description`]: [textTerm('The running mouse')],
  [TYPE]: [uriTerm('http://example.org/Mouse')],
  [ISSUED]: [typed('1928-11-18T12:00:00Z', 'dateTime')],
  [EXTENT]: [typed('-3', 'int')],
})
await make('goose', { [TITLE]: [textTerm('McDonald Goose (old)')], [TYPE]: [uriTerm('http://example.org/Duck')] })
await make('plane', {
  [TITLE]: [textTerm('\uFF37\uFF29\uFF24\uFF25 \uFB01ne cata\u00ADlogue \u{1F986}')],
  [`${DCT}description`]: [textTerm('Ele\u200Bphants visit \u6771\u4EAC\u30BF\u30EF\u30FC')],
})
await make('text', {}, '&graphtype=string')
await make('list', {}, '&graphtype=list')

const here = (query: string): string => `(${query}) AND context:${escaped(admin.base + context)}`

async function names(query: string, more = ''): Promise<string> {
  const found = idsOf(await find(admin, here(query), more))
  return Object.keys(made)
    .filter(name => found.includes(made[name] ?? ''))
    .join(' ')
}

const rules: ReadonlyArray<readonly [rule: string, query: () => string, expected: string]> = [
  ['a part of a word, whatever its case', () => 'title:donald', 'duck goose'],
  ['a term longer than a word', () => 'title:"donald duck"', 'duck'],
  ['words apart must all occur', () => 'title:duck\\ donald', 'duck'],
  ['a suffix wildcard', () => 'title:mous*', 'mouse'],
  ['fewer than three characters with a wildcard', () => 'title:mo*', 'mouse'],
  ['escaped brackets', () => 'title:\\(old\\)', 'goose'],
  ['AND', () => 'title:donald AND title:duck', 'duck'],
  ['OR', () => 'title:duck OR title:mouse', 'duck mouse'],
  ['nothing between terms is OR', () => 'title:duck title:mouse', 'duck mouse'],
  ['AND binds closer than OR', () => 'title:mouse OR title:donald AND title:goose', 'mouse goose'],
  ['brackets group', () => '(title:mouse OR title:donald) AND title:goose', 'goose'],
  ['NOT', () => 'title:donald AND NOT title:goose', 'duck'],
  ['NOT with a group', () => 'title:* AND NOT(title:duck OR title:goose)', 'mouse plane'],
  ['NOT beside OR excludes', () => 'title:donald NOT title:goose', 'duck'],
  ['only NOT', () => 'NOT title:donald', 'mouse plane text list'],
  ['signs', () => '+title:donald -title:goose', 'duck'],
  ['terms grouped under a field', () => 'title:(donald AND duck)', 'duck'],
  ['a boost changes no hits', () => 'title:duck^5 OR title:mouse', 'duck mouse'],
  ['whole words, stemmed', () => 'all:run', 'duck mouse'],
  ['a part of a word is no word', () => 'all:rake', ''],
  ['without a field it is sought in all texts', () => 'trouble', 'duck'],
  ['a stop word finds nothing', () => 'all:the', ''],
  ['and hinders nothing', () => 'all:the\\ mouse', 'mouse'],
  ['a phrase of words', () => 'all:"running mouse"', 'mouse'],
  ['in its order', () => 'all:"mouse running"', ''],
  ['a title in a language', () => 'title.sv:musse', 'mouse'],
  ['a title without language', () => 'title.nolang:mickey', 'mouse'],
  ['not in another language', () => 'title.en:mickey', ''],
  ['a description', () => 'description:rake', 'duck'],
  ['tags: literals', () => 'tag.literal:comic', 'duck'],
  ['tags: URIs', () => `tag.uri:${escaped('http://example.org/subjects/birds')}`, 'duck'],
  ['a type', () => `rdfType:${escaped('http://example.org/Duck')}`, 'duck goose'],
  ['a string is exact', () => `rdfType:${escaped('http://example.org/Duc')}`, ''],
  ['and case-sensitive', () => 'graphType:string', ''],
  ['a string with a wildcard', () => `rdfType:${escaped('http://example.org/')}*`, 'duck mouse goose'],
  ['a wildcard inside', () => `rdfType:${escaped('http://example.org/')}M*se`, 'mouse'],
  ['graph types', () => 'graphType:String OR graphType:List', 'text list'],
  ['a colon in a value without a backslash', () => 'rdfType:http\\://example.org/Mouse', 'mouse'],
  ['a resource', () => `resource:${escaped(resource('e-duck'))}`, 'duck'],
  ['several', () => `resource:${escaped(resource('e-duck'))} OR resource:${escaped(resource('e-list'))}`, 'duck list'],
  ['an entry by the name that EntryStore has', () => `id:${escaped(`${admin.base}${context}/entry/e-text`)}`, 'text'],
  ['an entry', () => `uri:${escaped(`${admin.base}${context}/entry/e-text`)}`, 'text'],
  ['a creator', () => `creator:${escaped(`${admin.base}_principals/resource/_admin`)} AND graphType:List`, 'list'],
  ['literals of a predicate (3f2ae919, W3.10.4)', () => 'metadata.predicate.literal.3f2ae919:Donald', 'duck goose'],
  ['whole words of a predicate', () => 'metadata.predicate.literal_t.3f2ae919:donald', 'duck'],
  ['whole literals of a predicate', () => 'metadata.predicate.literal_s.3f2ae919:"Donald Duck"', 'duck'],
  ['URIs of a predicate', () => `metadata.predicate.uri.c74e2b73:${escaped('http://example.org/Mouse')}`, 'mouse'],
  ['URIs anywhere', () => `metadata.object.uri:${escaped('http://example.org/subjects/birds')}`, 'duck'],
  ['literals anywhere', () => 'metadata.object.literal:comics', 'duck'],
  ['a whole number', () => `metadata.predicate.integer.${predicateHash(EXTENT)}:47`, 'duck'],
  ['a range of numbers', () => `metadata.predicate.integer.${predicateHash(EXTENT)}:[* TO 46]`, 'mouse'],
  ['open at both ends', () => `metadata.predicate.integer.${predicateHash(EXTENT)}:[* TO *]`, 'duck mouse'],
  ['ends left out', () => `metadata.predicate.integer.${predicateHash(EXTENT)}:{-3 TO 47]`, 'duck'],
  ['a range of dates', () => `metadata.predicate.date.${predicateHash(ISSUED)}:[1930 TO 1940]`, 'duck'],
  ['the day of creation', () => 'created:[2100-01-01T00:00:00Z TO *]', ''],
  ['a range of strings', () => 'graphType:[M TO T]', 'duck mouse goose plane text'],
  ['full-width letters', () => 'title:wide', 'plane'],
  ['a ligature', () => 'title:fine', 'plane'],
  ['a query with a ligature', () => 'all:\uFB01ne', 'plane'],
  ['a soft hyphen inside a word', () => 'title:catalogue', 'plane'],
  ['a character without width inside a word', () => 'all:elephant', 'plane'],
  ['a query with a soft hyphen', () => 'title:mou\u00ADse', 'mouse'],
  ['an emoji in a title', () => 'title:\u{1F986}', 'plane'],
  ['two characters of a script without spaces', () => 'all:\u4EAC\u30BF', 'plane'],
  ['in their order', () => 'all:\u30BF\u4EAC', ''],
]

for (const [rule, query, expected] of rules) {
  test(`${rule} (W3.10.3, W3.10.4)`, async () => {
    assert.equal(await names(query()), expected)
  })
}

test('one emoji, or two characters of a script without spaces, is a query (W3.10.3)', async () => {
  for (const query of ['\u{1F986}', '\u6771\u4EAC'])
    assert.ok(idsOf(await find(admin, query)).includes(made['plane'] ?? ''))
})

test('filters narrow the hits, each of them (W3.10.1)', async () => {
  assert.equal(await names('title:*', '&filterQuery=title:donald,title:duck'), 'duck')
  assert.equal(await names('title:*', `&filterQuery=${encodeURIComponent('title:(duck OR mouse)')}`), 'duck mouse')
})

test('members of a list are found by it, and no longer when they have left it (W3.10.4)', async () => {
  const list = `lists:${escaped(resource('e-list'))}`
  assert.equal((await admin.put(`${context}/resource/e-list`, ['e-duck', 'e-goose'])).status, 204)
  assert.equal(await names(list), 'duck goose')
  assert.equal((await admin.put(`${context}/resource/e-list`, ['e-goose'])).status, 204)
  assert.equal(await names(list), 'goose')
})

test('a link is found by its resource, a Reference by the copy of its metadata (W3.10.4)', async () => {
  const far = 'http://far.example/thing'
  const cached = { 'cached-external-metadata': graphOf(far, TITLE, textTerm('Faraway')) }
  const query = `?entrytype=reference&resource=${far}&cached-external-metadata=http://far.example/graph`
  const id = await newEntry(admin, context, query, cached)
  assert.deepEqual(idsOf(await find(admin, 'title:faraway')), [id])
  assert.deepEqual(idsOf(await find(admin, `resource:${escaped(far)}`)), [id])
  const [hit] = (await find(admin, 'title:faraway')).resource.children
  assert.deepEqual(hit?.['cached-external-metadata'], graphOf(far, TITLE, textTerm('Faraway')))
  assert.equal(hit?.metadata, undefined)
})

test('a predicate under the base address is found by the hash of its absolute IRI, also after a move to another (W3.10.4)', async t => {
  const earlier = await startInProcess({ after: work => t.after(work) })
  const first = await earlier.admin()
  const place = await newContext(first)
  const own = `${first.base}terms/colour`
  const id = await newEntry(first, place, '', {
    metadata: graphOf(`${first.base}${place}/resource/x`, own, textTerm('crimson')),
  })
  const query = (predicate: string): string => `metadata.predicate.literal.${predicateHash(predicate)}:crimson`
  assert.deepEqual(idsOf(await find(first, query(own))), [id])
  assert.deepEqual(idsOf(await find(first, query('./terms/colour'))), [])
  await earlier.close()
  const later = await startInProcess(t, { folder: earlier.folder })
  const second = await later.admin()
  assert.notEqual(second.base, first.base)
  assert.deepEqual(idsOf(await find(second, query(`${second.base}terms/colour`))), [id])
  assert.deepEqual(idsOf(await find(second, query(own))), [])
})

const refused = [
  '',
  'ab',
  '(title:x',
  'title:x)',
  'title:"x',
  'title:',
  'title:[a b]',
  'title:[a TO b',
  'title:x AND',
  'AND title:x',
  'x^5^',
  '^5x',
  'title:x\\',
  'created:yesterday',
  'title:x]',
  'a*b*c*d*e',
  '(((',
  ':::',
  'NOT NOT',
]
for (const query of refused) {
  test(`"${query}" is refused as malformed (W3.10.2)`, async () => {
    assertRefused(await admin.get(searchPath(query)), 400, 'invalid-query')
  })
}

test('32 terms with words, wildcards or ranges, filters included, are the limit, facets and orders included; exact terms cost an eighth (D15.1)', async () => {
  const terms = Array.from({ length: 32 }, (_, n) => `title:duck${n}`).join(' ')
  assert.equal((await find(admin, terms)).results, 0)
  for (const one of ['all:mouse', 'metadata.object.uri:h*p*', 'uri:[a TO b]', 'lists:x', 'entryType:*']) {
    assertRefused(await admin.get(searchPath(terms, `&filterQuery=${one}`)), 400, 'query-too-costly', one)
  }
  for (const [others, status] of [
    ['&facetFields=rdfType', 400],
    ['&sort=title+asc', 400],
    ['&sort=modified+desc,created+asc,score+desc', 200],
  ] as const)
    assert.equal((await admin.get(searchPath(terms, others))).status, status, others)
  const fields = Array.from({ length: 20 }, (_, n) => `metadata.predicate.literal_s.000000${10 + n}`)
  const most = `&facetFields=${fields.join(',')}&sort=${fields.map(field => `${field}+asc`).join(',')}`
  assert.equal((await admin.get(searchPath('title:duck', most))).status, 200)
  const exact = Array.from({ length: 250 }, (_, n) => (n % 2 === 0 ? `graphType:x${n}` : 'entryType:Local'))
  assert.equal(await names(exact.join(' ')), 'duck mouse goose plane text list')
  assertRefused(await admin.get(searchPath(exact.join(' '), '&filterQuery=title:duck')), 400, 'query-too-costly')
})

test('many URIs of one field joined with OR, or all excluded, cost no more than one (D15.1)', async () => {
  const uris = Array.from({ length: 200 }, (_, n) => `"http://example.org/${n}"`).join(' ')
  const words = Array.from({ length: 31 }, () => 'title:duck').join(' AND ')
  assert.equal(await names(`${words} AND NOT rdfType:(${uris})`), 'duck')
})

test('a facet pattern is limited in length, in what it repeats and in the work it makes (D15.1)', async () => {
  const facet = (pattern: string): string =>
    searchPath('title:duck', `&facetFields=graphType,rdfType&facetMatches=${encodeURIComponent(pattern)}`)
  assertRefused(await admin.get(facet(`(${'a|'.repeat(130)})`)), 400, 'query-too-costly')
  assertRefused(await admin.get(facet('(a?){250}')), 400, 'query-too-costly')
  assertRefused(await admin.get(facet('(a')), 400, 'invalid-query')
  assert.equal((await admin.get(facet('.*Duck'))).status, 200)
  const pattern = new BoundedPattern('(a?){100}', 'it')
  assert.throws(() => {
    for (let n = 0; n < 1000; n++) pattern.matches('a'.repeat(4096))
  }, /narrow the query/)
})

test('a type is needed, and SPARQL is not available (W3.10.1)', async () => {
  assertRefused(await admin.get('search?query=title:x'), 400, 'invalid-query')
  assertRefused(await admin.get('search?type=lucene&query=title:x'), 400, 'invalid-query')
  assertRefused(await admin.get('search?type=sparql&query=title:x'), 501, 'not-available')
  assertRefused(await admin.get('search?type=solr&query=title:x&limit=many'), 400, 'invalid-query')
  assertRefused(await admin.get('search?type=solr&query=title:x&sort=title+up'), 400, 'invalid-query')
})
