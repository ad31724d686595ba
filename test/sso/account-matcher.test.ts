import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveMemberships, setMembers } from '../../src/accounts/groups.ts'
import { ADMIN, changeUser, findUser } from '../../src/accounts/users.ts'
import { Conflict } from '../../src/base/errors.ts'
import { asciiDomain } from '../../src/features/sso/account-matcher.ts'
import type { AttributeRules } from '../../src/features/sso/attributes.ts'
import type { ProviderPolicy, VerifiedIdentity } from '../../src/features/sso/identity-provider.ts'
import { SsoRefused } from '../../src/features/sso/refusal.ts'
import type { Queries } from '../../src/stores/database.ts'
import type { Sql } from '../../src/stores/sql.ts'
import { accountMatcher, rules } from '../support/account-matcher.ts'

const refused = (check: string, expected: string, received: string) => ({ failed: { check, expected, received } })

test('a first sign-on creates the user and the link, a second one finds them and changes nothing (D8.4)', async t => {
  const { database, matcher, signOn, plan, records } = await accountMatcher(t)
  const first = await plan()
  assert.deepEqual(
    [first.name, first.link, first.isLinked, first.user],
    ['anna@a.example', { issuer: 'https://idp.a', subject: 'anna-1' }, false, undefined],
  )
  const user = await signOn()
  assert.equal(user.name, 'anna@a.example')
  assert.deepEqual(await signOn({ name: 'renamed@a.example' }), user, 'the link counts, not the name')
  assert.equal((await plan()).isLinked, true)
  assert.deepEqual(await matcher.find({ issuer: 'https://idp.a', subject: 'anna-1' }), user)
  assert.equal(await matcher.find({ issuer: 'https://idp.b', subject: 'anna-1' }), undefined)
  assert.equal(await matcher.find({ issuer: 'https://idp.a', subject: 'anna-2' }), undefined)
  assert.deepEqual(records, [])
  await database.transaction(tx => changeUser(tx, user, { name: 'other@a.example' }))
  assert.equal((await signOn()).name, 'other@a.example')
})

test('without a subject the name identifies the user (D9.2)', async t => {
  const { plan } = await accountMatcher(t)
  const { link } = await plan({ subject: undefined as never })
  assert.deepEqual(link, { issuer: 'https://idp.a', subject: 'anna@a.example' })
})

test('a former name that the provider gives to another person does not open the renamed account (D19.1)', async t => {
  const { database, addUser, signOn } = await accountMatcher(t)
  await addUser('7', 'anna@a.example')
  const byName = (name: string) => signOn({ name, subject: undefined as never })
  const anna = await byName('anna@a.example')
  assert.equal((await signOn({ name: 'anna@a.example', issuer: 'https://idp.c', subject: 'x' })).id, '7')
  await database.transaction(tx => changeUser(tx, anna, { name: 'maria@a.example' }))
  assert.equal((await byName('anna@a.example')).id, '7', 'renamed only here')
  assert.equal((await byName('maria@a.example')).id, '7', 'renamed at the provider as well')
  assert.notEqual((await byName('anna@a.example')).id, '7')
  assert.equal((await byName('maria@a.example')).id, '7')
  assert.equal((await signOn({ issuer: 'https://idp.c', subject: 'x' })).id, '7', 'another provider')
})

test('an existing account is linked by its verified name, once per provider (D8.4)', async t => {
  const { addUser, signOn, plan } = await accountMatcher(t)
  await addUser('7', 'anna@a.example')
  assert.equal((await plan()).user?.id, '7')
  assert.equal((await signOn()).id, '7')
  await assert.rejects(
    signOn({ subject: 'anna-2' }),
    refused('account-linked', 'an account without a link to another user of this provider', 'anna@a.example'),
  )
  assert.equal((await signOn({ issuer: 'https://idp.c', subject: 'x' })).id, '7', 'another provider may')
  assert.equal((await signOn({ subject: undefined as never })).id, '7', 'a protocol without subjects may')
})

