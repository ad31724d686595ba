import { after } from '../support/after.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import type { Visitor } from '../support/http-client.ts'
import { escaped, find, idsOf } from '../support/search.ts'
import { newContext, newEntry, newUser, startInProcess } from '../support/service.ts'

const service = await startInProcess({ after })
const admin = await service.admin()
const owner = await newUser(service, admin)
const member = await newUser(service, admin)
const stranger = await newUser(service, admin)
const guest = service.visitor()
const group = await newEntry(admin, '_principals', '?graphtype=group')
assert.equal((await admin.put(`_principals/resource/${group}`, [member.id])).status, 204)

type Slots = Readonly<Partial<Record<'admin' | 'mread' | 'mwrite' | 'rread' | 'rwrite', readonly string[]>>>

/** Sets the ACL of an entry. */
async function allow(context: string, id: string, slots: Slots): Promise<void> {
  const resource = context === '_contexts' ? id : `${context}/resource/${id}`
  const places = {
    admin: [`${context}/entry/${id}`, `${STORE}write`],
    mread: [`${context}/metadata/${id}`, `${STORE}read`],
    mwrite: [`${context}/metadata/${id}`, `${STORE}write`],
    rread: [resource, `${STORE}read`],
    rwrite: [resource, `${STORE}write`],
  } as const
  const info: Record<string, Record<string, object[]>> = {}
  for (const [slot, [subject, predicate]] of Object.entries(places)) {
    const named = (slots[slot as keyof Slots] ?? []).map(who => principal(admin, who))
    if (named.length > 0) (info[admin.base + subject] ??= {})[predicate] = named
  }
  const put = await admin.put(`${context}/entry/${id}`, info)
  assert.equal(put.status, 204, put.text)
}

let words = 0

/** A context with one entry, and how to find just that. */
async function place(contextAcl: Slots, entryAcl: Slots) {
  const context = await newContext(admin)
  const word = `platypus${++words}x`
  const id = await newEntry(admin, context, '?id=it', {
    metadata: graphOf(`${admin.base}${context}/resource/it`, TITLE, textTerm(word)),
  })
  await allow('_contexts', context, contextAcl)
  await allow(context, id, entryAcl)
  return { context, id, query: `title:${word}` }
}

const visitors = { admin, owner: owner.visitor, member: member.visitor, stranger: stranger.visitor, guest }
const all = Object.keys(visitors).join(' ')

async function finders(query: string): Promise<string> {
  const finding: string[] = []
  for (const [name, visitor] of Object.entries(visitors)) {
    const found = await find(visitor, query)
    assert.equal(found.results, found.resource.children.length, 'the number tells nothing that the hits do not')
    if (found.results > 0) finding.push(name)
  }
  return finding.join(' ')
}

const rules: ReadonlyArray<readonly [rule: string, context: Slots, entry: Slots, expected: string]> = [
  ['without any ACL administrators alone', {}, {}, 'admin'],
  ['the owner of the context', { admin: [owner.id] }, {}, 'admin owner'],
  [
    'the owner of the context, whatever the entry says',
    { admin: [owner.id] },
    { mread: [stranger.id] },
    'admin owner stranger',
  ],
  ['who reads the context by default', { rread: [stranger.id] }, {}, 'admin stranger'],
  ['who writes to the context by default', { rwrite: [group] }, {}, 'admin member'],
  ['not who reads the metadata of the context', { mread: ['_guest'] }, {}, 'admin'],
  ['an own ACL shuts the default out', { rread: ['_guest'] }, { mread: [owner.id] }, 'admin owner'],
  ['also one about the resource', { rread: ['_guest'] }, { rread: ['_guest'] }, 'admin'],
  ['who may write metadata', {}, { mwrite: [stranger.id] }, 'admin stranger'],
  ['an administrator of the entry', {}, { admin: [group] }, 'admin member'],
  ['a member of a group', {}, { mread: [group] }, 'admin member'],
  ['everybody signed in', {}, { mread: ['_users', owner.id] }, 'admin owner member stranger'],
  ['everybody', {}, { mread: ['_guest', owner.id] }, all],
  ['everybody by the default', { rread: ['_guest'] }, {}, all],
  ['everybody signed in by the default', { rwrite: ['_users'] }, {}, 'admin owner member stranger'],
]
for (const [rule, context, entry, expected] of rules) {
  test(`${rule}: finds the entry, other callers do not (W3.10.2, W4.2)`, async () => {
    const { query } = await place(context, entry)
    assert.equal(await finders(query), expected)
    const isPublic = expected.includes('guest')
    assert.equal((await find(admin, `${query} AND public:true`)).results, isPublic ? 1 : 0)
    assert.equal((await find(admin, `${query} AND public:false`)).results, isPublic ? 0 : 1)
  })
}

