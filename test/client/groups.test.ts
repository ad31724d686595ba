import assert from 'node:assert/strict'
import { newApplication, newContextAt, newName, rejectsWith, reload, withEitherInfo } from '../support/client.ts'

const settings = { 'service.nonadmin.group-context-creation': 'on' }

await withEitherInfo(settings, (rule, { service, admin, isInfoPublic }) => {
  rule('a group is made, gets members, and its members what it may (W2.6, W4.1)', async () => {
    const name = newName('readers')
    const group = await admin.newGroup(name).addL('foaf:name', 'Readers').commit()
    assert.ok(group.isGroup())
    assert.equal(group.getResource(true).getName(), name)
    const [store, person] = await newApplication(service, admin)
    const context = await newContextAt(admin)
    const entry = await context
      .newEntry()
      .setACL({ mread: [group.getId()] })
      .addL('dcterms:title', 'Read')
      .commit()
    const mustBeClosed = async (): Promise<void> => {
      const seen = store.getEntry(entry.getURI(), { forceLoad: true })
      if (isInfoPublic) assert.equal((await seen).canReadMetadata(), false)
      else await rejectsWith(403, seen)
    }
    await mustBeClosed()

    await group.getResource(true).addEntry(person)
    await reload(group)
    assert.deepEqual(await group.getResource(true).getAllEntryIds(), [person.getId()])
    assert.deepEqual((await reload(person)).getParentGroups(), [group.getURI()])
    assert.equal((await store.getEntry(entry.getURI(), { forceLoad: true })).canReadMetadata(), true)
    await group.getResource(true).removeEntry(person)
    await mustBeClosed()
    await rejectsWith(403, store.getREST().put(group.getResourceURI(), JSON.stringify([person.getId()])))
    await rejectsWith(409, admin.newGroup(name).commit())
    await group.del()
    await rejectsWith(404, reload(group))
  })

  rule('the home context of a group is set in its info (W2.3)', async () => {
    const group = await admin.newGroup(newName('home')).commit()
    const context = await newContextAt(admin)
    await group.getResource(true).setHomeContext(context.getId())
    await reload(group)
    assert.equal(group.getResource(true).getHomeContext(), context.getId())
    await reload(await context.getEntry())
    assert.equal((await context.getHomeContextOf()).getURI(), group.getURI())
  })

  rule('any user can create a group with a context, and add members (W3.9)', async () => {
    const [store, owner] = await newApplication(service, admin)
    const [guestStore, guest] = await newApplication(service, admin)
    const name = newName('Team')
    const id = newName('team')
    const prototype = store.newContext(name, id)
    prototype.getPrototypeContext().newEntry().addL('dcterms:title', 'Welcome')
    const { contextEntry, groupEntry, initialEntries } = await prototype.createGroupAndContext()
    assert.equal(contextEntry.getId(), id)
    assert.equal(contextEntry.getEntryInfo().getName(), name)
    // The group's name begins with that of its creator (D18.13).
    assert.ok(groupEntry.getEntryInfo().getName()?.endsWith(`: ${name.toLowerCase()}`))
    assert.equal(initialEntries.length, 1)
    assert.deepEqual(await groupEntry.getResource(true).getAllEntryIds(), [owner.getId()])

    const context = guestStore.getContextById(id)
    await rejectsWith(403, context.newEntry().commit())
    await groupEntry.getResource(true).addEntry(guest)
    const made = await context.newEntry().addL('dcterms:title', 'Thanks').commit()
    assert.equal(made.getEntryInfo().getCreator(), guest.getResourceURI())
    await rejectsWith(403, (await guestStore.getEntry(contextEntry.getURI())).del(true))
    await rejectsWith(409, store.createGroupAndContext(name))
    await rejectsWith(409, store.createGroupAndContext(newName('other'), id))
    await contextEntry.del(true)
    await rejectsWith(404, guestStore.getEntry(made.getURI(), { forceLoad: true }))
  })

  rule('users and groups are listed, `_users` and `_admins` among them (W1.6, W3.10)', async () => {
    const [store, person] = await newApplication(service, admin)
    const principals = await store.getPrincipalList().getAllEntries()
    const ids = principals.map(entry => entry.getId())
    for (const id of ['_admin', '_guest', '_admins', '_users', person.getId()]) assert.ok(ids.includes(id), id)
    const users = await store.getEntry(store.getEntryURI('_principals', '_users'))
    assert.ok(users.isGroup())
    const all = await admin.getEntry(admin.getEntryURI('_principals', '_users'), { forceLoad: true })
    assert.ok((await all.getResource(true).getAllEntryIds()).includes(person.getId()))
  })
})
