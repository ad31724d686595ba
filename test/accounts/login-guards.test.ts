import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  codesLockoutKey,
  deviceLockoutKey,
  guessesLockoutKey,
  nameLockoutKey,
  userLockoutKey,
  Lockout,
} from '../../src/accounts/lockout.ts'
import { type Attempt, Login, type Mechanism, PasswordLoginPolicy } from '../../src/accounts/login.ts'
import type { Passwords } from '../../src/accounts/passwords.ts'
import { ADMIN, ADMINS, type User } from '../../src/accounts/users.ts'
import type { TrustedDevices } from '../../src/accounts/trusted-devices.ts'
import { Overloaded } from '../../src/base/errors.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { client, disable, keptAudit, presentUser, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

interface Given {
  readonly mode?: 'on' | 'off' | 'whitelist'
  readonly whitelist?: readonly string[]
  readonly blacklist?: readonly string[]
  readonly maxAttempts?: number
  readonly locksAdmins?: boolean
  readonly adminOverride?: string
  readonly hasDevices?: boolean
}

/** Passwords are stored as they are here, except those that begin with `old:`, which are outdated. */
async function setUp(t: TestContext, given: Given = {}) {
  const { mode = 'on', whitelist = [], blacklist = [], maxAttempts = 3, locksAdmins = true, hasDevices = false } = given
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const { audit, inserted } = keptAudit()
  const turns: unknown[] = []
  let failure: Error | undefined
  const passwords = {
    verify: async (password: string, stored: string | undefined, turn: unknown) => {
      turns.push(turn)
      return stored === password || stored === `old:${password}`
    },
    outdated: (stored: string) => stored.startsWith('old:'),
    hash: async (password: string) => {
      if (failure) throw failure
      return password
    },
  } as unknown as Passwords
  const devices = {
    recognise: async (_user: User, token: string | undefined) => (token === 'known' ? 'digest' : undefined),
  } as unknown as TrustedDevices
  const lockoutOf = (attempts: number, duration: number) =>
    new Lockout(new MemoryEphemeralStore(system), system, { maxAttempts: attempts, duration })
  const lockout = lockoutOf(maxAttempts, 300_000)
  const codeLockout = lockoutOf(4, 300_000)
  const guessLockout = lockoutOf(6, 86_400_000)
  const policy = new PasswordLoginPolicy({ mode, whitelist, blacklist })
  const login = new Login(
    {
      database,
      passwords,
      policy,
      lockout,
      codeLockout,
      guessLockout,
      devices: hasDevices ? devices : undefined,
      audit,
    },
    { adminOverride: given.adminOverride, locksAdmins },
  )
  const user = await storedUser(database, '7')
  const attempt = (password: string, name = 'nora', rest: Partial<Attempt> = {}): Attempt => ({
    name,
    password,
    mechanism: 'form',
    client,
    ...rest,
  })
  const wrongTimes = async (count: number, name = 'nora', rest: Partial<Attempt> = {}): Promise<void> => {
    for (let n = 0; n < count; n++) await assert.rejects(login.withPassword(attempt('wrong', name, rest)), wrong)
  }
  const failWith = (error: Error) => (failure = error)
  return {
    database,
    system,
    login,
    user,
    attempt,
    wrongTimes,
    inserted,
    turns,
    lockout,
    codeLockout,
    guessLockout,
    failWith,
  }
}

const wrong = { code: 'wrong-credentials', message: 'The user name or the password is wrong.' }
const about = { userId: '7', userName: 'nora', address: client.address }