test('who cannot sign on is refused with the reason (D8.4)', async t => {
  const { database, addUser, addGroup, signOn, plan } = await accountMatcher(t)
  await addUser('8', 'off@a.example')
  await addGroup('9', 'team@a.example')
  const off = await findUser(database, '8')
  assert.ok(off)
  await database.transaction(tx => changeUser(tx, off, { disabled: true }))
  await addUser('_x', 'own@a.example')
  await addUser(ADMIN, 'boss@a.example')
  const own = 'a user other than admin'
  for (const [changes, provider, expected] of [
    [{ name: 'admin' }, { domains: undefined }, refused('reserved-user', own, 'admin')],
    [{ name: 'Admin ' }, { domains: undefined }, refused('reserved-user', own, 'admin')],
    [{ name: 'own@a.example' }, {}, refused('reserved-user', own, 'own@a.example')],
    [{ name: 'boss@a.example' }, {}, refused('reserved-user', own, 'boss@a.example')],
    [{ name: 'off@a.example' }, {}, refused('account-disabled', 'an account that is not disabled', 'off@a.example')],
    [{ name: 'team@a.example' }, {}, refused('unknown-user', 'a name that no group has', 'team@a.example')],
    [{}, { provisions: false }, refused('unknown-user', 'a user who is known', 'anna@a.example')],
    [
      { nameIsUnverified: true },
      {},
      refused('email-verified', 'an address that the provider has verified', 'anna@a.example'),
    ],
    [{ name: '' }, {}, refused('name', 'a name that a user can have', '')],
    [{ name: 'anna' }, {}, refused('name', 'an e-mail address', 'anna')],
    [{ name: '@a.example' }, {}, refused('name', 'an e-mail address', '@a.example')],
    [{ name: 'anna@' }, {}, refused('name', 'an e-mail address', 'anna@')],
    [{ name: 'a@b@a.example' }, {}, refused('name', 'an e-mail address', 'a@b@a.example')],
    [{ name: 'x@b.example' }, {}, refused('domain', 'a domain of no other provider', 'b.example')],
    [{ name: 'x@münchen.example' }, {}, refused('domain', 'a domain of no other provider', 'münchen.example')],
    [{}, { domains: ['x.example', 'y.example'] }, refused('domain', 'x.example, y.example', 'a.example')],
    [
      { name: 'x@b.example' },
      { acceptsPlainNames: true },
      refused('domain', 'a domain of no other provider', 'b.example'),
    ],
  ] as ReadonlyArray<readonly [Partial<VerifiedIdentity>, Partial<ProviderPolicy>, object]>) {
    await assert.rejects(plan(changes, provider), expected, JSON.stringify(changes))
    await assert.rejects(signOn(changes, provider), expected, JSON.stringify(changes))
  }
  const required = { rules: { ...rules, required: new Map([['x', 'y']]) } }
  await assert.rejects(
    plan({ name: 'admin' }, required),
    (error: unknown) => error instanceof SsoRefused && error.failed.check === 'required-claim',
    'a lacking value is found before anything about accounts',
  )
})

test('names and domains that a provider may sign in (D8.4)', async t => {
  const { plan } = await accountMatcher(t)
  for (const [name, provider] of [
    ['anna', { domains: undefined }],
    ['anna', { acceptsPlainNames: true }],
    ['anna', { acceptsPlainNames: true, domains: ['x.example'] }],
    ['x@b.example', { domains: undefined }],
    ['x@b.example', { domains: ['a.example', 'b.example'] }],
    ['x@münchen.example', { domains: ['xn--mnchen-3ya.example'] }],
    ['x@c.example', {}],
  ] as ReadonlyArray<readonly [string, Partial<ProviderPolicy>]>)
    assert.equal((await plan({ name }, provider)).name, name)
  assert.equal(asciiDomain('MÜNCHEN.example'), 'xn--mnchen-3ya.example')
  assert.equal(asciiDomain('no domain'), 'no domain')
})

test('an unverified name signs in to a linked account (D26.6)', async t => {
  const { signOn } = await accountMatcher(t)
  const user = await signOn()
  assert.equal((await signOn({ nameIsUnverified: true })).id, user.id)
})

test('language and properties follow the provider, with old and new values on record (D27.4)', async t => {
  const { signOn, records } = await accountMatcher(t)
  const created = await signOn({ attributes: { lang: 'sv', phone: '1' } }, { rules })
  assert.deepEqual([created.language, created.customProperties], ['sv', { phone: '1' }])
  const subject = { userId: created.id, userName: 'anna@a.example' }
  assert.deepEqual(records.splice(0), [
    {
      event: 'profile-changed',
      ...subject,
      detail: { mechanism: 'a', before: 'language: , property.phone: ', after: 'language: sv, property.phone: 1' },
    },
  ])
  const changed = await signOn({ attributes: { lang: 'de', phone: '1', room: '2' } }, { rules })
  assert.deepEqual([changed.language, changed.customProperties], ['de', { phone: '1', room: '2' }])
  assert.deepEqual(records.splice(0), [
    {
      event: 'profile-changed',
      ...subject,
      detail: { mechanism: 'a', before: 'language: sv, property.room: ', after: 'language: de, property.room: 2' },
    },
  ])
  await signOn({ attributes: {} }, { rules })
  assert.deepEqual(records, [], 'what is not stated stays')
})

