import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { countRows, listGroups, listUsers, type Portion } from '../../src/accounts/directory.ts'
import { hashFirstAdminPassword, setFirstAdminPassword } from '../../src/accounts/passwords.ts'
import {
  findGroup,
  findGroupByName,
  findPrincipalsNamed,
  forgetHomeContext,
  giveMemberships,
  groupsOf,
  insertGroup,
  membershipsOf,
  membersOf,
  renameGroup,
  setHomeContext,
  setMembers,
  takeMemberships,
} from '../../src/accounts/groups.ts'
import { digestOf } from '../../src/accounts/tokens.ts'
import {
  changeUser,
  deletePrincipal,
  endOtherSessions,
  findPrincipalNamed,
  findUser,
  findUserByName,
  insertUser,
  liftLockout,
  listUserIds,
  replaceHash,
  requireName,
  type User,
} from '../../src/accounts/users.ts'
import { Conflict, InvalidInput, SettingsError } from '../../src/base/errors.ts'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { presentUser } from '../support/factor-services.ts'
import { newDatabase } from '../support/store.ts'

/** The users anna (1), bert (2) and carl (3), and the groups editors (g1), readers (g2) and one without a name (g3). */
async function setUp(t: TestContext): Promise<Database> {
  const database = await newDatabase(t)
  await database.transaction(async tx => {
    for (const [id, name] of Object.entries({ 1: 'anna', 2: 'bert', 3: 'carl' })) await insertUser(tx, { id, name })
    await insertGroup(tx, { id: 'g1', name: 'editors' })
    await insertGroup(tx, { id: 'g2', name: 'readers' })
    await insertGroup(tx, { id: 'g3' })
  })
  return database
}

const everyone: Portion = { query: undefined, limit: 100, offset: 0 }

const taken = (name: string) => ({
  constructor: Conflict,
  code: 'name-taken',
  message: `A user or group with the name "${name}" exists already.`,
})

test('users and groups share one set of names, whoever comes first (D1.7)', async t => {
  const database = await setUp(t)
  const user = await presentUser(database, '1')
  await assert.rejects(insertUser(database, { id: '9', name: 'readers' }), taken('readers'))
  await assert.rejects(insertGroup(database, { id: 'g9', name: 'anna' }), taken('anna'))
  await assert.rejects(renameGroup(database, 'g1', 'bert'), taken('bert'))
  await assert.rejects(changeUser(database, user, { name: 'editors' }), taken('editors'))
  assert.equal(await findPrincipalNamed(database, 'editors'), 'g1')
  assert.equal(await findPrincipalNamed(database, 'anna'), '1')
  assert.equal(await findPrincipalNamed(database, 'nobody'), undefined)
  await renameGroup(database, 'g1', 'authors')
  assert.deepEqual(await findGroupByName(database, 'authors'), { id: 'g1', name: 'authors', homeContext: undefined })
  await renameGroup(database, 'g1', undefined)
  assert.deepEqual(await findGroup(database, 'g1'), { id: 'g1', name: undefined, homeContext: undefined })
  assert.equal(await findGroupByName(database, 'authors'), undefined)
})

test('an error of the database that is not about a name stays what it is', async t => {
  const database = await setUp(t)
  const broken = { run: () => Promise.reject(new Error('broken')) } as unknown as Database
  await assert.rejects(insertUser(broken, { id: '9', name: 'new' }), { message: 'broken' })
  await assert.rejects(renameGroup(broken, 'g1', 'new'), { message: 'broken' })
  assert.equal(await findUser(database, '9'), undefined)
})

test('a user is found by id and by name, and a group is no user', async t => {
  const database = await setUp(t)
  const anna = await findUserByName(database, 'anna')
  assert.deepEqual(anna, {
    id: '1',
    name: 'anna',
    password: undefined,
    epoch: 1,
    keptSessionDigest: undefined,
    disabled: false,
    hasSecondFactor: false,
    hasTemporaryPassword: false,
    unlocks: 0,
    codeUnlocks: 0,
    language: undefined,
    homeContext: undefined,
    customProperties: {},
  })
  assert.deepEqual(await findUser(database, '1'), anna)
  for (const name of ['editors', 'ann', '', 'anna\0']) assert.equal(await findUserByName(database, name), undefined)
  assert.equal(await findUser(database, 'g1'), undefined)
  assert.equal(await findGroup(database, '1'), undefined)
  assert.equal(await findGroupByName(database, 'anna'), undefined)
  assert.deepEqual(await listUserIds(database), ['1', '2', '3'])
})