test('a wrong password, an unknown name and a user without a password are refused alike, and are on record (D2.2)', async t => {
  const { login, attempt, inserted, database } = await setUp(t)
  await database.run(sql`INSERT INTO principals (id, kind, name) VALUES ('8', 'user', 'olaf')`)
  const detail = { mechanism: 'form' }
  for (const [name, subject] of [
    ['nora', about],
    ['olaf', { ...about, userId: '8', userName: 'olaf' }],
    ['nobody', { ...about, userId: undefined, userName: undefined }],
  ] as const) {
    await assert.rejects(login.withPassword(attempt('x', name)), wrong, name)
    assert.deepEqual(inserted.splice(0), [{ event: 'login-failed', ...subject, detail }])
  }
  assert.equal((await login.withPassword(attempt('hash', '  NORA '))).id, '7')
  assert.deepEqual(inserted, [], 'the login itself is recorded when it is complete')
})

test('the lists decide who may use a password; others are refused like those with a wrong one (I5.8)', async t => {
  const rows: ReadonlyArray<readonly [given: Given, admitted: boolean]> = [
    [{}, true],
    [{ blacklist: [' NORA'] }, false],
    [{ blacklist: ['olaf'] }, true],
    [{ mode: 'whitelist', whitelist: ['Nora'] }, true],
    [{ mode: 'whitelist', whitelist: ['olaf'] }, false],
    [{ mode: 'whitelist', whitelist: ['nora'], blacklist: ['nora'] }, false],
    [{ whitelist: ['olaf'] }, true],
  ]
  for (const [given, admitted] of rows) {
    const { login, attempt, user } = await setUp(t, given)
    const what = JSON.stringify(given)
    assert.equal(login.takesPasswords, true)
    assert.equal(login.admits(user), admitted, what)
    assert.equal(await login.requireStillGood(user, 'nora', client), admitted, what)
    const acts = [
      [() => login.withPassword(attempt('hash')), wrong],
      [
        () => login.requireCurrentPassword(user, 'hash', client),
        { code: 'password-login-off', message: 'You cannot sign in with a password at this service.' },
      ],
    ] as const
    for (const [act, refusal] of acts) await (admitted ? act() : assert.rejects(act, refusal, what))
  }
})

test('where passwords are off none is looked at (I5.8)', async t => {
  const { login, attempt, user, turns, inserted } = await setUp(t, { mode: 'off' })
  const off = { code: 'password-login-off', message: 'Passwords are not accepted by this service.' }
  await assert.rejects(login.withPassword(attempt('hash')), off)
  for (const password of ['hash', 'wrong', ''])
    await assert.rejects(login.requireCurrentPassword(user, password, client), { code: 'password-login-off' })
  assert.deepEqual([login.takesPasswords, login.admits(user)], [false, false])
  assert.equal(await login.requireStillGood(user, 'nora', client), false)
  assert.deepEqual([turns, inserted], [[], []])
})

test('what cannot be a password is refused before any work', async t => {
  const { login, attempt, user, turns } = await setUp(t)
  for (const password of ['', 'x'.repeat(100_000)]) {
    await assert.rejects(login.withPassword(attempt(password)), { name: 'InvalidInput' })
    await assert.rejects(login.requireCurrentPassword(user, password, client), { name: 'InvalidInput' })
  }
  assert.deepEqual(turns, [])
})

test('only the right password tells that an account is disabled, and that is on record (D2.2)', async t => {
  const { login, attempt, database, user, inserted } = await setUp(t)
  await disable(database, user)
  await database.run(sql`UPDATE principals SET password = 'old:hash'`)
  await assert.rejects(login.withPassword(attempt('x')), wrong)
  inserted.length = 0
  const refusal = { code: 'account-disabled', message: 'This account is disabled.' }
  await assert.rejects(login.withPassword(attempt('hash', 'nora', { mechanism: 'basic' })), refusal)
  const detail = { mechanism: 'basic', why: 'disabled' }
  assert.deepEqual(inserted, [{ event: 'login-failed', ...about, detail }])
  assert.equal((await presentUser(database, '7')).password, 'old:hash', 'the hash of a disabled user is not renewed')
})

