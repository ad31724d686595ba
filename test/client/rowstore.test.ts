import assert from 'node:assert/strict'
import { after } from '../support/after.ts'
import { adminAt, newContextAt, reload, twice } from '../support/client.ts'
import { startRowStore } from '../support/rowstore.ts'
import { startInProcess } from '../support/service.ts'

const rowStore = await startRowStore({ after })
const settings = {
  'service.rowstore.url': rowStore.origin,
  'service.proxy.private-hosts.1': new URL(rowStore.origin).host,
}
const service = await startInProcess({ after }, { settings })
const admin = await adminAt(service)

twice(rule => {
  rule('an application makes a file an API, follows its state, replaces its rows and names it (D18.32)', async () => {
    const context = await newContextAt(admin)
    const prototype = context.newPipeline('rowstorePipeline')
    prototype.getResource(true).addTransform('rowstore', {})
    const steps = (await prototype.commit()).getResource(true)
    const runWith = async (given: Record<string, string>, csv?: string): Promise<string> => {
      const [id = ''] = steps.getTransforms()
      steps.setTransformArguments(id, given)
      await steps.commit()
      const file = csv === undefined ? null : await context.newEntry().commit()
      if (csv !== undefined) await file?.getResource(true).put(csv, 'text/csv')
      const [result = ''] = await steps.execute(file)
      return result
    }

    const result = await admin.getEntry(await runWith({ action: 'create' }, 'a,b\n1,2\n'))
    const datasetURL = result.getResourceURI()
    assert.deepEqual([result.isReference(), result.isPipelineResult()], [true, true])
    assert.equal(rowStore.datasets.get(datasetURL)?.rows, 'a,b\n1,2\n')

    const state = await admin.loadViaProxy(result.getEntryInfo().getExternalMetadataURI())
    assert.deepEqual(state, { status: 3, columnnames: ['a', 'b'], aliases: [] })
    result.getCachedExternalMetadata().addL(datasetURL, 'store:pipelineResultStatus', 'available')
    await result.commitCachedExternalMetadata()
    const present = await reload(result)
    assert.equal(
      present.getCachedExternalMetadata().findFirstValue(datasetURL, 'store:pipelineResultStatus'),
      'available',
    )

    assert.equal(await runWith({ action: 'replace', datasetURL }, 'a,b\n3,4\n'), result.getURI())
    assert.equal(await runWith({ action: 'setalias', datasetURL, alias: 'bathing' }), result.getURI())
    assert.deepEqual(rowStore.datasets.get(datasetURL), { rows: 'a,b\n3,4\n', alias: 'bathing' })
    await admin.getREST().del(`${result.getURI().replace('/entry/', '/resource/')}?proxy=true`)
    assert.equal(rowStore.datasets.has(datasetURL), false)
  })
})
