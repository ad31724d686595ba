import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoginFlows } from '../../src/features/sso/login-flows.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { FakeSystem } from '../support/fake-system.ts'

const ADDRESS = '192.0.2.7'
const given = { provider: 'a', successUrl: 'https://ok.host/', failureUrl: undefined }

function start(t: { after(work: () => Promise<void>): void }) {
  const system = new FakeSystem()
  const store = new MemoryEphemeralStore(system)
  t.after(() => store.close())
  // Two nodes that share what may be forgotten.
  return { system, one: new LoginFlows(store, system), other: new LoginFlows(store, new FakeSystem('other')) }
}

test('a flow is found once, by whichever node, as it was begun (D8.2, D19.2)', async t => {
  const { one, other } = start(t)
  const flow = await one.create(given, ADDRESS)
  assert.deepEqual(flow, { ...flow, ...given })
  assert.deepEqual(await other.consume(flow.id), flow)
  assert.equal(await one.consume(flow.id), undefined)
})

test('ids cannot be guessed, fit into a RelayState and are ids in XML (D8.2)', async t => {
  const { one } = start(t)
  const flows = await Promise.all(Array.from({ length: 100 }, () => one.create(given, ADDRESS)))
  const ids = flows.flatMap(({ id, requestId }) => [id, requestId])
  assert.equal(new Set(ids).size, 200)
  for (const { id, requestId } of flows) {
    assert.match(id, /^[\w-]{43}$/)
    assert.match(requestId, /^_[\w-]{43}$/)
    assert.ok(!requestId.includes(id))
  }
})

test('of many parallel requests that finish one flow, one gets it', async t => {
  const { one, other } = start(t)
  const { id } = await one.create(given, ADDRESS)
  const all = await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 ? one : other).consume(id)))
  assert.equal(all.filter(Boolean).length, 1)
})

test('a flow lives for fifteen minutes (D8.2)', async t => {
  const { one, system } = start(t)
  const [early, late] = [await one.create(given, ADDRESS), await one.create(given, ADDRESS)]
  system.pass(899_999)
  assert.ok(await one.consume(early.id))
  system.pass(1)
  assert.equal(await one.consume(late.id), undefined)
})

test('an assertion id is consumed once per provider, as long as the assertion is valid (D8.3)', async t => {
  const { one, other, system } = start(t)
  const until = system.now() + 1000
  const claims = await Promise.allSettled(
    Array.from({ length: 50 }, (_, n) => (n % 2 ? one : other).consumeAssertionId('a', '_x', until)),
  )
  assert.equal(claims.filter(({ status }) => status === 'fulfilled').length, 1)
  await one.consumeAssertionId('b', '_x', until)
  await one.consumeAssertionId('a', '_y', until)
  await assert.rejects(one.consumeAssertionId('a', '_x', until), {
    failed: { check: 'replay', expected: 'an assertion that has not been used', received: '_x' },
  })
  system.pass(999)
  await assert.rejects(one.consumeAssertionId('a', '_x', until))
  system.pass(1)
  await one.consumeAssertionId('a', '_x', until)
})

test('a session that its provider has ended is remembered as long as an assertion of it could arrive (D30.1)', async t => {
  const { system, one, other } = start(t)
  assert.equal(await other.isSignedOut('a', 'session'), false)
  await one.noteSignedOut('a', 'session', system.now() + 60_000)
  assert.equal(await other.isSignedOut('a', 'session'), true)
  assert.equal(await other.isSignedOut('b', 'session'), false)
  assert.equal(await other.isSignedOut('a', 'other'), false)
  system.pass(61_000)
  assert.equal(await other.isSignedOut('a', 'session'), false)
})

test('ids with colons do not run into those of another provider', async t => {
  const { one, system } = start(t)
  await one.consumeAssertionId('a', 'b:c', system.now() + 1000)
  await one.consumeAssertionId('a-b', 'c', system.now() + 1000)
})

test('a network with too many logins in progress is refused the next one; those of other browsers stay', async t => {
  const { one, other, system } = start(t)
  const honest = await one.create(given, '198.51.100.1')
  const flows = await Promise.all(Array.from({ length: 2000 }, () => one.create(given, ADDRESS)))
  await assert.rejects(other.create(given, ADDRESS), { code: 'overloaded', retryAfter: 60 })
  await one.create(given, '198.51.100.1')
  assert.deepEqual(await other.consume(honest.id), honest)
  assert.ok(await one.consume(flows[0]?.id ?? ''), 'the oldest flow of the network is still there')
  await one.create(given, ADDRESS)
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
  system.pass(17 * 60_000)
  await one.create(given, ADDRESS)
})