test('the third wrong password locks, for names that nobody has too, and is on record once (D6.1)', async t => {
  for (const name of ['nora', 'nobody']) {
    const { login, attempt, wrongTimes, inserted, turns } = await setUp(t)
    await wrongTimes(3, name)
    assert.deepEqual(
      inserted.map(({ event }) => event),
      ['login-failed', 'login-failed', 'login-failed', 'locked-out'],
    )
    assert.deepEqual(inserted[3], { ...inserted[2], event: 'locked-out' })
    await assert.rejects(login.withPassword(attempt('hash', name)), { code: 'locked-out' })
    assert.deepEqual([inserted.length, turns.length], [4, 3])
  }
})

test('a right password clears the count, but not that of a user with a second factor (D28.3)', async t => {
  for (const hasFactor of [false, true]) {
    const { login, attempt, wrongTimes, database } = await setUp(t)
    if (hasFactor) {
      await database.run(sql`INSERT INTO second_factors (id, user_id, kind, name, secret, counter, created)
        VALUES ('f', '7', 'totp', 'x', 'x', 0, 0)`)
    }
    await wrongTimes(2)
    await login.withPassword(attempt('hash'))
    await wrongTimes(1)
    const next = login.withPassword(attempt('hash'))
    await (hasFactor ? assert.rejects(next, { code: 'locked-out' }) : next)
  }
})

test('administrators are never locked out where the settings say so, and only they (D6.4)', async t => {
  for (const locksAdmins of [true, false]) {
    const { login, attempt, wrongTimes, database, inserted } = await setUp(t, { locksAdmins })
    await storedUser(database, ADMIN, { name: 'admin' })
    await storedUser(database, '9', { name: 'mia' })
    await database.run(sql`INSERT INTO principals (id, kind) VALUES (${ADMINS}, 'group')`)
    await database.run(sql`INSERT INTO group_members (group_id, user_id, position) VALUES (${ADMINS}, '9', 0)`)
    for (const name of ['admin', 'mia']) {
      await wrongTimes(3, name)
      const next = login.withPassword(attempt('hash', name))
      await (locksAdmins ? assert.rejects(next, { code: 'locked-out' }) : next)
      assert.equal(
        inserted.some(({ event, userName }) => event === 'locked-out' && userName === name),
        locksAdmins,
      )
    }
    await wrongTimes(3)
    await assert.rejects(login.withPassword(attempt('hash')), { code: 'locked-out' })
    const user = await presentUser(database, '7')
    await assert.rejects(login.requireStillGood(user, 'nora', client), { code: 'locked-out' })
    const mia = login.requireStillGood(await presentUser(database, '9'), 'mia', client)
    await (locksAdmins ? assert.rejects(mia, { code: 'locked-out' }) : mia)
  }
})

test('a device that the user has signed in from counts for itself, and its checks come first in the queue of their network (D6.5, D19.16)', async t => {
  const { login, attempt, wrongTimes, lockout, user, turns } = await setUp(t, { hasDevices: true })
  const own = { client: { ...client, device: 'known' } }
  await wrongTimes(3)
  assert.ok(await lockout.lockedUntil(userLockoutKey(user)))
  await login.withPassword(attempt('hash', 'nora', own))
  await wrongTimes(3, 'nora', own)
  assert.ok(await lockout.lockedUntil(deviceLockoutKey(user, 'digest')))
  await wrongTimes(1, 'nobody', { client: { ...client, address: '2001:db8:1:2::7', device: 'known' } })
  assert.equal(await lockout.lockedUntil(nameLockoutKey('nobody')), undefined)
  const preferred = turns.map(turn => (turn as { isPreferred: boolean }).isPreferred)
  assert.deepEqual(preferred, [false, false, false, true, true, true, true, false])
  assert.deepEqual(
    [turns[0], turns.at(-1)],
    [
      { of: client.address, isPreferred: false },
      { of: '2001:db8:1:2::/64', isPreferred: false },
    ],
  )
})

