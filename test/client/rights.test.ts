import assert from 'node:assert/strict'
import { EntryStore } from '@entryscape/entrystore-js'
import { newApplication, newContextAt, newName, rejectsWith, reload, withEitherInfo } from '../support/client.ts'

await withEitherInfo({}, (rule, { service, admin, isInfoPublic }) => {
  rule('a user can do what their rights allow; anything else is 403 (W4, D1.5)', async () => {
    const [store, person] = await newApplication(service, admin)
    const context = await newContextAt(admin)
    const entry = await context.newEntry().addL('dcterms:title', 'Secret').commit()
    const info = entry.getEntryInfo()

    const rest = store.getREST()
    if (isInfoPublic) {
      const unreadable = await store.getEntry(entry.getURI())
      assert.ok(unreadable.getMetadata().isEmpty(), 'info is for all callers, metadata are not')
      assert.ok(!unreadable.canReadMetadata() && !unreadable.canReadResource() && !unreadable.canAdministerEntry())
      await assert.rejects(unreadable.commitMetadata(), /sufficient access rights/)
      await rejectsWith(403, unreadable.getEntryInfo().commit())
      await rejectsWith(403, unreadable.del())
    } else {
      await rejectsWith(403, store.getEntry(entry.getURI()))
      await rejectsWith(403, rest.put(entry.getURI(), '{}'))
      await rejectsWith(403, rest.del(entry.getURI()))
    }
    await rejectsWith(403, rest.get(info.getMetadataURI()))
    await rejectsWith(403, rest.get(entry.getResourceURI()))
    await rejectsWith(403, rest.put(info.getMetadataURI(), '{}'))
    await rejectsWith(403, rest.put(entry.getResourceURI(), 'bytes'))
    await rejectsWith(403, store.getContextById(context.getId()).newEntry().commit())
    const guest = new EntryStore(service.base)
    await rejectsWith(401, guest.getREST().get(info.getMetadataURI()))
    await rejectsWith(401, guest.getREST().put(info.getMetadataURI(), '{}'))

    info.setACL({ mread: [person.getId()], rwrite: [person.getResourceURI()] })
    await info.commit()
    const seen = await store.getEntry(entry.getURI(), { forceLoad: true })
    assert.equal(seen.getMetadata().findFirstValue(null, 'dcterms:title'), 'Secret')
    assert.deepEqual(
      [seen.canReadMetadata(), seen.canWriteMetadata(), seen.canWriteResource(), seen.canAdministerEntry()],
      [true, false, true, false],
    )
    assert.deepEqual(seen.getEntryInfo().getACL(true).mread, [person.getId()])
    await seen.getResource(true).putText('by the user')
    await rejectsWith(403, rest.put(info.getMetadataURI(), '{}'))
    assert.deepEqual((await reload(entry)).getEntryInfo().getContributors(), [
      (await admin.getUserEntry()).getResourceURI(),
      person.getResourceURI(),
    ])

    info.setACL({})
    await info.commit(true)
    assert.equal((await reload(entry)).getEntryInfo().hasACL(), false)
    // What is taken away is gone with the next request.
    if (isInfoPublic) assert.ok((await reload(seen)).getMetadata().isEmpty())
    else await rejectsWith(403, reload(seen))
    await rejectsWith(403, rest.get(entry.getResourceURI()))
  })

  rule('the owner of a context has all rights in it, readers can read it (W4.2)', async () => {
    const [owner, ownerEntry] = await newApplication(service, admin)
    const [reader, readerEntry] = await newApplication(service, admin)
    const acl = { admin: [ownerEntry.getId()], rread: [readerEntry.getId()] }
    const contextEntry = await admin.newContext().setACL(acl).commit()
    const id = contextEntry.getId()
    const made = await owner.getContextById(id).newEntry().addL('dcterms:title', 'Mine').commit()
    const seen = await reader.getEntry(made.getURI())
    assert.equal(seen.getMetadata().findFirstValue(null, 'dcterms:title'), 'Mine')
    assert.ok(!seen.canWriteMetadata())
    await rejectsWith(403, reader.getREST().put(made.getEntryInfo().getMetadataURI(), '{}'))
    await rejectsWith(403, reader.getContextById(id).newEntry().commit())

    const info = (await owner.getEntry(contextEntry.getURI())).getEntryInfo()
    info.setACL({ ...acl, rwrite: [readerEntry.getId()], rread: [] })
    await info.commit()
    await (await reader.getContextById(id).newEntry().commit()).del()
    await (await owner.getEntry(contextEntry.getURI())).del(true)
    await rejectsWith(404, admin.getEntry(made.getURI()))
  })

  rule('public entries are readable by all, and the application sees that (W4.1)', async () => {
    const contextEntry = await admin
      .newContext()
      .setACL({ rread: ['_guest'], mread: ['_guest'] })
      .commit()
    const context = contextEntry.getResource(true)
    const open = await context.newEntry().addL('dcterms:title', newName('open')).commit()
    const closed = await context
      .newEntry()
      .setACL({ admin: ['_admin'] })
      .addL('dcterms:title', 'closed')
      .commit()
    assert.deepEqual([open.isPublic(), closed.isPublic()], [true, false])
    const guest = new EntryStore(service.base)
    assert.ok(!(await guest.getEntry(open.getURI())).getMetadata().isEmpty())
    if (isInfoPublic) assert.ok((await guest.getEntry(closed.getURI())).getMetadata().isEmpty())
    else await rejectsWith(401, guest.getEntry(closed.getURI()))
    assert.equal(await guest.newSolrQuery().context(context).size(), 1)
  })

  rule('principals in access lists are stored unchanged, whatever their form (W2.4)', async () => {
    const context = await newContextAt(admin)
    const odd = admin.getEntryURI('_principals', 'admin')
    const entry = await context
      .newEntry()
      .setACL({ admin: [odd] })
      .commit()
    const glued = admin.getResourceURI('_principals', odd)
    assert.deepEqual(entry.getEntryInfo().getACL().admin, [glued])
    entry.getEntryInfo().setACL({ rread: [odd] })
    await entry.getEntryInfo().commit()
    const { admin: administer, rread } = (await reload(entry)).getEntryInfo().getACL()
    assert.deepEqual([administer, rread], [[], [glued]])
  })
})
