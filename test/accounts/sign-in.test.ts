import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { PasskeySignIn } from '../../src/features/passkeys/passkey-sign-in.ts'
import { PendingLogins } from '../../src/accounts/pending-logins.ts'
import { isWaiting, SignIn, TemporaryPasswords } from '../../src/accounts/sign-in.ts'
import { FactorPolicy, type FactorRequirement } from '../../src/features/factors/factor-policy.ts'
import { LogoutKeys } from '../../src/accounts/session-lists.ts'
import { ADMIN, ADMINS, GUEST, changeUser, type User } from '../../src/accounts/users.ts'
import type { SessionLifetime } from '../../src/accounts/session-options.ts'
import type { Session } from '../../src/accounts/sessions.ts'
import { Forbidden, InvalidInput, LockedOut } from '../../src/base/errors.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { client, disable, keptAudit, presentUser, sessionOf, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const about = { userId: '7', userName: 'nora', actorId: '7', address: client.address }
const expired = { code: 'sign-in-expired', message: 'This sign-in has ended. Sign in again.' }

async function setUp(t: TestContext, { hasFactor = false, hasTemporaryPassword = false } = {}) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ephemeral = new MemoryEphemeralStore(system)
  t.after(() => ephemeral.close())
  await storedUser(database, '7', { hasTemporaryPassword })
  if (hasFactor) {
    await database.run(sql`INSERT INTO second_factors (id, user_id, kind, name, secret, counter, created)
      VALUES ('f', '7', 'totp', 'x', 'x', 0, 0)`)
  }
  const { audit, inserted, announced } = keptAudit()
  const opened: Array<readonly [id: string, from: unknown, lifetime: SessionLifetime]> = []
  const ended: string[] = []
  const cleared: string[] = []
  let onVerify = async (): Promise<void> => {}
  let onOpen = async (): Promise<void> => {}
  const sessions = {
    open: async (user: User, from: unknown, lifetime: SessionLifetime) => {
      opened.push([user.id, from, lifetime])
      await onOpen()
      return sessionOf(user)
    },
    end: async (token: string) => void ended.push(token),
    clearAway: async (id: string) => void cleared.push(id),
  }
  const factors = {
    verify: async (_user: User, answer: { code: string }) => {
      await onVerify()
      if (answer.code !== 'right') throw new Forbidden('second-factor-wrong', 'wrong')
      return 'totp'
    },
    kindsOf: async () => ['totp', 'recovery'],
  }
  const temporaryPasswords = new TemporaryPasswords({
    database,
    audit,
    sessions: sessions,
    login: { usesTemporaryPassword: user => user.hasTemporaryPassword },
    passwords: {
      verify: async (password: string, stored: string) => password === stored,
      hash: async (password: string) => password,
    } as never,
    passwordRules: {
      require: (password: string, words: unknown) => {
        if (password === 'weak') throw new InvalidInput('password-rules', JSON.stringify(words))
      },
    } as never,
  })
  const keys = new LogoutKeys(ephemeral, system)
  const pending = new PendingLogins({ database, ephemeral, logoutKeys: keys, system })
  const signIn = new SignIn({ sessions, factors, pending, temporaryPasswords, audit } as never)
  const user = await presentUser(database, '7')
  const first = { user, mechanism: 'form', lifetime: { requested: 60 }, successUrl: './a', client }
  const during = { verify: (act: typeof onVerify) => (onVerify = act), open: (act: typeof onOpen) => (onOpen = act) }
  return { database, signIn, pending, user, first, inserted, announced, opened, ended, cleared, during, keys }
}

test('a sign-in without further steps opens the session that was asked for, and is on record', async t => {
  const { signIn, first, inserted, opened, user } = await setUp(t)
  const { session, ...result } = (await signIn.begin(first)) as { session: Session }
  assert.deepEqual(result, { user, mechanism: 'form', successUrl: './a' })
  assert.equal(session.userId, '7')
  const lifetime = { requested: 60, hasSecondFactor: false, hasProviderFactor: false }
  assert.deepEqual(opened, [['7', client, lifetime]])
  assert.deepEqual(inserted, [{ event: 'login', ...about, detail: { mechanism: 'form' } }])
})