test('HTTP Basic is a login at once; it cannot carry a second factor or replace a temporary password (D28.5, D33.3)', async t => {
  const { login, attempt, database, inserted } = await setUp(t)
  const basic = { mechanism: 'basic' as Mechanism }
  await login.withPassword(attempt('hash', 'nora', basic))
  assert.deepEqual(inserted.splice(0), [{ event: 'login', ...about, actorId: '7', detail: basic }])
  await database.run(sql`UPDATE principals SET temporary_password = ${true}`)
  await assert.rejects(login.withPassword(attempt('hash', 'nora', basic)), {
    code: 'password-change-required',
    message: 'This password is temporary. Choose a new one on the sign-in page first.',
  })
  const failed = (why: string) => [{ event: 'login-failed', ...about, detail: { ...basic, why } }]
  assert.deepEqual(inserted.splice(0), failed('temporary-password'))
  await database.run(sql`INSERT INTO second_factors (id, user_id, kind, name, secret, counter, created)
    VALUES ('f', '7', 'totp', 'x', 'x', 0, 0)`)
  await assert.rejects(login.withPassword(attempt('hash', 'nora', basic)), {
    code: 'second-factor-required',
    message: 'HTTP Basic cannot carry the second factor of this user. Programs use an access token.',
  })
  assert.deepEqual(inserted, failed('second-factor'))
})

test('credentials that were verified before are good while nothing about the user has changed (D4.3)', async t => {
  const { login, user, wrongTimes } = await setUp(t)
  const isGood = (changed: Partial<User>, name = 'nora') =>
    login.requireStillGood({ ...user, ...changed }, name, client)
  assert.equal(await isGood({}), true)
  assert.equal(await isGood({}, 'olaf'), false)
  assert.equal(await isGood({ disabled: true }), false)
  assert.equal(await isGood({ hasSecondFactor: true }), false)
  assert.equal(await isGood({ hasTemporaryPassword: true }), false)
  await wrongTimes(3)
  await assert.rejects(isGood({}), { code: 'locked-out' })
})

test('the password of the settings replaces the stored one of admin only, and is never temporary (D5.6)', async t => {
  const { login, attempt, database, user } = await setUp(t, { adminOverride: 'override' })
  const admin = await storedUser(database, ADMIN, { name: 'admin', hasTemporaryPassword: true })
  await assert.rejects(login.withPassword(attempt('hash', 'admin')), wrong)
  assert.equal((await login.withPassword(attempt('override', 'admin'))).id, ADMIN)
  await assert.rejects(login.withPassword(attempt('override')), wrong)
  assert.equal(login.usesTemporaryPassword(admin), false)
  assert.equal(login.usesTemporaryPassword({ ...user, hasTemporaryPassword: true }), true)
  assert.equal(login.usesTemporaryPassword(user), false)
  assert.equal(login.admits({ ...user, password: undefined }), false)
  assert.equal(login.admits({ ...admin, password: undefined }), true)
})

test('a wrong current password is on record as such, and counts for the device that it comes from (D5.3)', async t => {
  const { login, user, inserted, lockout } = await setUp(t, { hasDevices: true })
  const own = { ...client, device: 'known' }
  const refusal = { code: 'current-password-wrong' }
  for (let count = 0; count < 3; count++) {
    await assert.rejects(login.requireCurrentPassword(user, 'wrong', own), refusal)
  }
  assert.deepEqual(inserted[0], { event: 'login-failed', ...about, detail: { mechanism: 'current-password' } })
  assert.equal(await lockout.lockedUntil(userLockoutKey(user)), undefined)
  // Credentials that were verified on the device, and codes that come from it, are counted with them.
  await assert.rejects(login.requireStillGood(user, 'nora', own), { code: 'locked-out' })
  await assert.rejects(login.attemptFactor(user, own, 'recovery', yes), { code: 'locked-out' })
  assert.equal(await login.requireStillGood(user, 'nora', client), true)
})

test('an error of a check is no wrong code, and no full day of wrong codes', async t => {
  const { login, user, guessLockout } = await setUp(t)
  const broken = new Error('broken')
  const check = () => Promise.reject(broken)
  await assert.rejects(login.attemptFactor(user, client, 'totp', check), broken)
  assert.equal(await guessLockout.lockedUntil(guessesLockoutKey(user)), undefined)
})

