import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import type { TokenGrant } from '../../src/accounts/token-scopes.ts'
import { ADMIN, ADMINS, GUEST, OF_CONTEXT, USERS } from '../../src/accounts/users.ts'
import { Forbidden, Unauthenticated } from '../../src/base/errors.ts'
import { type Acl, type AclSlot, aclSlots, isOwnAcl, newEntry } from '../../src/model/entry.ts'
import { CONTEXTS, PRINCIPALS, principalUri } from '../../src/model/addresses.ts'
import {
  accessOf,
  type EntryInContext,
  hasAnyRight,
  may,
  requireRight,
  requires,
  type Right,
  rightsOf,
} from '../../src/model/rights.ts'

const rights: readonly Right[] = ['administer', 'writemetadata', 'writeresource', 'readmetadata', 'readresource']

const guest = guestFrom({ address: '127.0.0.1', userAgent: '' })

const userWith = (id: string, ...groups: string[]): Caller => ({
  ...guest,
  user: { ...guest.user, id, name: id },
  groups: new Set(groups),
})
const nora = userWith('7', '20')
const olaf = userWith('8')
const callers: readonly Caller[] = [guest, nora, olaf, userWith(ADMIN), userWith('9', ADMINS)]

const listed = (slots: Readonly<Partial<Record<AclSlot, string>>>): Acl =>
  Object.fromEntries(Object.entries(slots).map(([slot, ids]) => [slot, ids.split(' ').map(principalUri)]))

/** An ACL that adds to what the context gives. */
const adding = (slots: Readonly<Partial<Record<AclSlot, string>>>): Acl =>
  listed(Object.fromEntries(aclSlots.map(slot => [slot, `${slots[slot] ?? ''} ${OF_CONTEXT}`.trim()])))

function place(entry: Acl, context: Acl, address = { context: '3', id: '1' }): EntryInContext {
  const owner = address.context
  return {
    entry: newEntry({ ...address, by: undefined, now: 0, acl: entry }),
    contextEntry: newEntry({ context: CONTEXTS, id: owner, graphType: 'Context', by: undefined, now: 0, acl: context }),
  }
}

/** The rights out of the five that the caller has, by their first letters: A, WM, WR, RM, RR. */
const short: Readonly<Record<Right, string>> = {
  administer: 'A',
  writemetadata: 'WM',
  writeresource: 'WR',
  readmetadata: 'RM',
  readresource: 'RR',
}
const has = (caller: Caller, target: EntryInContext): string =>
  rights
    .filter(right => may(caller, right, target))
    .map(right => short[right])
    .join(' ')

const ALL = 'A WM WR RM RR'
const NONE = {}

