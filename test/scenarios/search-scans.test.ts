import assert from 'node:assert/strict'
import { test } from 'node:test'
import { predicateHash } from '../../src/search/index-fields.ts'
import { after } from '../support/after.ts'
import { assertRefused, DCT, textTerm, TITLE, uriTerm } from '../support/content.ts'
import { escaped, find, idsOf, searchPath } from '../support/search.ts'
import { newContext, newEntry, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)
const KEYWORD = 'http://www.w3.org/ns/dcat#keyword'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const inLanguage = (value: string, lang: string) => ({ ...textTerm(value), lang })

const make = (id: string, statements: Record<string, object[]>): Promise<string> =>
  newEntry(admin, context, `?id=${id}`, {
    metadata: { [`${admin.base}${context}/resource/${id}`]: statements },
  })
await make('falls', {
  [TITLE]: [textTerm('The Waterfall of Höga')],
  [`${DCT}description`]: [inLanguage('Falling water, seen from the bridge', 'en')],
  [KEYWORD]: [inLanguage('water', 'en'), inLanguage('vatten', 'sv')],
  [TYPE]: [uriTerm('http://example.org/types/Dataset')],
})
await make('well', {
  [TITLE]: [textTerm('Wells'), inLanguage('Brunnar', 'sv')],
  [KEYWORD]: [inLanguage('water', 'sv')],
  [TYPE]: [uriTerm('http://example.org/types/DataService')],
})
await make('report', { [TITLE]: [textTerm('Annual report.pdf of an open data-set')] })
await make('cjk', { [TITLE]: [textTerm('新数据集')] })
await make('smile', { [TITLE]: [textTerm('\u{1F600}s of the year')] })
await make('fire', { [TITLE]: [textTerm('Fire')], [`${DCT}description`]: [textTerm('No wafer')] })

const found = async (query: string): Promise<string> =>
  idsOf(await find(admin, `(${query}) AND context:${escaped(admin.base + context)}`))
    .toSorted()
    .join(' ')
const ofPredicate = (kind: string, predicate: string): string =>
  `metadata.predicate.${kind}.${predicateHash(predicate)}`

test('a regular expression finds parts of a title, whatever their case and accents, and whole exact values (W3.10.3)', async () => {
  for (const [query, expected] of [
    ['title:/wat.*/', 'falls'],
    ['title:/^wells$/', 'well'],
    ['title:/WATERFALL OF h.ga/', 'falls'],
    ['title:/höga/', 'falls'],
    ['title:/(wat|fir)e/', 'falls fire'],
    ['title:/nothing.*/', ''],
    ['title:/\\pLnnual/', 'report'],
    ['title:/[]abc]pen data/', ''],
    ['title:/[]nop]pen data/', 'report'],
    ['title:/reporté?.pdf/', 'report'],
    ['title.sv:/brun+ar/', 'well'],
    ['title.en:/brun+ar/', ''],
    ['tag.literal:/w.ter/', 'falls well'],
    ['tag.literal.en:/w.ter/', 'falls'],
    ['rdfType:/.*Data.*/', 'falls well'],
    ['rdfType:/.*dataset/', ''],
    ['rdfType:/http:\\/\\/example.org\\/types\\/Dataset/', 'falls'],
    [`${ofPredicate('literal', TITLE)}:/wat.*/`, 'falls'],
    [`${ofPredicate('literal_t', `${DCT}description`)}:/wa.er/`, 'falls fire'],
    [`${ofPredicate('uri', TYPE)}:/.*Service/`, 'well'],
    [`uri:/${escaped(`${admin.base}${context}/entry/`).replaceAll('/', '\\/')}f.*/`, 'falls fire'],
    ['title:/wat.*/ AND NOT tag.literal:vatten', ''],
    ['NOT title:/wat.*/', 'cjk fire report smile well'],
    ['title:/.*/', 'cjk falls fire report smile well'],
  ] as const)
    assert.equal(await found(query), expected, query)
})

test('a word that is nearly right is found, within one or two changes (W3.10.3)', async () => {
  for (const [query, expected] of [
    ['title:watrfall~1', 'falls'],
    ['title:wtarefall~2', 'falls'],
    ['title:wtrfall~1', ''],
    ['title:wels~1', 'well'],
    ['title:Wlels~1', 'well'],
    ['title:hoga~1', 'falls'],
    ['all:watr~1', 'falls well'],
    ['all:wafr~1', 'fire'],
    ['tag.literal.sv:vaten~1', 'falls'],
    ['tag.literal.sv:vaten~', 'falls well'],
    ['description:wafr~1', 'fire'],
    ['description.en:brigde~1', 'falls'],
    [`${ofPredicate('literal', KEYWORD)}:watr~1`, 'falls well'],
    ['graphType:None~1', 'cjk falls fire report smile well'],
  ] as const)
    assert.equal(await found(query), expected, query)
})

