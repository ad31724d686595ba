import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { assertRefused, DCT, type GraphJson, RDF_TYPE, textTerm, TITLE, uriTerm } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const DCAT = 'http://www.w3.org/ns/dcat#'
const PART = `${DCT}hasPart`
const PART_OF = `${DCT}isPartOf`

const service = await startInProcess(
  { after },
  {
    settings: {
      'service.traversal.predicates.parts': `dcterms:hasPart, ${DCT}relation`,
      'service.traversal.max-depth.parts': '2',
      'service.traversal.limit.parts': '4',
      'service.traversal.stop.parts.1': 'rdf:type,dcat:Dataset',
      'service.traversal.stop.parts.2': 'dcterms:title,a secret',
      'service.traversal.predicates.both.1': 'dcterms:hasPart',
      'service.traversal.predicates.both.2': '^dcterms:isPartOf',
      'service.traversal.scope.both': 'context',
    },
  },
)
const admin = await service.admin()
const { id: userId, visitor: owner } = await newUser(service, admin)

interface Place {
  readonly context: string
  /** An entry with its id as its title. */
  readonly make: (id: string, statements?: Record<string, readonly string[]>, inContext?: string) => Promise<void>
  /** Titles of what a traversal gathers. */
  readonly walk: (visitor: Visitor, id: string, query: string) => Promise<string[]>
}

const uriOf = (context: string, id: string): string =>
  id.includes(':') ? id : `${admin.base}${context}/resource/${id}`

async function newPlace(): Promise<Place> {
  const context = await newContext(admin, [userId])
  return {
    context,
    make: async (id, statements = {}, inContext = context) => {
      const links = Object.entries(statements).map(([predicate, ids]) => [
        predicate,
        ids.map(one => uriTerm(uriOf(context, one))),
      ])
      const said = { [TITLE]: [textTerm(id)], ...(Object.fromEntries(links) as object) }
      await newEntry(admin, inContext, `?id=${id.replaceAll(' ', '-')}`, {
        metadata: { [uriOf(inContext, id.replaceAll(' ', '-'))]: said },
      })
    },
    walk: async (visitor, id, query) => {
      const answer = await visitor.get(`${context}/metadata/${id}?${query}`, { accept: 'application/json' })
      assert.equal(answer.status, 200, answer.text)
      const titles = Object.values(answer.json<GraphJson>()).flatMap(said => said[TITLE] ?? [])
      return titles.map(({ value }) => value).sort()
    },
  }
}

test('a profile of the settings follows its predicates, within its depth, also with further predicates (D18.29)', async () => {
  const { make, walk } = await newPlace()
  await make('a', { [PART]: ['b'], [`${DCT}requires`]: ['e'] })
  await make('b', { [`${DCT}relation`]: ['c'] })
  await make('c', { [PART]: ['d'] })
  await make('d')
  await make('e')
  assert.deepEqual(await walk(owner, 'a', 'recursive=parts'), ['a', 'b', 'c'])
  assert.deepEqual(await walk(owner, 'a', 'recursive=parts&depth=1'), ['a', 'b'])
  assert.deepEqual(await walk(owner, 'a', 'recursive=parts&depth=9'), ['a', 'b', 'c'])
  assert.deepEqual(await walk(owner, 'a', 'recursive=parts,dcterms:requires'), ['a', 'b', 'c', 'e'])
})

test('a profile gathers as many entries as its limit says, the nearest first (D18.29)', async () => {
  const { make, walk } = await newPlace()
  await make('a', { [PART]: ['b', 'c', 'd', 'e'] })
  for (const id of ['b', 'c', 'd', 'e']) await make(id)
  assert.equal((await walk(owner, 'a', 'recursive=parts')).length, 4)
  assert.equal((await walk(owner, 'a', 'recursive=dcterms:hasPart')).length, 5)
})