test('an outdated hash is renewed by a right password, and a busy service puts that off (D5.1)', async t => {
  const { login, attempt, database, failWith } = await setUp(t)
  const stored = async () => (await presentUser(database, '7')).password
  await database.run(sql`UPDATE principals SET password = 'old:hash'`)
  await assert.rejects(login.withPassword(attempt('x')), wrong)
  assert.equal(await stored(), 'old:hash')
  await login.withPassword(attempt('hash'))
  assert.equal(await stored(), 'hash')
  await database.run(sql`UPDATE principals SET password = 'old:hash'`)
  failWith(new Overloaded('busy'))
  await login.withPassword(attempt('hash'))
  assert.equal(await stored(), 'old:hash')
  const broken = new Error('broken')
  failWith(broken)
  await assert.rejects(login.withPassword(attempt('hash')), broken)
})

const yes = async (): Promise<boolean> => true
const no = async (): Promise<boolean> => false

test('codes count with passwords, and a wrong one is on record with its kind (D28.3)', async t => {
  const { login, user, wrongTimes, inserted, lockout } = await setUp(t)
  assert.equal(await login.attemptFactor(user, client, 'passkey', yes), true)
  assert.deepEqual(inserted, [])
  assert.equal(await login.attemptFactor(user, client, 'recovery', no), false)
  assert.deepEqual(inserted.splice(0), [{ event: 'login-failed', ...about, detail: { mechanism: 'recovery' } }])
  await wrongTimes(1)
  inserted.length = 0
  assert.equal(await login.attemptFactor(user, client, 'totp', no), false)
  const detail = { mechanism: 'totp' }
  assert.deepEqual(inserted, [
    { event: 'login-failed', ...about, detail },
    { event: 'locked-out', ...about, detail },
  ])
  assert.ok(await lockout.lockedUntil(userLockoutKey(user)))
  await assert.rejects(login.attemptFactor(user, client, 'totp', yes), { code: 'locked-out' })
})

test('where passwords are not counted, codes are, apart from them (D28.3)', async t => {
  for (const given of [{ maxAttempts: -1 }, { locksAdmins: false }]) {
    const { login, user, database, lockout, codeLockout } = await setUp(t, given)
    const who = 'maxAttempts' in given ? user : await storedUser(database, ADMIN, { name: 'admin' })
    for (let count = 1; count <= 4; count++) await login.attemptFactor(who, client, 'recovery', no)
    assert.ok(await codeLockout.lockedUntil(codesLockoutKey(who)))
    assert.equal(await lockout.lockedUntil(userLockoutKey(who)), undefined)
    await assert.rejects(login.attemptFactor(who, client, 'recovery', yes), { code: 'locked-out' })
  }
})

test('the codes of apps are counted for a day too, and only they (D28.3)', async t => {
  const { login, user, system, inserted, guessLockout } = await setUp(t, { maxAttempts: 100 })
  for (let count = 1; count <= 6; count++) {
    await login.attemptFactor(user, client, 'recovery', no)
    assert.equal(await login.attemptFactor(user, client, 'totp', no), false)
  }
  const locked = inserted.filter(({ event }) => event === 'locked-out')
  assert.deepEqual(locked, [{ event: 'locked-out', ...about, detail: { mechanism: 'totp' } }])
  assert.ok(await guessLockout.lockedUntil(guessesLockoutKey(user)))
  await assert.rejects(login.attemptFactor(user, client, 'totp', yes), {
    code: 'codes-locked-out',
    message: /^Too many wrong codes in a row: for a day, codes of apps are not accepted\. Use a passkey or a recovery/,
  })
  assert.equal(await login.attemptFactor(user, client, 'recovery', yes), true)
  system.pass(86_400_000)
  assert.equal(await login.attemptFactor(user, client, 'totp', yes), true)
})
