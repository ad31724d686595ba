import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newContext, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const context = await newContext(admin)

const send = async (id: string, name: string, size: number, type = 'text/plain', query = ''): Promise<void> => {
  const headers = { 'content-type': type, 'content-disposition': `attachment; filename="${name}"` }
  const options = { method: 'POST', body: 'x'.repeat(size), headers }
  assert.equal((await admin.ask(`${context}?file&id=${id}${query}`, options)).status, 201)
}

await admin.post(`${context}?graphtype=list&id=folder`)
await admin.put(`${context}/metadata/folder`, {
  [`${service.base}${context}/resource/folder`]: {
    'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'Harbour' }],
  },
})
await send('a', 'Zebra.txt', 5)
await send('b', 'apple.PNG', 300, 'image/png')
await send('c', 'mango report.pdf', 40, 'application/pdf')
await send('d', 'deep.txt', 1, 'text/plain', `&list=${encodeURIComponent(`${service.base}${context}/resource/folder`)}`)

const escaped = `${service.base}${context}`.replaceAll(/[:/.]/g, '\\$&')

async function find(query: string, sort = 'name asc'): Promise<readonly string[]> {
  const parameters = new URLSearchParams({ type: 'solr', query: `context:${escaped} AND ${query}`, sort })
  const answer = await admin.get(`search?${parameters.toString()}`)
  assert.equal(answer.status, 200, answer.text)
  type Hits = { readonly resource: { readonly children: ReadonlyArray<{ readonly entryId: string }> } }
  return answer.json<Hits>().resource.children.map(({ entryId }) => entryId)
}

test('files are found by a part of their name, folders by their title (D14.10)', async () => {
  assert.deepEqual(await find('name:*port*'), ['c'])
  assert.deepEqual(await find('name:*ARBOU*'), ['folder'])
  assert.deepEqual(await find('name:*nothing*'), [])
})

test('files are put in order by name without regard to case, by size, by format; folders first', async () => {
  assert.deepEqual(await find('entryType:Local', 'graphType asc,name asc'), ['folder', 'b', 'd', 'c', 'a'])
  assert.deepEqual(await find('graphType:None', 'size desc'), ['b', 'c', 'a', 'd'])
  assert.deepEqual(await find('graphType:None', 'format asc,name desc'), ['c', 'b', 'a', 'd'])
})

test('links and texts are found by their title, a link without one by its address; folders come first (D14.10)', async () => {
  const title = (text: string) => ({ 'http://purl.org/dc/terms/title': [{ type: 'literal', value: text }] })
  const other = await newContext(admin)
  const at = `${service.base}${other}`
  await admin.post(`${other}?graphtype=string&id=text`, {
    resource: 'a',
    metadata: { [`${at}/resource/text`]: title('B') },
  })
  const link = new URLSearchParams({ entrytype: 'link', id: 'link', resource: 'https://example.org/page' })
  await admin.post(`${other}?${link.toString()}`, { metadata: { 'https://example.org/page': title('D') } })
  await admin.post(`${other}?entrytype=link&id=bare&resource=https://c.example.org/`, {})
  await admin.post(`${other}?graphtype=list&id=list`, { metadata: { [`${at}/resource/list`]: title('E') } })
  const place = `context:${at.replaceAll(/[:/.]/g, '\\$&')}`
  const hits = async (query: string): Promise<readonly string[]> => {
    const parameters = new URLSearchParams({
      type: 'solr',
      query: `${place} AND ${query}`,
      sort: 'isFolder asc,name asc',
    })
    type Hits = { readonly resource: { readonly children: ReadonlyArray<{ readonly entryId: string }> } }
    return (await admin.get(`search?${parameters.toString()}`)).json<Hits>().resource.children.map(hit => hit.entryId)
  }
  assert.deepEqual(await hits('name:*'), ['list', 'text', 'link', 'bare'])
  assert.deepEqual(await hits('name:*c.example*'), ['bare'])
  assert.deepEqual(await hits('isFolder:true'), ['list'])
})

test('what is in a folder, and what is in none', async () => {
  const list = `${escaped}\\/resource\\/folder`
  assert.deepEqual(await find(`lists:${list}`), ['d'])
  assert.deepEqual(await find('entryType:Local AND NOT lists:*', 'graphType asc,name asc'), ['folder', 'b', 'c', 'a'])
})

test('a new file and a new name change the index with the entry', async () => {
  const headers = { 'content-disposition': 'attachment; filename="renamed.bin"' }
  await admin.ask(`${context}/resource/a`, { method: 'PUT', body: 'xy', headers })
  assert.deepEqual(await find('name:zebra*'), [])
  assert.deepEqual(await find('name:renamed.bin AND size:2'), ['a'])
})
