import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { addUser, GOOD_PASSWORD, WRONG_PASSWORD } from '../support/accounts.ts'
import type { Visitor } from '../support/http-client.ts'
import { ADMIN_PASSWORD, type InProcess, newContext } from '../support/service.ts'
import { putChunked, putFile } from '../support/uploads.ts'
import type { Extent } from './extent.ts'
import { LockoutModel } from './lockout-model.ts'

const USERS = 2
const PLACES = 2
const MINUTE = 60_000
const limits = { attempts: 3, lock: 2 * MINUTE, life: 30 * MINUTE, logins: 2 }

/** Small numbers, so that limits are met often. */
export const httpModelSettings: Readonly<Record<string, string>> = {
  'service.auth.temp.lockout.max.attempts': String(limits.attempts),
  'service.auth.temp.lockout.duration': `${limits.lock}ms`,
  'service.auth.cookie.max-age': String(limits.life / 1000),
  'service.auth.token.max-per-user': String(limits.logins),
  'service.auth.password.argon2.memory': '19456',
  'service.data.quota': 'on',
}

interface Login {
  readonly visitor: Visitor
  readonly token: string
  readonly user: number
  expires: number
  ended: boolean
}

interface Space {
  readonly context: string
  readonly places: string[]
  readonly files: Array<string | undefined>
  quota: number
}

const user = fc.nat({ max: USERS - 1 })
const which = fc.nat()
const place = fc.nat({ max: PLACES - 1 })
const kind = <K extends string>(name: K) => fc.constant(name)
const size = fc.oneof(fc.constantFrom(0, 1, 50, 100), fc.nat({ max: 120 }))

const step = fc.oneof(
  { arbitrary: fc.record({ kind: kind('signIn'), user, right: fc.boolean() }), weight: 5 },
  { arbitrary: fc.record({ kind: kind('logOut'), which }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('removeToken'), which, other: which }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('removeOthers'), which }), weight: 1 },
  { arbitrary: fc.record({ kind: kind('visit'), which }), weight: 3 },
  { arbitrary: fc.record({ kind: kind('pass'), minutes: fc.constantFrom(1, 2, 16, 29, 30) }), weight: 2 },
  { arbitrary: fc.record({ kind: kind('upload'), which, to: user, place, size, chunked: fc.boolean() }), weight: 8 },
  { arbitrary: fc.record({ kind: kind('remove'), which, to: user, place }), weight: 2 },
  {
    arbitrary: fc.record({ kind: kind('setQuota'), to: user, quota: fc.constantFrom(-1, 0, 60, 100, 150) }),
    weight: 3,
  },
)

/** A service may go through this many times: names are given once. */
let plans = 0

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/**
 * Several people at one service who sign in and out, guess, revoke and upload: each answer is the one that the models of
 * lockout, logins and quota give (D2, D6, D7.3). Resolves to the number of operations that were compared; a failure names the
 * seed and the shrunk steps.
 */
export async function proveHttp(service: InProcess, { runs, seed }: Extent): Promise<number> {
  let operations = 0
  const steps = fc.array(step, { minLength: 1, maxLength: 30, size: 'max' })
  const property = fc.asyncProperty(steps, async steps => {
    operations += steps.length
    const people = await People.gather(service, `${++plans}`)
    for (const step of steps) await people.take(step)
    await people.compare()
  })
  await fc.assert(property, { numRuns: runs, ...(seed === undefined ? {} : { seed }) })
  return operations
}

/** Two users, a context of each, and what must be true of them. */
class People {
  readonly #service: InProcess
  readonly #admin: Visitor
  readonly #names: readonly string[]
  readonly #spaces: readonly Space[]
  readonly #lockout = new LockoutModel(limits.attempts, limits.lock)
  readonly #logins: Login[] = []
  #now = 0

  private constructor(service: InProcess, admin: Visitor, names: readonly string[], spaces: readonly Space[]) {
    this.#service = service
    this.#admin = admin
    this.#names = names
    this.#spaces = spaces
  }

