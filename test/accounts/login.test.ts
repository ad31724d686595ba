import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Audit } from '../../src/accounts/audit.ts'
import { Lockout } from '../../src/accounts/lockout.ts'
import { type Attempt, Login, PasswordLoginPolicy } from '../../src/accounts/login.ts'
import { Passwords } from '../../src/accounts/passwords.ts'
import { TrustedDevices } from '../../src/accounts/trusted-devices.ts'
import { findUser, insertUser } from '../../src/accounts/users.ts'
import { Forbidden, Unauthenticated } from '../../src/base/errors.ts'
import { Semaphore, type Share } from '../../src/base/semaphore.ts'
import { createLog } from '../../src/base/log.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const cost = { memory: 19_456, iterations: 2, parallelism: 1 }
// `password`, made with Python: see passwords.test.ts.
const LEGACY = 'c2FsdHNhbHRzYWx0c2FsdA==$msC9OzxJukbdj2ZIUPOrM82MtPvM5eaI'

const client = { address: '127.0.0.1', userAgent: 'test' }
const attempt = (name: string, password: string): Attempt => ({ name, password, mechanism: 'form', client })

async function start(
  t: { after(work: () => Promise<void>): void },
  iterations = cost.iterations,
  knowsDevices = false,
) {
  const database = await newDatabase(t)
  const semaphore = new Semaphore({ concurrency: 2, queue: 20, what: 'password checks' })
  const passwords = await Passwords.create({ ...cost, iterations }, semaphore, new FakeSystem())
  const stored = async (id: string): Promise<string> => (await findUser(database, id))?.password ?? ''
  const system = new FakeSystem()
  const devices = knowsDevices ? new TrustedDevices(database, system) : undefined
  const login = new Login(
    {
      database,
      passwords,
      policy: new PasswordLoginPolicy({ mode: 'on', whitelist: [], blacklist: [] }),
      lockout: new Lockout(new MemoryEphemeralStore(system), system, { maxAttempts: -1, duration: 0 }),
      codeLockout: new Lockout(new MemoryEphemeralStore(system), system, { maxAttempts: -1, duration: 0 }),
      guessLockout: new Lockout(new MemoryEphemeralStore(system), system, { maxAttempts: -1, duration: 0 }),
      devices,
      audit: new Audit(database, { system, log: createLog('silent') }, 86_400_000),
    },
    { adminOverride: undefined, locksAdmins: true },
  )
  return { database, passwords, login, stored, devices }
}

test('a legacy hash is replaced by argon2id at the first login, and only by a right password (D5.1)', async t => {
  const { database, login, stored } = await start(t)
  await insertUser(database, { id: '7', name: 'bob', password: LEGACY })
  await assert.rejects(login.withPassword(attempt('bob', 'Password')), Unauthenticated)
  assert.equal(await stored('7'), LEGACY)
  assert.equal((await login.withPassword(attempt('BOB ', 'password'))).id, '7')
  const renewed = await stored('7')
  assert.match(renewed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  assert.equal((await login.withPassword(attempt('bob', 'password'))).epoch, 1)
  assert.equal(await stored('7'), renewed)
})

test('a hash below the configured cost is renewed at login, one above it is kept (D5.1)', async t => {
  const cheap = await start(t)
  const hash = await cheap.passwords.hash('password')
  const dear = await start(t, 3)
  await insertUser(dear.database, { id: '7', name: 'bob', password: hash })
  await dear.login.withPassword(attempt('bob', 'password'))
  const renewed = await dear.stored('7')
  assert.match(renewed, /,t=3,/)
  await insertUser(cheap.database, { id: '7', name: 'bob', password: renewed })
  await cheap.login.withPassword(attempt('bob', 'password'))
  assert.equal(await cheap.stored('7'), renewed)
})

test('the hash of a disabled user is not renewed, and only the right password reveals that the user is disabled (D2.2)', async t => {
  const { database, login, stored } = await start(t)
  await insertUser(database, { id: '7', name: 'bob', password: LEGACY })
  await database.run(sql`UPDATE principals SET disabled = 1`)
  await assert.rejects(login.withPassword(attempt('bob', 'password')), Forbidden)
  await assert.rejects(login.withPassword(attempt('bob', 'wrong')), Unauthenticated)
  assert.equal(await stored('7'), LEGACY)
})

test('a garbled stored hash matches no password and causes no error (D2.2)', async t => {
  const { database, login } = await start(t)
  for (const [index, password] of ['', '$', 'password', '$argon2id$', '$argon2id$v=19$m=1,t=1,p=1$YQ$YQ'].entries()) {
    await insertUser(database, { id: `${index}`, name: `user${index}`, password })
    for (const guess of ['password', password || 'x', '$'])
      await assert.rejects(login.withPassword(attempt(`user${index}`, guess)), Unauthenticated)
  }
})

test('a login waits in the queue of its network, and before others on a device that the user knows (D19.16)', async t => {
  const { database, login, passwords, devices } = await start(t, cost.iterations, true)
  const shares: Array<Share | undefined> = []
  passwords.verify = async (_password, _stored, share) => shares.push(share) < 0
  await insertUser(database, { id: '7', name: 'bob', password: LEGACY })
  const bob = await findUser(database, '7')
  assert.ok(bob && devices)
  const device = await devices.trust(bob, undefined)
  const from = async (name: string, more: Partial<Attempt['client']>): Promise<void> =>
    await assert.rejects(login.withPassword({ ...attempt(name, 'x'), client: { ...client, ...more } }), Unauthenticated)
  await from('bob', { address: '192.0.2.7' })
  await from('bob', { address: '2001:db8:1:2::7', device })
  // Another user's device is as good as none.
  await from('eva', { address: '192.0.2.8', device })
  assert.deepEqual(shares, [
    { of: '192.0.2.7', isPreferred: false },
    { of: '2001:db8:1:2::/64', isPreferred: true },
    { of: '192.0.2.8', isPreferred: false },
  ])
})
