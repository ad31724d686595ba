import assert from 'node:assert/strict'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { graphOf, textTerm } from '../support/content.ts'
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

const TITLE = 'http://purl.org/dc/terms/title'
const DESCRIPTION = 'http://purl.org/dc/terms/description'

test('moves, new names and changes of metadata are in the audit log, without the values', async () => {
  const owner = await newUser(service, admin)
  const { visitor } = owner
  const context = await newContext(admin, [owner.id])
  const about = `${service.base}${context}/resource/`
  const list = await newEntry(visitor, context, '?graphtype=list')
  const entry = await newEntry(visitor, context)
  const write = async (title: string, description: string): Promise<void> => {
    const statements = {
      [TITLE]: [{ type: 'literal', value: title }],
      [DESCRIPTION]: [{ type: 'literal', value: description }],
    }
    const { status } = await visitor.put(`${context}/metadata/${entry}`, { [about + entry]: statements })
    assert.equal(status, 204)
  }
  await write('Tides', 'secret one')
  await write('Tides', 'secret two')
  // The same again is no change.
  await write('Tides', 'secret two')
  await write('Ebb', 'secret two')
  const move = new URLSearchParams({ moveEntry: `${service.base}${context}/entry/${entry}`, removeAll: '' })
  assert.equal((await visitor.post(`${context}/resource/${list}?${move.toString()}`)).status, 200)
  assert.equal((await visitor.put(`${context}/resource/${list}`, [])).status, 204)
  const of = { context, entry }
  assert.deepEqual(await latest(6), [
    ['entry-renamed', owner.id, { ...of, name: entry, newName: 'Tides' }],
    ['metadata-changed', owner.id, { ...of, name: 'Tides', changed: DESCRIPTION }],
    ['metadata-changed', owner.id, { ...of, name: 'Tides', changed: DESCRIPTION }],
    ['entry-renamed', owner.id, { ...of, name: 'Tides', newName: 'Ebb' }],
    ['entry-moved', owner.id, { ...of, name: 'Ebb', from: context, to: `${context}/${list}` }],
    ['entry-moved', owner.id, { ...of, name: 'Ebb', from: `${context}/${list}`, to: context }],
  ])
  const activity = await visitor.get(`${context}/activity/${entry}`)
  const { events } = activity.json<{ events: ReadonlyArray<Record<string, string>> }>()
  assert.deepEqual(
    events.map(({ event, changed, newName }) => [event, changed ?? newName]),
    [
      ['entry-moved', undefined],
      ['entry-moved', undefined],
      ['entry-renamed', 'Ebb'],
      ['metadata-changed', DESCRIPTION],
      ['metadata-changed', DESCRIPTION],
      ['entry-renamed', 'Tides'],
    ],
  )
})

test('more than twenty entries that leave or join a list with one request are one event', async () => {
  const context = await newContext(admin)
  const list = await newEntry(admin, context, '?graphtype=list')
  const ids = await Promise.all(Array.from({ length: 21 }, () => newEntry(admin, context)))
  for (const members of [ids, []]) assert.equal((await admin.put(`${context}/resource/${list}`, members)).status, 204)
  const of = { context, entry: list, name: list }
  assert.deepEqual(await latest(2), [
    ['list-changed', '_admin', { ...of, added: 21, removed: 0 }],
    ['list-changed', '_admin', { ...of, added: 0, removed: 21 }],
  ])
})

test('events are found by the name of an item, also of one that is gone, and by the full name of a user', async () => {
  const owner = await newUser(service, admin)
  const context = await newContext(admin, [owner.id])
  const upload = async (name: string): Promise<string> => {
    const headers = { 'content-type': 'text/plain', 'content-disposition': `attachment; filename="${name}"` }
    const made = await owner.visitor.ask(`${context}?file`, { method: 'POST', body: 'one', headers })
    return made.json<{ entryId: string }>().entryId
  }
  const found = async (filter: Record<string, string>): Promise<Array<readonly [string, unknown]>> => {
    const answer = await admin.get(`management/audit?${new URLSearchParams(filter).toString()}`)
    return answer.json<{ events: readonly Event[] }>().events.map(({ event, detail }) => [event, detail['entry']])
  }
  const gone = await upload('sheet-5%.csv')
  await upload('sheet-55.csv')
  assert.equal((await owner.visitor.delete(`${context}/entry/${gone}`)).status, 204)
  const ofGone = [
    ['entry-deleted', gone],
    ['file-uploaded', gone],
  ]
  assert.deepEqual(await found({ item: 'Sheet-5%' }), ofGone)
  const kept = await upload('plans.csv')
  const label = { 'http://www.w3.org/2000/01/rdf-schema#label': [{ type: 'literal', value: 'maps.csv' }] }
  const info = { [`${service.base}${context}/resource/${kept}`]: label }
  assert.equal((await owner.visitor.put(`${context}/entry/${kept}`, info)).status, 204)
  const ofKept = [
    ['entry-renamed', kept],
    ['file-uploaded', kept],
  ]
  // By the name that it had, and by the present one.
  for (const item of ['plans', 'maps']) assert.deepEqual(await found({ item }), ofKept)

  const named = { 'http://xmlns.com/foaf/0.1/name': [{ type: 'literal', value: 'Nora Nordin' }] }
  const profile = { [`${service.base}_principals/resource/${owner.id}`]: named }
  assert.equal((await admin.put(`_principals/metadata/${owner.id}`, profile)).status, 204)
  assert.equal((await found({ user: 'nora nordin', event: 'file-uploaded' })).length, 3)
  assert.deepEqual(await found({ user: 'nora nordin', item: 'plans' }), ofKept)
  assert.deepEqual(await found({ user: 'nora nordin', item: 'no such thing' }), [])
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

test('a name with a NUL or of a megabyte hinders no change, and the log has a part of it (D5.8)', async () => {
  const context = await newContext(admin)
  const entry = await newEntry(admin, context)
  const about = `${service.base}${context}/resource/${entry}`
  for (const name of ['a\0b', `long ${'x'.repeat(1_000_000)}`, 'c\0d']) {
    const named = graphOf(about, TITLE, textTerm(name))
    assert.equal((await admin.put(`${context}/metadata/${entry}`, named)).status, 204)
  }
  const keyword = graphOf(about, 'http://www.w3.org/ns/dcat#keyword', textTerm('later'))
  keyword[about] = { ...keyword[about], [TITLE]: [textTerm('c\0d')] }
  assert.equal((await admin.put(`${context}/metadata/${entry}`, keyword)).status, 204)
  assert.equal((await admin.delete(`${context}/entry/${entry}`)).status, 204)
  const events = await latest(5)
  assert.deepEqual(
    events.map(([event]) => event),
    ['entry-renamed', 'entry-renamed', 'entry-renamed', 'metadata-changed', 'entry-deleted'],
  )
  assert.ok(JSON.stringify(events).length < 20_000, 'the events are short')
  const { events: found } = (await admin.get('management/audit?item=long%20xxx')).json<{ events: readonly Event[] }>()
  assert.deepEqual(
    found.map(({ event }) => event),
    ['entry-renamed'],
  )
})