test('a name with a NUL never reaches the database', async () => {
  const closed = { get: () => Promise.reject(new Error('asked')) } as unknown as Database
  assert.equal(await findUserByName(closed, 'a\0b'), undefined)
  await assert.rejects(findUserByName(closed, 'ab'), /asked/)
})

test('a new user has what was given, and a change keeps all that it does not name', async t => {
  const database = await setUp(t)
  const given = { id: '4', name: 'dora', password: 'hash', hasTemporaryPassword: true, homeContext: '7' }
  await insertUser(database, given)
  const dora = await presentUser(database, '4')
  assert.deepEqual({ ...dora, ...given }, dora)
  const profile = { language: 'sv', homeContext: '8', customProperties: { a: 'b' } }
  const changed = await changeUser(database, dora, { name: 'dorothea', ...profile })
  assert.deepEqual(changed, { ...dora, name: 'dorothea', ...profile })
  assert.deepEqual(await findUser(database, '4'), changed)
  const cleared = await changeUser(database, changed, { language: undefined, homeContext: undefined })
  assert.deepEqual(await findUser(database, '4'), cleared)
  assert.deepEqual(cleared, { ...changed, language: undefined, homeContext: undefined })
})

test('a new password is final unless the change says that it is temporary (D33)', async t => {
  const database = await setUp(t)
  const change = async (user: User, given: Parameters<typeof changeUser>[2]): Promise<User> => {
    const changed = await changeUser(database, user, given)
    assert.deepEqual(await findUser(database, user.id), changed)
    return changed
  }
  let user = await change(await presentUser(database, '1'), { password: 'x', hasTemporaryPassword: true })
  assert.equal(user.hasTemporaryPassword, true)
  // Without a new password nothing about the old one changes.
  user = await change(user, { language: 'sv', hasTemporaryPassword: false })
  assert.equal(user.hasTemporaryPassword, true)
  user = await change(user, { password: 'y' })
  assert.equal(user.hasTemporaryPassword, false)
})

test('a new password and disabling raise the epoch, and only these; one session may be kept (D5.3)', async t => {
  const database = await setUp(t)
  const user = await presentUser(database, '1')
  const outcome = async (given: Parameters<typeof changeUser>[2], kept?: string, before = user) => {
    const changed = await changeUser(database, before, given, kept)
    assert.deepEqual(await findUser(database, '1'), changed)
    return [changed.epoch - before.epoch, changed.keptSessionDigest]
  }
  assert.deepEqual(await outcome({ password: 'x' }), [1, undefined])
  assert.deepEqual(await outcome({ password: 'x' }, 'token'), [1, digestOf('token')])
  assert.deepEqual(await outcome({ disabled: true }), [1, undefined])
  assert.deepEqual(await outcome({ disabled: true }, undefined, { ...user, disabled: true }), [0, undefined])
  assert.deepEqual(await outcome({ disabled: false }, undefined, { ...user, disabled: true }), [0, undefined])
  assert.deepEqual(await outcome({ name: 'other', language: 'sv' }, 'token'), [0, undefined])
})

test('disabling deletes the access tokens of that user for good; enabling brings none back', async t => {
  const database = await setUp(t)
  const add = (id: string, user: string) =>
    database.run(sql`INSERT INTO access_tokens
    (id, digest, user_id, name, scopes, created, expires) VALUES (${id}, ${id}, ${user}, 'x', '[]', 0, 1)`)
  const left = async () => (await database.all<{ id: string }>(sql`SELECT id FROM access_tokens ORDER BY id`)).length
  await add('a', '1')
  await add('b', '2')
  const changed = await changeUser(database, await presentUser(database, '1'), { name: 'renamed' })
  assert.equal(await left(), 2)
  const disabled = await changeUser(database, changed, { disabled: true })
  assert.equal(await left(), 1)
  await add('c', '1')
  await changeUser(database, disabled, { language: 'sv' })
  assert.equal(await left(), 2, 'the user was disabled before')
})

test('ending other sessions, lifting a lockout and renewing a hash change one user', async t => {
  const database = await setUp(t)
  const others = await presentUser(database, '2')
  await endOtherSessions(database, '1', 'token')
  let user = await presentUser(database, '1')
  assert.deepEqual([user.epoch, user.keptSessionDigest], [2, digestOf('token')])
  await endOtherSessions(database, '1', undefined)
  await liftLockout(database, '1')
  user = await presentUser(database, '1')
  assert.deepEqual([user.epoch, user.keptSessionDigest, user.unlocks], [3, undefined, 1])
  const withHash = await changeUser(database, user, { password: 'old' })
  await replaceHash(database, withHash, 'new form')
  await replaceHash(database, withHash, 'too late')
  assert.deepEqual(await findUser(database, '1'), { ...withHash, password: 'new form' })
  assert.deepEqual(await findUser(database, '2'), others)
})

