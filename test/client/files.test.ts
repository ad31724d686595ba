import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { adminAt, newApplication, newContextAt, rejectsWith, reload, withEitherInfo } from '../support/client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const settings = {
  'service.data.max-file-size': '2m',
  'service.data.quota': 'on',
}
const file = join(await temporaryFolder(), 'picture.jpg')
const bytes = randomBytes(300_000)
await writeFile(file, bytes)

await withEitherInfo(settings, (rule, { service, admin, isInfoPublic }) => {
  rule('a file is uploaded as a stream and downloaded to the last byte (W3.8.1)', async () => {
    const store = await adminAt(service)
    const context = await newContextAt(store)
    const entry = await context.newEntry().commit()
    const resource = entry.getResource(true)
    const answer = await resource.putFile(createReadStream(file), 'image/jpeg')
    assert.equal(answer.status, 201)
    await entry.refresh()
    assert.equal(entry.getEntryInfo().getFormat(), 'image/jpeg')
    assert.equal(entry.getEntryInfo().getSize(), bytes.length)
    assert.ok(bytes.equals((await store.getREST().get(entry.getResourceURI())) as Buffer))
    const pipe = new PassThrough()
    const [received] = await Promise.all([buffer(pipe), resource.get(pipe)])
    assert.ok(bytes.equals(received))
  })

  rule('small uploads one after the other are all answered (W3.8.1)', async () => {
    const store = await adminAt(service)
    const entry = await (await newContextAt(store)).newEntry().commit()
    for (let count = 0; count < 20; count++) {
      await entry.getResource(true).putFile(Readable.from([`number ${count}`]), 'text/plain')
    }
    assert.equal(await entry.getResource(true).getText(), 'number 19')
  })

  rule('text, JSON and XML come back as what they are (W3.8.1)', async () => {
    const context = await newContextAt(admin)
    const [text, json, xml] = [
      await context.newEntry().commit(),
      await context.newEntry().commit(),
      await context.newEntry().commit(),
    ]
    await text.getResource(true).putText('åäö 漢')
    assert.equal(await text.getResource(true).getText(), 'åäö 漢')
    await json.getResource(true).putJSON({ a: [1, 'å'] })
    assert.deepEqual(await json.getResource(true).getJSON(), { a: [1, 'å'] })
    await xml.getResource(true).put('<root><a/></root>', 'text/xml')
    assert.equal(await xml.getResource(true).getXML(), '<root><a/></root>')
    for (const [entry, type] of [
      [text, 'text/plain'],
      [json, 'application/json'],
      [xml, 'text/xml'],
    ] as const) {
      assert.equal((await entry.refresh()).getEntryInfo().getFormat(), type)
    }
    xml.getEntryInfo().setFormat('application/rdf+xml')
    await xml.getEntryInfo().commit()
    assert.equal((await reload(xml)).getEntryInfo().getFormat(), 'application/rdf+xml')
  })

  rule('an upload is refused at once, and the existing file stays (D7.4)', async () => {
    const store = await adminAt(service)
    const context = await newContextAt(store)
    const entry = await context.newEntry().commit()
    const resource = entry.getResource(true)
    await resource.putText('kept')
    await rejectsWith(413, resource.putFile(Readable.from([randomBytes(3_000_000)]), 'image/jpeg'))
    await rejectsWith(413, resource.put('x'.repeat(3_000_000), 'text/plain'))
    await store.getREST().put(`${context.getResourceURI()}/quota`, JSON.stringify({ quota: 1000 }))
    await rejectsWith(413, resource.putFile(createReadStream(file), 'image/jpeg'))
    const [stranger] = await newApplication(service, admin)
    if (isInfoPublic) {
      const seen = await stranger.getEntry(entry.getURI())
      await rejectsWith(403, seen.getResource(true).putFile(createReadStream(file), 'image/jpeg'))
      await rejectsWith(403, seen.getResource(true).getText())
    } else {
      await rejectsWith(403, stranger.getEntry(entry.getURI()))
      await rejectsWith(403, stranger.getREST().put(entry.getResourceURI(), 'bytes'))
      await rejectsWith(403, stranger.getREST().get(entry.getResourceURI()))
    }
    assert.equal(await resource.getText(), 'kept')
    await entry.del()
    await rejectsWith(404, resource.getText())
  })
})