test('a disabled account gets no further, whatever the first step was', async t => {
  const { signIn, first, opened } = await setUp(t)
  await assert.rejects(signIn.begin({ ...first, user: { ...first.user, disabled: true }, provesFactor: true }), {
    code: 'account-disabled',
    message: 'This account is disabled.',
  })
  assert.deepEqual(opened, [])
})

test('a user with a factor waits for it, and gets the session with it (D28.2)', async t => {
  const { signIn, first, inserted, opened } = await setUp(t, { hasFactor: true })
  const waiting = await signIn.begin(first)
  assert.ok(isWaiting(waiting))
  const { pendingToken, ...rest } = waiting
  assert.deepEqual(rest, { needs: 'factor', factors: ['totp', 'recovery'] })
  assert.ok(await signIn.findPending(pendingToken, 'factor'))
  assert.equal(await signIn.findPending(pendingToken, 'password'), undefined)
  await assert.rejects(signIn.complete(pendingToken, { code: 'wrong' }, client), { code: 'second-factor-wrong' })
  assert.deepEqual([opened, inserted], [[], []])
  const result = await signIn.complete(pendingToken, { code: 'right' }, client)
  assert.ok(!isWaiting(result) && result.successUrl === './a')
  const lifetime = { requested: 60, hasSecondFactor: true, hasProviderFactor: false }
  assert.deepEqual(opened, [['7', client, lifetime]])
  assert.deepEqual(inserted, [{ event: 'login', ...about, detail: { mechanism: 'form', factor: 'totp' } }])
  await assert.rejects(signIn.complete(pendingToken, { code: 'right' }, client), expired)
  await assert.rejects(signIn.complete(undefined, { code: 'right' }, client), expired)
})

test('a first step that includes a factor needs no second; only that of a provider is one of the provider (D28.10)', async t => {
  const { signIn, first, opened, inserted } = await setUp(t, { hasFactor: true })
  await signIn.begin({ ...first, mechanism: 'passkey', proof: 'passkey', provesFactor: true })
  await signIn.begin({ ...first, mechanism: 'idp', lifetime: { provider: 'idp' }, provesFactor: true })
  await signIn.begin({ ...first, mechanism: 'x', lifetime: {}, provesFactor: true })
  const flags = opened.map(([, , lifetime]) => [lifetime.hasSecondFactor, lifetime.hasProviderFactor])
  assert.deepEqual(flags, [
    [true, false],
    [true, true],
    [true, false],
  ])
  assert.deepEqual(
    inserted.map(({ detail }) => detail),
    [{ mechanism: 'passkey', factor: 'passkey' }, { mechanism: 'idp' }, { mechanism: 'x' }],
  )
})

test('an answer that is right too late opens nothing: the password or the account changed meanwhile (D28.2)', async t => {
  for (const change of [{ password: 'other' }, { disabled: true }]) {
    const { signIn, first, opened, during, database, user } = await setUp(t, { hasFactor: true })
    const waiting = await signIn.begin(first)
    assert.ok(isWaiting(waiting))
    during.verify(async () => void (await database.transaction(tx => changeUser(tx, user, change))))
    await assert.rejects(signIn.complete(waiting.pendingToken, { code: 'right' }, client), expired)
    assert.deepEqual(opened, [])
  }
})

test('a logout of the provider ends the sign-in also while its session is being opened', async t => {
  const { signIn, first, ended, during, keys } = await setUp(t, { hasFactor: true })
  const waiting = await signIn.begin({ ...first, mechanism: 'idp', lifetime: { provider: 'idp', logoutKeys: ['a'] } })
  assert.ok(isWaiting(waiting))
  during.open(async () => void (await keys.take('a')))
  await assert.rejects(signIn.complete(waiting.pendingToken, { code: 'right' }, client), expired)
  assert.deepEqual(ended, ['token-of-7'])
})