const table: ReadonlyArray<readonly [rule: string, caller: Caller, entry: Acl, context: Acl, expected: string]> = [
  ['1: the super user may everything', userWith(ADMIN), listed({ rread: '8' }), NONE, ALL],
  ['1: so may a member of the admin group', userWith('9', ADMINS), listed({ rread: '8' }), NONE, ALL],
  ['6: without any ACL nobody else may anything', nora, NONE, NONE, ''],
  ['6: nor the guest', guest, NONE, NONE, ''],
  ['3: who owns the context may everything', nora, NONE, listed({ admin: '7' }), ALL],
  ['3: whatever the ACL of the entry says', nora, listed({ rread: '8' }), listed({ admin: '7' }), ALL],
  ['3: also through a group', nora, listed({ rread: '8' }), listed({ admin: '20' }), ALL],
  ['3: the guest as owner means every caller (4.1)', olaf, NONE, listed({ admin: GUEST }), ALL],
  ['3: all users as owners means every user', olaf, NONE, listed({ admin: USERS }), ALL],
  ['3: but not the guest', guest, NONE, listed({ admin: USERS }), ''],
  ['4: an entry administrator may everything', nora, listed({ admin: '7' }), NONE, ALL],
  ['4: also through a group', nora, listed({ admin: '20' }), NONE, ALL],
  ['4: metadata read', nora, listed({ mread: '7' }), NONE, 'RM'],
  ['4: metadata write implies metadata read', nora, listed({ mwrite: '7' }), NONE, 'WM RM'],
  ['4: resource read', nora, listed({ rread: '7' }), NONE, 'RR'],
  ['4: resource write implies resource read', nora, listed({ rwrite: '7' }), NONE, 'WR RR'],
  ['4: the halves add up', nora, listed({ rwrite: '7', mread: '20' }), NONE, 'WR RM RR'],
  ['4: everybody may read what the guest may', olaf, listed({ mread: GUEST }), NONE, 'RM'],
  ['4: and so may the guest', guest, listed({ mread: GUEST }), NONE, 'RM'],
  ['4: all users are every user', olaf, listed({ rwrite: USERS }), NONE, 'WR RR'],
  ['4: and not the guest', guest, listed({ rwrite: USERS }), NONE, ''],
  [
    '4: an ACL of its own shuts the defaults of the context out',
    nora,
    listed({ mread: '8' }),
    listed({ rwrite: '7' }),
    '',
  ],
  ['5: context resource read gives both reads', nora, NONE, listed({ rread: '7' }), 'RM RR'],
  ['5: context resource write gives everything', nora, NONE, listed({ rwrite: '7' }), ALL],
  ['5: also through a group', nora, NONE, listed({ rwrite: '20' }), ALL],
  ['5: the guest may read a public context', guest, NONE, listed({ rread: GUEST }), 'RM RR'],
  [
    '5: the metadata slots of the context concern its own metadata only',
    nora,
    NONE,
    listed({ mread: '7', mwrite: '7' }),
    '',
  ],
  [
    '4: an ACL that adds to the context leaves its readers',
    nora,
    adding({ mread: '8' }),
    listed({ rread: '7' }),
    'RM RR',
  ],
  ['4: its writers', nora, adding({ mread: '8' }), listed({ rwrite: '20' }), ALL],
  ['4: and those it names', olaf, adding({ rread: '8' }), listed({ rread: '7' }), 'RR'],
  ['4: but opens nothing else', olaf, adding({ rread: '7' }), NONE, ''],
  ['4: to guests neither', guest, adding({ rread: '7' }), listed({ rread: USERS }), ''],
  ['4.1: a principal that only looks like it is another one', nora, listed({ mread: '77' }), NONE, ''],
]

for (const [rule, caller, entry, context, expected] of table) {
  test(`rule ${rule} (W4.2)`, () => assert.equal(has(caller, place(entry, context)), expected))
}

test('an ACL adds to the context only if all five slots say so: less closes the entry (D18.19)', () => {
  const all = adding({})
  assert.equal(has(nora, place(all, listed({ rwrite: '7' }))), ALL)
  for (const slot of aclSlots) {
    assert.equal(has(nora, place({ ...all, [slot]: [] }, listed({ rwrite: '7' }))), '', slot)
    assert.equal(has(nora, place({ [slot]: all[slot] }, listed({ rwrite: '7' }))), '', `only ${slot}`)
  }
})

test('rule 2: users read their own entry, and no more, without any slot (W4.2)', () => {
  const own = place(listed({ mread: '8' }), NONE, { context: PRINCIPALS, id: '7' })
  assert.equal(has(nora, own), 'RM RR')
  assert.equal(has(olaf, own), 'RM')
})

test('rule 2 is about the user, not about an entry of another context with the same id (W4.2)', () => {
  assert.equal(has(nora, place(NONE, NONE, { context: '3', id: '7' })), '')
})

