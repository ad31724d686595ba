import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { adminAt, newContextAt, newName, rejectsWith, reload, twice } from '../support/client.ts'
import { startProcess } from '../support/service.ts'

const service = await startProcess({ after })
const admin = await adminAt(service)

twice(rule => {
  rule('the response to a creation contains dates, the single contributor, and no access list (W2.5)', async () => {
    const context = await newContextAt(admin)
    const entry = await context.newEntry().addL('dcterms:title', 'Field notes', 'en').commit()
    const info = entry.getEntryInfo()
    const me = (await admin.getUserEntry()).getResourceURI()
    assert.ok(entry.isLocal())
    assert.deepEqual([info.getGraphType(), info.getResourceType()], ['None', 'Information'])
    assert.equal(info.getCreationDate().getTime(), info.getModificationDate().getTime())
    assert.ok(Math.abs(info.getCreationDate().getTime() - Date.now()) < 600_000)
    assert.deepEqual([info.getCreator(), info.getContributors()], [me, [me]])
    assert.equal(info.hasACL(), false)
    assert.equal(entry.getMetadata().findFirstValue(entry.getResourceURI(), 'dcterms:title'), 'Field notes')
    assert.ok(entry.canAdministerEntry() && entry.canWriteMetadata() && entry.canReadResource())
    const own = await context.newEntry('own_id-1').commit()
    assert.equal(own.getURI(), `${context.getResourceURI()}/entry/own_id-1`)
    await rejectsWith(409, context.newEntry('own_id-1').commit())
    await rejectsWith(400, context.newEntry('no.id').commit())
    await own.del()
    await rejectsWith(404, context.getEntryById('own_id-1'))
  })

  rule('links, link references and references lead elsewhere (W1.3)', async () => {
    const context = await newContextAt(admin)
    const page = 'http://example.org/a page?x=1&y=å'.replace(' ', '%20')
    const link = await context.newLink(page).addL('dcterms:title', 'A page').commit()
    assert.ok(link.isLink())
    assert.equal(link.getResourceURI(), page)
    assert.equal(link.getMetadata().findFirstValue(page, 'dcterms:title'), 'A page')

    const both = await context.newLinkRef(page, 'http://example.org/a.rdf').addL('dcterms:title', 'Mine').commit()
    assert.ok(both.isLinkReference())
    both.getCachedExternalMetadata().addL(page, 'dcterms:description', 'Theirs')
    await both.commitCachedExternalMetadata()
    const all = (await reload(both)).getAllMetadata()
    assert.equal(all.findFirstValue(page, 'dcterms:title'), 'Mine')
    assert.equal(all.findFirstValue(page, 'dcterms:description'), 'Theirs')

    const prototype = context.newRef('http://example.org/b', 'http://example.org/b.rdf')
    prototype.getCachedExternalMetadata().addL('http://example.org/b', 'dcterms:title', 'Cached')
    const reference = await prototype.commit()
    assert.ok(reference.isReference())
    assert.equal(reference.getEntryInfo().getExternalMetadataURI(), 'http://example.org/b.rdf')
    assert.equal(reference.getAllMetadata().findFirstValue(null, 'dcterms:title'), 'Cached')
    await assert.rejects(reference.commitMetadata(), /reference and have no local metadata/)
  })

  rule('resource and external metadata of what is elsewhere can be changed (W3.3.2)', async () => {
    const context = await newContextAt(admin)
    const link = await context.newLink('http://example.org/old').addL('dcterms:title', 'Moves').commit()
    link.getEntryInfo().setResourceURI('http://example.org/new')
    await link.getEntryInfo().commit()
    await reload(link)
    assert.equal(link.getResourceURI(), 'http://example.org/new')
    assert.equal(link.getMetadata().findFirstValue('http://example.org/new', 'dcterms:title'), 'Moves')
    const reference = await context.newRef('http://example.org/x', 'http://example.org/y').commit()
    reference.getEntryInfo().setExternalMetadataURI('http://example.org/z')
    await reference.getEntryInfo().commit()
    assert.equal((await reload(reference)).getEntryInfo().getExternalMetadataURI(), 'http://example.org/z')
  })

  rule('a reference to an entry of the service shows its metadata as they are (W3.6)', async () => {
    const context = await newContextAt(admin)
    const target = await context.newEntry().addL('dcterms:title', 'Before').commit()
    const reference = await context.newRef(target.getResourceURI(), target.getEntryInfo().getMetadataURI()).commit()
    assert.equal((await reference.getLinkedEntry())?.getURI(), target.getURI())
    target.getMetadata().findAndRemove(null, 'dcterms:title')
    await target.addL('dcterms:title', 'After').commitMetadata()
    assert.equal((await reload(reference)).getAllMetadata().findFirstValue(null, 'dcterms:title'), 'After')
  })

  rule('a thing is described, it has no bytes (W1.5, W3.7)', async () => {
    const context = await newContextAt(admin)
    const thing = await context.newNamedEntry().add('rdf:type', 'foaf:Person').addL('foaf:name', 'Nora').commit()
    assert.ok(thing.isNamedResource())
    assert.equal(thing.getResource(true), undefined)
    const described = (await admin.getREST().get(thing.getResourceURI())) as Record<string, unknown>
    assert.deepEqual(Object.keys(described), [thing.getResourceURI()], 'its address leads to the metadata')
  })

  rule('strings are kept to the letter, the empty one too (W3.8.2)', async () => {
    const context = await newContextAt(admin)
    for (const text of ['Hello', '', '{"not": "parsed', '"quoted"', 'two\nlines – å 漢 😀']) {
      const entry = await context.newString(text).commit()
      assert.equal(entry.getResource(true).getString(), text)
      const string = entry.getResource(true)
      await string.setString(`${text} changed`).commit()
      assert.equal((await reload(entry)).getResource(true).getString(), `${text} changed`)
      assert.equal(await admin.getREST().get(entry.getResourceURI(), 'text/plain'), `${text} changed`)
      await string.setString('').commit()
      assert.equal((await admin.getREST().get(entry.getResourceURI(), 'text/plain')) ?? '', '')
    }
  })

  rule('the relations of an entry show statements of other entries as long as they exist (W2.9)', async () => {
    const context = await newContextAt(admin)
    const target = await context.newEntry().commit()
    const source = await context.newEntry().add('dcterms:references', target.getResourceURI()).commit()
    assert.deepEqual((await reload(target)).getReferrers('dcterms:references'), [source.getResourceURI()])
    source.getMetadata().findAndRemove(null, 'dcterms:references')
    await source.commitMetadata()
    assert.deepEqual((await reload(target)).getReferrers('dcterms:references'), [])
  })

  rule('an entry made with a resource named by its id to come has it there (W1.6)', async () => {
    const context = await newContextAt(admin)
    const prototype = context.newLink(`http://example.org/${newName('x')}/_newId`).addL('dcterms:title', 'Named')
    const entry = await prototype.commit()
    assert.ok(entry.getResourceURI().endsWith(`/${entry.getId()}`), entry.getResourceURI())
    assert.equal(entry.getMetadata().findFirstValue(entry.getResourceURI(), 'dcterms:title'), 'Named')
  })
})