test('properties are limited in total (D27.4)', async t => {
  const { plan } = await accountMatcher(t)
  const map = new Map(Array.from({ length: 20 }, (_, at) => [`property.p${at}`, `v${at}`] as const))
  const attributes = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`v${at}`, 'x'.repeat(4096)]))
  const { profile } = await plan({ attributes }, { rules: { ...rules, map } })
  assert.equal(Object.keys(profile.user.customProperties ?? {}).length, 15)
  assert.ok(profile.changes.every(({ target }) => target.startsWith('property.')))
  const { profile: none } = await plan({}, { rules: { ...rules, map } })
  assert.deepEqual([none.changes, none.user, none.personal], [[], {}, {}])
})

test('name and address of a new user are given to their metadata (D27.4)', async t => {
  const { signOn, personal } = await accountMatcher(t)
  const map = new Map([
    ['name', 'cn'],
    ['email', 'mail'],
  ])
  const user = await signOn({ attributes: { cn: 'Anna', mail: 'a@a.example' } }, { rules: { ...rules, map } })
  assert.deepEqual(personal, [{ id: user.id, name: 'Anna', email: 'a@a.example' }])
})

test('memberships follow the provider; those by hand and of other providers stay (D27.2)', async t => {
  const { database, addGroup, signOn, groupsOf, records } = await accountMatcher(t)
  await addGroup('20', 'a-one')
  await addGroup('21', 'a-hand')
  await addGroup('22', 'a-both')
  await addGroup('_admins', 'admins')
  const groups = (...values: string[]) => signOn({ attributes: { groups: values } }, { rules })
  const user = await groups('one', 'new', 'both', '', 'a-')
  await database.transaction(async tx => {
    await setMembers(tx, '21', [user.id])
    await giveMemberships(tx, 'b', user.id, ['22'])
  })
  assert.deepEqual(await groupsOf(user.id), [
    ['a-both', 'a,b'],
    ['a-hand', ''],
    ['a-new', 'a'],
    ['a-one', 'a'],
    ['admins', 'a'],
  ])
  const subject = { event: 'groups-changed', userId: user.id, userName: 'anna@a.example' }
  const all = 'a-both, a-new, a-one, admins'
  assert.deepEqual(records.splice(0), [
    { ...subject, detail: { mechanism: 'a', added: all, removed: '', before: '', after: all } },
  ])
  await groups('one', 'hand')
  assert.deepEqual(await groupsOf(user.id), [
    ['a-both', 'b'],
    ['a-hand', ''],
    ['a-one', 'a'],
  ])
  assert.deepEqual(records.splice(0), [
    {
      ...subject,
      detail: {
        mechanism: 'a',
        added: '',
        removed: 'a-new, admins',
        before: 'a-both, a-hand, a-new, a-one, admins',
        after: 'a-both, a-hand, a-one',
      },
    },
  ])
  await groups('one', 'both')
  assert.deepEqual(records, [], 'what another provider gave already is no change')
  assert.deepEqual((await groupsOf(user.id))[0], ['a-both', 'a,b'])
})

test('memberships of a provider that is not configured any more end (D27.2)', async t => {
  const { database, addGroup, signOn, groupsOf, records, plan } = await accountMatcher(t)
  const user = await signOn()
  await addGroup('30', 'old')
  await addGroup('31')
  await database.transaction(async tx => {
    await giveMemberships(tx, 'gone', user.id, ['30', '31'])
    await giveMemberships(tx, 'b', user.id, ['31'])
  })
  const { groups } = await plan()
  assert.deepEqual(
    groups.orphans.toSorted((a, b) => Number(a.groupId) - Number(b.groupId)),
    [
      { provider: 'gone', groupId: '30' },
      { provider: 'gone', groupId: '31' },
    ],
  )
  assert.deepEqual([groups.before, groups.after], [['31', 'old'], ['31']])
  await signOn()
  assert.deepEqual(await groupsOf(user.id), [[undefined, 'b']])
  assert.equal(records.length, 1)
})