test('a flow that is put back is found again, but lives no longer', async t => {
  const { one, system } = start(t)
  const flow = await one.create(given, ADDRESS)
  system.pass(600_000)
  assert.ok(await one.consume(flow.id))
  await one.restore(flow)
  system.pass(299_999)
  assert.deepEqual(await one.consume(flow.id), flow)
  await one.restore(flow)
  system.pass(1)
  assert.equal(await one.consume(flow.id), undefined)
})

test('logins that were begun count for fifteen minutes, by the minute (D8.2)', async t => {
  const { one, system } = start(t)
  await Promise.all(Array.from({ length: 2000 }, () => one.create(given, ADDRESS)))
  const full = {
    code: 'overloaded',
    message: 'Too many sign-ons from your address are in progress. Try again in a minute.',
  }
  system.pass(15 * 60_000)
  await assert.rejects(one.create(given, ADDRESS), full)
  system.pass(60_000)
  await one.create(given, ADDRESS)
})

test('each finished login makes room for one, in the minute in which it began', async t => {
  const { one, system } = start(t)
  const [first] = [await one.create(given, ADDRESS)]
  system.pass(5 * 60_000)
  await Promise.all(Array.from({ length: 1999 }, () => one.create(given, ADDRESS)))
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
  await one.consume(first.id)
  await one.create(given, ADDRESS)
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
  // A flow that is put back and finished again makes no room a second time.
  await one.restore(first)
  await one.consume(first.id)
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
})

test('an ended session is remembered to the millisecond', async t => {
  const { one, system } = start(t)
  await one.noteSignedOut('a', 'session', system.now() + 60_000)
  system.pass(59_999)
  assert.equal(await one.isSignedOut('a', 'session'), true)
  system.pass(1)
  assert.equal(await one.isSignedOut('a', 'session'), false)
})

test('an assertion whose time is over can be used once all the same, not twice', async t => {
  const { one, system } = start(t)
  await one.consumeAssertionId('a', '_x', system.now() - 5)
  await assert.rejects(one.consumeAssertionId('a', '_x', system.now() - 5), {
    failed: { check: 'replay', expected: 'an assertion that has not been used', received: '_x' },
  })
})

test('a flow is put back for as long as it had left, and not after its end (D8.2)', async t => {
  const { one, system } = start(t)
  const flow = await one.create(given, ADDRESS)
  await one.consume(flow.id)
  system.pass(899_999)
  await one.restore(flow)
  assert.deepEqual(await one.consume(flow.id), flow)
  await one.restore(flow)
  system.pass(1)
  assert.equal(await one.consume(flow.id), undefined)
  await one.restore(flow)
  assert.equal(await one.consume(flow.id), undefined)
})

test('one IPv6 site, with all its networks, cannot take the places of all others (D35.25)', async t => {
  const { one } = start(t)
  const begin = async (network: string) => await one.create(given, `2001:db8:1:${network}::1`)
  for (let network = 0; network < 10; network++) {
    for (let n = 0; n < 2000; n++) await begin(network.toString(16))
  }
  await assert.rejects(begin('a'), { code: 'overloaded', retryAfter: 60 })
  const other = await one.create(given, '2001:db8:2::1')
  assert.deepEqual(await one.consume(other.id), other)
})

test('a flow counts by the length of what its request names, and makes as much room when it ends (D35.25)', async t => {
  const { one } = start(t)
  const long = { ...given, successUrl: 'x'.repeat(1024), failureUrl: 'y'.repeat(1024) }
  const flows = await Promise.all(Array.from({ length: 1000 }, () => one.create(long, ADDRESS)))
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
  const [first] = flows
  assert.ok(first)
  await one.consume(first.id)
  for (let n = 0; n < 2; n++) await one.create(given, ADDRESS)
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
})

test('a flow that is put back counts again (D35.25)', async t => {
  const { one } = start(t)
  const flows = await Promise.all(Array.from({ length: 2000 }, () => one.create(given, ADDRESS)))
  for (const flow of flows) {
    await one.consume(flow.id)
    await one.restore(flow)
  }
  await assert.rejects(one.create(given, ADDRESS), { code: 'overloaded' })
})
