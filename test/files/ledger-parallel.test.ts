import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Conflict, TooLarge } from '../../src/base/errors.ts'
import { realSystem } from '../../src/base/system.ts'
import { Ledger, type Reservation } from '../../src/files/quota-ledger.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { inContext, quotas, sameFiles } from '../support/quota.ts'

const QUOTA = 100

/** What one upload does: reserve, perhaps grow, then commit, cancel, or stay; on one of the nodes. */
const upload = fc.record({
  node: fc.nat(1),
  context: fc.nat(1),
  declared: fc.nat(40),
  grows: fc.option(fc.nat(40), { nil: undefined }),
  end: fc.constantFrom('commit', 'cancel', 'stay'),
})

test('with two nodes at work, the usage in PostgreSQL is the sum of what was granted, and within the quota (D7.3)', async t => {
  if (!requirePeer(t, postgres)) return
  const url = await postgresDatabase()
  const nodes = await Promise.all([1, 2].map(() => openPostgresDatabase(url, { system: realSystem })))
  t.after(() => Promise.all(nodes.map(node => node.close())))
  const [database] = nodes
  assert.ok(database)
  await migrate(database, schema)
  const system = new FakeSystem()
  const ledgers = nodes.map(node => new Ledger(node, system, quotas(QUOTA)))
  let number = 0

  await fc.assert(
    fc.asyncProperty(fc.array(upload, { minLength: 4, maxLength: 24 }), async uploads => {
      const contexts = [`a${++number}`, `b${number}`]
      for (const context of contexts) await ledgers[0]?.open(database, context)
      const sums = new Map(contexts.map(context => [context, { used: 0, reserved: 0 }]))

      await Promise.all(
        uploads.map(async ({ node, context: at, declared, grows, end }, index) => {
          const [ledger, context, queries] = [ledgers[node], contexts[at], nodes[node]]
          const sum = sums.get(context ?? '')
          assert.ok(ledger && queries && sum && context !== undefined)
          let held = declared
          let reservation: Reservation
          try {
            reservation = await ledger.reserve(inContext(context), `${number}-${index}`, declared)
            if (grows !== undefined) {
              held += await ledger.grow(reservation, grows, grows).catch((error: unknown) => {
                assert.ok(error instanceof TooLarge)
                return 0
              })
            }
          } catch (error) {
            assert.ok(error instanceof TooLarge, String(error))
            return
          }
          if (end === 'cancel') assert.equal(await ledger.cancel(reservation), true)
          if (end === 'stay') sum.reserved += held
          if (end !== 'commit') return
          await queries.transaction(tx => ledger.commit(tx, reservation, sameFiles(held)))
          sum.used += held
          await assert.rejects(
            queries.transaction(tx => ledger.commit(tx, reservation, sameFiles(held))),
            Conflict,
          )
        }),
      )
      for (const [context, sum] of sums) {
        const space: object | undefined = await database.get<object>(
          sql`SELECT used, reserved FROM quota_usage WHERE kind = 'context' AND owner = ${context}`,
        )
        assert.deepEqual(space, sum)
        assert.ok(sum.used + sum.reserved <= QUOTA)
      }
    }),
    { numRuns: 15 },
  )
})
