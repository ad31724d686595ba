import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { Conflict, NotFound, TooLarge } from '../../src/base/errors.ts'
import { Ledger, type LedgerOptions, type Reservation } from '../../src/files/quota-ledger.ts'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase } from '../support/store.ts'

const CONTEXT = '3'

async function openBooks(t: TestContext, options: Partial<LedgerOptions> = {}) {
  const database = await newDatabase(t)
  const system = new FakeSystem()
  const ledger = new Ledger(database, system, { enforced: true, defaultQuota: 1000, ...options })
  return { database, system, ledger }
}

const spaceOf = async (database: Database, context: string) => {
  const space = await database.get<{ used: number; reserved: number }>(
    sql`SELECT used, reserved FROM spaces WHERE context = ${context}`,
  )
  return { ...space }
}

let blobs = 0
const newBlob = (): string => `blob${++blobs}`

test('of 64 parallel reservations exactly as many are granted as fit, equality included (D7.3)', async t => {
  const { database, ledger } = await openBooks(t, { defaultQuota: 17 * 58 })
  await ledger.open(database, CONTEXT)
  const outcomes = await Promise.allSettled(Array.from({ length: 64 }, () => ledger.reserve(CONTEXT, newBlob(), 17)))
  const refused = outcomes.filter(outcome => outcome.status === 'rejected')
  assert.equal(refused.length, 64 - 58)
  for (const { reason } of refused) assert.ok(reason instanceof TooLarge)
  assert.deepEqual(await spaceOf(database, CONTEXT), { used: 0, reserved: 17 * 58 })
})

test('a lease that is gone cannot be grown or committed, and its release is no error', async t => {
  const { database, ledger } = await openBooks(t)
  await ledger.open(database, CONTEXT)
  const lease = await ledger.reserve(CONTEXT, newBlob(), 10)
  await ledger.release(lease)
  await ledger.release(lease)
  await assert.rejects(ledger.grow(lease, 1, 1), Conflict)
  await assert.rejects(
    database.transaction(tx => ledger.commit(tx, lease, 10)),
    Conflict,
  )
  assert.deepEqual(await spaceOf(database, CONTEXT), { used: 0, reserved: 0 })
})

test('growing takes the step it prefers, else what it needs, else nothing', async t => {
  const { database, ledger } = await openBooks(t, { defaultQuota: 100 })
  await ledger.open(database, CONTEXT)
  const lease = await ledger.reserve(CONTEXT, newBlob(), 0)
  assert.equal(await ledger.grow(lease, 10, 60), 60)
  assert.equal(await ledger.grow(lease, 30, 60), 30)
  await assert.rejects(ledger.grow(lease, 11, 60), TooLarge)
  assert.deepEqual(await spaceOf(database, CONTEXT), { used: 0, reserved: 90 })
})

test('an upload that is not renewed in time is taken for dead, one that is renewed is not', async t => {
  const { database, ledger, system } = await openBooks(t)
  await ledger.open(database, CONTEXT)
  const [dead, alive] = [await ledger.reserve(CONTEXT, newBlob(), 1), await ledger.reserve(CONTEXT, newBlob(), 1)]
  system.pass(200_000)
  await ledger.renew(alive)
  system.pass(100_001)
  const abandoned = await ledger.abandoned(false)
  assert.deepEqual(
    abandoned.map(({ blob }) => blob),
    [dead.blob],
  )
  assert.equal((await ledger.abandoned(true)).length, 2)
})

test('a context without books has no quota to read or to set', async t => {
  const { database, ledger } = await openBooks(t)
  await assert.rejects(ledger.quotaOf(database, 'none'), NotFound)
  await assert.rejects(ledger.setQuota(database, 'none', 5), NotFound)
})

// The model: the same books kept in plain variables.
interface Model {
  quota: number | undefined
  used: number
  readonly leases: Map<Reservation, number>
}