test('a wildcard inside a word, or before it, is found in words as well', async () => {
  for (const [query, expected] of [
    ['all:w*fall', 'falls'],
    ['all:*ter', 'falls well'],
    ['all:wa?er', 'falls fire well'],
    ['all:w?ter', 'falls well'],
    ['all:*nothing', ''],
  ] as const)
    assert.equal(await found(query), expected, query)
})

test('a wildcard beside punctuation, an emoji or a script without spaces finds the words that have it', async () => {
  for (const [query, expected] of [
    ['all:*data-set*', 'report'],
    ['all:*report.pdf*', 'report'],
    ['all:*数据*', 'cjk'],
    ['all:*\u{1F600}*', 'smile'],
    ['all:\u{1F600}~1', 'smile'],
  ] as const)
    assert.equal(await found(query), expected, query)
})

test('titles, descriptions and keywords have a field for each language (W3.10.4)', async () => {
  for (const [query, expected] of [
    ['tag.literal.en:water', 'falls'],
    ['tag.literal.sv:water', 'well'],
    ['tag.literal.SV:vatten', 'falls'],
    ['tag.literal.nolang:water', ''],
    ['tag.literal:water', 'falls well'],
    ['title.sv:brunnar', 'well'],
    ['description.en:bridge', 'falls'],
  ] as const)
    assert.equal(await found(query), expected, query)
})

test('dates may be counted from now (W3.10.3)', async () => {
  const ISSUED = `${DCT}issued`
  const day = (value: string) => [{ ...textTerm(value), datatype: 'http://www.w3.org/2001/XMLSchema#date' }]
  await make('past', { [ISSUED]: day('1950-06-01') })
  await make('future', { [ISSUED]: day('9000-06-01') })
  const issued = ofPredicate('date', ISSUED)
  for (const [range, expected] of [
    ['[* TO NOW-1DAY]', 'past'],
    ['[NOW/YEAR TO *]', 'future'],
    ['{NOW TO NOW+9000YEARS]', 'future'],
    ['[NOW-1DAY TO NOW]', ''],
    ['[1950-01-01T00:00:00Z+5MONTHS TO NOW]', 'past'],
    ['[1950-06-01+1DAY TO NOW]', ''],
  ] as const)
    assert.equal(await found(`${issued}:${range}`), expected, range)
})

test('what is not supported is 400 and named, in queries, filters, facets and orders (D18.27)', async () => {
  for (const [path, code, named] of [
    [searchPath('titel:water'), 'invalid-query', /\\"titel\\"/],
    [searchPath('title:water', '&filterQuery=graphtype:None'), 'invalid-query', /\\"graphtype\\"/],
    [searchPath('title:water', '&facetFields=rdftype'), 'invalid-query', /\\"rdftype\\"/],
    [searchPath('title:water', '&sort=titel+asc'), 'invalid-query', /\\"titel\\"/],
    [searchPath('title:water', '&sort=public+asc'), 'invalid-query', /\\"public\\"/],
    [searchPath('title:water', '&sort=lists+asc'), 'invalid-query', /\\"lists\\"/],
    [searchPath('related.metadata.predicate.uri.3f2ae919:x'), 'invalid-query', /related entries are not indexed/],
    [searchPath('fulltext:water'), 'invalid-query', /\\"fulltext\\"/],
    [searchPath('metadata.object.literal:/wat.*/'), 'invalid-query', /metadata\.object\.literal/],
    [searchPath('metadata.object.literal:watr~1'), 'invalid-query', /metadata\.object\.literal/],
    [searchPath('created:/2.*/'), 'invalid-query', /\\"created\\"/],
    [searchPath('public:tru~1'), 'invalid-query', /\\"public\\"/],
    [searchPath('lists:/.*/'), 'invalid-query', /\\"lists\\"/],
    [searchPath('title:[a TO b]'), 'invalid-query', /\\"title\\" has no ranges/],
    [searchPath('public:[a TO b]'), 'invalid-query', /\\"public\\" has no ranges/],
    [searchPath('*:water'), 'invalid-query', /\*:\*/],
    [searchPath('created:[NOW-1FORTNIGHT TO NOW]'), 'invalid-query', /NOW-1FORTNIGHT/],
    [searchPath('title:/wat(/'), 'invalid-query', /not a regular expression/],
    [searchPath('title:/(a?){400}/'), 'query-too-costly', /repeats too much/],
    [searchPath('title:"two words"~2'), 'invalid-query', /distance/],
    [searchPath(Array.from({ length: 5 }, (_, n) => `title:wat${n}r~1`).join(' ')), 'query-too-costly', /4 terms/],
  ] as const) {
    const answer = await admin.get(path)
    assertRefused(answer, 400, code, path)
    assert.match(answer.text, named, path)
  }
})
