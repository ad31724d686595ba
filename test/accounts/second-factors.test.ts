import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { guestFrom } from '../../src/accounts/caller.ts'
import { SealedSecrets } from '../../src/accounts/sealed-secrets.ts'
import type { NewFactor } from '../../src/features/factors/factor-rows.ts'
import { SecondFactors } from '../../src/features/factors/second-factors.ts'
import { hotp, stepAt } from '../../src/features/factors/totp.ts'
import { ADMIN } from '../../src/accounts/users.ts'
import { createLog } from '../../src/base/log.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { callerOf, client, disable, keptAudit, presentUser, sessionOf, storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const passkey: NewFactor = {
  kind: 'passkey',
  name: 'Key',
  secret: 'public',
  counter: 3,
  credentialId: 'c',
  userHandle: 'h',
  transports: '["usb"]',
  isSyncable: true,
}

async function setUp(t: TestContext, { offersPasskeys = true } = {}) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ephemeral = new MemoryEphemeralStore(system)
  t.after(() => ephemeral.close())
  const { audit, inserted, announced } = keptAudit()
  const calls: unknown[] = []
  const lines: string[] = []
  const keys = [new Uint8Array(32).fill(1)]
  const secrets = new SealedSecrets(async () => keys, system, 'second factor')
  const passkeys = {
    verify: async (response: unknown, purpose: unknown) => {
      calls.push(['passkey', response, purpose])
      return response === 'right' ? { factorId: 'k' } : undefined
    },
  }
  const factors = new SecondFactors({
    database,
    ephemeral,
    secrets,
    system,
    audit,
    log: createLog('error', { write: (line: string) => void lines.push(line) }),
    login: {
      attemptFactor: async (_user, _client, kind, check) => {
        calls.push(['attempt', kind])
        return await check()
      },
    },
    sessions: {
      noteProof: async (session, byFactor) => void calls.push(['proof', session.id, byFactor]),
      clearAway: async (id, except) => void calls.push(['clear', id, except?.id]),
    },
  })
  factors.passkeys = offersPasskeys ? passkeys : undefined
  const user = await storedUser(database, '7')
  const present = () => presentUser(database, '7')
  /** The caller as they are now, in a session of theirs. */
  const nora = async () => {
    const now = await present()
    return callerOf(now, sessionOf(now, { hasSecondFactor: true }))
  }
  /** Adds an app, and returns what it shows at a step from now. */
  const addApp = async (name = 'Phone') => {
    const begun = await factors.enrolTotp(await nora(), name)
    const bits = [...begun.secret].map(c => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0'))
    const secret = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
    const code = (distance = 0): string => hotp(secret, stepAt(system.now()) + distance)
    return {
      id: begun.id,
      secret,
      code,
      confirm: async (sent = code()) => factors.confirmTotp(await nora(), begun.id, sent),
    }
  }
  return { database, system, factors, inserted, announced, calls, lines, keys, user, present, nora, addApp }
}

const wrong = {
  name: 'Forbidden',
  code: 'second-factor-wrong',
  message: 'The code is wrong, has expired or was already used.',
}
const about = { userId: '7', userName: 'nora', actorId: '7', address: client.address }

test('an app counts once its first code was sent, within ten minutes, and only the latest enrolment (D28.1)', async t => {
  const { factors, addApp, system, nora } = await setUp(t)
  const first = await addApp()
  const over = { code: 'not-found', message: 'This enrolment is unknown or older than ten minutes.' }
  await assert.rejects(first.confirm(first.code(2)), wrong)
  assert.deepEqual(await factors.list('7'), [])
  const second = await addApp('Other')
  await assert.rejects(first.confirm(), over)
  await assert.rejects(factors.confirmTotp(await nora(), 'x', second.code()), over)
  system.pass(599_999)
  const added = await second.confirm(` ${second.code().slice(0, 3)} ${second.code().slice(3)} `)
  assert.equal(added.id, second.id)
  assert.equal(added.recoveryCodes?.length, 10)
  const late = await addApp()
  system.pass(600_000)
  await assert.rejects(late.confirm(), over)
  await assert.rejects(second.confirm(), over)
})

test('of two confirmations at once one adds the app', async t => {
  const { factors, addApp, nora } = await setUp(t)
  const app = await addApp()
  const caller = await nora()
  const confirm = () => factors.confirmTotp(caller, app.id, app.code())
  const results = await Promise.allSettled([confirm(), confirm()])
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const reasons = results.flatMap(result => (result.status === 'rejected' ? [result.reason as Error] : []))
  assert.deepEqual(
    reasons.map(({ message }) => message),
    ['This enrolment is over.'],
  )
  assert.equal((await factors.list('7')).length, 1)
})

