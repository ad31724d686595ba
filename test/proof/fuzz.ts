import assert from 'node:assert/strict'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openService } from './fuzz-http.ts'
import { isRefusal, openParsers, type Target } from './fuzz-parsers.ts'
import { mutated } from './mutate.ts'
import { Random } from './random.ts'

export interface FuzzExtent {
  /** Of each target. */
  readonly cases: number
  readonly seed: number
  readonly onTarget?: (name: string) => void
}

export interface FuzzReport {
  readonly cases: number
  readonly refused: number
  /** The longest that the event loop stood still, in milliseconds. */
  readonly longestStall: number
  /** What was kept in memory at the end beyond what was there after the first third, in bytes. */
  readonly growth: number
}

/** Longer than this nobody may hold up the others. */
const MAX_STALL = 100
/** The machine may do something else for a while; a case that stalls does so each time. */
const TRIES = 20
const MAX_GROWTH = 64 * 2 ** 20
const BATCH = 20

interface Test {
  after(work: () => Promise<void>): void
}

/**
 * Changes what strangers may send at random, and gives it to every parser and to a service: nothing may come of it but an
 * answer or a refusal, soon, and nothing may be left in memory. @throws naming target, seed and case
 */
export async function proveFuzz(t: Test, extent: FuzzExtent): Promise<FuzzReport> {
  const { targets: ways, archive } = await openService(t)
  const parsers = await openParsers(archive)
  t.after(parsers.close)
  const targets = [...parsers.targets, ...ways]
  const fuzzer = new Fuzzer(extent.seed)
  let after = 0
  for (const [index, target] of targets.entries()) {
    extent.onTarget?.(target.name)
    await fuzzer.attack(target, extent.cases)
    if (index === Math.floor(targets.length / 3)) after = heap()
  }
  const growth = heap() - after
  assert.ok(growth < MAX_GROWTH, `memory grew by ${growth} bytes`)
  return { ...fuzzer.report, growth }
}

class Fuzzer {
  readonly #seed: number
  #cases = 0
  #refused = 0
  #longest = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  get report(): Pick<FuzzReport, 'cases' | 'refused' | 'longestStall'> {
    return { cases: this.#cases, refused: this.#refused, longestStall: Math.round(this.#longest) }
  }

  /** Every target has a generator of its own, so that its cases do not depend on which others there are. */
  async attack(target: Target, cases: number): Promise<void> {
    for (const piece of target.corpus) await this.#try(target, piece, 'the example')
    const random = new Random(this.#seed ^ hashOf(target.name))
    const shape = { most: target.most }
    for (let done = 0; done < cases; done += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, cases - done) }, () => mutated(random, target.corpus, shape))
      const stall = await stallOf(async () => {
        for (const [index, bytes] of batch.entries()) await this.#try(target, bytes, done + index)
      })
      if (stall < MAX_STALL) this.#longest = Math.max(this.#longest, stall)
      else for (const [index, bytes] of batch.entries()) await this.#requireQuick(target, bytes, done + index)
    }
  }

  /** The least of some tries, as other programs share the machine. */
  async #requireQuick(target: Target, bytes: Buffer, number: number): Promise<void> {
    let least = Number.POSITIVE_INFINITY
    for (let tries = 0; tries < TRIES && least >= MAX_STALL; tries++) {
      // What nothing at all stands still for is the machine's, not the case's.
      const idle = await stallOf(() => new Promise(resolve => setTimeout(resolve, 500)))
      least = Math.min(least, (await stallOf(() => this.#try(target, bytes, number))) - idle)
    }
    this.#longest = Math.max(this.#longest, least)
    assert.ok(least < MAX_STALL, this.#told(target, bytes, number, `the event loop stood still for ${least} ms`))
  }

  async #try(target: Target, bytes: Buffer, number: number | string): Promise<void> {
    this.#cases++
    try {
      await target.run(bytes)
    } catch (error) {
      if (!isRefusal(error)) throw new Error(this.#told(target, bytes, number, String(error)), { cause: error })
      this.#refused++
    }
  }

  #told({ name }: Target, bytes: Buffer, number: number | string, what: string): string {
    const shown =
      bytes.length > 2000 ? `${bytes.toString('base64').slice(0, 2000)}… (${bytes.length})` : bytes.toString('base64')
    return `${name}, seed ${this.#seed}, case ${number}: ${what}\nin base64: ${shown}`
  }
}

/** How long the event loop stood still at most, in milliseconds, until it has come round once more. */
async function stallOf(work: () => Promise<void>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await new Promise(resolve => setTimeout(resolve, 6))
  delay.reset()
  await work()
  await new Promise(resolve => setTimeout(resolve, 6))
  delay.disable()
  return delay.max / 1e6
}

/** What is in use once everything has been let go of. */
function heap(): number {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Small and always the same (FNV-1a). */
const hashOf = (text: string): number =>
  [...text].reduce((hash, sign) => Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 0x01000193), 0x811c9dc5) >>> 0
