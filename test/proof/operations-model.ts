import assert from 'node:assert/strict'
import { join } from 'node:path'
import { addUser, GOOD_PASSWORD } from '../support/accounts.ts'
import { graphOf, principal, STORE, textTerm, TITLE } from '../support/content.ts'
import { infoNaming } from '../support/folder-access.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import type { OperationJson } from '../support/operations.ts'
import { ADMIN_PASSWORD, type InProcess, newContext, startInProcess } from '../support/service.ts'
import { copyTables } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { until } from '../support/waiting.ts'
import { hitsOf, type OperationBody, stateOf, takeStep, textOf } from './operations-steps.ts'
import { Random } from './random.ts'

/**
 * Operations on many entries beside single requests: two services begin alike and take each step together, one by an operation, the other by
 * a request for each entry. After each operation both must have the same entries, files, lists, rights, revisions, trash, index and usage,
 * the same entries must have failed with the same codes, and what plain sums say must be true. Operations are cancelled, and the service is
 * started anew, while they run: then exactly the first entries have been changed.
 */

type Who = 'admin' | 'owner' | 'writer' | 'stranger'
const users = ['owner', 'writer', 'stranger'] as const
const actions = ['move', 'move', 'copy', 'trash', 'restore', 'purge', 'share', 'tag'] as const
const MAX_ENTRIES = 24
/** More entries than a portion has. */
const MANY = 130

export interface OperationsReport {
  readonly operations: number
  readonly entries: number
  readonly failed: number
  /** Operations that were cancelled, or during which the service was started anew. */
  readonly interrupted: number
}

/** What happens while an operation runs. */
const interruptions = ['none', 'none', 'cancel', 'restart'] as const

const isOfTrash = (action: string): boolean => action === 'restore' || action === 'purge'

interface Run {
  readonly operations: number
  readonly seed: number
  /** Where sessions are: in memory, a start ends them and their operations. */
  readonly sessions: 'memory' | 'database'
}

interface Test {
  after(work: () => Promise<void>): void
}

/** @throws {AssertionError} with the seed and what has been done */
export async function proveOperations(t: Test, { operations, seed, sessions }: Run): Promise<OperationsReport> {
  const pair = await Pair.start(t, new Random(seed), sessions)
  const report = { operations: 0, entries: 0, failed: 0, interrupted: 0 }
  try {
    await pair.fill()
    while (report.operations < operations) {
      await pair.prepare()
      const { entries, failed, isInterrupted } = await pair.operate()
      report.operations++
      report.entries += entries
      report.failed += failed
      report.interrupted += Number(isInterrupted)
    }
  } catch (error) {
    throw new Error(`seed ${seed}:\n${pair.history.join('\n')}`, { cause: error })
  }
  return report
}

/** One of the two services, with everybody who uses it. */
interface Side {
  readonly settings: Readonly<Record<string, string>>
  service: InProcess
  visitors: Readonly<Record<Who, Visitor>>
}

class Pair {
  readonly history: string[] = []
  readonly #test: Test
  readonly #random: Random
  readonly #operated: Side
  readonly #stepped: Side
  /** The contexts, and the ids of the users. */
  readonly #contexts: readonly string[]
  readonly #ids: Readonly<Record<Who, string>>
  #passed = 0

