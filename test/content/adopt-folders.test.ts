import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adoptFoldersOnce } from '../../src/content/changes.ts'
import { findEntryHead } from '../../src/content/entry-records.ts'
import { guestFrom, type Caller } from '../../src/accounts/caller.ts'
import { CONTEXTS } from '../../src/model/addresses.ts'
import { type Acl, aclSlots, newEntry, ofContextOnly } from '../../src/model/entry.ts'
import { may, rightsOf } from '../../src/model/rights.ts'
import { sql } from '../../src/stores/sql.ts'
import { insertEntry } from '../support/entries.ts'
import { newDatabase } from '../support/store.ts'

/** Stores of earlier versions, in which a folder was shared by copies of its access list. */

const guest = guestFrom({ address: '', userAgent: '' })
const user = (id: string): Caller => ({ ...guest, user: { ...guest.user, id } })
const iri = (id: string): string => `./_principals/resource/${id}`
const callers = ['anna', 'carla', 'dieter'].map(user)

/** Adds readers to what the context gives, as the pages did. */
const adding = (...readers: readonly string[]): Acl =>
  Object.fromEntries(
    aclSlots.map(slot => [slot, [...(slot === 'rread' || slot === 'mread' ? readers : []), '_context'].map(iri)]),
  )
const only = (...readers: readonly string[]): Acl => ({
  admin: [iri('anna')],
  rread: readers.map(iri),
  mread: readers.map(iri),
})

/** Lists with their members, and the access list of each; `!` marks a member whose adder did not administer it. */
const store: ReadonlyArray<readonly [id: string, list: string | undefined, acl: Acl]> = [
  ['plans', undefined, adding('carla')],
  ['copy', 'plans', adding('carla')],
  ['private', 'plans', {}],
  ['closed', 'plans', only('carla')],
  ['more', 'plans', adding('carla', 'dieter')],
  ['untrusted', 'plans', adding('carla')],
  ['inner', 'plans', adding('carla')],
  ['deep', 'inner', adding('carla')],
  ['deep-private', 'inner', {}],
  ['closed-list', 'plans', only('dieter')],
  ['closed-list-member', 'closed-list', {}],
  ['plain', 'plans', {}],
  ['plain-member', 'plain', {}],
  ['shut', undefined, only('dieter')],
  ['shut-copy', 'shut', only('dieter')],
  ['shut-private', 'shut', {}],
  ['untouched', undefined, {}],
  ['untouched-member', 'untouched', adding('dieter')],
]
const isList = (id: string): boolean => store.some(([, list]) => list === id)

test('the start turns copies of the access list of a folder into entries that follow it, once; what anybody may do stays the same (D11.10)', async t => {
  const database = await newDatabase(t)
  const context = newEntry({
    context: CONTEXTS,
    id: '3',
    by: undefined,
    now: 1,
    graphType: 'Context',
    acl: { rread: [iri('dieter')] },
  })
  await database.transaction(async tx => {
    for (const id of [CONTEXTS, '3']) await tx.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
    await insertEntry(tx, context)
    for (const [position, [id, list, acl]] of store.entries()) {
      const graphType = isList(id) ? 'List' : 'String'
      await insertEntry(tx, newEntry({ context: '3', id, by: undefined, now: 1, graphType, acl }))
      if (list !== undefined)
        await tx.run(sql`INSERT INTO list_members (context, member, list, position, trusted)
          VALUES ('3', ${id}, ${list}, ${position}, ${Number(id !== 'untrusted')})`)
    }
    await tx.run(sql`INSERT INTO pending_work (name) VALUES ('folder-access') ON CONFLICT DO NOTHING`)
  })
  const decisions = async (): Promise<readonly string[]> => {
    const all: string[] = []
    for (const [id] of store) {
      const entry = await findEntryHead(database, { context: '3', id })
      assert.ok(entry)
      for (const caller of callers)
        all.push(`${caller.user.id} on ${id}: ${rightsOf(caller, { entry, contextEntry: context }).join(' ')}`)
    }
    return all
  }
  const before = await decisions()
  assert.deepEqual(await database.transaction(adoptFoldersOnce), { folders: 2, following: 4 })
  assert.deepEqual(await decisions(), before)
  const acls = new Map<string, Acl>()
  for (const [id] of store) acls.set(id, (await findEntryHead(database, { context: '3', id }))?.acl ?? {})
  for (const id of ['copy', 'inner', 'deep', 'shut-copy']) assert.deepEqual(acls.get(id), {}, id)
  for (const id of ['private', 'deep-private', 'closed-list-member', 'plain-member', 'shut-private'])
    assert.deepEqual(acls.get(id), ofContextOnly, id)
  for (const id of ['closed', 'more', 'untrusted', 'untouched', 'untouched-member'])
    assert.deepEqual(acls.get(id), store.find(([one]) => one === id)?.[2], id)
  assert.equal(await database.transaction(adoptFoldersOnce), undefined)

  // Another share of the folder is one of what follows it, and of nothing else.
  const folder = await findEntryHead(database, { context: '3', id: 'plans' })
  assert.ok(folder)
  const acl = { ...folder.acl, rwrite: [...(folder.acl.rwrite ?? []), iri('anna')] }
  await database.run(sql`UPDATE entries SET acl = ${JSON.stringify(acl)} WHERE id = 'plans'`)
  const written: string[] = []
  for (const [id] of store) {
    const entry = await findEntryHead(database, { context: '3', id })
    if (entry && may(user('anna'), 'writeresource', { entry, contextEntry: context })) written.push(id)
  }
  assert.deepEqual(written, ['plans', 'copy', 'closed', 'inner', 'deep', 'closed-list', 'shut', 'shut-copy'])
})
