import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { TooLarge } from '../../src/base/errors.ts'
import { Ledger, type LedgerOptions, type Reservation } from '../../src/files/quota-ledger.ts'
import type { Database } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import type { Extent } from './extent.ts'

/** The same books kept in plain variables. */
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

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

/**
 * Whatever is reserved, grown, booked, let go of, credited or limited, the ledger agrees with the model after every step
 * (D7.3). Resolves to the number of operations that were compared; a failure names the seed and the shrunk steps.
 */
export async function proveLedger(options: LedgerOptions, { runs, seed }: Extent): Promise<number> {
  const database = await openSqliteDatabase(':memory:')
  await migrate(database, schema)
  let [contexts, operations] = [0, 0]
  const property = fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25, size: 'max' }), async actions => {
    operations += actions.length
    const books = new Books(database, options, `c${++contexts}`)
    await books.open()
    for (const step of actions) {
      await books.take(step)
      await books.compare()
    }
    await books.close()
  })
  try {
    await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
    return operations
  } finally {
    await database.close()
  }
}

/** The ledger of one context and its model, which take each step together. */
class Books {
  readonly #database: Database
  readonly #options: LedgerOptions
  readonly #context: string
  readonly #ledger: Ledger
  readonly #model: Model = { quota: undefined, used: 0, leases: new Map() }
  #blobs = 0

  constructor(database: Database, options: LedgerOptions, context: string) {
    this.#database = database
    this.#options = options
    this.#context = context
    this.#ledger = new Ledger(database, new FakeSystem(), options)
  }

  async open(): Promise<void> {
    await this.#ledger.open(this.#database, this.#context)
  }

  async close(): Promise<void> {
    for (const lease of this.#model.leases.keys()) assert.equal(await this.#ledger.cancel(lease), true)
    await this.#ledger.close(this.#database, this.#context)
  }

  async compare(): Promise<void> {
    const { quota, used } = this.#model
    const space = await this.#database.get<{ used: number; reserved: number }>(
      sql`SELECT used, reserved FROM spaces WHERE context = ${this.#context}`,
    )
    assert.deepEqual({ ...space }, { used, reserved: this.#reserved })
    assert.deepEqual(await this.#ledger.quotaOf(this.#database, this.#context), {
      quota: this.#limit,
      fillLevel: used,
      hasDefaultQuota: quota === undefined,
    })
  }

  async take(step: Action): Promise<void> {
    if (step.type === 'reserve') await this.#reserve(step.bytes)
    else if (step.type === 'credit') await this.#credit(Math.min(step.bytes, this.#model.used))
    else if (step.type === 'setQuota') await this.#setQuota(step.quota)
    else {
      const [lease, bytes] = [...this.#model.leases][step.which % Math.max(1, this.#model.leases.size)] ?? []
      if (lease === undefined || bytes === undefined) return
      if (step.type === 'release') await this.#release(lease)
      else if (step.type === 'grow') await this.#grow(lease, bytes, step.needed, step.needed + step.more)
      else await this.#commit(lease, bytes, Math.max(step.growth, -this.#model.used))
    }
  }

  get #reserved(): number {
    return [...this.#model.leases.values()].reduce((sum, bytes) => sum + bytes, 0)
  }

  get #limit(): number {
    return this.#model.quota ?? this.#options.defaultQuota
  }

  #fits(growth: number, except = 0): boolean {
    if (!this.#options.enforced || growth <= 0 || this.#limit === -1) return true
    return this.#model.used + this.#reserved - except + growth <= this.#limit
  }

  async #reserve(bytes: number): Promise<void> {
    const asked = this.#ledger.reserve(this.#context, `${this.#context}-${++this.#blobs}`, bytes)
    if (this.#fits(bytes)) this.#model.leases.set(await asked, bytes)
    else await assert.rejects(asked, TooLarge)
  }

  async #credit(bytes: number): Promise<void> {
    await this.#database.transaction(tx => this.#ledger.releaseUsage(tx, this.#context, bytes))
    this.#model.used -= bytes
  }

  async #setQuota(quota: number | undefined): Promise<void> {
    await this.#ledger.setQuota(this.#database, this.#context, quota)
    this.#model.quota = quota
  }

  async #release(lease: Reservation): Promise<void> {
    assert.equal(await this.#ledger.cancel(lease), true)
    this.#model.leases.delete(lease)
  }

  async #grow(lease: Reservation, bytes: number, needed: number, preferred: number): Promise<void> {
    const asked = this.#ledger.grow(lease, needed, preferred)
    const got = [preferred, needed].find(step => this.#fits(step))
    if (got === undefined) return await assert.rejects(asked, TooLarge)
    assert.equal(await asked, got)
    this.#model.leases.set(lease, bytes + got)
  }

  async #commit(lease: Reservation, bytes: number, growth: number): Promise<void> {
    const before = this.#model.used
    const asked = this.#database.transaction(tx => this.#ledger.commit(tx, lease, growth))
    if (!this.#fits(growth, bytes)) return await assert.rejects(asked, TooLarge)
    await asked
    this.#model.used += growth
    this.#model.leases.delete(lease)
    const isLimited = this.#options.enforced && this.#limit !== -1
    if (isLimited && this.#model.used > before) assert.ok(this.#model.used <= this.#limit)
  }
}
