import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()

interface Event {
  readonly event: string
  readonly actorId?: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** The latest events, oldest first. */
async function latest(count: number): Promise<ReadonlyArray<readonly [string, string | undefined, unknown]>> {
  const { events } = (await admin.get(`management/audit?limit=${count}`)).json<{ events: readonly Event[] }>()
  return events.map(({ event, actorId, detail }) => [event, actorId, detail] as const).reverse()
}

test('groups that are created, renamed and deleted are in the audit log', async () => {
  const made = await admin.post('_principals?graphtype=group', { resource: { name: 'sailors' } })
  const { entryId: id } = made.json<{ entryId: string }>()
  for (const name of ['divers', 'divers']) {
    assert.equal((await admin.put(`_principals/entry/${id}/name`, { name })).status, 204)
  }
  assert.equal((await admin.delete(`_principals/entry/${id}`)).status, 204)
  const group = `_principals/${id}`
  assert.deepEqual(await latest(3), [
    ['group-created', '_admin', { group, name: 'sailors' }],
    ['group-renamed', '_admin', { group, name: 'sailors', newName: 'divers' }],
    ['group-deleted', '_admin', { group, name: 'divers' }],
  ])
})

test('contexts that are created, renamed and deleted are in the audit log', async () => {
  const context = await newContext(admin)
  for (const name of ['harbour', 'harbour', 'beach']) {
    assert.equal((await admin.put(`_contexts/entry/${context}/name`, { name })).status, 204)
  }
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  assert.deepEqual(await latest(4), [
    ['context-created', '_admin', { context }],
    ['context-renamed', '_admin', { context, name: '', newName: 'harbour' }],
    ['context-renamed', '_admin', { context, name: 'harbour', newName: 'beach' }],
    ['context-deleted', '_admin', { context, name: 'beach' }],
  ])
})

test('an entry that is deleted is in the audit log with its user, a list with the number of its entries', async () => {
  const owner = await newUser(service, admin)
  const context = await newContext(admin, [owner.id])
  const entry = await newEntry(owner.visitor, context)
  const list = await newEntry(owner.visitor, context, '?graphtype=list')
  const inList = `?list=${encodeURIComponent(`${service.base}${context}/resource/${list}`)}`
  await newEntry(owner.visitor, context, inList)
  await newEntry(owner.visitor, context, inList)
  assert.equal((await service.visitor().delete(`${context}/entry/${entry}`)).status, 401)
  assert.equal((await owner.visitor.delete(`${context}/entry/${entry}`)).status, 204)
  assert.equal((await owner.visitor.delete(`${context}/entry/${list}?recursive=true`)).status, 204)
  assert.deepEqual(await latest(2), [
    ['entry-deleted', owner.id, { context, entry, name: entry, entries: 1 }],
    ['entry-deleted', owner.id, { context, entry: list, name: list, entries: 3 }],
  ])
})

test('uploads are in the audit log, and found by their context and entry; owners read those of an entry (D5.8)', async () => {
  const owner = await newUser(service, admin)
  const reader = await newUser(service, admin)
  const context = await newContext(admin, [owner.id])
  assert.equal((await admin.put(context, { alias: 'Reefs' })).status, 200)
  const headers = { 'content-type': 'text/plain', 'content-disposition': 'attachment; filename="tides.txt"' }
  const made = await owner.visitor.ask(`${context}?file`, { method: 'POST', body: 'one', headers })
  const { entryId: entry } = made.json<{ entryId: string }>()
  const replace = { method: 'PUT', body: 'other', headers }
  assert.equal((await owner.visitor.ask(`${context}/resource/${entry}`, replace)).status, 201)
  const detail = { context, entry, name: 'tides.txt' }
  assert.deepEqual(await latest(2), [
    ['file-uploaded', owner.id, { ...detail, size: 3 }],
    ['file-replaced', owner.id, { ...detail, size: 5 }],
  ])
  assert.equal((await owner.visitor.ask(`${context}/resource/${entry}`, { ...replace, body: '' })).status, 201)

  const eventsAt = async (place: string): Promise<string[]> => {
    const answer = await admin.get(`management/audit?place=${encodeURIComponent(place)}`)
    return answer.json<{ events: readonly Event[] }>().events.map(({ event }) => event)
  }
  const ofEntry = ['file-replaced', 'file-replaced', 'file-uploaded']
  assert.deepEqual(await eventsAt(`${context}/${entry}`), ofEntry)
  assert.deepEqual(await eventsAt(`Reefs/${entry}`), ofEntry)
  const ofContext = [...ofEntry, 'context-renamed', 'access-changed', 'context-created']
  assert.deepEqual(await eventsAt(context), ofContext)
  assert.deepEqual(await eventsAt('Reefs'), ofContext)
  assert.deepEqual(await eventsAt('nowhere'), [])

  const activity = await owner.visitor.get(`${context}/activity/${entry}`)
  assert.deepEqual(
    activity
      .json<{ events: ReadonlyArray<Record<string, string>> }>()
      .events.map(({ event, by, byName }) => [event, by, byName]),
    ofEntry.map(event => [event, owner.id, owner.name]),
  )
  assert.equal(activity.text.includes('127.0.0.1'), false)
  assert.equal((await reader.visitor.get(`${context}/activity/${entry}`)).status, 403)
  assert.equal((await service.visitor().get(`${context}/activity/${entry}`)).status, 401)
})
