import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { types } from '@entryscape/entrystore-js'
import { adminAt, newContextAt, newName, rejectsWith, reload, twice } from '../support/client.ts'
import { startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await adminAt(service)

twice(rule => {
  rule('a context is made under an id, named, listed and found by name (W1.2, W3.4)', async () => {
    const id = newName('photos')
    const entry = await admin.newContext(undefined, id).addL('dcterms:title', `Title of ${id}`, 'en').commit()
    assert.equal(entry.getURI(), `${service.base}_contexts/entry/${id}`)
    assert.ok(entry.isContext() && entry.canAdministerEntry())
    const context = entry.getResource(true)
    assert.equal(context.getResourceURI(), service.base + id)
    await context.setName(`Name of ${id}`)
    assert.equal((await reload(entry)).getEntryInfo().getName(), `Name of ${id}`)
    const all = await admin.getContextList().getAllEntries()
    assert.ok(all.includes(entry), 'the list holds the very entry that the application has')
    const byTitle = admin
      .newSolrQuery()
      .graphType(types['GT_CONTEXT'] ?? '')
      .title(`Title of ${id}`)
    assert.equal((await byTitle.getEntry())?.getId(), id)
    const other = await newContextAt(admin)
    await rejectsWith(409, other.setName(`Name of ${id}`))
    assert.equal(other.getName(), undefined)
    await rejectsWith(409, admin.newContext(undefined, id).commit())
    await rejectsWith(400, admin.newContext(undefined, 'search').commit())
    await entry.del(true)
    await (await other.getEntry()).del(true)
  })

  rule('a context and what is to be in it are made in one go (W1.6)', async () => {
    const prototype = admin.newContext()
    const inside = prototype.getPrototypeContext()
    const first = inside.newEntry().addL('dcterms:title', 'One')
    inside.newEntry().addL('dcterms:title', 'Two').add('dcterms:relation', first.getResourceURI())
    inside.newNamedEntry('thing').addL('dcterms:title', 'Three')
    const context = (await prototype.commit()).getResource(true)
    assert.deepEqual(
      prototype
        .getInitialEntries()
        .map(entry => entry.getId())
        .sort(),
      ['1', '2', 'thing'],
    )
    const one = await reload(await context.getEntryById('1'))
    const two = await context.getEntryById('2')
    assert.equal(two.getMetadata().findFirstValue(null, 'dcterms:relation'), one.getResourceURI())
    assert.deepEqual(one.getReferrers('dcterms:relation'), [two.getResourceURI()])
    assert.equal((await context.newEntry().commit()).getId(), '3', 'ids already taken are passed over')
  })

  rule('a deleted context is gone with all that was in it (W3.3.3)', async () => {
    const context = await newContextAt(admin)
    const word = newName('ephemeral')
    const entry = await context.newEntry().addL('dcterms:title', word).commit()
    assert.equal(await admin.newSolrQuery().title(word).size(), 1)
    const contextEntry = await context.getEntry()
    await contextEntry.del(true)
    await rejectsWith(404, admin.getEntry(contextEntry.getURI()))
    await rejectsWith(404, reload(entry))
    assert.equal(await admin.newSolrQuery().title(word).size(), 0)
    await rejectsWith(404, context.newEntry().commit())
  })

  rule('the system contexts are entries like others, and stay (W1.2)', async () => {
    for (const id of ['_contexts', '_principals']) {
      const entry = await admin.getEntry(admin.getEntryURI('_contexts', id))
      assert.equal(entry.getEntryInfo().getName(), id)
      assert.equal(entry.getResourceURI(), service.base + id)
      await assert.rejects(entry.del(true))
      assert.equal((await reload(entry)).getEntryInfo().getName(), id)
    }
  })
})