test('a user who is deleted leaves their groups, and a deleted group has no members', async t => {
  const database = await setUp(t)
  await setMembers(database, 'g1', ['1', '2'])
  await setMembers(database, 'g2', ['1'])
  await deletePrincipal(database, '1')
  assert.equal(await findUser(database, '1'), undefined)
  assert.deepEqual([await membersOf(database, 'g1'), await membersOf(database, 'g2')], [['2'], []])
  await deletePrincipal(database, 'g1')
  assert.deepEqual(await groupsOf(database, '2'), [])
})

test('a name has 1 to 255 characters without control characters; a refusal says which of it is wrong (D1.7)', () => {
  assert.equal(requireName(' Anna '), 'anna')
  for (const name of ['x'.repeat(255), '🗝'.repeat(255)]) assert.equal(requireName(name), name)
  const refusal = (message: string) => ({ constructor: InvalidInput, code: 'invalid-name', message })
  for (const name of ['', '  ', '\u200b']) assert.throws(() => requireName(name), refusal('The name is empty.'))
  const tooLong = ['x'.repeat(256), '🗝'.repeat(256), `${'🗝'.repeat(255)}x`, '\u200b'.repeat(10_001), 'x'.repeat(511)]
  for (const name of tooLong)
    assert.throws(() => requireName(name), refusal('The name is longer than 255 characters.'), String(name.length))
  assert.equal(requireName(`${'\u200b'.repeat(9999)}x`), 'x')
  for (const sign of ['\0', '\n', '\u007f', '\u2028', '\u2029', '\ud800'])
    assert.throws(() => requireName(`a${sign}b`), refusal('The name contains control characters.'))
})

test('members are listed in the order in which they were given, and replaced as a whole', async t => {
  const database = await setUp(t)
  for (const members of [['2', '1'], ['1', '3', '2'], ['3'], [], ['1', '2', '3']]) {
    await setMembers(database, 'g1', members)
    assert.deepEqual(await membersOf(database, 'g1'), members)
  }
  await setMembers(database, 'g2', ['1'])
  assert.deepEqual((await groupsOf(database, '1')).sort(), ['g1', 'g2'])
  assert.deepEqual(await groupsOf(database, '2'), ['g1'])
  assert.deepEqual(await membersOf(database, 'g2'), ['1'])
  assert.deepEqual([await membersOf(database, 'g3'), await groupsOf(database, '9')], [[], []])
})

test('the home context belongs to one principal, until the context is deleted', async t => {
  const database = await setUp(t)
  const homes = async () => [
    (await presentUser(database, '1')).homeContext,
    (await findGroup(database, 'g1'))?.homeContext,
  ]
  await setHomeContext(database, '1', '7')
  assert.deepEqual(await homes(), ['7', undefined])
  await setHomeContext(database, 'g1', '8')
  await setHomeContext(database, '1', undefined)
  assert.deepEqual(await homes(), [undefined, '8'])
  await setHomeContext(database, '1', '8')
  await setHomeContext(database, '2', '7')
  await forgetHomeContext(database, '8')
  assert.deepEqual(await homes(), [undefined, undefined])
  assert.equal((await presentUser(database, '2')).homeContext, '7')
})

test('a membership is known with the providers that gave it, and taken back by the last of them (D27.2)', async t => {
  const database = await setUp(t)
  const memberships = async (id: string) =>
    Object.fromEntries(
      (await membershipsOf(database, id)).map(({ groupId, name, providers }) => [
        groupId,
        [name, ...[...providers].sort()],
      ]),
    )
  await setMembers(database, 'g1', ['2', '1'])
  await giveMemberships(database, 'saml', '1', ['g2', 'g3', 'none'])
  await giveMemberships(database, 'oidc', '1', ['g2'])
  await giveMemberships(database, 'oidc', '2', ['g2'])
  await giveMemberships(database, 'saml', '1', ['g2'])
  assert.deepEqual(await memberships('1'), {
    g1: ['editors'],
    g2: ['readers', 'oidc', 'saml'],
    g3: [undefined, 'saml'],
  })
  assert.deepEqual(await membersOf(database, 'g2'), ['1', '2'], 'later ones come last')
  await takeMemberships(database, 'saml', '1', ['g2', 'g3'])
  assert.deepEqual(await memberships('1'), { g1: ['editors'], g2: ['readers', 'oidc'] })
  await takeMemberships(database, 'oidc', '1', ['g2'])
  assert.deepEqual(await memberships('1'), { g1: ['editors'] })
  assert.deepEqual(await memberships('2'), { g1: ['editors'], g2: ['readers', 'oidc'] })
  // One that stays in the list of an administrator remains that of the provider.
  await setMembers(database, 'g2', ['3', '2'])
  assert.deepEqual(await memberships('2'), { g1: ['editors'], g2: ['readers', 'oidc'] })
  await giveMemberships(database, 'saml', '1', [])
  await takeMemberships(database, 'oidc', '2', [])
  assert.deepEqual(await memberships('3'), { g2: ['readers'] })
})