test('a temporary password is replaced before there is a session, and all other sessions end (D33)', async t => {
  const { signIn, first, opened, inserted, announced, cleared, database, user } = await setUp(t, {
    hasTemporaryPassword: true,
  })
  const waiting = await signIn.begin(first)
  assert.ok(isWaiting(waiting))
  const { pendingToken, ...rest } = waiting
  assert.deepEqual(rest, { needs: 'password' })
  assert.deepEqual([opened, inserted], [[], []])
  for (let count = 0; count < 9; count++) {
    const weak = signIn.completeWithPassword(pendingToken, 'weak', client)
    await assert.rejects(weak, { code: 'password-rules', message: '["nora"]' })
  }
  await assert.rejects(signIn.completeWithPassword(pendingToken, 'hash', client), {
    code: 'password-unchanged',
    message: 'This is the temporary password. Choose another one.',
  })
  await database.run(sql`INSERT INTO trusted_devices (digest, user_id, last_used) VALUES ('d', '7', 0)`)
  const { session } = await signIn.completeWithPassword(pendingToken, 'next', client)
  assert.equal(session.epoch, user.epoch + 1)
  const now = await presentUser(database, '7')
  assert.deepEqual([now.password, now.hasTemporaryPassword], ['next', false])
  const changed = { event: 'password-changed', ...about, detail: { why: 'temporary-password' } }
  assert.deepEqual(inserted, [changed, { event: 'login', ...about, detail: { mechanism: 'form' } }])
  assert.deepEqual(announced, inserted)
  assert.deepEqual(cleared, ['7'])
  assert.equal(await database.get(sql`SELECT digest FROM trusted_devices`), undefined)
  const flags = opened.map(([, , lifetime]) => lifetime.hasSecondFactor)
  assert.deepEqual(flags, [false])
  await assert.rejects(signIn.completeWithPassword(pendingToken, 'third', client), expired)
  await assert.rejects(signIn.completeWithPassword(undefined, 'third', client), expired)
})

test('five new passwords are tried at most, and none for an account that ended or has another password', async t => {
  const { signIn, first, database, user } = await setUp(t, { hasTemporaryPassword: true })
  const begin = async (): Promise<string> => {
    const waiting = await signIn.begin({ ...first, user: await presentUser(database, '7') })
    return isWaiting(waiting) ? waiting.pendingToken : assert.fail()
  }
  const token = await begin()
  const attempt = (sent: string, password = 'hash') => signIn.completeWithPassword(sent, password, client)
  for (let count = 0; count < 5; count++) await assert.rejects(attempt(token), { code: 'password-unchanged' })
  await assert.rejects(attempt(token, 'next'), expired)
  const next = await begin()
  await disable(database, user)
  await assert.rejects(attempt(next, 'next'), expired)
})

test('the second factor comes before the new password; a provider or a passkey asks for none (D33.2)', async t => {
  const { signIn, first, opened, inserted } = await setUp(t, { hasFactor: true, hasTemporaryPassword: true })
  const waiting = await signIn.begin(first)
  assert.ok(isWaiting(waiting) && waiting.needs === 'factor')
  const second = await signIn.complete(waiting.pendingToken, { code: 'right' }, client)
  assert.ok(isWaiting(second) && second.needs === 'password')
  assert.equal(opened.length, 0)
  await signIn.completeWithPassword(second.pendingToken, 'next', client)
  assert.deepEqual(inserted.at(-1)?.detail, { mechanism: 'form', factor: 'totp' })
  assert.deepEqual(
    opened.map(([, , lifetime]) => lifetime.hasSecondFactor),
    [true],
  )
  const passkey = await signIn.begin({ ...first, mechanism: 'passkey', provesFactor: true })
  assert.equal(isWaiting(passkey), false)
})

test('of the account that changed meanwhile no password is replaced', async t => {
  const { database, user } = await setUp(t, { hasTemporaryPassword: true })
  const replace = (stored: User) =>
    new TemporaryPasswords({
      database,
      audit: keptAudit().audit,
      passwords: { verify: async () => false, hash: async () => 'next' },
    } as never).replace(stored, 'next', client)
  assert.equal(await replace({ ...user, epoch: user.epoch - 1 }), undefined)
  assert.equal(await replace({ ...user, id: '8' }), undefined)
  await disable(database, user)
  assert.equal(await replace({ ...user, epoch: user.epoch + 1 }), undefined)
  assert.equal((await presentUser(database, '7')).password, 'hash')
})

