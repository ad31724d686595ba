import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertRefused } from '../support/content.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const settings = { 'service.cors': 'on', 'service.cors.origins.1': 'https://app.example' }
const service = await startInProcess({ after }, { settings })
const admin = await service.admin()

test('all callers can read the status, as a text unless they prefer JSON (W3.14)', async () => {
  const guest = service.visitor()
  const brief = { version: '0.0.0', repositoryStatus: 'online' }
  for (const accept of ['application/json', 'application/json, text/plain;q=0.5'])
    assert.deepEqual((await guest.get('management/status', { accept })).json(), brief, accept)
  const ofJava = 'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2'
  for (const accept of [undefined, '*/*', 'text/plain', 'image/png', ofJava]) {
    const answer = await guest.get('management/status', accept === undefined ? {} : { accept })
    assert.deepEqual([answer.text, answer.headers['content-type']], ['UP', 'text/plain; charset=utf-8'], accept)
  }
})

test('the extended status is for administrators; it counts what there is (W3.14)', async () => {
  const { visitor } = await newUser(service, admin)
  assertRefused(await visitor.get('management/status?extended'), 403, 'not-allowed')
  assertRefused(await service.visitor().get('management/status?extended&includeStats'), 401, 'not-signed-in')
  const status = (await admin.get('management/status?extended')).json()
  assert.equal(status['baseURI'], admin.base)
  assert.equal(status['quota'], false)
  assert.deepEqual(status['cors'], { enabled: true, origins: ['https://app.example'], maxAge: 7200 })
  assert.deepEqual(status['solr'], { enabled: true, status: 'online', postQueueSize: 0 })
  assert.equal('stats' in status, false)
  const count = async () =>
    (await admin.get('management/status?extended&includeStats')).json<{ stats: Record<string, number> }>().stats
  const before = await count()
  await newEntry(admin, await newContext(admin))
  const now = await count()
  assert.equal(now['contextCount'], (before['contextCount'] ?? 0) + 1)
  assert.equal(now['entryCount'], (before['entryCount'] ?? 0) + 2)
  assert.deepEqual([now['userCount'], now['groupCount']], [3, 2])
  const { results } = (await admin.get('management/contexts')).json<{ results: number }>()
  assert.equal(now['contextCount'], results, 'as the list of contexts has it: without those of the system')
})