test('of some names, those of users and groups are found with what they are', async t => {
  const database = await setUp(t)
  const found = await findPrincipalsNamed(database, ['anna', 'editors', 'nobody'])
  assert.deepEqual(
    [...found].sort((a, b) => a.id.localeCompare(b.id)),
    [
      { id: '1', name: 'anna', isGroup: false },
      { id: 'g1', name: 'editors', isGroup: true },
    ],
  )
  assert.deepEqual(await findPrincipalsNamed(database, []), [])
})

test('users and groups are listed by name, and by their id where they have none, a part at a time', async t => {
  const database = await setUp(t)
  await setMembers(database, 'g2', ['1', '2'])
  await insertUser(database, { id: 'bernd' })
  const users = async (asked: Partial<Portion>) => {
    const { total, items } = await listUsers(database, { ...everyone, ...asked })
    return [total, ...items.map(({ id }) => id)]
  }
  assert.deepEqual(await users({}), [4, '1', 'bernd', '2', '3'])
  assert.deepEqual(await users({ limit: 2, offset: 1 }), [4, 'bernd', '2'])
  assert.deepEqual(await users({ query: ' BER' }), [2, 'bernd', '2'])
  assert.deepEqual(await users({ query: '' }), [4, '1', 'bernd', '2', '3'])
  await insertUser(database, { id: '5', name: 'x%y_z\\' })
  for (const query of ['%', '_', '\\', 'x%Y_z']) assert.deepEqual(await users({ query }), [1, '5'], query)
  for (const query of ["'", 'a%a', 'a_a', 'editors', 'g1']) assert.deepEqual(await users({ query }), [0], query)
  assert.deepEqual((await listUsers(database, { ...everyone, query: 'anna' })).items, [await findUser(database, '1')])
  assert.deepEqual(await listGroups(database, everyone), {
    total: 3,
    items: [
      { id: 'g1', name: 'editors', members: 0 },
      { id: 'g3', name: undefined, members: 0 },
      { id: 'g2', name: 'readers', members: 2 },
    ],
  })
  const second = await listGroups(database, { query: undefined, limit: 1, offset: 1 })
  assert.deepEqual([second.total, second.items.map(({ id }) => id)], [3, ['g3']])
  assert.deepEqual((await listGroups(database, { ...everyone, query: ' EAD ' })).items, [
    { id: 'g2', name: 'readers', members: 2 },
  ])
  assert.equal((await listGroups(database, { ...everyone, query: 'anna' })).total, 0)
  assert.equal(await countRows({ get: async () => undefined } as unknown as Database, sql`FROM principals`), 0)
})

test('the first password of admin is hashed and stored once, and must have 8 to 2048 characters (D5.5)', async t => {
  const database = await setUp(t)
  const passwords = { hash: async (password: string) => `hash of ${password}` }
  const hash = (password: string | undefined) => hashFirstAdminPassword(database, passwords, password)
  await insertUser(database, { id: '_admin', name: 'admin' })
  assert.equal(await hash(undefined), undefined)
  for (const count of [7, 2049]) {
    await assert.rejects(hash('🗝'.repeat(count)), {
      constructor: SettingsError,
      message: `SERVICE_ADMIN_PASSWORD cannot be the first password of admin: it has ${count} characters, and must have 8 to 2048.`,
    })
  }
  assert.equal(await hash('12345678'), 'hash of 12345678')
  await setFirstAdminPassword(database, 'first')
  await setFirstAdminPassword(database, 'second')
  assert.equal((await presentUser(database, '_admin')).password, 'first')
  assert.equal((await presentUser(database, '1')).password, undefined)
  assert.equal(await hash('short'), undefined)
  assert.equal(await hash('long enough'), undefined)
})
