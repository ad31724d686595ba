import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import type { SessionOptions } from '../../src/accounts/session-options.ts'
import { isCurrent, Sessions } from '../../src/accounts/sessions.ts'
import { digestOf, TokenSealer } from '../../src/accounts/tokens.ts'
import type { User } from '../../src/accounts/users.ts'
import { type Milliseconds, type Seconds, UNLIMITED } from '../../src/base/units.ts'
import { DatabaseEphemeralStore } from '../../src/stores/database-ephemeral-store.ts'
import type { EphemeralStore } from '../../src/stores/ephemeral-store.ts'
import { MemoryEphemeralStore } from '../../src/stores/memory-ephemeral-store.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { userOf } from '../support/user.ts'
import type { Extent } from './extent.ts'

const DAY: Seconds = 86_400
const USERS = 2

type Options = Omit<SessionOptions, 'accessInterval'>

/** What is known of a login, in as few words as possible; D2.5, D2.6 and D5.3 need no more. */
interface Login {
  readonly user: number
  readonly token: string
  readonly begun: Milliseconds
  readonly life: Milliseconds
  epoch: number
  expires: Milliseconds
  cookieSent: Milliseconds
  ended: boolean
}

const user = fc.nat({ max: USERS - 1 })
const which = fc.nat()
const kind = <K extends string>(name: K) => fc.constant(name)
const duration = fc.oneof(
  fc.constantFrom(1, 999, 1000, 1001),
  fc.nat({ max: 120_000 }),
  fc.nat({ max: 2 * DAY * 1000 }),
)

const step = fc.oneof(
  {
    arbitrary: fc.record({ kind: kind('open'), user, requested: fc.option(fc.integer({ min: 1, max: 200 })) }),
    weight: 6,
  },
  { arbitrary: fc.record({ kind: kind('visit'), which, successful: fc.boolean() }), weight: 8 },
  { arbitrary: fc.record({ kind: kind('pass'), by: duration }), weight: 5 },
  { arbitrary: fc.record({ kind: kind('end'), which }), weight: 2 },
  { arbitrary: fc.record({ kind: kind('endAll'), user }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('endOthers'), which }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('changePassword'), which }), weight: 2 },
  { arbitrary: fc.record({ kind: kind('resetPassword'), user }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('disable'), user, disabled: fc.boolean() }), weight: 1 },
)

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

const plan = fc.record({
  options: fc.record({
    maxAge: fc.constantFrom<Seconds>(UNLIMITED, 1, 60, 100, DAY),
    refreshOnAccess: fc.boolean(),
    absoluteMaxAge: fc.constantFrom<Seconds>(UNLIMITED, 90, 150, 2 * DAY),
    maxPerUser: fc.integer({ min: 1, max: 4 }),
  }),
  steps: fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }),
})

export type Where = 'memory' | 'database'

/**
 * Whatever users do (sign in, return, sign out, change a password), and however much time passes, `Sessions` agrees with the model of
 * D2 and D5.3 says. Resolves to the number of operations that were compared; a failure names the seed and the shrunk steps.
 */
export async function proveSessions(where: Where, { runs, seed }: Extent): Promise<number> {
  const database = where === 'database' ? await openSqliteDatabase(':memory:') : undefined
  if (database) await migrate(database, schema)
  let [operations, plans] = [0, 0]
  const property = fc.asyncProperty(plan, async ({ options, steps }) => {
    const system = new FakeSystem(`sessions ${++plans}`)
    const store = database ? new DatabaseEphemeralStore(database, system) : new MemoryEphemeralStore(system)
    operations += steps.length
    const both = new Both(store, system, options, plans)
    for (const step of steps) {
      await both.take(step)
      await both.compare()
    }
    await store.close()
  })
  try {
    await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
    return operations
  } finally {
    await database?.close()
  }
}

/** The sessions and their model, which take each step together. */
class Both {
  readonly #sessions: Sessions
  readonly #system: FakeSystem
  readonly #options: Options
  readonly #users: User[]
  readonly #logins: Login[] = []

  constructor(store: EphemeralStore, system: FakeSystem, options: Options, plan: number) {
    const isInMemory = store instanceof MemoryEphemeralStore
    const sealer = isInMemory ? undefined : new TokenSealer([system.randomBytes(32)], system)
    this.#sessions = new Sessions(store, sealer, system, { ...options, accessInterval: 0 })
    this.#system = system
    this.#options = options
    this.#users = Array.from({ length: USERS }, (_none, index) => userOf(`u${plan}-${index}`))
  }