test('the name of a factor has 1 to 100 characters that can be seen', async t => {
  const { factors, nora } = await setUp(t)
  const refused = { code: 'invalid-value', message: '`name` must be 1 to 100 characters without control characters.' }
  for (const name of ['', ' ', 'x'.repeat(101), 'a\nb', 'a\u202eb', '\0']) {
    await assert.rejects(factors.enrolTotp(await nora(), name), refused, name)
    await assert.rejects(factors.add(await nora(), { ...passkey, name }), refused, name)
    await assert.rejects(factors.rename(await nora(), 'x', name), refused, name)
  }
  for (const name of ['x', 'x'.repeat(100), 'Ö 🗝']) await factors.enrolTotp(await nora(), name)
})

test('the first factor ends the other sessions and brings ten codes; the next ones do neither (D28.4)', async t => {
  const { factors, calls, nora, present, inserted, announced, user, system } = await setUp(t)
  const caller = await nora()
  const { id, recoveryCodes, ...rest } = await factors.add(caller, passkey)
  assert.deepEqual(rest, {})
  assert.match(id, /^[A-Za-z0-9_-]{12}$/)
  assert.equal(new Set(recoveryCodes).size, 10)
  assert.equal(await factors.recoveryCodesLeft('7'), 10)
  assert.deepEqual(calls.splice(0), [
    ['proof', caller.session?.id, true],
    ['clear', '7', caller.session?.id],
  ])
  assert.equal((await present()).epoch, user.epoch + 1)
  assert.ok((await present()).keptSessionDigest)
  const entry = { event: 'factor-added', ...about, detail: { factor: id, kind: 'passkey', name: 'Key' } }
  assert.deepEqual([inserted.splice(0), announced.splice(0)], [[entry], [entry]])
  const stored = { ...passkey, id, userId: '7', created: system.now(), lastUsed: undefined }
  assert.deepEqual(await factors.list('7'), [stored])

  const second = await factors.add(await nora(), { ...passkey, credentialId: 'd', isSyncable: false })
  assert.deepEqual(Object.keys(second), ['id'])
  const syncable = (await factors.list('7')).map(({ credentialId, isSyncable }) => [credentialId, isSyncable])
  assert.deepEqual(
    new Map(syncable as never),
    new Map([
      ['c', true],
      ['d', false],
    ]),
  )
  assert.equal((await present()).epoch, user.epoch + 1)
  assert.deepEqual(calls, [['proof', caller.session?.id, true]])
  const code = recoveryCodes?.[0] ?? ''
  assert.equal(
    await factors.verify(await present(), { code }, { client, bound: 'b' }),
    'recovery',
    'the codes stay good',
  )
})

test('without a session, as with HTTP Basic, the first factor ends all sessions', async t => {
  const { factors, calls, present, user } = await setUp(t)
  await factors.add(callerOf(user), passkey)
  assert.deepEqual(calls, [['clear', '7', undefined]])
  assert.equal((await present()).keptSessionDigest, undefined)
})

test('a user has at most twenty factors, and a passkey belongs to one user', async t => {
  const { factors, nora, inserted, database } = await setUp(t)
  for (let count = 1; count <= 20; count++) await factors.add(await nora(), { ...passkey, credentialId: String(count) })
  await assert.rejects(factors.add(await nora(), { ...passkey, credentialId: 'x' }), {
    code: 'conflict',
    message: 'A user has at most 20 second factors. Remove one first.',
  })
  const olaf = await storedUser(database, '8', { name: 'olaf' })
  const known = { code: 'conflict', message: 'This passkey is registered already.' }
  await assert.rejects(factors.add(callerOf(olaf), { ...passkey, credentialId: '7' }), known)
  assert.deepEqual(await factors.list('8'), [])
  assert.equal(inserted.length, 20)
})

test('an account that has ended meanwhile changes no factors', async t => {
  const { factors, nora, database, user, inserted, calls } = await setUp(t)
  const caller = await nora()
  await disable(database, user)
  for (const act of [
    () => factors.add(caller, passkey),
    () => factors.rename(caller, 'x', 'y'),
    () => factors.remove(caller, 'x'),
    () => factors.renewRecoveryCodes(caller),
  ])
    await assert.rejects(act, { code: 'not-signed-in' })
  assert.deepEqual([inserted, calls], [[], []])
})

