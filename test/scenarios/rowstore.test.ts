import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import {
  assertRefused,
  graphOf,
  principal,
  RDF_TYPE,
  readEntry,
  STORE,
  textTerm,
  uriTerm,
  valuesOf,
} from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { operate, operateWhole } from '../support/operations.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { startRowStore } from '../support/rowstore.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'
import { until } from '../support/waiting.ts'
import { putFile } from '../support/uploads.ts'

const CSV = { 'content-type': 'text/csv' }

const rowStore = await startRowStore({ after })
const service = await startInProcess({ after }, { settings: { 'service.rowstore.url': rowStore.origin } })
const admin = await service.admin()
const { id: ownerId, visitor: owner } = await newUser(service, admin)
const { id: strangerId, visitor: stranger } = await newUser(service, admin)
const context = await newContext(admin, [ownerId])

/** The graph of a pipeline as clients write it: arguments are blank nodes. */
function transform(type: string, given: Readonly<Record<string, string>>) {
  const keys = Object.keys(given)
  const blank = (n: number) => ({ type: 'bnode', value: `_:a${n}` })
  const told = Object.entries(given).map(([key, value], n) => [
    `_:a${n}`,
    { [`${STORE}transformArgumentKey`]: [textTerm(key)], [`${STORE}transformArgumentValue`]: [textTerm(value)] },
  ])
  return {
    'http://ex.org/pipeline': { [`${STORE}transform`]: [{ type: 'bnode', value: '_:t' }] },
    '_:t': {
      [`${STORE}transformType`]: [textTerm(type)],
      [`${STORE}transformArgument`]: keys.map((_, n) => blank(n)),
    },
    ...Object.fromEntries(told),
  }
}

const newPipeline = async (given: Readonly<Record<string, string>>, type = 'rowstore'): Promise<string> =>
  await newEntry(owner, context, '?graphtype=pipeline', { resource: transform(type, given) })

async function newFile(text: string): Promise<string> {
  const id = await newEntry(owner, context)
  assert.equal((await putFile(owner, `${context}/resource/${id}`, text, CSV)).status, 201)
  return id
}

const uriOf = (id: string): string => `${admin.base}${context}/entry/${id}`

const run = async (visitor: Visitor, pipeline: string, source?: string) =>
  await visitor.post(`${context}/execute`, {
    pipeline: uriOf(pipeline),
    ...(source === undefined ? {} : { source: uriOf(source) }),
  })

/** Makes a dataset of a file. */
async function newDataset(text: string) {
  const file = await newFile(text)
  const pipeline = await newPipeline({ action: 'create' })
  const answer = await run(owner, pipeline, file)
  assert.equal(answer.status, 201, answer.text)
  const { result } = answer.json<{ result: string[] }>()
  const id = result[0]?.split('/').at(-1) ?? ''
  assert.deepEqual(result, [uriOf(id)])
  const entry = await readEntry(owner, context, id)
  const [address = ''] = valuesOf(owner, entry, `${context}/entry/${id}`, `${STORE}resource`)
  return { id, file, pipeline, address, entry }
}

test('a pipeline makes a CSV file a dataset, which an entry describes (D18.32)', async () => {
  const heard = rowStore.heard.length
  const { id, file, pipeline, address, entry } = await newDataset('a,b\n1,2\n')
  assert.equal(rowStore.datasets.get(address)?.rows, 'a,b\n1,2\n')
  const sent = rowStore.heard
    .slice(heard)
    .map(({ method, url, headers }) => [
      `${method} ${url.pathname}`,
      headers['content-type'],
      headers['content-length'],
      headers['cookie'],
    ])
  assert.deepEqual(sent, [['POST /datasets', 'text/csv', '8', undefined]])
  const told = (term: string): string[] => valuesOf(owner, entry, `${context}/entry/${id}`, STORE + term)
  assert.deepEqual(told('externalMetadata'), [`${address}/info`])
  assert.deepEqual([told('pipeline'), told('pipelineData')], [[uriOf(pipeline)], [uriOf(file)]])
  assert.deepEqual(valuesOf(owner, entry, `${context}/entry/${id}`, RDF_TYPE), [`${STORE}Reference`])
  assert.deepEqual(entry.info[address]?.[RDF_TYPE], [uriTerm(`${STORE}PipelineResult`)])
})

