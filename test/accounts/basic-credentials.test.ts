import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { BasicCredentials } from '../../src/accounts/basic-credentials.ts'
import { changeUser, findUser, insertUser, type User } from '../../src/accounts/users.ts'
import { type KnownUser, UserCache } from '../../src/accounts/user-cache.ts'
import { InvalidInput, LockedOut, Overloaded, Unauthenticated } from '../../src/base/errors.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { client, disable, presentUser, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { newDatabase } from '../support/store.ts'

test('a check that began before a change of the password admits neither its caller nor those that wait for the same check (D4.3)', async t => {
  const database = await newDatabase(t)
  await insertUser(database, { id: '1', name: 'ann', password: 'old' })
  const present = async (): Promise<User> => {
    const user = await findUser(database, '1')
    assert.ok(user)
    return user
  }
  let finish: () => void = () => {}
  const hashed = new Promise<void>(resolve => (finish = resolve))
  const login = {
    // Takes its time between reading the password and judging it, as hashing does.
    async withPassword() {
      const user = await present()
      await hashed
      if (user.password !== 'old') throw new Unauthenticated('wrong-credentials', 'no')
      return user
    },
    requireStillGood: () => Promise.resolve(true),
  }
  const basic = new BasicCredentials(
    new UserCache(database, new DependencyCache(database, 100_000, new FakeSystem())),
    login,
    {
      store: new MemoryEphemeralStore(new FakeSystem()),
      key: new Uint8Array(32),
    },
  )
  const ask = (): Promise<KnownUser> => basic.user({ name: 'ann', password: 'old' }, { address: '::1', userAgent: '' })
  const before = ask()
  await changeUser(database, await present(), { password: 'new' })
  const after = ask()
  // Both have looked for a running check by now.
  await present()
  finish()
  const refusal = { constructor: Unauthenticated, code: 'wrong-credentials' }
  await assert.rejects(before, refusal)
  await assert.rejects(after, refusal)
})

test('a request that waits for the check of another one is refused when the user is locked out meanwhile (D4.3)', async t => {
  const database = await newDatabase(t)
  await insertUser(database, { id: '1', name: 'ann', password: 'right' })
  let finish: () => void = () => {}
  const hashed = new Promise<void>(resolve => (finish = resolve))
  let isLocked = false
  let begin: () => void = () => {}
  const begun = new Promise<void>(resolve => (begin = resolve))
  const login = {
    async withPassword() {
      begin()
      await hashed
      const user = await findUser(database, '1')
      assert.ok(user)
      return user
    },
    requireStillGood: () => (isLocked ? Promise.reject(new LockedOut(60)) : Promise.resolve(true)),
  }
  const basic = new BasicCredentials(
    new UserCache(database, new DependencyCache(database, 100_000, new FakeSystem())),
    login,
    {
      store: new MemoryEphemeralStore(new FakeSystem()),
      key: new Uint8Array(32),
    },
  )
  const ask = (): Promise<KnownUser> =>
    basic.user({ name: 'ann', password: 'right' }, { address: '::1', userAgent: '' })
  const first = ask()
  await begun
  const waiting = ask()
  // After an iteration of the event loop it has found the running check: everything here is in memory.
  await setImmediate()
  isLocked = true
  finish()
  assert.equal((await first).user.id, '1')
  await assert.rejects(waiting, LockedOut)
})

/** nora (7) with the password `secret`, and bert (8) with the same one. */
async function setUp(t: TestContext) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  await storedUser(database, '7')
  await storedUser(database, '8', { name: 'bert' })
  const asked: unknown[] = []
  const state: { error: Error | undefined; isGood: boolean; during: () => Promise<unknown> } = {
    error: undefined,
    isGood: true,
    during: async () => undefined,
  }
  const stillGood: unknown[][] = []
  const login = {
    withPassword: async (attempt: { readonly name: string; readonly password: string }) => {
      asked.push(attempt)
      if (state.error) throw state.error
      if (attempt.password !== 'secret') throw new Unauthenticated('wrong-credentials', 'no')
      const user = await presentUser(database, attempt.name.trim().toLowerCase() === 'nora' ? '7' : '8')
      await state.during()
      return user
    },
    requireStillGood: async (user: User, name: string, from: unknown) => {
      stillGood.push([user.id, name, from])
      return state.isGood
    },
  }
  const users = { find: async (id: string) => await findKnown(id) }
  const findKnown = async (id: string): Promise<KnownUser | undefined> => {
    const user = await findUser(database, id)
    return user && { user, groups: new Set<string>() }
  }
  const store = new MemoryEphemeralStore(system)
  const basic = new BasicCredentials(users as unknown as UserCache, login, { store, key: new Uint8Array(32) })
  const ask = async (name: string, password = 'secret') => (await basic.user({ name, password }, client)).user.id
  return { database, system, store, basic, ask, asked, stillGood, state }
}