  async compare(): Promise<void> {
    for (const login of this.#logins) {
      const found = await this.#sessions.find(login.token)
      assert.equal(found !== undefined, this.#isLive(login), 'is live')
      if (!found) continue
      assert.equal(found.expires, login.expires, 'ends when it should')
      assert.equal(found.userId, this.#user(login.user).id)
      assert.equal(isCurrent(found, this.#user(login.user)), this.#isGood(login), 'is of this epoch')
    }
    for (const [index, user] of this.#users.entries()) {
      const listed = (await this.#sessions.list(user)).map(({ token }) => token)
      const good = this.#logins.filter(login => login.user === index && this.#isGood(login))
      assert.deepEqual(
        listed,
        good.map(({ token }) => token),
        'the list',
      )
    }
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'pass') await this.#pass(step.by)
    else if (step.kind === 'open') await this.#open(step.user, step.requested ?? undefined)
    else if (step.kind === 'endAll') await this.#endAll(step.user)
    else if (step.kind === 'resetPassword') await this.#newEpoch(step.user, {})
    else if (step.kind === 'disable') await this.#disable(step.user, step.disabled)
    else {
      const login = this.#logins[step.which % Math.max(1, this.#logins.length)]
      if (!login) return
      if (step.kind === 'visit') await this.#visit(login, step.successful)
      else if (step.kind === 'end') await this.#end(login)
      else if (step.kind === 'endOthers') await this.#endAll(login.user, login)
      else await this.#changePassword(login)
    }
  }

  #user(index: number): User {
    const user = this.#users[index]
    assert.ok(user)
    return user
  }

  #isLive({ ended, expires }: Login): boolean {
    return !ended && this.#system.now() < expires
  }

  #isGood(login: Login): boolean {
    return this.#isLive(login) && login.epoch === this.#user(login.user).epoch
  }

  #expiry(begun: Milliseconds, life: Milliseconds): Milliseconds {
    const { absoluteMaxAge } = this.#options
    const sliding = this.#system.now() + life
    return absoluteMaxAge === UNLIMITED ? sliding : Math.min(sliding, begun + absoluteMaxAge * 1000)
  }

  async #pass(by: Milliseconds): Promise<void> {
    this.#system.pass(by)
  }

  async #open(index: number, requested: Seconds | undefined): Promise<void> {
    const user = this.#user(index)
    if (user.disabled) return
    const { token } = await this.#sessions.open(user, { address: '192.0.2.7', userAgent: 'model' }, { requested })
    const longest = this.#options.maxAge === UNLIMITED ? DAY : this.#options.maxAge
    const [now, life] = [this.#system.now(), Math.min(requested ?? longest, longest) * 1000]
    const expires = this.#expiry(now, life)
    const { epoch } = user
    this.#logins.push({ user: index, token, begun: now, life, epoch, expires, cookieSent: now, ended: false })
    const live = this.#logins.filter(login => login.user === index && this.#isLive(login))
    for (const old of live.slice(0, Math.max(0, live.length - this.#options.maxPerUser))) old.ended = true
  }

  /** A request with the login's cookie, as `http/caller.ts` judges it. */
  async #visit(login: Login, successful: boolean): Promise<void> {
    const found = await this.#sessions.find(login.token)
    if (!found) return
    const now = this.#system.now()
    const renewed = await this.#sessions.noteAccess(found, successful)
    const prolongs = successful && this.#options.refreshOnAccess
    const renews = prolongs && now - login.cookieSent >= login.life / 20
    assert.equal(renewed !== undefined, renews && this.#options.maxAge !== UNLIMITED, 'sends the cookie again')
    if (prolongs) login.expires = this.#expiry(login.begun, login.life)
    if (renews) login.cookieSent = now
  }

  async #end(login: Login): Promise<void> {
    assert.equal(await this.#sessions.end(login.token), this.#isLive(login), 'there was one to end')
    login.ended = true
  }

  async #endAll(index: number, except?: Login): Promise<void> {
    const own = except && (await this.#sessions.find(except.token))
    await this.#sessions.endAll(this.#user(index).id, own)
    for (const login of this.#logins) if (login.user === index && login !== (own && except)) login.ended = true
  }

  /** The user's row is raised first, then what it has ended is cleared away, as `content/kinds/user.ts` does. */
  async #newEpoch(index: number, change: Partial<User>): Promise<void> {
    const user = this.#user(index)
    this.#users[index] = { ...user, ...change, epoch: user.epoch + 1, keptSessionDigest: undefined }
    await this.#sessions.clearAway(user.id)
    for (const login of this.#logins) if (login.user === index) login.ended = true
  }

  async #disable(index: number, disabled: boolean): Promise<void> {
    const user = this.#user(index)
    if (disabled && !user.disabled) await this.#newEpoch(index, { disabled })
    else this.#users[index] = { ...user, disabled }
  }

  /** By the user themselves: this one session continues. */
  async #changePassword(login: Login): Promise<void> {
    const own = this.#isGood(login) ? await this.#sessions.find(login.token) : undefined
    if (!own) return
    const user = this.#user(login.user)
    login.epoch = user.epoch + 1
    this.#users[login.user] = { ...user, epoch: login.epoch, keptSessionDigest: digestOf(login.token) }
    await this.#sessions.clearAway(user.id, own)
    for (const other of this.#logins) if (other.user === login.user && other !== login) other.ended = true
  }
}
