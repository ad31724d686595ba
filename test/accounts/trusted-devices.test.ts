import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SealedSecrets } from '../../src/accounts/sealed-secrets.ts'
import { LogoutKeys } from '../../src/accounts/session-lists.ts'
import { DEVICE_TTL, forgetDevices, TrustedDevices } from '../../src/accounts/trusted-devices.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { storedUser } from '../support/factor-services.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

async function setUp(t: TestContext) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const [nora, olaf] = [await storedUser(database, '7'), await storedUser(database, '8', { name: 'olaf' })]
  return { database, system, devices: new TrustedDevices(database, system), nora, olaf }
}

test('a device is known for its user, by a token that the store does not have (D6.5)', async t => {
  const { devices, nora, olaf, database } = await setUp(t)
  const token = await devices.trust(nora, undefined)
  assert.match(token, /^[A-Za-z0-9_-]{43}$/)
  const digest = await devices.recognise(nora, token)
  assert.ok(digest && digest !== token)
  const stored = await database.all<{ digest: string }>(sql`SELECT digest FROM trusted_devices`)
  assert.deepEqual(
    stored.map(row => row.digest),
    [digest],
  )
  for (const other of [undefined, '', `${token}x`]) assert.equal(await devices.recognise(nora, other), undefined)
  assert.equal(await devices.recognise(olaf, token), undefined)
  const ofOlaf = await devices.trust(olaf, token)
  assert.notEqual(ofOlaf, token, 'the token of another user is not taken over')
  assert.ok(await devices.recognise(nora, token))
})

test('a device is trusted for a year after its last sign-in (D6.5)', async t => {
  const { devices, nora, system } = await setUp(t)
  const token = await devices.trust(nora, undefined)
  system.pass(DEVICE_TTL)
  assert.ok(await devices.recognise(nora, token))
  assert.equal(await devices.trust(nora, token), token)
  system.pass(DEVICE_TTL)
  assert.ok(await devices.recognise(nora, token))
  system.pass(1)
  assert.equal(await devices.recognise(nora, token), undefined)
  assert.notEqual(await devices.trust(nora, token), token)
  assert.equal(DEVICE_TTL, 365 * 86_400_000)
})

test('a user has twenty devices, those used last; other users keep theirs, and a deleted user gets none', async t => {
  const { devices, nora, olaf, system } = await setUp(t)
  const other = await devices.trust(olaf, undefined)
  const tokens: string[] = []
  for (let count = 0; count < 21; count++) {
    system.pass(1)
    tokens.push(await devices.trust(nora, undefined))
  }
  const known = await Promise.all(tokens.map(token => devices.recognise(nora, token)))
  assert.deepEqual(
    known.map(digest => digest !== undefined),
    tokens.map((_token, at) => at > 0),
  )
  assert.ok(await devices.recognise(olaf, other))
  const gone = { ...nora, id: '9' }
  assert.equal(await devices.recognise(gone, await devices.trust(gone, undefined)), undefined)
})

test('a new password ends the trust in the devices of its user', async t => {
  const { devices, nora, olaf, database } = await setUp(t)
  const [token, other] = [await devices.trust(nora, undefined), await devices.trust(olaf, undefined)]
  await forgetDevices(database, nora.id)
  assert.equal(await devices.recognise(nora, token), undefined)
  assert.ok(await devices.recognise(olaf, other))
})

test('a logout key names its sessions once, at most the last hundred, for at most thirty days (D19.11)', async () => {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  const keys = new LogoutKeys(store, system)
  const session = (id: number) => ({ id: String(id), userId: '7' })
  const day = 86_400_000
  for (let id = 0; id < 101; id++) await keys.add('a', session(id), day)
  await keys.add('b', session(500), day)
  const named = await keys.take('a')
  assert.deepEqual([named.length, named[0], named.at(-1)], [100, session(1), session(100)])
  assert.deepEqual(await keys.take('a'), [])
  assert.deepEqual(await keys.take('b'), [session(500)])
  for (const [ttl, life] of [
    [day, day],
    [60 * day, 30 * day],
  ] as const) {
    await keys.add('c', session(1), ttl)
    await keys.add('d', session(1), ttl)
    system.pass(life - 1)
    assert.deepEqual(await keys.take('c'), [session(1)])
    system.pass(1)
    assert.deepEqual(await keys.take('d'), [])
  }
  await keys.add('secret', session(1), day)
  for await (const entry of store.scan('')) assert.ok(!JSON.stringify(entry).includes('secret'))
  await store.close()
})

test('sign-ins that wait share the mark of a key, and end with it or with its time', async () => {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  const keys = new LogoutKeys(store, system)
  const marks = await keys.addPending(['a', 'b'], 1000)
  assert.deepEqual(await keys.addPending(['a', 'b'], 1000), marks)
  assert.notEqual(marks[0], marks[1])
  assert.equal(await keys.arePending(['a', 'b'], marks), true)
  assert.equal(await keys.arePending(['b', 'a'], marks), false)
  assert.equal(await keys.arePending([], []), true)
  system.pass(999)
  assert.equal(await keys.arePending(['a'], marks), true)
  await keys.take('b')
  assert.equal(await keys.arePending(['a', 'b'], marks), false)
  assert.equal(await keys.arePending(['a'], marks), true)
  system.pass(1)
  assert.equal(await keys.arePending(['a'], marks), false)
  await store.close()
})

test('the secret of a factor opens with its key for its owner, and a key file that was repaired is read again', async () => {
  let reads = 0
  let isBroken = true
  const read = async () => {
    reads++
    if (isBroken) throw new Error('unreadable')
    return [new Uint8Array(32).fill(1)]
  }
  const secrets = new SealedSecrets(read, new FakeSystem(), 'second factor')
  const secret = Uint8Array.from([0, 255, 1])
  assert.equal(reads, 0, 'nothing is read before it is needed')
  await assert.rejects(secrets.seal(secret, '7'), /unreadable/)
  isBroken = false
  const sealed = await secrets.seal(secret, '7')
  assert.deepEqual(Uint8Array.from((await secrets.open(sealed, '7')) ?? []), secret)
  assert.equal(await secrets.open(sealed, '8'), undefined)
  assert.equal(await secrets.open('x', '7'), undefined)
  assert.equal(reads, 2)
  const other = new SealedSecrets(async () => [new Uint8Array(32).fill(2)], new FakeSystem(), 'second factor')
  assert.equal(await other.open(sealed, '7'), undefined)
})