const wrong = { code: 'wrong-credentials', message: 'The user name or the password is wrong.' }

test('right credentials are checked once in five minutes, and each time whether they still count (D4.3)', async t => {
  const { ask, asked, stillGood, system } = await setUp(t)
  assert.equal(await ask('Nora'), '7')
  assert.deepEqual(asked, [{ name: 'Nora', password: 'secret', mechanism: 'basic', client }])
  assert.deepEqual(stillGood, [])
  system.pass(299_999)
  assert.equal(await ask('Nora'), '7')
  assert.deepEqual([asked.length, stillGood], [1, [['7', 'nora', client]]])
  system.pass(1)
  assert.equal(await ask('Nora'), '7')
  assert.equal(asked.length, 2)
})

test('wrong credentials are checked each time, and no others are taken for them (D4.3, D6.2)', async t => {
  const { ask, asked, store } = await setUp(t)
  for (let count = 0; count < 2; count++) await assert.rejects(ask('nora', 'wrong'), { message: 'no' })
  assert.deepEqual([asked.length, store.size], [2, 0])
  assert.equal(await ask('nora'), '7')
  assert.equal(await ask('bert'), '8')
  assert.equal(asked.length, 4)
  // The same letters, divided differently.
  await assert.rejects(ask('noras', 'ecret'), { message: 'no' })
  await assert.rejects(ask('nor', 'asecret'), { message: 'no' })
})

test('what cannot be a password is a wrong one; other errors stay what they are (D4.2)', async t => {
  const { ask, state } = await setUp(t)
  state.error = new InvalidInput('password-missing', 'The password is empty.')
  await assert.rejects(ask('nora', ''), { ...wrong, constructor: Unauthenticated })
  state.error = new Overloaded('busy')
  await assert.rejects(ask('nora'), state.error)
})

test('remembered credentials end with a new password, with their account, and when they do not count any more', async t => {
  const { ask, asked, store, state, database, basic } = await setUp(t)
  await ask('nora')
  await changeUser(database, await presentUser(database, '7'), { password: 'new' })
  await ask('nora')
  assert.equal(asked.length, 2)
  state.isGood = false
  state.error = new Unauthenticated('wrong-credentials', 'no')
  await assert.rejects(ask('nora'), { message: 'no' })
  assert.deepEqual([asked.length, store.size], [3, 0])
  Object.assign(state, { isGood: true, error: undefined })
  await ask('nora')
  await ask('bert')
  await basic.forget({ name: 'nora', password: 'other' })
  await ask('nora')
  assert.equal(asked.length, 5)
  await basic.forget({ name: 'nora', password: 'secret' })
  assert.equal(store.size, 1)
  await ask('bert')
  assert.equal(asked.length, 5)
  await ask('nora')
  assert.equal(asked.length, 6)
  await database.run(sql`DELETE FROM principals WHERE id = '7'`)
  state.error = new Unauthenticated('wrong-credentials', 'no')
  await assert.rejects(ask('nora'), { message: 'no' })
})

test('a user who is disabled, deleted or gets a new password during the check is not admitted (D4.3)', async t => {
  const changes = [
    async (database: Database) => await disable(database, await presentUser(database, '7')),
    async (database: Database) => await database.run(sql`UPDATE principals SET disabled = 1 WHERE id = '7'`),
    async (database: Database) => await database.run(sql`UPDATE principals SET epoch = 9 WHERE id = '7'`),
    async (database: Database) => await database.run(sql`DELETE FROM principals WHERE id = '7'`),
  ]
  for (const change of changes) {
    const { database, ask, state, store } = await setUp(t)
    state.during = () => change(database)
    await assert.rejects(ask('nora'), wrong)
    assert.equal(store.size, 0)
  }
})

test('requests with the same right credentials at the same time share one check, and then nothing is kept of it', async t => {
  const { ask, asked, state } = await setUp(t)
  let finish: () => void = () => {}
  const waits = new Promise<void>(resolve => (finish = resolve))
  let begin: () => void = () => {}
  const begun = new Promise<void>(resolve => (begin = resolve))
  state.during = () => {
    begin()
    return waits
  }
  const first = ask('nora')
  await begun
  const others = [ask('nora'), ask('nora')]
  await setImmediate()
  finish()
  assert.deepEqual(await Promise.all([first, ...others]), ['7', '7', '7'])
  assert.equal(asked.length, 1)
})