test('users rename and remove their own factors; with the last one the recovery codes go (D28.1)', async t => {
  const { factors, nora, database, inserted, announced } = await setUp(t)
  const one = await factors.add(await nora(), passkey)
  const two = await factors.add(await nora(), { ...passkey, credentialId: 'd', name: 'Two' })
  const olaf = callerOf(await storedUser(database, '8', { name: 'olaf' }))
  const unknown = { code: 'not-found', message: 'There is no second factor with this id.' }
  for (const caller of [olaf, callerOf({ ...guestFrom(client).user, id: ADMIN })]) {
    if (caller !== olaf) await storedUser(database, ADMIN, { name: 'admin' })
    await assert.rejects(factors.rename(await fresh(caller.user.id), one.id, 'mine'), unknown)
    await assert.rejects(factors.remove(await fresh(caller.user.id), one.id), unknown)
  }
  async function fresh(id: string) {
    return callerOf(await presentUser(database, id))
  }
  await assert.rejects(factors.remove(await nora(), 'x'), unknown)
  await factors.rename(await nora(), one.id, 'New')
  assert.deepEqual((await factors.list('7')).map(({ name }) => name).sort(), ['New', 'Two'])
  inserted.length = announced.length = 0
  await factors.remove(await nora(), one.id)
  const entry = { event: 'factor-removed', ...about, detail: { factor: one.id, kind: 'passkey', name: 'New' } }
  assert.deepEqual([inserted, announced], [[entry], [entry]])
  assert.equal(await factors.recoveryCodesLeft('7'), 10)
  await factors.remove(await nora(), two.id)
  assert.deepEqual([await factors.list('7'), await factors.recoveryCodesLeft('7')], [[], 0])
})

test('an administrator removes all factors of a user, and only an administrator (D28.8)', async t => {
  const { factors, nora, database, inserted, announced } = await setUp(t)
  await factors.add(await nora(), passkey)
  await factors.add(await nora(), { ...passkey, credentialId: 'd' })
  const olaf = callerOf(await storedUser(database, '8', { name: 'olaf' }))
  await assert.rejects(factors.removeAll(olaf, '7'), { code: 'not-found' })
  assert.equal((await factors.list('7')).length, 2)
  inserted.length = announced.length = 0
  const admin = callerOf(await storedUser(database, ADMIN, { name: 'admin' }))
  assert.equal(await factors.removeAll(admin, '7'), 2)
  const seen = inserted.map(({ event, userId, userName, actorId }) => [event, userId, userName, actorId])
  assert.deepEqual(
    seen,
    Array.from({ length: 2 }, () => ['factor-removed', '7', 'nora', ADMIN]),
  )
  assert.deepEqual(announced, inserted)
  assert.deepEqual([await factors.list('7'), await factors.recoveryCodesLeft('7')], [[], 0])
  assert.equal(await factors.removeAll(admin, '7'), 0)
})

test('ten new recovery codes end the old ones, and are for users with a factor (D28.1)', async t => {
  const { factors, nora, inserted, announced, present } = await setUp(t)
  const none = { code: 'conflict', message: 'Add a second factor first.' }
  await assert.rejects(factors.renewRecoveryCodes(await nora()), none)
  const { recoveryCodes = [] } = await factors.add(await nora(), passkey)
  inserted.length = announced.length = 0
  const codes = await factors.renewRecoveryCodes(await nora())
  const entry = { event: 'recovery-codes-created', ...about, detail: {} }
  assert.deepEqual([inserted, announced], [[entry], [entry]])
  assert.equal(new Set([...codes, ...recoveryCodes]).size, 20)
  assert.equal(await factors.recoveryCodesLeft('7'), 10)
  const purpose = { client, bound: 'b' }
  await assert.rejects(factors.verify(await present(), { code: recoveryCodes[0] ?? '' }, purpose), wrong)
  assert.equal(await factors.verify(await present(), { code: codes[0] ?? '' }, purpose), 'recovery')
})