test('clients see administer alone, or the stronger right of each half (W4.3)', () => {
  assert.deepEqual(rightsOf(nora, place(listed({ admin: '7' }), NONE)), ['administer'])
  assert.deepEqual(rightsOf(nora, place(listed({ mwrite: '7', rread: '7' }), NONE)), ['writemetadata', 'readresource'])
  assert.deepEqual(rightsOf(nora, place(NONE, listed({ rread: '7' }))), ['readmetadata', 'readresource'])
  assert.deepEqual(rightsOf(nora, place(NONE, listed({ rwrite: '7' }))), ['administer'])
  assert.deepEqual(rightsOf(nora, place(NONE, NONE)), [])
})

test('rule 2 is about users, not about a link with their id, and not about groups (W4.2)', () => {
  const own = place(NONE, NONE, { context: PRINCIPALS, id: '7' })
  assert.equal(has(nora, { ...own, entry: { ...own.entry, entryType: 'Link' } }), '')
  assert.equal(has(nora, place(NONE, NONE, { context: PRINCIPALS, id: '20' })), '')
})

test('the administrators of an entry are not those of its context: their slot says nothing about other entries', () => {
  assert.equal(has(nora, place(listed({ admin: '8' }), listed({ rread: '7' }))), '')
  assert.equal(has(olaf, place(listed({ admin: '7' }), NONE)), '')
  assert.equal(has(guest, place(listed({ admin: USERS }), NONE)), '')
})

const tokens: ReadonlyArray<readonly [what: string, grant: Omit<TokenGrant, 'tokenId'>, expected: string]> = [
  ['to read reads', { scopes: ['read'] }, 'RM RR'],
  ['to write also reads', { scopes: ['write'] }, ALL],
  ['for everything', { scopes: ['admin'] }, ALL],
  ['for quotas sees nothing', { scopes: ['quota'] }, ''],
  ['without a scope sees nothing', { scopes: [] }, ''],
  ['for this context', { scopes: ['write'], contexts: ['4', '3'] }, ALL],
  ['for another context', { scopes: ['write'], contexts: ['4'] }, ''],
  ['for no context', { scopes: ['admin'], contexts: [] }, ''],
]
for (const [what, grant, expected] of tokens) {
  test(`an access token ${what} (D24.4)`, () => {
    const target = place(NONE, listed({ admin: '7' }))
    assert.equal(has({ ...nora, grant: { tokenId: 't', ...grant } }, target), expected)
    assert.equal(has({ ...olaf, grant: { tokenId: 't', ...grant } }, target), '', 'it widens no right')
  })
}

test('the entry of a context belongs to that context, for a token too (D24.4)', () => {
  const entryOf = (id: string) => place(NONE, listed({ admin: '7' }), { context: CONTEXTS, id })
  const token: Caller = { ...nora, grant: { tokenId: 't', scopes: ['write'], contexts: ['3'] } }
  assert.equal(has(token, entryOf('3')), ALL)
  assert.equal(has(token, entryOf('4')), '')
})

test('no token makes anyone an administrator: the admin group can only be read with it (D24.5)', () => {
  const admin: Caller = { ...userWith(ADMIN), grant: { tokenId: 't', scopes: ['admin'] } }
  assert.equal(has(admin, place(NONE, NONE, { context: PRINCIPALS, id: ADMINS })), 'RM RR')
  assert.equal(has(admin, place(NONE, NONE, { context: PRINCIPALS, id: '20' })), ALL)
  assert.equal(has(admin, place(NONE, NONE, { context: '3', id: ADMINS })), ALL)
})

test('who has any right may read the info, and sees what the rights open (D18.11)', () => {
  const seen: ReadonlyArray<readonly [acl: Acl, rights: readonly Right[], metadata: boolean, resource: boolean]> = [
    [listed({ admin: '7' }), ['administer'], true, true],
    [listed({ mread: '7' }), ['readmetadata'], true, false],
    [listed({ mwrite: '7' }), ['writemetadata'], true, false],
    [listed({ rread: '7' }), ['readresource'], false, true],
    [listed({ rwrite: '7' }), ['writeresource'], false, true],
    [listed({ mread: '7', rwrite: '7' }), ['readmetadata', 'writeresource'], true, true],
    [listed({ mread: '8' }), [], false, false],
  ]
  for (const [acl, rights, readsMetadata, readsResource] of seen) {
    const target = place(acl, NONE)
    assert.deepEqual(accessOf(nora, target), { rights, readsMetadata, readsResource })
    assert.equal(hasAnyRight(nora, target), rights.length > 0)
  }
})

