import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PENDING_TTL, PendingLogins } from '../../src/accounts/pending-logins.ts'
import { insertFactor } from '../../src/features/factors/factor-rows.ts'
import { changeUser, deletePrincipal } from '../../src/accounts/users.ts'
import { LogoutKeys } from '../../src/accounts/session-lists.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { disable, presentUser, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

async function setUp(t: TestContext, { hasFactor = true, hasTemporaryPassword = false } = {}) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ephemeral = new MemoryEphemeralStore(system)
  t.after(() => ephemeral.close())
  await storedUser(database, '7', { hasTemporaryPassword })
  const addFactor = (id: string) =>
    insertFactor(database, {
      id,
      userId: '7',
      kind: 'totp',
      name: 'Phone',
      secret: 's',
      credentialId: undefined,
      counter: 0,
      userHandle: undefined,
      transports: undefined,
      isSyncable: undefined,
      created: 0,
      lastUsed: undefined,
    })
  if (hasFactor) await addFactor('f')
  const keys = new LogoutKeys(ephemeral, system)
  const pending = new PendingLogins({ database, ephemeral, logoutKeys: keys, system })
  const user = await presentUser(database, '7')
  return { database, system, ephemeral, keys, pending, user, addFactor }
}

test('a sign-in that waits returns what the steps so far have established, under a token of its own', async t => {
  const { pending, user } = await setUp(t)
  const first = {
    user,
    mechanism: 'idp',
    lifetime: { provider: 'idp', requested: 5 },
    successUrl: './a',
    proof: undefined,
  }
  const token = await pending.create(first, 'factor')
  assert.match(token, /^[A-Za-z0-9_-]{43}$/)
  assert.notEqual(await pending.create(first, 'factor'), token)
  const { bound, isOpenAtProvider, ...found } = (await pending.find(token, 'factor')) ?? assert.fail()
  assert.deepEqual(found, first)
  assert.match(bound, /^pending:.{20,}$/)
  assert.ok(!bound.includes(token))
  assert.equal(await isOpenAtProvider(), true)
  assert.notEqual((await pending.find(await pending.create(first, 'factor'), 'factor'))?.bound, bound)
})

test('the store has no token of it, so that a copy of the store signs in nobody', async t => {
  const { pending, user, ephemeral } = await setUp(t)
  const token = await pending.create({ user, mechanism: 'form', lifetime: {} }, 'factor')
  for await (const entry of ephemeral.scan('')) assert.ok(!JSON.stringify(entry).includes(token))
})

test('it waits five minutes, for its own next step only, and not without its token', async t => {
  const { pending, user, system } = await setUp(t)
  const token = await pending.create({ user, mechanism: 'form', lifetime: {} }, 'factor')
  for (const wrong of [undefined, '', `${token}x`]) {
    assert.equal(await pending.find(wrong, 'factor'), undefined)
    assert.equal(await pending.findForAttempt(wrong, 'factor'), undefined)
  }
  assert.equal(await pending.find(token, 'password'), undefined)
  system.pass(PENDING_TTL - 1)
  assert.ok(await pending.find(token, 'factor'))
  system.pass(1)
  assert.equal(await pending.find(token, 'factor'), undefined)
  assert.equal(PENDING_TTL, 300_000)
})

test('it has five attempts, which looking at it does not use up, and one request takes it', async t => {
  const { pending, user } = await setUp(t)
  const token = await pending.create({ user, mechanism: 'form', lifetime: {} }, 'factor')
  for (let count = 1; count <= 5; count++) {
    assert.ok(await pending.find(token, 'factor'))
    assert.ok(await pending.findForAttempt(token, 'factor'), `attempt ${count}`)
  }
  assert.equal(await pending.findForAttempt(token, 'factor'), undefined)
  assert.equal(await pending.find(token, 'factor'), undefined, 'the sixth ends it')
  const other = await pending.create({ user, mechanism: 'form', lifetime: {} }, 'factor')
  const taken = await Promise.all([pending.take(other, 'factor'), pending.take(other, 'factor')])
  assert.equal(taken.filter(Boolean).length, 1)
  assert.equal(await pending.find(other, 'factor'), undefined)
})

test('it ends with another password, a disabled or deleted account, and with the last factor', async t => {
  const { pending, user, database, addFactor } = await setUp(t)
  const token = await pending.create({ user, mechanism: 'form', lifetime: {} }, 'factor')
  const isThere = async (): Promise<boolean> => (await pending.find(token, 'factor')) !== undefined
  await database.transaction(tx => changeUser(tx, user, { language: 'sv' }))
  assert.equal(await isThere(), true, 'another change is none of its concern')
  await database.run(sql`DELETE FROM second_factors WHERE user_id = '7'`)
  assert.equal(await isThere(), false, 'without a factor')
  await addFactor('g')
  assert.equal(await isThere(), true)
  await disable(database, user)
  assert.equal(await isThere(), false, 'disabled')
  await database.transaction(tx => deletePrincipal(tx, '7'))
  assert.equal(await isThere(), false, 'deleted')
})

test('a new password ends it', async t => {
  const { pending, user, database } = await setUp(t)
  const token = await pending.create({ user, mechanism: 'form', lifetime: {} }, 'factor')
  await database.transaction(tx => changeUser(tx, user, { password: 'other' }))
  assert.equal(await pending.find(token, 'factor'), undefined)
})

test('a new password is asked for while it is temporary, and after the factor of a user who has one (D33.2)', async t => {
  for (const hasFactor of [false, true]) {
    const { pending, user, database } = await setUp(t, { hasFactor, hasTemporaryPassword: true })
    const first = { user, mechanism: 'form', lifetime: {} }
    const without = await pending.create(first, 'password')
    const proven = await pending.create({ ...first, proof: 'totp' }, 'password')
    assert.equal((await pending.find(without, 'password')) !== undefined, !hasFactor)
    assert.equal((await pending.find(proven, 'password')) !== undefined, hasFactor)
    assert.equal((await pending.find(proven, 'password'))?.proof, hasFactor ? 'totp' : undefined)
    for (const token of [without, proven]) assert.equal(await pending.find(token, 'factor'), undefined)
    await database.run(sql`UPDATE principals SET temporary_password = ${false}`)
    for (const token of [without, proven]) assert.equal(await pending.find(token, 'password'), undefined)
  }
})

test('the provider ends it by any of its keys, and by the user; those of others and of forms go on', async t => {
  const { pending, user, keys } = await setUp(t)
  const create = (lifetime: object) => pending.create({ user, mechanism: 'idp', lifetime }, 'factor')
  const ofForm = await create({})
  const other = await create({ provider: 'other', logoutKeys: ['c'] })
  for (const key of ['a', 'b', 'idp\nuser:7']) {
    const token = await create({ provider: 'idp', logoutKeys: ['a', 'b'] })
    const waiting = (await pending.find(token, 'factor')) ?? assert.fail(key)
    await keys.take(key)
    assert.equal(await waiting.isOpenAtProvider(), false, key)
    assert.equal(await pending.find(token, 'factor'), undefined, key)
    assert.ok(await pending.find(await create({ provider: 'idp', logoutKeys: ['a', 'b'] }), 'factor'), 'a later one')
  }
  for (const token of [ofForm, other]) assert.ok(await pending.find(token, 'factor'))
})
