import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { type Entry, EntryStore, EntryStoreUtil, type Resource } from '@entryscape/entrystore-js'
import { adminAt, newApplication, newContextAt, newName, rejectsWith, twice } from '../support/client.ts'
import { startProcess } from '../support/service.ts'

const service = await startProcess({ after })
const admin = await adminAt(service)

const books = [
  { title: 'Winter in Lapland', tags: ['travel', 'snow'], pages: '120', issued: '2020-01-15', type: 'foaf:Document' },
  { title: 'Summer (and winter) cooking', tags: ['food'], pages: '80', issued: '2021-06-01', type: 'foaf:Document' },
  { title: 'A history of snow: part one', tags: ['snow'], pages: '300', issued: '2022-03-10', type: 'foaf:Image' },
] as const

/** A context with a shelf of books. */
async function shelf(): Promise<[Resource, Entry[]]> {
  const context = await newContextAt(admin)
  const entries: Entry[] = []
  for (const { title, tags, pages, issued, type } of books) {
    const entry = context.newNamedEntry().addL('dcterms:title', title, 'en').add('rdf:type', type)
    entry.addD('dcterms:extent', pages, 'xsd:integer').addD('dcterms:issued', issued, 'xsd:date')
    for (const tag of tags) entry.addL('dcat:keyword', tag)
    entries.push(await entry.add('dcterms:publisher', `http://example.org/${type.slice(5)}`).commit())
  }
  return [context, entries]
}