test('each code of an app counts once, for each of the apps, and the trail names the app (D28.1, D28.7)', async t => {
  const { factors, addApp, system, present, inserted, calls, nora, lines } = await setUp(t)
  await factors.add(await nora(), passkey)
  const phone = await addApp('Phone')
  await phone.confirm()
  const tablet = await addApp('Tablet')
  await tablet.confirm()
  const user = await present()
  const verify = (code: string) => factors.verify(user, { code }, { client, bound: 'b' })
  await assert.rejects(verify(phone.code()), wrong, 'used by the confirmation')
  system.pass(30_000)
  inserted.length = calls.length = 0
  for (const [app, name] of [
    [phone, 'Phone'],
    [tablet, 'Tablet'],
  ] as const) {
    assert.equal(await verify(app.code()), 'totp')
    await assert.rejects(verify(app.code()), wrong)
    const detail = { factor: app.id, kind: 'totp', name }
    assert.deepEqual(inserted.splice(0), [{ event: 'factor-used', ...about, detail }])
  }
  assert.deepEqual(
    calls,
    Array.from({ length: 4 }, () => ['attempt', 'totp']),
  )
  const apps = (await factors.list('7')).filter(({ kind }) => kind === 'totp')
  assert.deepEqual(
    apps.map(({ lastUsed }) => lastUsed),
    [system.now(), system.now()],
  )
  assert.deepEqual(lines, [], 'a passkey is no app whose key is missing')
})

test('a recovery code counts once, and the trail says how many are left (D28.7)', async t => {
  const { factors, nora, present, inserted, calls } = await setUp(t)
  const { recoveryCodes: [code = ''] = [] } = await factors.add(await nora(), passkey)
  inserted.length = calls.length = 0
  const verify = async () => factors.verify(await present(), { code }, { client, bound: 'b' })
  assert.equal(await verify(), 'recovery')
  await assert.rejects(verify, wrong)
  assert.deepEqual(inserted, [{ event: 'recovery-code-used', ...about, detail: { left: 9 } }])
  assert.deepEqual(
    calls,
    Array.from({ length: 2 }, () => ['attempt', 'recovery']),
  )
})

test('a passkey is verified for its user and what asked for it; the trail names it (D28.7)', async t => {
  const { factors, present, inserted, calls } = await setUp(t)
  const purpose = { client, bound: 'b' }
  const user = await present()
  assert.equal(await factors.verify(user, { passkey: 'right' }, purpose), 'passkey')
  const detail = { factor: 'k', kind: 'passkey' }
  assert.deepEqual(inserted.splice(0), [{ event: 'factor-used', ...about, detail }])
  await assert.rejects(factors.verify(user, { passkey: 'wrong' }, purpose), wrong)
  assert.deepEqual(inserted, [])
  assert.deepEqual(calls.slice(0, 2), [
    ['attempt', 'passkey'],
    ['passkey', 'right', { userId: '7', ...purpose }],
  ])
})

test('a page asks for what the user has and the service offers', async t => {
  for (const offersPasskeys of [true, false]) {
    const { factors, nora, addApp, database } = await setUp(t, { offersPasskeys })
    assert.deepEqual(await factors.kindsOf('7'), [])
    await (await addApp()).confirm()
    assert.deepEqual(await factors.kindsOf('7'), ['totp', 'recovery'])
    const [{ credentialId, transports, isSyncable } = assert.fail()] = await factors.list('7')
    assert.deepEqual([credentialId, transports, isSyncable], [undefined, undefined, undefined])
    await factors.add(await nora(), passkey)
    assert.deepEqual([...(await factors.kindsOf('7'))].sort(), [
      ...(offersPasskeys ? ['passkey'] : []),
      'recovery',
      'totp',
    ])
    await database.run(sql`DELETE FROM recovery_codes`)
    assert.ok(!(await factors.kindsOf('7')).includes('recovery'))
    assert.ok((await factors.kindsOf('7')).includes('totp'))
    if (!offersPasskeys) {
      const user = (await nora()).user
      await assert.rejects(factors.verify(user, { passkey: 'right' }, { client, bound: 'b' }), wrong)
    }
  }
})

test('an app whose sealing key is gone counts no more, and the operator reads why', async t => {
  const { factors, addApp, present, lines, database, system } = await setUp(t)
  const app = await addApp()
  await app.confirm()
  system.pass(30_000)
  const other = new SealedSecrets(async () => [new Uint8Array(32).fill(2)], system, 'second factor')
  const deps = {
    database,
    secrets: other,
    login: { attemptFactor: async (_u: unknown, _c: unknown, _k: unknown, check: () => Promise<boolean>) => check() },
  }
  const log = createLog('error', { write: (line: string) => void lines.push(line) })
  const elsewhere = new SecondFactors({ ...deps, log, system } as never)
  const user = await present()
  await assert.rejects(elsewhere.verify(user, { code: app.code() }, { client, bound: 'b' }), wrong)
  const { msg, user: id, factor } = JSON.parse(lines[0] ?? '{}') as Record<string, unknown>
  assert.deepEqual([msg, id, factor], ['the key that seals this second factor is missing', '7', app.id])
  assert.equal(await factors.verify(user, { code: app.code() }, { client, bound: 'b' }), 'totp')
})