test('who must have a second factor is asked for one, unless the provider has checked one (D28.9)', async t => {
  const { database, user } = await setUp(t)
  await database.run(sql`INSERT INTO principals (id, kind, name) VALUES ('20', 'group', 'editors')`)
  const admin = { ...user, id: ADMIN }
  const guest = { ...user, id: GUEST }
  const asked: ReadonlyArray<
    readonly [requirement: FactorRequirement, groups: readonly string[], user: User, memberOf: string, missing: boolean]
  > = [
    ['off', ['editors'], admin, '20', false],
    ['optional', [], admin, ADMINS, false],
    ['optional', [' EDITORS'], user, '20', true],
    ['optional', ['unknown', 'editors'], user, '20', true],
    ['optional', ['editors'], user, '21', false],
    ['optional', ['unknown'], user, '20', false],
    ['admins', [], admin, '', true],
    ['admins', [], user, ADMINS, true],
    ['admins', [], user, '20', false],
    ['admins', ['editors'], user, '20', true],
    ['all', [], user, '', true],
    ['all', [], guest, '', false],
    ['all', [], { ...user, hasSecondFactor: true }, '', false],
  ]
  for (const [requirement, groups, who, memberOf, missing] of asked) {
    const policy = new FactorPolicy(database, { requirement, groups })
    const what = `${requirement} ${groups.join()} ${who.id} ${memberOf}`
    const caller = { user: who, groups: new Set([memberOf]), client }
    assert.equal(policy.isOffered, requirement !== 'off')
    assert.equal(await policy.isMissing(caller), missing, what)
    const refusal = {
      code: 'second-factor-missing',
      message: 'This account must have a second factor. Add one first.',
    }
    const require = async (): Promise<void> => await policy.requirePresent(caller)
    await (missing ? assert.rejects(require, refusal) : require())
    const own = { ...caller, session: sessionOf(who, { hasSecondFactor: true }) }
    assert.equal(await policy.isMissing(own), missing, 'a factor that was removed since')
    const ofProvider = { ...caller, session: sessionOf(who, { hasProviderFactor: true }) }
    assert.equal(await policy.isMissing(ofProvider), false)
  }
})

test('a passkey alone signs in the user whom it names, if nothing is wrong, and failures are on record (D29.5)', async t => {
  const { database, user } = await setUp(t)
  const { audit, inserted } = keptAudit()
  const of = (error?: Error, { admits = true } = {}) =>
    new PasskeySignIn({
      database,
      audit,
      passkeys: { ownerOf: async (sent: unknown) => (sent === 'nora' ? '7' : sent === 'gone' ? '8' : undefined) },
      login: { admits: () => admits },
      factors: {
        verify: async (...given: unknown[]) => {
          assert.deepEqual(given, [await presentUser(database, '7'), { passkey: 'nora' }, { client, bound: 'sign-in' }])
          if (error) throw error
          return 'passkey'
        },
      } as never,
    })
  assert.deepEqual(await of().identify('nora', client), user)
  assert.deepEqual(inserted, [])
  const refused = {
    name: 'Unauthenticated',
    code: 'passkey-refused',
    message: 'The passkey was not accepted. Try again, or sign in with your password.',
  }
  for (const sent of ['gone', 'other']) {
    await assert.rejects(of().identify(sent, client), refused)
    const detail = { mechanism: 'passkey' }
    assert.deepEqual(inserted.splice(0), [{ event: 'login-failed', address: client.address, detail }])
  }
  await assert.rejects(of(new Forbidden('second-factor-wrong', 'x')).identify('nora', client), refused)
  await assert.rejects(of(new LockedOut(5)).identify('nora', client), { code: 'locked-out' })
  await assert.rejects(of(new Forbidden('not-allowed', 'x')).identify('nora', client), { code: 'not-allowed' })
  await assert.rejects(of(new Error('other')).identify('nora', client), /other/)
  assert.deepEqual(inserted, [])
  const failed = (why: string) => {
    const { actorId: _actor, ...subject } = about
    return [{ event: 'login-failed', ...subject, detail: { mechanism: 'passkey', why } }]
  }
  await assert.rejects(of(undefined, { admits: false }).identify('nora', client), {
    code: 'passkey-login-off',
    message: 'This account signs in through an identity provider.',
  })
  assert.deepEqual(inserted.splice(0), failed('not admitted'))
  await disable(database, user)
  for (const admits of [true, false]) {
    await assert.rejects(of(undefined, { admits }).identify('nora', client), {
      code: 'account-disabled',
      message: 'This account is disabled.',
    })
    assert.deepEqual(inserted.splice(0), failed('disabled'))
  }
})