test('pipelines replace and extend the dataset of an entry, and name it (D18.32)', async () => {
  const { id, file, address } = await newDataset('a\n1\n')
  const files = async (): Promise<string[]> =>
    valuesOf(owner, await readEntry(owner, context, id), `${context}/entry/${id}`, `${STORE}pipelineData`)
  const more = await newFile('2\n')
  const append = await newPipeline({ action: 'append', datasetURL: address })
  assert.deepEqual((await run(owner, append, more)).json(), { result: [uriOf(id)] })
  assert.equal(rowStore.datasets.get(address)?.rows, 'a\n1\n2\n')
  assert.deepEqual(await files(), [uriOf(file), uriOf(more)])
  const other = await newFile('a\n9\n')
  const replace = await newPipeline({ action: 'replace', datasetURL: address })
  assert.equal((await run(owner, replace, other)).status, 201)
  assert.equal(rowStore.datasets.get(address)?.rows, 'a\n9\n')
  assert.deepEqual(await files(), [uriOf(other)])

  const named = await newPipeline({ action: 'setalias', datasetURL: address, alias: 'bathing' })
  assert.deepEqual((await run(owner, named)).json(), { result: [uriOf(id)] })
  assert.equal(rowStore.datasets.get(address)?.alias, 'bathing')
  const { address: second } = await newDataset('a\n')
  const taken = await newPipeline({ action: 'setalias', datasetURL: second, alias: 'bathing' })
  assertRefused(await run(owner, taken), 400, 'invalid-value')
  assert.equal((await run(owner, await newPipeline({ action: 'setalias', datasetURL: address }))).status, 201)
  assert.equal(rowStore.datasets.get(address)?.alias, undefined)
})

test('a dataset is deleted through its entry, which stays (D18.32)', async () => {
  const { id, address } = await newDataset('a\n')
  const path = `${context}/resource/${id}?proxy=true`
  assertRefused(await service.visitor().delete(path), 401, 'not-signed-in')
  assertRefused(await stranger.delete(path), 403, 'not-allowed')
  assert.ok(rowStore.datasets.has(address), 'nothing is sent before the right is checked')
  const deleted = await owner.delete(path)
  assert.deepEqual([deleted.status, deleted.text], [204, ''])
  assert.equal(rowStore.datasets.has(address), false)
  assert.equal((await owner.get(`${context}/entry/${id}`)).status, 200)
  const again = await owner.delete(path)
  assertRefused(again, 502, 'upstream-failed')
  assert.match(again.text, /answers with status 404/)
})

test('who may not write the context, or read pipeline and file, runs no pipeline (D18.32)', async () => {
  const file = await newFile('secret\n')
  const pipeline = await newPipeline({ action: 'create' })
  const heard = rowStore.heard.length
  assertRefused(await run(service.visitor(), pipeline, file), 401, 'not-signed-in')
  assertRefused(await run(stranger, pipeline, file), 403, 'not-allowed')
  const theirs = await newContext(admin, [strangerId])
  const own = await newEntry(stranger, theirs, '?graphtype=pipeline', { resource: transform('rowstore', {}) })
  const body = { pipeline: `${admin.base}${theirs}/entry/${own}`, source: uriOf(file) }
  assertRefused(await stranger.post(`${theirs}/execute`, body), 400, 'invalid-uri')
  const member = await newUser(service, admin)
  // A member may write to the context, which has a file that only administrators read.
  const shared = await newContext(admin)
  const write = graphOf(`${admin.base}${shared}`, `${STORE}write`, principal(admin, member.id))
  assert.equal((await admin.put(`_contexts/entry/${shared}`, write)).status, 204)
  const at = (id: string): string => `${admin.base}${shared}/entry/${id}`
  const info = graphOf(at('_newId'), `${STORE}write`, principal(admin, '_admin'))
  const hidden = await newEntry(admin, shared, '', { info })
  assert.equal((await putFile(admin, `${shared}/resource/${hidden}`, 'secret\n', CSV)).status, 201)
  const mine = await newEntry(member.visitor, shared, '?graphtype=pipeline', { resource: transform('rowstore', {}) })
  const asked = { pipeline: at(mine), source: at(hidden) }
  assertRefused(await member.visitor.post(`${shared}/execute`, asked), 403, 'not-allowed')
  assert.equal(rowStore.heard.length, heard, 'nothing is sent')
})