  private constructor(
    test: Test,
    random: Random,
    sides: readonly [Side, Side],
    made: { readonly contexts: readonly string[]; readonly ids: Readonly<Record<Who, string>> },
  ) {
    this.#test = test
    this.#random = random
    ;[this.#operated, this.#stepped] = sides
    this.#contexts = made.contexts
    this.#ids = made.ids
  }

  static async start(test: Test, random: Random, sessions: Run['sessions']): Promise<Pair> {
    const [one, other] = [await startSide(test, sessions), await startSide(test, sessions)]
    assert.deepEqual(one.made.ids, other.made.ids)
    assert.deepEqual(one.made.contexts, other.made.contexts)
    return new Pair(test, random, [one.side, other.side], one.made)
  }

  /** Some lists, one in another, with files. */
  async fill(): Promise<void> {
    for (let count = 0; count < 14; count++) await this.#create('owner')
  }

  /** A few changes by single requests at both services. */
  async prepare(): Promise<void> {
    for (let count = this.#random.below(4); count > 0; count--) {
      const kind = this.#random.below(10)
      if (kind < 4) await this.#create(this.#random.pick(['owner', 'owner', 'writer', 'stranger']))
      else if (kind < 8) await this.#share()
      else await this.#limit()
    }
  }

  async #create(who: Who): Promise<void> {
    const random = this.#random
    const context = random.pick(this.#contexts)
    const found = await this.#entriesOf(context)
    if (found.length >= MAX_ENTRIES) return
    const lists = found.filter(({ isList }) => isList)
    const list = random.chance(60) && lists.length > 0 ? random.pick(lists).id : undefined
    const kind = random.pick(['list', 'none', 'none', 'string'])
    const title = `t${random.below(1000)}`
    const bytes = 'x'.repeat(random.below(30))
    this.history.push(`${who} creates ${title}, ${kind} of ${bytes.length} bytes, in ${context}/${list ?? ''}`)
    const created = await this.#both(who, visitor => {
      const resource = `${visitor.base}${context}/resource`
      const inList = list === undefined ? '' : `&list=${encodeURIComponent(`${resource}/${list}`)}`
      const metadata = graphOf(`${resource}/_newId`, TITLE, textTerm(title))
      return visitor.post(`${context}?graphtype=${kind}${inList}`, { metadata })
    })
    if (created.status !== 201 || kind !== 'none' || bytes === '') return
    const path = `${context}/resource/${created.json<{ entryId: string }>().entryId}`
    await this.#both(who, visitor => putFile(visitor, path, bytes))
  }

  async #share(): Promise<void> {
    const random = this.#random
    const context = random.pick(this.#contexts)
    const found = await this.#entriesOf(context)
    if (found.length === 0) return
    const { id } = random.pick(found)
    const some = (): string[] => users.filter(() => random.chance(25)).map(user => this.#ids[user])
    const named = { owners: some(), writers: some(), readers: some(), only: random.chance(40) }
    this.history.push(`the owner gives ${context}/${id} ${JSON.stringify(named)}`)
    await this.#both('owner', visitor =>
      visitor.put(`${context}/entry/${id}`, infoNaming(visitor, [context, id], named)),
    )
  }

  async #limit(): Promise<void> {
    const random = this.#random
    const path = random.chance(60)
      ? `contexts/${random.pick(this.#contexts)}`
      : `users/${this.#ids[random.pick(users)]}`
    const quota = random.pick([-1, 60, 120, 250])
    this.history.push(`the quota of ${path} is ${quota}`)
    await this.#both('admin', visitor => visitor.put(`quota/${path}`, { quota }))
  }

  /** One operation, which may be interrupted, and the same by single requests. */
  async operate(): Promise<{ readonly entries: number; readonly failed: number; readonly isInterrupted: boolean }> {
    const random = this.#random
    const who = random.pick(['owner', 'owner', 'admin', 'writer', 'stranger'] as const)
    const context = random.pick(this.#contexts)
    const { body, interruption } = await this.#draw(context)
    this.history.push(`${who}, interruption ${interruption}: ${textOf(body)} in ${context}`)
    this.#pass()
    const begun = await this.#operated.visitors[who].post(`${context}/operations`, body)
    if (begun.status !== 202) {
      // What every step would refuse is refused at once.
      assert.ok(begun.status < 500, begun.text)
      this.history.push(`  refused: ${begun.text}`)
      await this.#compare()
      return { entries: 0, failed: 0, isInterrupted: false }
    }
    const { id, total } = begun.json<OperationJson>()
    if (interruption === 'cancel') {
      for (let count = random.below(3); count > 0; count--) await this.#operated.visitors[who].get(context)
      const cancelled = await this.#operated.visitors[who].delete(`${context}/operations/${id}`)
      assert.equal(cancelled.status, 204, cancelled.text)
    }
    if (interruption === 'restart') await this.#startAnew()
    const read = async (): Promise<OperationJson> => {
      const answer = await this.#operated.visitors.admin.get(`${context}/operations/${id}`)
      assert.equal(answer.status, 200, answer.text)
      return answer.json<OperationJson>()
    }
    const operation = await until(read, ({ state }) => state !== 'running')
    await this.#stepAlike(who, context, body, operation)
    await this.#requireEvents(context, operation)
    await this.#compare()
    return { entries: total, failed: operation.failed, isInterrupted: operation.state !== 'done' }
  }

  /** Takes as many single steps as the operation has taken: the same must have failed. */
  async #stepAlike(who: Who, context: string, body: OperationBody, operation: OperationJson): Promise<void> {
    const { state, total, done, failed, failures } = operation
    const taken = done + failed
    this.history.push(`  ${state}: ${done} of ${total} done, ${failed} failed ${JSON.stringify(failures.slice(0, 5))}`)
    if (state === 'done') assert.equal(taken, total)
    const { visitors } = this.#stepped
    const expected: Array<{ readonly entry: string; readonly code: string }> = []
    const ids = body.action === 'copy' && state === 'done' ? body.entries : body.entries.slice(0, taken)
    for (const id of ids) {
      const step = { visitor: visitors[who], admin: visitors.admin, context, id, body }
      expected.push(...(await takeStep(step)).map(({ entry, code }) => ({ entry, code })))
    }
    assert.equal(failed, expected.length)
    assert.deepEqual(
      failures.map(({ entry, code }) => ({ entry, code })),
      expected.slice(0, 100),
    )
  }

  /** The operation is one event with the number of entries, beside those of changed access lists, which single steps have too. */
  async #requireEvents(context: string, { done, failed, state, action }: OperationJson): Promise<void> {
    const [operated, stepped] = await Promise.all([this.#operated, this.#stepped].map(side => this.#eventsOf(side)))
    assert.ok(operated && stepped)
    const [ended, ...others] = operated.filter(({ event }) => event !== 'access-changed')
    const { event, detail = {} } = ended ?? {}
    assert.deepEqual([event, others], ['operation-ended', []])
    assert.deepEqual(
      [detail['context'], detail['operation'], detail['entries'], detail['failed'], detail['state']],
      [context, action, done, failed, state],
    )
    // The clock stands still, so a start in between leaves no order.
    const changesOf = (events: readonly EventJson[]): readonly string[] =>
      events
        .filter(one => one.event === 'access-changed')
        .map(one => JSON.stringify(one.detail))
        .sort()
    assert.deepEqual(changesOf(operated), changesOf(stepped))
  }

  async #eventsOf({ visitors: { admin } }: Side): Promise<readonly EventJson[]> {
    const since = new Date(this.#operated.service.system.now()).toISOString()
    const answer = await admin.get(`management/audit?since=${since}&limit=1000`)
    assert.equal(answer.status, 200, answer.text)
    const { events } = answer.json<{ events: readonly EventJson[] }>()
    // These are no part of it.
    return events.filter(({ event }) => event !== 'login' && event !== 'quota-threshold')
  }

  async #draw(
    context: string,
  ): Promise<{ readonly body: OperationBody; readonly interruption: (typeof interruptions)[number] }> {
    const random = this.#random
    const found = await this.#entriesOf(context)
    const trashed = await this.#trashOf(context)
    const action = random.pick(trashed.length > 0 ? actions : actions.filter(one => !isOfTrash(one)))
    const there = isOfTrash(action) ? trashed : found.map(({ id }) => id)
    // A copied list brings its members, so it comes alone.
    const lists = found.filter(({ isList }) => isList).map(({ id }) => id)
    const isOfList = action === 'copy' && random.chance(40) && lists.length > 0
    const some = there.filter(id => random.chance(60) && !(action === 'copy' && lists.includes(id)))
    const interruption = isOfList ? 'none' : random.pick(interruptions)
    const unknown = interruption !== 'none' && action !== 'copy' ? MANY : random.below(2)
    const none = Array.from({ length: unknown }, (_, count) => `none-${count}`)
    const mixed = shuffled(random, [...some, ...none])
    const entries = isOfList ? [random.pick(lists)] : mixed.length > 0 ? mixed : ['none']
    const to = action === 'move' || action === 'copy' ? await this.#destination() : undefined
    const share = action === 'share' ? { principal: this.#principal(), role: this.#role() } : undefined
    const tags = action === 'tag' ? this.#tags() : undefined
    const body = { action, entries, ...(to && { to }), ...(share && { share }), ...(tags && { tags }) }
    return { body, interruption }
  }

  #principal = (): string => this.#ids[this.#random.pick(users)]
  #role = (): 'owner' | 'writer' | 'reader' | 'none' =>
    this.#random.pick(['owner', 'writer', 'reader', 'none'] as const)

  #tags(): { readonly add: readonly string[]; readonly remove: readonly string[] } {
    const some = (): string[] => ['red', 'green', 'blue'].filter(() => this.#random.chance(40))
    const [add, remove] = [some(), some()]
    return add.length + remove.length === 0 ? { add: ['red'], remove } : { add, remove }
  }

  async #destination(): Promise<{ readonly context: string; readonly list?: string }> {
    const context = this.#random.pick(this.#contexts)
    const lists = (await this.#entriesOf(context)).filter(({ isList }) => isList)
    if (lists.length === 0 || this.#random.chance(25)) return { context }
    return { context, list: this.#random.pick(lists).id }
  }

  async #entriesOf(context: string): Promise<ReadonlyArray<{ readonly id: string; readonly isList: boolean }>> {
    const { admin } = this.#stepped.visitors
    const hits = await hitsOf(admin, context)
    return hits.map(({ entryId, info }) => ({ id: entryId, isList: JSON.stringify(info).includes(`${STORE}List"`) }))
  }

  async #trashOf(context: string): Promise<string[]> {
    const answer = await this.#stepped.visitors.admin.get(`${context}/trash?limit=100`)
    return answer.json<{ items: { entryId: string }[] }>().items.map(({ entryId }) => entryId)
  }

  async #compare(): Promise<void> {
    const who = this.#random.pick(users)
    const [operated, stepped] = [this.#operated, this.#stepped].map(({ visitors }) =>
      stateOf({
        admin: visitors.admin,
        visitor: visitors[who],
        contexts: this.#contexts,
        users: users.map(user => this.#ids[user]),
      }),
    )
    assert.deepEqual(await operated, await stepped)
  }

  /** The same request at both services, with the same answer. */
  async #both(who: Who, ask: (visitor: Visitor) => Promise<Answer>): Promise<Answer> {
    const [one, other] = [this.#operated, this.#stepped].map(({ visitors }) => visitors[who])
    assert.ok(one && other)
    const [answer, same] = [await ask(one), await ask(other)]
    assert.equal(answer.status, same.status, `${answer.text} ${same.text}`)
    assert.ok(answer.status < 500, answer.text)
    return answer
  }

  #pass(): void {
    this.#passed += 1000
    for (const { service } of [this.#operated, this.#stepped]) service.system.pass(1000)
  }

  /** The service ends in the middle of what it does, and starts with the same data. */
  async #startAnew(): Promise<void> {
    const { settings, service, visitors } = this.#operated
    await service.close()
    const again = await startInProcess(this.#test, { folder: service.folder, settings })
    again.system.pass(this.#passed)
    this.#operated.service = again
    const known = Object.entries(visitors).map(async ([who, { cookie }]) => {
      const visitor = again.visitor()
      visitor.cookie = cookie
      if (settings['service.auth.token.store'] === 'memory') await signIn(visitor, who)
      return [who, visitor] as const
    })
    this.#operated.visitors = Object.fromEntries(await Promise.all(known)) as Record<Who, Visitor>
  }
}

interface EventJson {
  readonly event: string
  readonly detail?: Readonly<Record<string, unknown>>
}

async function startSide(test: Test, sessions: Run['sessions']) {
  const folder = await temporaryFolder()
  await copyTables(folder)
  const settings = {
    'service.data.quota': 'on',
    'service.auth.token.store': sessions,
    ...(sessions === 'database' && { 'service.auth.token.key-file': join(folder, 'token.key') }),
  }
  const service = await startInProcess(test, { folder, settings })
  const admin = await service.admin()
  const ids: Record<Who, string> = { admin: '_admin', owner: '', writer: '', stranger: '' }
  const visitors: Record<Who, Visitor> = { admin, owner: admin, writer: admin, stranger: admin }
  for (const who of users) {
    ids[who] = (await addUser(admin, who)).id
    visitors[who] = service.visitor()
    await signIn(visitors[who], who)
  }
  const contexts = [await newContext(admin, [ids.owner]), await newContext(admin, [ids.owner])]
  // The second context has one more user who writes.
  const [, second = ''] = contexts
  const rights = {
    ...graphOf(`${admin.base}_contexts/entry/${second}`, `${STORE}write`, principal(admin, ids.owner)),
    ...graphOf(`${admin.base}${second}`, `${STORE}write`, principal(admin, ids.writer)),
  }
  assert.equal((await admin.put(`_contexts/entry/${second}`, rights)).status, 204)
  const side: Side = { settings, service, visitors }
  return { side, made: { contexts, ids } }
}

async function signIn(visitor: Visitor, who: string): Promise<void> {
  const answer = await visitor.signIn(who, who === 'admin' ? ADMIN_PASSWORD : GOOD_PASSWORD)
  assert.equal(answer.status, 200, answer.text)
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const rest = [...items]
  return items.flatMap(() => rest.splice(random.below(rest.length), 1))
}