test('a plan lists what is created, missing and unusable (D27.2)', async t => {
  const { addUser, addGroup, plan, signOn } = await accountMatcher(t)
  await addUser('40', 'a-person')
  await addGroup('_own', 'a-own')
  await addGroup('41', 'a-there')
  const attributes = { groups: ['person', 'own', 'there', 'new', 'other', 'x\u200By'] }
  const { groups } = await plan({ attributes }, { rules })
  assert.deepEqual(
    { ...groups, unusable: groups.unusable.toSorted() },
    {
      before: [],
      after: ['a-new', 'a-other', 'a-there'],
      given: [{ id: '41', name: 'a-there', isGroup: true }],
      taken: [],
      orphans: [],
      created: ['a-new', 'a-other'],
      missing: [],
      unusable: ['a-own', 'a-person', 'x\u200By'],
    },
  )
  const asTheyAre = { rules: { ...rules, groups: { ...rules.groups, provisions: false } as AttributeRules['groups'] } }
  const { groups: fewer } = await plan({ attributes }, asTheyAre)
  assert.deepEqual([fewer.created, fewer.missing, fewer.after], [[], ['a-new', 'a-other'], ['a-there']])
  const many = { groups: Array.from({ length: 201 }, (_, at) => `g${at}`) }
  const { groups: first } = await plan({ attributes: many }, { rules })
  assert.deepEqual([first.created.length, first.missing], [200, ['a-g200']])
  await signOn({ attributes }, asTheyAre)
  const { groups: without } = await plan({ attributes })
  assert.deepEqual(without.taken, [{ id: '41', name: 'a-there' }], 'without rules for groups the provider gives none')
})

test('a long list of changes is shortened on record', async t => {
  const { signOn, records } = await accountMatcher(t)
  const long = Array.from({ length: 51 }, (_, at) => String(at).padStart(2, '0'))
  await signOn({ attributes: { groups: long } }, { rules })
  const shown = long
    .slice(0, 50)
    .map(name => `a-${name}`)
    .join(', ')
  const { detail } = records.splice(0)[0] as { detail: { added: string } }
  assert.equal(detail.added, `${shown} and 1 more`)
  await signOn({ attributes: { groups: long.slice(0, 10).map(name => `${name}${'x'.repeat(240)}`) } }, { rules })
  const { detail: longer } = records[0] as { detail: { added: string } }
  assert.match(longer.added, /^a-00x/)
  assert.equal(longer.added.length, 2002)
  assert.ok(longer.added.endsWith('x …'))
  records.splice(0)
  // Fifty names of 38 characters are 2,000 with what is between them, so nothing is left out.
  const most = long.slice(0, 50).map(name => `${name}${'y'.repeat(34)}`)
  await signOn({ attributes: { groups: [...most.slice(1), `${most[0]}yy`] } }, { rules })
  const { detail: longest } = records[0] as { detail: { added: string } }
  assert.equal(longest.added.length, 2000)
  assert.match(longest.added, /y$/)
})

test('a sign-on that another one has overtaken is tried once more (D8.4)', async t => {
  const { signOn, beBusy } = await accountMatcher(t)
  beBusy(1)
  assert.equal((await signOn()).name, 'anna@a.example')
  beBusy(2)
  await assert.rejects(signOn({ name: 'bea@a.example', subject: 'bea' }), Conflict)
})

test('a user whom another sign-on creates at the same moment is not taken for a group (D8.4)', async t => {
  const { database, addUser, plan } = await accountMatcher(t)
  let isCreated = false
  const queries: Queries = {
    engine: database.engine,
    all: statement => database.all(statement),
    run: statement => database.run(statement),
    get: async <Row>(statement: Sql) => {
      const row = await database.get<Row>(statement)
      if (!isCreated && statement.values.includes('anna@a.example')) {
        isCreated = true
        await addUser('7', 'anna@a.example')
      }
      return row
    },
  }
  assert.equal((await plan({}, {}, queries)).user, undefined, 'they are created, which the other sign-on prevents')
  assert.equal(isCreated, true)
  assert.equal((await plan()).user?.id, '7')
})

test('in a federation only the providers that are named decide about groups (D31.5)', async t => {
  const { addGroup, plan } = await accountMatcher(t)
  await addGroup('50', 'a-staff')
  const groups = { ...(rules.groups as NonNullable<AttributeRules['groups']>), issuers: new Set(['https://idp.a']) }
  const attributes = { groups: ['staff'] }
  const by = async (issuer: string) => (await plan({ attributes, issuer }, { rules: { ...rules, groups } })).groups
  assert.deepEqual((await by('https://idp.a')).after, ['a-staff'])
  assert.deepEqual(await by('https://idp.evil'), {
    ...(await by('https://idp.evil')),
    after: [],
    given: [],
    unusable: [],
  })
})

test('a subject that is empty, too long or no text of a provider is refused', async t => {
  const { matcher, plan } = await accountMatcher(t)
  for (const subject of ['', 'x'.repeat(256), 'a\0', '\uD800', 'a\nb']) {
    await assert.rejects(plan({ subject }), (error: unknown) => {
      assert.ok(error instanceof SsoRefused)
      return error.failed.check === 'token-sub'
    })
    assert.equal(await matcher.find({ issuer: 'https://idp.a', subject }), undefined)
  }
  assert.equal((await plan({ subject: 'x'.repeat(255) })).link.subject.length, 255)
})
