import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Audit } from '../../src/accounts/audit.ts'
import { Lockout } from '../../src/accounts/lockout.ts'
import { Login, PasswordLoginPolicy } from '../../src/accounts/login.ts'
import { Passwords } from '../../src/accounts/passwords.ts'
import { findUser, insertUser, type User } from '../../src/accounts/users.ts'
import { Forbidden, Overloaded } from '../../src/base/errors.ts'
import { Semaphore } from '../../src/base/semaphore.ts'
import { createLog } from '../../src/base/log.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const PASSWORD = 'alter Schlüssel'
/** {@link PASSWORD} as an earlier server stored it. */
const LEGACY = 'MDEyMzQ1Njc4OWFiY2RlZg==$o19vYYpaLTB9G7NpK9auJMraOojfo5Ac'
const client = { address: '127.0.0.1', userAgent: '' }

/** Accepts the first pieces of work, and none after them. */
class ShortSemaphore extends Semaphore {
  #left: number

  constructor(left: number) {
    super({ concurrency: 1, queue: 0, what: 'password checks' })
    this.#left = left
  }

  override run<T>(work: () => Promise<T>): Promise<T> {
    return this.#left-- > 0 ? work() : Promise.reject(new Overloaded('Full.'))
  }
}

async function setUp(
  t: { after(work: () => Promise<void>): void },
  semaphore: Semaphore,
  blacklist: readonly string[] = [],
) {
  const system = new FakeSystem()
  const database = await newDatabase(t)
  await database.transaction(tx => insertUser(tx, { id: '7', name: 'bob', password: LEGACY }))
  const passwords = await Passwords.create({ memory: 19_456, iterations: 2, parallelism: 1 }, semaphore, system)
  const policy = new PasswordLoginPolicy({ mode: 'on', whitelist: [], blacklist })
  const lockout = new Lockout(new MemoryEphemeralStore(system), system, { maxAttempts: 5, duration: 1000 })
  const audit = new Audit(database, { system, log: createLog('silent') }, 1000)
  const login = new Login(
    { database, passwords, policy, lockout, codeLockout: lockout, guessLockout: lockout, devices: undefined, audit },
    { adminOverride: undefined, locksAdmins: true },
  )
  const bob = async (): Promise<User> => {
    const user = await findUser(database, '7')
    assert.ok(user)
    return user
  }
  return { login, bob }
}

test('a right password signs in even if its new hash cannot be stored; the next login stores it (D5.1)', async t => {
  const { login, bob } = await setUp(t, new ShortSemaphore(1))
  const user = await login.withPassword({ name: 'bob', password: PASSWORD, mechanism: 'form', client })
  assert.equal(user.id, '7')
  assert.equal((await bob()).password, LEGACY)
})

test('the lists hold for the current password as for a login (D4.2)', async t => {
  const semaphore = new Semaphore({ concurrency: 1, queue: 10, what: 'password checks' })
  const admitted = await setUp(t, semaphore)
  await admitted.login.requireCurrentPassword(await admitted.bob(), PASSWORD, client)
  const refused = await setUp(t, semaphore, [' BOB '])
  await assert.rejects(
    refused.login.requireCurrentPassword(await refused.bob(), PASSWORD, client),
    (error: unknown) => error instanceof Forbidden && error.code === 'password-login-off',
  )
})
