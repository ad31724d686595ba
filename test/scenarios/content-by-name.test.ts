import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused, graphOf, textTerm, TITLE } from '../support/content.ts'
import { searchPath } from '../support/search.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

test('?entryname gives the id of the context, user or group that has the name (W3.2.2)', async () => {
  const context = await newContext(admin)
  assert.equal((await admin.put(context, { alias: 'My Photos' })).status, 200)
  const { id, name } = await newUser(service, admin)
  const group = await newEntry(admin, '_principals', '?graphtype=group', { resource: { name: 'painters' } })
  const named = async (path: string): Promise<unknown> => (await admin.get(path)).json<unknown>()
  assert.deepEqual(await named('_contexts?entryname=My%20Photos'), [context])
  assert.deepEqual(await named('_contexts?entryname=my%20photos'), [], 'names of contexts keep their case')
  assert.deepEqual(await named('_contexts?entryname=_principals'), ['_principals'])
  assert.deepEqual(await named(`_principals?entryname=${name.toUpperCase()}`), [id])
  assert.deepEqual(await named('_principals?entryname=painters'), [group])
  assert.deepEqual(await named('_principals?entryname=nobody'), [])
  assert.deepEqual(await named(`${context}?entryname=painters`), [], 'other entries have no names')
  assert.equal((await admin.get('_principals?entryname=')).status, 400)
})

test('only administrators look up names, so that no other user can discover users (W3.2.2)', async () => {
  const { visitor, name } = await newUser(service, admin)
  for (const path of [`_principals?entryname=${name}`, '_contexts?entryname=x', '_principals?entryname=nobody']) {
    assertRefused(await visitor.get(path), 403, 'not-allowed')
    assertRefused(await service.visitor().get(path), 401, 'not-signed-in')
  }
})

test('with rdfFormat the graphs of hits are JSON-LD (W3.0.4)', async () => {
  const context = await newContext(admin)
  const id = await newEntry(admin, context, '', {
    metadata: graphOf(`${admin.base}${context}/resource/_newId`, TITLE, textTerm('Lighthouses')),
  })
  const found = await admin.get(searchPath('title:lighthouses', '&rdfFormat=application/ld%2Bjson'))
  const { children } = found.json<{ resource: { children: Array<{ metadata: { '@graph': unknown } }> } }>().resource
  assert.deepEqual(children[0]?.metadata['@graph'], [
    { '@id': `store:${context}/resource/${id}`, 'dcterms:title': 'Lighthouses' },
  ])
  assert.equal((await admin.get(searchPath('title:lighthouses', '&rdfFormat=text/turtle'))).status, 406)
})
