import assert from 'node:assert/strict'
import { graphOf, STORE, textTerm, TITLE } from '../support/content.ts'
import { infoNaming } from '../support/folder-access.ts'
import type { Answer, Visitor } from '../support/http-client.ts'
import type { OperationJson } from '../support/operations.ts'
import { putFile } from '../support/uploads.ts'
import { until } from '../support/waiting.ts'
import { hitsOf, type OperationBody, stateOf, takeStep, textOf } from './operations-steps.ts'
import { Side, type SideOptions, type Test, users, type Who } from './operations-side.ts'
import { Random } from './random.ts'

/**
 * Operations on many entries beside single requests: two services begin alike and take each step together, one by an operation, the other by
 * a request for each entry. After each operation both must have the same entries, files, lists, rights, revisions, trash, index and usage,
 * the same entries must have failed with the same codes, and what plain sums say must be true. Operations are cancelled, and the service is
 * started anew, while they run: then exactly the first entries have been changed.
 */

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

interface Run extends SideOptions {
  readonly operations: number
  readonly seed: number
}

/** @throws {AssertionError} with the seed and what has been done */
export async function proveOperations(t: Test, { operations, seed, ...options }: Run): Promise<OperationsReport> {
  const pair = await Pair.start(t, new Random(seed), options)
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

class Pair {
  readonly history: string[] = []
  readonly #random: Random
  readonly #operated: Side
  readonly #stepped: Side

  private constructor(random: Random, operated: Side, stepped: Side) {
    this.#random = random
    this.#operated = operated
    this.#stepped = stepped
  }

  static async start(test: Test, random: Random, options: SideOptions): Promise<Pair> {
    const operated = await Side.start(test, options)
    const stepped = await Side.start(test, { sessions: options.sessions })
    assert.deepEqual([operated.ids, operated.contexts], [stepped.ids, stepped.contexts])
    return new Pair(random, operated, stepped)
  }

  get #contexts(): readonly string[] {
    return this.#stepped.contexts
  }

  get #ids(): Readonly<Record<Who, string>> {
    return this.#stepped.ids
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
    for (const side of [this.#operated, this.#stepped]) await side.beginMoment()
    const begun = await this.#operated.visitors[who].post(`${context}/operations`, body)
    if (begun.status !== 202) {
      // What every step would refuse is refused at once.
      assert.ok(begun.status < 500, begun.text)
      this.history.push(`  refused: ${begun.text}`)
      await this.#compare()
      return { entries: 0, failed: 0, isInterrupted: false }
    }
    const { id, total } = begun.json<OperationJson>()
    for (let count = random.below(4); count > 0; count--) await this.#operated.visitors[who].get(context)
    if (interruption === 'cancel') {
      const cancelled = await this.#operated.visitors[who].delete(`${context}/operations/${id}`)
      assert.equal(cancelled.status, 204, cancelled.text)
    }
    if (interruption === 'restart') await this.#operated.startAnew()
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

  async #eventsOf({ visitors: { admin }, moment }: Side): Promise<readonly EventJson[]> {
    const answer = await admin.get(`management/audit?since=${moment}&limit=1000`)
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
}

interface EventJson {
  readonly event: string
  readonly detail?: Readonly<Record<string, unknown>>
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const rest = [...items]
  return items.flatMap(() => rest.splice(random.below(rest.length), 1))
}