const action = fc.oneof(
  fc.record({ type: fc.constant('reserve' as const), bytes: fc.nat({ max: 400 }) }),
  fc.record({
    type: fc.constant('grow' as const),
    which: fc.nat(),
    needed: fc.nat({ max: 200 }),
    more: fc.nat({ max: 300 }),
  }),
  fc.record({ type: fc.constant('commit' as const), which: fc.nat(), growth: fc.integer({ min: -300, max: 500 }) }),
  fc.record({ type: fc.constant('release' as const), which: fc.nat() }),
  fc.record({ type: fc.constant('credit' as const), bytes: fc.nat({ max: 300 }) }),
  fc.record({
    type: fc.constant('setQuota' as const),
    quota: fc.oneof(fc.constantFrom(undefined, -1, 0), fc.nat({ max: 1500 })),
  }),
)

for (const { enforced, defaultQuota } of [
  { enforced: true, defaultQuota: 1000 },
  { enforced: true, defaultQuota: -1 },
  { enforced: false, defaultQuota: 100 },
]) {
  test(`the ledger agrees with a plain model: enforced ${enforced}, default ${defaultQuota} (D7.3)`, async t => {
    const { database, ledger } = await openBooks(t, { enforced, defaultQuota })
    let contexts = 0
    const property = fc.asyncProperty(fc.array(action, { maxLength: 25 }), async actions => {
      const context = `c${++contexts}`
      await ledger.open(database, context)
      const model: Model = { quota: undefined, used: 0, leases: new Map() }
      const reserved = (): number => [...model.leases.values()].reduce((sum, bytes) => sum + bytes, 0)
      const limit = (): number => model.quota ?? defaultQuota
      const fits = (growth: number, except = 0): boolean =>
        !enforced || growth <= 0 || limit() === -1 || model.used + reserved() - except + growth <= limit()
      const lease = (which: number): [Reservation, number] | undefined => {
        const all = [...model.leases]
        return all[which % Math.max(1, all.length)]
      }

      for (const step of actions) {
        if (step.type === 'reserve') {
          const asked = ledger.reserve(context, newBlob(), step.bytes)
          if (fits(step.bytes)) model.leases.set(await asked, step.bytes)
          else await assert.rejects(asked, TooLarge)
        } else if (step.type === 'credit') {
          const bytes = Math.min(step.bytes, model.used)
          await database.transaction(tx => ledger.credit(tx, context, bytes))
          model.used -= bytes
        } else if (step.type === 'setQuota') {
          await ledger.setQuota(database, context, step.quota)
          model.quota = step.quota
        } else {
          const [held, bytes] = lease(step.which) ?? []
          if (held === undefined || bytes === undefined) continue
          if (step.type === 'release') {
            await ledger.release(held)
            model.leases.delete(held)
          } else if (step.type === 'grow') {
            const preferred = step.needed + step.more
            const asked = ledger.grow(held, step.needed, preferred)
            const got = fits(preferred) ? preferred : fits(step.needed) ? step.needed : undefined
            if (got === undefined) await assert.rejects(asked, TooLarge)
            else {
              assert.equal(await asked, got)
              model.leases.set(held, bytes + got)
            }
          } else {
            const growth = Math.max(step.growth, -model.used)
            const before = model.used
            const asked = database.transaction(tx => ledger.commit(tx, held, growth))
            if (fits(growth, bytes)) {
              await asked
              model.used += growth
              model.leases.delete(held)
            } else await assert.rejects(asked, TooLarge)
            if (enforced && limit() !== -1 && model.used > before) assert.ok(model.used <= limit())
          }
        }
        assert.deepEqual(await spaceOf(database, context), { used: model.used, reserved: reserved() })
        assert.deepEqual(await ledger.quotaOf(database, context), {
          quota: limit(),
          fillLevel: model.used,
          hasDefaultQuota: model.quota === undefined,
        })
      }
    })
    await fc.assert(property, { numRuns: 60 })
  })
}