test('only the entry that the service has made gives a right on a dataset (D18.32)', async () => {
  const { id, address } = await newDataset('a\n1\n')
  const theirs = await newContext(admin, [strangerId])
  const entryIn = async (query: string): Promise<string> => await newEntry(stranger, theirs, query)
  const link = await entryIn(`?entrytype=link&resource=${encodeURIComponent(address)}`)
  assertRefused(await stranger.delete(`${theirs}/resource/${link}?proxy=true`), 400, 'invalid-type')
  const asResult = {
    ...graphOf(`${admin.base}${theirs}/entry/${link}`, `${STORE}resource`, uriTerm(address)),
    ...graphOf(address, RDF_TYPE, uriTerm(`${STORE}PipelineResult`)),
  }
  assertRefused(await stranger.put(`${theirs}/entry/${link}`, asResult), 400, 'invalid-graph')
  const own = await newEntry(stranger, theirs, '?graphtype=pipeline', {
    resource: transform('rowstore', { action: 'replace', datasetURL: address }),
  })
  const file = await newEntry(stranger, theirs)
  assert.equal((await putFile(stranger, `${theirs}/resource/${file}`, 'x\n', CSV)).status, 201)
  const at = (entry: string): string => `${admin.base}${theirs}/entry/${entry}`
  assertRefused(await stranger.post(`${theirs}/execute`, { pipeline: at(own), source: at(file) }), 400, 'invalid-value')
  // Nor does an entry of the caller's own come to name another dataset.
  const moved = {
    ...graphOf(uriOf(id), `${STORE}resource`, uriTerm('http://ex.org/elsewhere')),
    ...graphOf('http://ex.org/elsewhere', RDF_TYPE, uriTerm(`${STORE}PipelineResult`)),
  }
  assertRefused(await owner.put(`${context}/entry/${id}`, moved), 400, 'invalid-graph')
  assertRefused(
    await owner.put(`${context}/entry/${id}`, graphOf('http://ex.org/a', RDF_TYPE, uriTerm('http://ex.org/A'))),
    400,
    'invalid-graph',
  )
  const { info } = await readEntry(owner, context, id)
  assert.equal((await owner.put(`${context}/entry/${id}`, info)).status, 204, 'other changes are possible')
  assert.equal(rowStore.datasets.get(address)?.rows, 'a\n1\n')
})

test('the right is checked again when a request has waited for the RowStore (D18.32)', async () => {
  const { id } = await newDataset('a\n1\n')
  const { id: userId, visitor } = await newUser(service, admin)
  const role = async (role: string): Promise<void> =>
    await operateWhole(owner, context, { action: 'share', entries: [id], share: { principal: userId, role } }, 1)
  await role('writer')
  const heard = rowStore.heard.length
  const { promise, resolve } = Promise.withResolvers<void>()
  rowStore.held = promise
  const path = `${context}/resource/${id}?proxy=true`
  const first = [visitor.delete(path), visitor.delete(path)]
  await until(
    async () => rowStore.heard.length,
    count => count === heard + 2,
  )
  const waiting = [visitor.delete(path), visitor.delete(path)]
  for (let asked = 0; asked < 5; asked++) assert.equal((await visitor.get(`${context}/entry/${id}`)).status, 200)
  await role('none')
  resolve()
  assert.deepEqual(
    (await Promise.all(first)).map(({ status }) => status).sort((a, b) => a - b),
    [204, 502],
  )
  for (const answer of await Promise.all(waiting)) assertRefused(answer, 403, 'not-allowed')
  assert.equal(rowStore.heard.length, heard + 2)
})

test('a copy of the entry gives no right on the dataset (D18.32, D51.2)', async () => {
  const { id, address } = await newDataset('a\n1\n')
  const giving = { action: 'share', entries: [id], share: { principal: strangerId, role: 'reader' } }
  await operateWhole(owner, context, giving, 1)
  const theirs = await newContext(admin, [strangerId])
  const { done, failures } = await operate(stranger, context, {
    action: 'copy',
    entries: [id],
    to: { context: theirs },
  })
  assert.deepEqual([done, failures.map(({ code }) => code)], [0, ['invalid-type']])
  assert.deepEqual((await admin.get(theirs)).json(), [])
  assert.equal(rowStore.datasets.get(address)?.rows, 'a\n1\n')
})

test('requests go only to datasets of the RowStore that the settings name (D18.32)', async () => {
  const { address } = await newDataset('a\n')
  const heard = rowStore.heard.length
  const others = [
    'http://127.0.0.1:9/dataset/00000000-0000-4000-8000-000000000000',
    `${rowStore.origin}/datasets`,
    `${address}/aliases`,
    `${address}?x`,
    address.replace('00000000', '0000000A'),
    `${rowStore.origin}/dataset/bathing`,
    `${rowStore.origin}.evil.example/dataset/00000000-0000-4000-8000-000000000000`,
  ]
  for (const datasetURL of others) {
    const pipeline = await newPipeline({ action: 'setalias', datasetURL, alias: 'a' })
    assertRefused(await run(owner, pipeline), 403, 'host-refused', datasetURL)
  }
  assert.equal(rowStore.heard.length, heard)
})