test('an entry with a statement that stops the profile is left out, with what only it leads to (D18.29)', async () => {
  const { make, walk } = await newPlace()
  await make('a', { [PART]: ['set', 'a-secret', 'b'] })
  await make('set', { [RDF_TYPE]: [`${DCAT}Dataset`], [PART]: ['behind'] })
  await make('a secret')
  await make('behind')
  await make('b')
  assert.deepEqual(await walk(owner, 'a', 'recursive=parts'), ['a', 'b'])
  assert.deepEqual(await walk(owner, 'set', 'recursive=parts'), [], 'the first one too')
  assert.deepEqual(await walk(owner, 'a', 'recursive=dcterms:hasPart'), ['a', 'a secret', 'b', 'behind', 'set'])
})

test('a link is followed backwards, to what the caller may read, within the context of the profile (D18.29)', async () => {
  const { make, walk } = await newPlace()
  const elsewhere = await newContext(admin)
  await make('whole', { [PART]: ['part'] })
  await make('part')
  await make('other part', { [PART_OF]: ['whole'] })
  await make('piece', { [PART_OF]: ['other-part'] })
  await make('far', { [PART_OF]: ['whole'] }, elsewhere)
  const all = ['other part', 'part', 'piece', 'whole']
  assert.deepEqual(await walk(owner, 'whole', 'recursive=both'), all)
  assert.deepEqual(await walk(admin, 'whole', 'recursive=both'), all, 'the scope of the profile')
  const backwards = `recursive=${encodeURIComponent('^dcterms:isPartOf')}`
  assert.deepEqual(await walk(owner, 'whole', backwards), ['other part', 'piece', 'whole'])
  assert.deepEqual(await walk(admin, 'whole', backwards), ['far', 'other part', 'piece', 'whole'])
  assert.deepEqual(await walk(admin, 'whole', `${backwards}&scope=context`), ['other part', 'piece', 'whole'])
})

test('metadata may name a link by its address here, although its resource is elsewhere (D18.29)', async () => {
  const { context, make, walk } = await newPlace()
  const elsewhere = await newContext(admin)
  for (const [id, place] of [
    ['there', context],
    ['hidden', elsewhere],
  ] as const) {
    const metadata = { 'http://example.org/there': { [TITLE]: [textTerm(id)] } }
    await newEntry(admin, place, `?id=${id}&entrytype=link&resource=http://example.org/${id}`, { metadata })
  }
  await make('a', { [PART]: ['there', `${admin.base}${elsewhere}/resource/hidden`] })
  assert.deepEqual(await walk(owner, 'a', 'recursive=parts'), ['a', 'there'])
  assert.deepEqual(await walk(admin, 'a', 'recursive=parts&scope=context'), ['a', 'there'])
  assert.deepEqual(await walk(admin, 'a', 'recursive=parts'), ['a', 'hidden', 'there'])
})

test('dcat is there from the start: what describes a catalog, and nothing around it (D18.29)', async () => {
  const { make, walk } = await newPlace()
  await make('catalog', { [`${DCAT}dataset`]: ['dataset'], [`${DCT}publisher`]: ['publisher'] })
  await make('dataset', {
    [`${DCAT}distribution`]: ['csv'],
    [`${DCAT}contactPoint`]: ['contact'],
    [`${DCT}relation`]: ['idea'],
  })
  await make('csv', { [`${DCAT}accessService`]: ['api'] })
  await make('api', { [`${DCAT}servesDataset`]: ['neighbour'] })
  for (const id of ['publisher', 'contact', 'idea', 'neighbour']) await make(id)
  assert.deepEqual(await walk(owner, 'catalog', 'recursive=dcat'), [
    'api',
    'catalog',
    'contact',
    'csv',
    'dataset',
    'publisher',
  ])
  const { headers, status } = await owner.get(`${(await newPlace()).context}/metadata/none?recursive=dcat`)
  assert.equal(status, 404, headers['content-type'])
})

test('a name that is no profile and no predicate is 400, and the message has the profiles (D18.29)', async () => {
  const { context, make } = await newPlace()
  await make('a')
  const refused = await owner.get(`${context}/metadata/a?recursive=dcat,partz`)
  assertRefused(refused, 400, 'invalid-query')
  assert.match(refused.text, /profiles \(dcat, parts, both\).*has \\"partz\\"/)
})