  static async gather(service: InProcess, plan: string): Promise<People> {
    const admin = await service.admin()
    const [names, spaces]: [string[], Space[]] = [[], []]
    for (let index = 0; index < USERS; index++) {
      const { id, name } = await addUser(admin, `model-${plan}-${index}`)
      const context = await newContext(admin, [id])
      const places: string[] = []
      for (let count = 0; count < PLACES; count++) {
        places.push((await admin.post(context)).json<{ entryId: string }>().entryId)
      }
      names.push(name)
      spaces.push({ context, places, files: places.map(() => undefined), quota: -1 })
    }
    return new People(service, admin, names, spaces)
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'signIn') return await this.#signIn(step.user, step.right)
    if (step.kind === 'pass') return await this.#pass(step.minutes * MINUTE)
    if (step.kind === 'setQuota') return await this.#setQuota(step.to, step.quota)
    const login = this.#login(step.which)
    if (step.kind === 'upload') return await this.#upload(step, login)
    if (step.kind === 'remove') return await this.#remove(step, login)
    if (!login) return
    if (step.kind === 'logOut') {
      assert.equal((await login.visitor.post('auth/logout')).status, 204)
      login.ended = true
    } else if (step.kind === 'visit') await this.#visit(login)
    else if (step.kind === 'removeToken') await this.#removeToken(login, this.#login(step.other) ?? login)
    else await this.#removeOthers(login)
  }

  /** All that must be true at the end. */
  async compare(): Promise<void> {
    for (const space of this.#spaces) {
      const { fillLevel, quota } = (await this.#admin.get(`${space.context}/quota`)).json()
      assert.deepEqual({ fillLevel, quota }, { fillLevel: used(space), quota: space.quota })
      for (const [index, place] of space.places.entries()) {
        const answer = await this.#admin.get(`${space.context}/resource/${place}`)
        const content = space.files[index]
        assert.equal(answer.status === 200 ? answer.text : undefined, content === '' ? '' : content)
      }
    }
    for (const login of this.#logins) await this.#visit(login)
  }

  #login(which: number): Login | undefined {
    return this.#logins[which % Math.max(1, this.#logins.length)]
  }

  #isLive({ ended, expires }: Login): boolean {
    return !ended && this.#now < expires
  }

  /** A request that succeeds prolongs the login it came by. */
  #prolong(login: Login): void {
    if (this.#isLive(login)) login.expires = this.#now + limits.life
  }

  async #pass(by: number): Promise<void> {
    this.#service.system.pass(by)
    this.#lockout.pass(by)
    this.#now += by
    // The admin is no part of the model, but their sessions end as well.
    assert.equal((await this.#admin.signIn('admin', ADMIN_PASSWORD)).status, 200)
  }

  async #signIn(user: number, right: boolean): Promise<void> {
    const visitor = this.#service.visitor()
    const expected = this.#lockout.attempt(user, right ? 'right' : 'wrong')
    const answer = await visitor.signIn(this.#names[user] ?? '', right ? GOOD_PASSWORD : WRONG_PASSWORD)
    assert.equal(answer.status, { right: 200, wrong: 401, refused: 429, broken: 0 }[expected], 'sign in')
    if (expected !== 'right') return
    assert.ok(visitor.cookie)
    this.#logins.push({ visitor, token: visitor.cookie, user, expires: this.#now + limits.life, ended: false })
    const live = this.#logins.filter(login => login.user === user && this.#isLive(login))
    for (const old of live.slice(0, Math.max(0, live.length - limits.logins))) old.ended = true
  }

  async #visit(login: Login): Promise<void> {
    const name = this.#isLive(login) ? this.#names[login.user] : 'guest'
    const answer = await login.visitor.ask('auth/user', { headers: { cookie: `auth_token=${login.token}` } })
    assert.equal(answer.json()['user'], name, 'who it is')
    this.#prolong(login)
  }

  /** Users cannot end sessions of others (D3), which are unknown to them. */
  async #removeToken(login: Login, other: Login): Promise<void> {
    const isOwn = login.user === other.user && this.#isLive(other)
    const expected = !this.#isLive(login) ? 401 : isOwn ? 204 : 404
    const answer = await this.#as(login, 'auth/tokens', { method: 'DELETE', json: { token: other.token } })
    assert.equal(answer, expected, 'remove a token')
    if (expected !== 204) return
    this.#prolong(login)
    other.ended = true
  }

  async #removeOthers(login: Login): Promise<void> {
    const isLive = this.#isLive(login)
    const status = await this.#as(login, 'auth/tokens', { method: 'DELETE', json: { scope: 'others' } })
    assert.equal(status, isLive ? 204 : 401, 'remove all others')
    if (!isLive) return
    this.#prolong(login)
    for (const other of this.#logins) if (other.user === login.user && other !== login) other.ended = true
  }

  async #as(login: Login, path: string, options: { readonly method: string; readonly json?: unknown }) {
    const headers = { cookie: `auth_token=${login.token}` }
    return (await this.#service.visitor().ask(path, { ...options, headers })).status
  }

  async #setQuota(to: number, quota: number): Promise<void> {
    const space = this.#spaces[to]
    assert.ok(space)
    assert.equal((await this.#admin.put(`${space.context}/quota`, { quota })).status, 200, 'set a quota')
    space.quota = quota
  }

  async #upload(step: Extract<Step, { kind: 'upload' }>, login: Login | undefined): Promise<void> {
    const space = this.#spaces[step.to]
    assert.ok(space)
    const content = String.fromCharCode(97 + (step.size % 26)).repeat(step.size)
    const growth = step.size - (space.files[step.place] ?? '').length
    const fits = growth <= 0 || space.quota === -1 || used(space) + growth <= space.quota
    const expected = this.#refusal(login, step.to) ?? (fits ? 201 : 413)
    const path = `${space.context}/resource/${space.places[step.place]}`
    const headers = login ? { cookie: `auth_token=${login.token}` } : {}
    const visitor = this.#service.visitor()
    const answer = step.chunked
      ? await putChunked(visitor, path, [content.slice(0, 40), content.slice(40)].filter(Boolean), headers)
      : await putFile(visitor, path, content, headers)
    assert.equal(answer.status, expected, `upload: ${answer.text}`)
    if (expected !== 201) return
    space.files[step.place] = content
    if (login) this.#prolong(login)
  }

  async #remove(step: Extract<Step, { kind: 'remove' }>, login: Login | undefined): Promise<void> {
    const space = this.#spaces[step.to]
    assert.ok(space)
    const isThere = space.files[step.place] !== undefined
    const expected = this.#refusal(login, step.to) ?? (isThere ? 204 : 404)
    const path = `${space.context}/resource/${space.places[step.place]}`
    const headers = login ? { cookie: `auth_token=${login.token}` } : {}
    const answer = await this.#service.visitor().ask(path, { method: 'DELETE', headers })
    assert.equal(answer.status, expected, `remove: ${answer.text}`)
    if (expected !== 204) return
    space.files[step.place] = undefined
    if (login) this.#prolong(login)
  }

  #refusal(login: Login | undefined, to: number): number | undefined {
    if (!login || !this.#isLive(login)) return 401
    return login.user === to ? undefined : 403
  }
}

const used = ({ files }: Space): number => files.reduce((sum, content) => sum + (content?.length ?? 0), 0)
