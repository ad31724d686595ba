import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { terms } from '@entryscape/entrystore-js'
import { adminAt, newContextAt, reload, twice } from '../support/client.ts'
import { startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await adminAt(service)

twice(rule => {
  rule('a graph is stored, changed and read (W3.8.3)', async () => {
    const context = await newContextAt(admin)
    const entry = await context.newGraph().commit()
    assert.ok(entry.isGraph())
    const resource = entry.getResource(true)
    assert.ok(resource.getGraph().isEmpty())
    resource.getGraph().addL('http://example.org/s', 'dcterms:title', 'Ett', 'sv')
    resource.getGraph().addD('http://example.org/s', 'dcterms:extent', '7', 'xsd:integer')
    await resource.commit()
    const stored = await admin.getREST().get(entry.getResourceURI())
    assert.deepEqual(stored, resource.getGraph().exportRDFJSON())
    const copy = await context.newGraph(stored).commit()
    assert.deepEqual(copy.getResource(true).getGraph().exportRDFJSON(), stored)
  })

  rule('a pipeline keeps its transforms and arguments over blank nodes (W2.1, W3.16)', async () => {
    const context = await newContextAt(admin)
    const destination = await context.newEntry().commit()
    const prototype = context.newPipeline()
    const draft = prototype.getResource(true)
    draft.addTransform('fetch', { source: 'http://example.org/in.csv' })
    draft.addTransform('validate', { profile: 'dcat', strict: 'true' })
    const entry = await prototype.commit()
    assert.ok(entry.isPipeline())
    const pipeline = entry.getResource(true)
    pipeline.setDestination(destination)
    pipeline.setPipelineArguments({ every: 'day' }, 'configuration')
    await pipeline.commit()
    await pipeline.commit()

    const other = await adminAt(service)
    const read = (await other.getEntry(entry.getURI())).getResource(true)
    assert.deepEqual(
      read.getTransforms().map(id => [read.getTransformType(id), read.getTransformArguments(id)]),
      [
        ['fetch', { source: 'http://example.org/in.csv' }],
        ['validate', { profile: 'dcat', strict: 'true' }],
      ],
    )
    assert.equal(read.getDestination(), destination.getURI())
    assert.deepEqual(read.getPipelineArguments('configuration'), { every: 'day' })
  })

  rule('a status and statements of the application are kept in info (W2.3)', async () => {
    const context = await newContextAt(admin)
    const entry = await context.newEntry().commit()
    const info = entry.getEntryInfo()
    info.setStatus(terms.status['Pending'] ?? '')
    info.setLabel('A label')
    info.getGraph().addL(entry.getURI(), 'http://example.org/note', 'Kept')
    await info.commit()
    await reload(entry)
    assert.equal(info.getStatus(), terms.status['Pending'])
    assert.equal(info.getLabel(), 'A label')
    assert.equal(info.getGraph().findFirstValue(entry.getURI(), 'http://example.org/note'), 'Kept')
    info.getGraph().findAndRemove(entry.getURI(), 'http://example.org/note')
    await info.commit()
    assert.equal((await reload(entry)).getEntryInfo().getGraph().find(null, 'http://example.org/note').length, 0)
  })
})