test('a changed ACL, of the entry or its context, counts with the next search (W3.10.5)', async () => {
  const { context, id, query } = await place({}, {})
  assert.equal(await finders(query), 'admin')
  await allow('_contexts', context, { rread: ['_guest'] })
  assert.equal(await finders(query), all)
  await allow(context, id, { mread: [stranger.id] })
  assert.equal(await finders(query), 'admin stranger')
  await allow(context, id, {})
  await allow('_contexts', context, { rread: [group] })
  assert.equal(await finders(query), 'admin member')
  assert.equal((await admin.put(`_principals/resource/${group}`, [member.id, stranger.id])).status, 204)
  assert.equal(await finders(query), 'admin member stranger')
  assert.equal((await admin.put(`_principals/resource/${group}`, [member.id])).status, 204)
})

test('facets count readable entries only (W3.10.2)', async () => {
  const { context } = await place({}, { mread: [stranger.id] })
  const here = `context:${escaped(admin.base + context)}`
  await newEntry(admin, context, '?graphtype=string')
  const valuesFor = async (visitor: Visitor) =>
    (await find(visitor, here, '&facetFields=graphType')).facetFields[0]?.values
  assert.deepEqual(await valuesFor(admin), [
    { name: 'None', count: 1 },
    { name: 'String', count: 1 },
  ])
  assert.deepEqual(await valuesFor(stranger.visitor), [{ name: 'None', count: 1 }])
  assert.deepEqual(await valuesFor(guest), [])
})

test('for all ACLs, exactly the callers who may read the metadata of an entry find it (D1.5, W4.2)', async () => {
  const { context, id, query } = await place({}, {})
  const someone = fc.subarray([owner.id, stranger.id, group, '_guest', '_users'], { maxLength: 2 })
  const acl = fc.record({ admin: someone, mread: someone, mwrite: someone, rread: someone, rwrite: someone })
  const sparse = fc.oneof(acl, fc.record({ mread: someone }), fc.record({ rread: someone }), fc.constant({}))
  await fc.assert(
    fc.asyncProperty(sparse, sparse, async (contextAcl, entryAcl) => {
      await allow('_contexts', context, contextAcl)
      await allow(context, id, entryAcl)
      for (const visitor of Object.values(visitors)) {
        const { status } = await visitor.get(`${context}/metadata/${id}`)
        const found = await find(visitor, query)
        assert.equal(found.results === 1, status === 200)
        assert.equal(found.resource.children.length, found.results, 'what SQL lets through the rules let through')
      }
    }),
    { numRuns: 40 },
  )
})

test('users find themselves, others only what they may read (W4.2, rule 2)', async () => {
  assert.deepEqual(idsOf(await find(owner.visitor, `username:${owner.name}`)), [owner.id])
  assert.deepEqual(idsOf(await find(stranger.visitor, `graphType:User AND username:${owner.name}`)), [owner.id])
  assert.deepEqual(idsOf(await find(guest, `username:${owner.name}`)), [])
  await allow('_principals', owner.id, { mread: [member.id] })
  assert.deepEqual(idsOf(await find(owner.visitor, `username:${owner.name}`)), [owner.id])
  assert.deepEqual(idsOf(await find(stranger.visitor, `username:${owner.name}`)), [])
})
