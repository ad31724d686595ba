import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { BasicCredentials } from '../../src/accounts/basic-credentials.ts'
import { type KnownUser, UserCache } from '../../src/accounts/user-cache.ts'
import { changeUser, findUser, insertUser, type User } from '../../src/accounts/users.ts'
import { LockedOut, Unauthenticated } from '../../src/base/errors.ts'
import { DependencyCache } from '../../src/stores/dependency-cache.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
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
  // After a turn of the event loop it has found the running check: everything here is in memory.
  await setImmediate()
  isLocked = true
  finish()
  assert.equal((await first).user.id, '1')
  await assert.rejects(waiting, LockedOut)
})