test('a check of a right lets pass who has it, and says what the others may not do', () => {
  const check = requires('writeresource', 'upload this')
  check(nora, place(listed({ rwrite: '7' }), NONE))
  const target = place(listed({ rread: '7' }), NONE)
  assert.throws(() => check(nora, target), { code: 'not-allowed', message: 'You may not upload this.' })
  assert.throws(() => check(guest, target), { code: 'not-signed-in', message: 'Sign in to upload this.' })
})

test('a guest without the right is asked to sign in, a user is refused (D1.5)', () => {
  const target = place(NONE, NONE)
  assert.throws(() => requireRight(guest, 'readmetadata', target, 'read this'), Unauthenticated)
  assert.throws(() => requireRight(nora, 'readmetadata', target, 'read this'), Forbidden)
  assert.doesNotThrow(() => requireRight(userWith(ADMIN), 'administer', target, 'change this'))
})

const principal = fc.constantFrom(GUEST, USERS, '7', '8', '20', '21', ADMIN, ADMINS).map(principalUri)
const acl: fc.Arbitrary<Acl> = fc.dictionary(
  fc.constantFrom(...aclSlots),
  fc.uniqueArray(principal, { maxLength: 3 }),
  {
    noNullPrototype: true,
  },
)
const someone = fc.constantFrom(...callers)
const address = fc.constantFrom({ context: '3', id: '1' }, { context: PRINCIPALS, id: '30' })

test('except administrators, only callers named by a slot have a right: as user, by group, as any user or as guest', () => {
  fc.assert(
    fc.property(someone, acl, acl, address, (caller, entry, context, address) => {
      if (caller.user.id === ADMIN || caller.groups.has(ADMINS)) return
      const own = new Set(
        [caller.user.id, ...caller.groups, GUEST, ...(caller === guest ? [] : [USERS])].map(principalUri),
      )
      const named = [...Object.values(entry), ...Object.values(context)].flat().some(uri => own.has(uri))
      if (!named) assert.equal(has(caller, place(entry, context, address)), '')
    }),
  )
})

test('administrators have every right everywhere', () => {
  fc.assert(
    fc.property(acl, acl, address, (entry, context, address) => {
      for (const admin of [userWith(ADMIN), userWith('9', ADMINS)])
        assert.equal(has(admin, place(entry, context, address)), ALL)
    }),
  )
})

test('write implies read of the same half, administer implies all', () => {
  fc.assert(
    fc.property(someone, acl, acl, (caller, entry, context) => {
      const target = place(entry, context)
      const can = (right: Right): boolean => may(caller, right, target)
      if (can('writemetadata')) assert.ok(can('readmetadata'))
      if (can('writeresource')) assert.ok(can('readresource'))
      if (can('administer')) assert.equal(has(caller, target), ALL)
    }),
  )
})

test('all callers have the rights of the guest', () => {
  fc.assert(
    fc.property(someone, acl, acl, (caller, entry, context) => {
      const target = place(entry, context)
      for (const right of rights) if (may(guest, right, target)) assert.ok(may(caller, right, target), right)
    }),
  )
})

test('adding a name to a slot of an entry with its own ACL removes no right', () => {
  fc.assert(
    fc.property(someone, acl, acl, fc.constantFrom(...aclSlots), principal, (caller, entry, context, slot, added) => {
      if (!isOwnAcl(entry)) return
      const more = { ...entry, [slot]: [...(entry[slot] ?? []), added] }
      for (const right of rights) {
        if (may(caller, right, place(entry, context))) assert.ok(may(caller, right, place(more, context)), right)
      }
    }),
  )
})
