import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import type { Entry, Resource } from '@entryscape/entrystore-js'
import { adminAt, newContextAt, rejectsWith, reload, twice } from '../support/client.ts'
import { startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await adminAt(service)

const titlesOf = (entries: readonly Entry[]): Array<string | undefined> =>
  entries.map(entry => entry.getMetadata().findFirstValue(null, 'dcterms:title'))

/** A list of entries with these titles, made one after the other. */
async function listOf(context: Resource, titles: readonly string[]): Promise<Entry> {
  const list = await context.newList().commit()
  for (const title of titles) await context.newEntry().setParentList(list).addL('dcterms:title', title).commit()
  return list
}

twice(rule => {
  rule('an entry created in a list is its last member, and refers to the list (W3.2.1, W2.9)', async () => {
    const context = await newContextAt(admin)
    const list = await listOf(context, ['a', 'b'])
    const entry = await context.newEntry().setParentList(list).addL('dcterms:title', 'c').commit()
    assert.deepEqual(entry.getParentLists(), [list.getURI()])
    const entries = await list.getResource(true).getEntries()
    assert.deepEqual(titlesOf(entries), ['a', 'b', 'c'])
    assert.equal(entries[2], entry, 'the very entry that the application has')
    assert.equal(list.getResource(true).getSize(), 3)
  })

  rule('members are added, removed and put in order (W2.7, W3.8.5)', async () => {
    const context = await newContextAt(admin)
    const list = await context.newList().commit()
    const [one, two, three] = [
      await context.newEntry().addL('dcterms:title', '1').commit(),
      await context.newLink('http://example.org/').addL('dcterms:title', '2').commit(),
      await context.newString('text').addL('dcterms:title', '3').commit(),
    ]
    const resource = list.getResource(true)
    for (const entry of [one, two, three]) {
      await resource.addEntry(entry)
      await reload(list)
    }
    assert.deepEqual(
      await resource.getAllEntryIds(),
      [one, two, three].map(entry => entry.getId()),
    )
    assert.deepEqual((await reload(two)).getParentLists(), [list.getURI()])
    await resource.setAllEntryIds([three, one, two].map(entry => entry.getId()))
    await reload(list)
    assert.deepEqual(
      await resource.getAllEntryIds(),
      [three, one, two].map(entry => entry.getId()),
    )
    await resource.removeEntry(one)
    await reload(list)
    assert.deepEqual(
      await resource.getAllEntryIds(),
      [three, two].map(entry => entry.getId()),
    )
    assert.deepEqual((await reload(one)).getParentLists(), [])

    await rejectsWith(409, resource.setAllEntryIds([two.getId(), two.getId()]))
    await rejectsWith(400, resource.setAllEntryIds(['no-such-entry']))
    const other = await context.newList().commit()
    await rejectsWith(409, other.getResource(true).addEntry(two))
    assert.deepEqual(await (await reload(list)).getResource(true).getAllEntryIds(), [three.getId(), two.getId()])
  })

  rule('a long list comes in pages, sorted as the application asks (W2.7)', async () => {
    const context = await newContextAt(admin)
    const list = await context.newList().commit()
    const inner = await context.newList().setParentList(list).addL('dcterms:title', 'zz').commit()
    const numbers = Array.from({ length: 60 }, (_, index) => String(index + 10))
    for (const title of numbers.toReversed()) {
      await context.newEntry().setParentList(list).addL('dcterms:title', title).commit()
    }
    const fresh = await (await adminAt(service)).getEntry(list.getURI())
    const resource = fresh.getResource(true)
    assert.equal(resource.getSize(), 61)
    const first = await resource.getEntries(0)
    assert.deepEqual([first[0]?.getURI(), titlesOf(first.slice(1))], [inner.getURI(), numbers.slice(0, 49)])
    assert.deepEqual(titlesOf(await resource.getEntries(1)), numbers.slice(49))
    const seen: Array<string | undefined> = []
    assert.equal(await resource.forEach(entry => void seen.push(entry.getId())), 61)
    assert.equal(new Set(seen).size, 61)
    assert.equal((await resource.getAllEntries()).length, 61)
    resource.setLimit(20)
    resource.needRefresh()
    assert.deepEqual(titlesOf((await resource.getEntries(2)).slice(0, 2)), ['49', '50'])
  })

  rule('entries move between lists, and to other contexts (W3.8.5)', async () => {
    const context = await newContextAt(admin)
    const [from, to] = [await listOf(context, ['stays', 'moves']), await listOf(context, ['first'])]
    const moving = (await from.getResource(true).getEntries()).find(entry => titlesOf([entry])[0] === 'moves')
    assert.ok(moving)
    assert.equal((await admin.moveEntry(moving, from, to)).status, 200)
    assert.deepEqual(titlesOf(await (await reload(to)).getResource(true).getEntries()), ['first', 'moves'])
    assert.equal((await reload(from)).getResource(true).getSize(), 1)
    assert.deepEqual((await reload(moving)).getParentLists(), [to.getURI()])

    const elsewhere = await listOf(await newContextAt(admin), [])
    await admin.moveEntry(moving, to, elsewhere)
    const moved = await (await reload(elsewhere)).getResource(true).getEntries()
    assert.deepEqual(titlesOf(moved), ['moves'])
    await rejectsWith(404, reload(moving))
  })

  rule('a list is deleted alone, or with all that is in it (W3.3.3)', async () => {
    const context = await newContextAt(admin)
    const outer = await listOf(context, ['a'])
    const inner = await context.newList().setParentList(outer).commit()
    const deep = await context.newEntry().setParentList(inner).commit()
    const withExclusiveLock = await listOf(context, ['kept'])
    const kept = (await withExclusiveLock.getResource(true).getEntries())[0]
    assert.ok(kept)
    await withExclusiveLock.del()
    assert.deepEqual((await reload(kept)).getParentLists(), [])
    await outer.del(true)
    await rejectsWith(404, reload(deep))
    await rejectsWith(404, reload(inner))
    assert.deepEqual(titlesOf([await reload(kept)]), ['kept'])
  })
})
