import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Bytes } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import { type Sql, sql } from '../stores/sql.ts'
import { DocBitmap, numbersOf } from './doc-bitmap.ts'
import type { LeafCondition } from './engine.ts'
import type { Condition, BooleanCondition } from './query-to-sql.ts'
import { changesAfter, lastDoc, WHO_READS } from './sqlite-index.ts'

/** If a test is slow and more entries than this have changed, the set is computed again instead of testing them one by one. */
const MAX_SLOW_TESTS = 50

/** Characters of the conditions whose tests are counted. */
const MAX_COUNTED = 65_536

interface Kept {
  readonly set: DocBitmap
  /** The set reflects the index at this generation or later. Entries that changed since are tested again. */
  readonly generation: number
}

/**
 * A cache of the entries that match each condition. Before a cached set is used it is compared with the recorded changes,
 * because other processes and threads write to the index too.
 */
export class ConditionSets {
  readonly #database: Database
  readonly #maxBytes: Bytes
  readonly #scanThreshold: number
  readonly #kept = new Map<string, Kept>()
  /** How many entries have been tested against a condition that is not cached. */
  readonly #tested = new LRUCache<string, number>({
    maxSize: MAX_COUNTED,
    sizeCalculation: (_count, key) => key.length + 50,
  })
  #taken: Bytes = 0

  /**
   * @param maxBytes the memory for sets; the least recently used ones are dropped first.
   * @param scanThreshold up to this number of entries is tested one by one when the set is not cached.
   */
  constructor(
    database: Database,
    { maxBytes, scanThreshold }: { readonly maxBytes: Bytes; readonly scanThreshold: number },
  ) {
    this.#database = database
    this.#maxBytes = maxBytes
    this.#scanThreshold = scanThreshold
  }

  get taken(): Bytes {
    return this.#taken
  }

  /** The entries that match all conditions, as of this generation or later. At least one condition is positive. */
  async fulfilling(conditions: readonly Condition[], generation: number): Promise<DocBitmap> {
    const sizes = await Promise.all(conditions.map(condition => this.#sizeOf(condition, generation)))
    const order = conditions.map((_, at) => at).sort((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0))
    let found: DocBitmap | undefined
    for (const at of order) {
      const condition = conditions[at]
      if (!condition) continue
      found = found ? await this.narrow(found, condition, generation) : await this.#load(condition, generation)
    }
    return found ?? DocBitmap.EMPTY
  }

  /** The entries of `base` that match the condition. */
  async narrow(base: DocBitmap, condition: Condition, generation: number): Promise<DocBitmap> {
    if (base.size === 0) return base
    if (condition.kind === 'boolean') return await this.#narrowByParts(base, condition, generation)
    const isTestable = base.size <= this.#scanThreshold && !condition.isSlow && condition.dependsOn !== 'lists'
    const set = isTestable
      ? await this.#cheaper(condition, base.size, generation)
      : await this.#single(condition, generation)
    return set ? base.and(set) : await this.#test(base.docs(), condition)
  }

  /**
   * The set, if it is cached or listing it costs no more than these tests with those before; `undefined` if entries should be tested. Every
   * search of a caller asks which entries they may read, so many small tests would cost more than one list.
   */
  async #cheaper(condition: LeafCondition, tests: number, generation: number): Promise<DocBitmap | undefined> {
    const current = await this.#current(condition, generation)
    if (current) return current
    const key = keyOf(condition)
    this.#drop(key)
    const tested = (this.#tested.get(key) ?? 0) + tests
    const isListed = tested > this.#scanThreshold && tested > (await lastDoc(this.#database))
    this.#tested.set(key, isListed ? 0 : tested)
    return isListed ? await this.#single(condition, generation) : undefined
  }

  async #narrowByParts(
    base: DocBitmap,
    { must, should, mustNot }: BooleanCondition,
    generation: number,
  ): Promise<DocBitmap> {
    let found = base
    for (const part of must) found = await this.narrow(found, part, generation)
    if (should.length > 0) {
      let either = DocBitmap.EMPTY
      for (const part of should) either = either.or(await this.narrow(found, part, generation))
      found = either
    }
    for (const part of mustNot) found = found.without(await this.narrow(found, part, generation))
    return found
  }

  /** An upper estimate of how many entries match. */
  async #sizeOf(condition: Condition, generation: number): Promise<number> {
    if (condition.kind === 'boolean') {
      const must = await Promise.all(condition.must.map(part => this.#sizeOf(part, generation)))
      const should = await Promise.all(condition.should.map(part => this.#sizeOf(part, generation)))
      return Math.min(
        ...must,
        should.length > 0 ? should.reduce((sum, size) => sum + size, 0) : Number.POSITIVE_INFINITY,
      )
    }
    const key = keyOf(condition)
    const kept = this.#kept.get(key)
    if (kept) return kept.set.size
    // Counting the readable entries costs as much as listing them.
    if (condition.dependsOn === 'readers') return Number.MAX_SAFE_INTEGER
    const some = numbersOf(await this.#list(sql`SELECT doc FROM (${condition.set}) LIMIT ${this.#scanThreshold + 1}`))
    // Most words have few entries: these are all of them, and the same statement need not run again.
    if (some.length <= this.#scanThreshold && condition.dependsOn === undefined)
      this.#keep(key, { set: DocBitmap.of(some), generation })
    return some.length
  }

  async #load(condition: Condition, generation: number): Promise<DocBitmap> {
    if (condition.kind === 'leaf') return await this.#single(condition, generation)
    const { must, should, mustNot } = condition
    if (must.length > 0) {
      const found = await this.fulfilling(must, generation)
      return await this.narrow(found, { ...condition, must: [] }, generation)
    }
    let found = DocBitmap.EMPTY
    for (const part of should) found = found.or(await this.#load(part, generation))
    return await this.narrow(found, { kind: 'boolean', must: [], should: [], mustNot }, generation)
  }

  async #single(condition: LeafCondition, generation: number): Promise<DocBitmap> {
    if (condition.dependsOn === 'lists') return await this.#ask(condition.set)
    const current = await this.#current(condition, generation)
    if (current) return current
    const set = await this.#made(condition)
    this.#keep(keyOf(condition), { set, generation })
    return set
  }

  /** The cached set as of this generation or later; `undefined` if there is none, or it has to be listed again. */
  async #current(condition: LeafCondition, generation: number): Promise<DocBitmap | undefined> {
    const key = keyOf(condition)
    const kept = this.#kept.get(key)
    if (!kept) return undefined
    const isCurrent = kept.generation >= generation
    const set = isCurrent ? kept.set : await this.#renewed(condition, kept)
    if (set) this.#keep(key, isCurrent ? kept : { set, generation })
    return set
  }

  /** The cached set, with the entries that changed since tested again. */
  async #renewed(condition: LeafCondition, { set, generation }: Kept): Promise<DocBitmap | undefined> {
    const changed = await changesAfter(this.#database, generation)
    if (!changed || (changed.has(WHO_READS) && condition.dependsOn === 'readers')) return undefined
    if (changed.size > (condition.isSlow ? MAX_SLOW_TESTS : this.#scanThreshold)) return undefined
    const docs = [...changed].filter(doc => doc !== WHO_READS)
    return set.without(DocBitmap.of(docs)).or(await this.#test(docs, condition))
  }

  async #made({ set }: LeafCondition): Promise<DocBitmap> {
    const made = await this.#ask(set)
    // The statement may have taken long, and another one may follow.
    if (made.size > this.#scanThreshold) await setImmediate()
    return made
  }

  #test(docs: readonly number[], { test }: LeafCondition): Promise<DocBitmap> {
    if (docs.length === 0) return Promise.resolve(DocBitmap.EMPTY)
    return this.#ask(sql`SELECT e.doc AS doc FROM search_entries e
      WHERE e.doc IN (SELECT value FROM json_each(${JSON.stringify(docs)})) AND ${test}`)
  }

  async #ask(set: Sql): Promise<DocBitmap> {
    return DocBitmap.parse(await this.#list(set))
  }

  /** The documents as a text, which is quicker than a row for each. */
  async #list(set: Sql): Promise<string> {
    const row = await this.#database.get<{ docs: string | null }>(sql`SELECT group_concat(doc) AS docs FROM (${set})`)
    return row?.docs ?? ''
  }

  #keep(key: string, kept: Kept): void {
    this.#drop(key)
    this.#kept.set(key, kept)
    this.#taken += bytesOf(key, kept)
    for (const oldest of this.#kept.keys()) {
      if (this.#taken <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const kept = this.#kept.get(key)
    if (kept) this.#taken -= bytesOf(key, kept)
    this.#kept.delete(key)
  }
}

const keys = new WeakMap<LeafCondition, string>()

/** Made once, because a search asks several times. */
function keyOf(condition: LeafCondition): string {
  const known = keys.get(condition)
  if (known !== undefined) return known
  const { parts, values } = condition.set
  // No statement has this separator.
  const key = `${parts.join('?')}\0${JSON.stringify(values)}`
  keys.set(condition, key)
  return key
}

const bytesOf = (key: string, { set }: Kept): Bytes => 2 * key.length + set.bytes
