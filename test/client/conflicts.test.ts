import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import type { Entry } from '@entryscape/entrystore-js'
import { adminAt, newContextAt, rejectsWith, reload, twice } from '../support/client.ts'
import { startInProcess } from '../support/service.ts'

// In this process, for the sake of a clock that can be turned: the client sends dates in whole seconds.
const service = await startInProcess({ after })

/** The same entry in the hands of two applications. */
async function shared(): Promise<[Entry, Entry]> {
  const mine = await adminAt(service)
  const entry = await (await newContextAt(mine)).newGraph().addL('dcterms:title', 'First').commit()
  const theirs = await adminAt(service)
  return [entry, await theirs.getEntry(entry.getURI())]
}

const titleOf = (entry: Entry): string | undefined => entry.getMetadata().findFirstValue(null, 'dcterms:title')

function retitle(entry: Entry, title: string): Entry {
  entry.getMetadata().findAndRemove(null, 'dcterms:title')
  return entry.addL('dcterms:title', title)
}

twice(rule => {
  rule('a change of metadata that another user has changed meanwhile is refused (W3.0.6, W7)', async () => {
    const [mine, theirs] = await shared()
    service.system.pass(5000)
    await retitle(theirs, 'Theirs').commitMetadata()
    await rejectsWith(412, retitle(mine, 'Mine').commitMetadata())
    assert.equal(titleOf(await reload(mine)), 'Theirs', 'the refused change has left no trace')
    await retitle(mine, 'Mine').commitMetadata()
    assert.equal(titleOf(await reload(theirs)), 'Mine')
    service.system.pass(5000)
    await retitle(mine, 'Mine again').commitMetadata()
    await retitle(theirs, 'Theirs by force').commitMetadata(true)
    assert.equal(titleOf(await reload(mine)), 'Theirs by force')
  })

  rule('the same holds for info and for graphs (W3.0.6)', async () => {
    const [mine, theirs] = await shared()
    service.system.pass(5000)
    theirs.getEntryInfo().setLabel('Theirs')
    await theirs.getEntryInfo().commit()
    mine.getEntryInfo().setLabel('Mine')
    await rejectsWith(412, mine.getEntryInfo().commit())
    assert.equal((await reload(mine)).getEntryInfo().getLabel(), 'Theirs')

    service.system.pass(5000)
    await theirs.getResource(true).commit()
    await rejectsWith(412, mine.getResource(true).commit())
    await reload(mine)
    await mine.getResource(true).commit()
  })

  rule('one application may write as often as it likes, within a second too (W3.0.6)', async () => {
    const [mine] = await shared()
    for (let count = 0; count < 5; count++) {
      await retitle(mine, `Title ${count}`).commitMetadata()
      mine.getEntryInfo().setLabel(`Label ${count}`)
      await mine.getEntryInfo().commit()
      await mine.getResource(true).commit()
      service.system.pass(300)
    }
    await reload(mine)
    assert.deepEqual([titleOf(mine), mine.getEntryInfo().getLabel()], ['Title 4', 'Label 4'])
  })

  rule('a deleted entry is not written again (W3.3.3)', async () => {
    const [mine, theirs] = await shared()
    await theirs.del()
    await rejectsWith(404, retitle(mine, 'Too late').commitMetadata())
    await rejectsWith(404, mine.getEntryInfo().commit())
    await rejectsWith(404, mine.getResource(true).commit())
  })
})