twice(rule => {
  rule('an application finds entries by what they say, in the ways that its queries offer (W3.10.3)', async () => {
    const [context, entries] = await shelf()
    const query = () => admin.newSolrQuery().context(context)
    const found = async (of: ReturnType<typeof query>): Promise<number[]> =>
      (await of.getEntries()).map(entry => entries.indexOf(entry)).sort((a, b) => a - b)
    assert.deepEqual(await found(query()), [0, 1, 2])
    assert.deepEqual(await found(query().title('winter')), [0, 1])
    assert.deepEqual(await found(query().title('wi')), [0, 1], 'a short word is the beginning of one')
    assert.deepEqual(await found(query().title('winter', 'not')), [2])
    assert.deepEqual(await found(query().title(['lapland', 'cooking'])), [0, 1])
    assert.deepEqual(await found(query().title('history of snow: part')), [2])
    assert.deepEqual(await found(query().title('(and winter)')), [1])
    assert.deepEqual(await found(query().rdfType('foaf:Image')), [2])
    assert.deepEqual(await found(query().tagLiteral('snow')), [0, 2])
    assert.deepEqual(await found(query().literalProperty('dcat:keyword', 'food')), [1])
    assert.deepEqual(await found(query().literalProperty('dcat:keyword', 'food', 'not', 'string')), [0, 2])
    assert.deepEqual(await found(query().uriProperty('dcterms:publisher', 'http://example.org/Image')), [2])
    assert.deepEqual(await found(query().integerProperty('dcterms:extent', '120')), [0])
    assert.deepEqual(await found(query().integerPropertyRange('dcterms:extent', '100', '400')), [0, 2])
    const range = [new Date('2021-01-01'), new Date('2021-12-31')] as const
    assert.deepEqual(await found(query().datePropertyRange('dcterms:issued', ...range)), [1])
    assert.deepEqual(await found(query().datePropertyRange('dcterms:issued', range[1], undefined)), [2])
    assert.deepEqual(await found(query().createdRange(undefined, new Date(Date.now() - 86_400_000))), [])
    assert.deepEqual(await found(query().resource([0, 2].map(index => entries[index]?.getResourceURI() ?? ''))), [0, 2])
    assert.deepEqual(await found(query().uri(entries[1]?.getURI() ?? '')), [1])
    assert.deepEqual(await found(query().or({ title: 'lapland', 'tag.literal': 'food' })), [0, 1])
    assert.deepEqual(await found(query().and({ title: 'winter', not: { title: 'cooking' } })), [0])
    const either = query().literalProperty('dcat:keyword', 'travel').literalProperty('dcat:keyword', 'food')
    assert.deepEqual(await found(either), [])
    assert.deepEqual(await found(either.disjunctiveProperties()), [0, 1])
    assert.equal(await query().title('winter').size(), 2)
    assert.equal(await query().title('no such title').getEntry(), undefined)
  })

  rule('what is found comes in pages and in the order asked for (W3.10.1)', async () => {
    const [context, entries] = await shelf()
    const list = admin.newSolrQuery().context(context).sort('title.en+desc').limit(2).list()
    assert.deepEqual(await list.getEntries(0), [entries[0], entries[1]])
    assert.equal(list.getSize(), 3)
    assert.deepEqual(await list.getEntries(1), [entries[2]])
    const seen: Entry[] = []
    assert.equal(await list.forEach(entry => void seen.push(entry)), 3)
    assert.deepEqual(seen, [entries[0], entries[1], entries[2]])
    const again = admin.createSearchList(admin.newSolrQuery().context(context).sort('modified+asc'))
    assert.deepEqual(await again.getAllEntries(), entries)
  })

  rule('facets count the values in the hits (W3.10.2)', async () => {
    const [context] = await shelf()
    const query = admin.newSolrQuery().context(context).literalFacet('dcat:keyword').uriFacet('rdf:type')
    const list = query.integerPropertyRange('dcterms:extent', '0', '1000').limit(1).list()
    await list.getEntries()
    const [keywords, types] = list.getFacets()
    assert.equal(keywords?.predicate, 'http://www.w3.org/ns/dcat#keyword')
    const counts = Object.fromEntries(keywords.values.map(({ name, count }) => [name, count]))
    assert.deepEqual(counts, { food: 1, snow: 2, travel: 1 })
    assert.equal(types?.values.length, 2)
  })

  rule('a search is up to date with the answer to a change, and shows only what one may read (W3.10.5)', async () => {
    const word = newName('uncommon')
    const context = await newContextAt(admin)
    const entry = await context.newEntry().addL('dcterms:title', word).commit()
    const [store, person] = await newApplication(service, admin)
    const sees = (who: EntryStore): Promise<number> => who.newSolrQuery().title(word).size()
    assert.deepEqual([await sees(admin), await sees(store), await sees(new EntryStore(service.base))], [1, 0, 0])
    entry.getEntryInfo().setACL({ mread: [person.getId()] })
    await entry.getEntryInfo().commit()
    assert.deepEqual([await sees(store), await sees(new EntryStore(service.base))], [1, 0])
    assert.equal(await admin.newSolrQuery().title(word).publicRead().size(), 0)
    entry.getMetadata().findAndRemove(null, 'dcterms:title')
    await entry.commitMetadata(true)
    assert.deepEqual([await sees(admin), await sees(store)], [0, 0])
    await rejectsWith(
      400,
      admin.getREST().get(`${service.base}search?type=solr&query=${encodeURIComponent('title:(')}`),
    )
  })

  rule('the helpers of the client find entries by resource and type, and clear up (W3.10.3)', async () => {
    const [context, entries] = await shelf()
    const store = await adminAt(service)
    const util = new EntryStoreUtil(store)
    const uris = entries.map(entry => entry.getResourceURI())
    assert.deepEqual(
      (await util.loadEntriesByResourceURIs(uris, context)).map(entry => entry.getURI()),
      entries.map(entry => entry.getURI()),
    )
    const link = await context.newLink(`http://example.org/${newName('page')}?a=(b)&c=d:e`).commit()
    assert.equal((await util.getEntryByResourceURI(link.getResourceURI(), context)).getURI(), link.getURI())
    store.getCache().clear()
    const both = uris.slice(0, 2).map(uri => util.getEntryByResourceURIDebounce(uri, context))
    assert.deepEqual(
      (await Promise.all(both)).map(entry => entry.getResourceURI()),
      uris.slice(0, 2),
    )
    const image = await util.getEntryByType('foaf:Image', context)
    assert.equal(image.getURI(), entries[2]?.getURI())
    assert.ok((await util.getEntryByGraphType('User')).isUser())
    await assert.rejects(util.getEntryByResourceURI('http://example.org/nowhere', context))

    const deleted = await util.removeAll(store.newSolrQuery().context(context).list())
    assert.equal(deleted.length, 4)
    assert.equal(await store.newSolrQuery().context(context).size(), 0)
  })

  rule('the state of the service is for administrators (W3.14)', async () => {
    const status = await admin.getStatus()
    assert.equal(status['baseURI'], service.base)
    const [store] = await newApplication(service, admin)
    await rejectsWith(403, store.getStatus())
  })
})