test('a pipeline that cannot run is refused with the reason (D18.32)', async () => {
  const file = await newFile('a\n')
  const refused = async (pipeline: string, source: string | undefined, code: string, reason: RegExp, status = 400) => {
    const answer = await run(owner, pipeline, source)
    assertRefused(answer, status, code, String(reason))
    assert.match(answer.json<{ detail: string }>().detail, reason)
  }
  const create = await newPipeline({ action: 'create' })
  await refused(create, undefined, 'invalid-value', /`source` is missing/)
  await refused(file, file, 'invalid-type', /graph type Pipeline/)
  await refused(create, create, 'invalid-type', /an entry with a file/)
  await refused(create, await newEntry(owner, context), 'no-file', /has no file/, 404)
  await refused(create, 'nothing', 'not-found', /no entry "nothing"/, 404)
  await refused(await newPipeline({}, 'tabular'), file, 'not-available', /this one has tabular/, 501)
  await refused(await newPipeline({ action: 'drop' }), file, 'invalid-value', /but is "drop"/)
  await refused(await newPipeline({ action: 'append' }), file, 'invalid-value', /needs the argument datasetURL/)
  const { address: datasetURL } = await newDataset('a\n')
  const alias = await newPipeline({ action: 'setalias', datasetURL, alias: 'a-b' })
  await refused(alias, undefined, 'invalid-value', /letters and digits/)
  const empty = await newEntry(owner, context, '?graphtype=pipeline')
  await refused(empty, file, 'invalid-value', /has no transform/)
  assertRefused(await owner.post(`${context}/execute`, {}), 400, 'invalid-json')
})

test('a RowStore that refuses, redirects or has another address leaves no entry (D18.32)', async () => {
  const file = await newFile('a\n')
  const pipeline = await newPipeline({ action: 'create' })
  const results = async (): Promise<number> => {
    const { results } = (
      await owner.get(`search?type=solr&query=graphType:PipelineResult+AND+context:${context}`)
    ).json<{ results: number }>()
    return results
  }
  const before = await results()
  for (const status of [307, 403, 500]) {
    rowStore.status = status
    const answer = await run(owner, pipeline, file)
    assertRefused(answer, 502, 'upstream-failed')
    assert.match(answer.text, new RegExp(`answers with status ${status}`))
  }
  rowStore.status = undefined
  rowStore.baseUrl = 'http://other.example'
  const answer = await run(owner, pipeline, file)
  rowStore.baseUrl = rowStore.origin
  assertRefused(answer, 502, 'upstream-failed')
  assert.match(answer.text, /must be the same as `service.rowstore.url`/)
  assert.equal(await results(), before)
})

test('a RowStore that cannot be reached is named (D18.32)', async () => {
  const settings = { 'service.rowstore.url': `http://127.0.0.1:${await freePort()}` }
  const service = await startInProcess({ after }, { settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const pipeline = await newEntry(admin, context, '?graphtype=pipeline', { resource: transform('rowstore', {}) })
  const file = await newEntry(admin, context)
  assert.equal((await putFile(admin, `${context}/resource/${file}`, 'a\n', CSV)).status, 201)
  const at = (id: string): string => `${admin.base}${context}/entry/${id}`
  const answer = await admin.post(`${context}/execute`, { pipeline: at(pipeline), source: at(file) })
  assertRefused(answer, 504, 'upstream-silent')
  assert.match(answer.text, /The RowStore at http:/)
})

test('without a RowStore in the settings, pipelines and deletions say so (D18.32)', async () => {
  const service = await startInProcess({ after })
  const admin = await service.admin()
  const context = await newContext(admin)
  const pipeline = await newEntry(admin, context, '?graphtype=pipeline')
  const body = { pipeline: `${admin.base}${context}/entry/${pipeline}` }
  const answer = await admin.post(`${context}/execute`, body)
  assertRefused(answer, 501, 'not-available')
  assert.match(answer.text, /`service.rowstore.url` is not set/)
  const link = await newEntry(admin, context, '?entrytype=link&resource=http://ex.org/a')
  assertRefused(await admin.delete(`${context}/resource/${link}?proxy=true`), 501, 'not-available')
  assertRefused(await admin.delete(`${context}/resource/${link}?proxy=false`), 400, 'invalid-query')
})
