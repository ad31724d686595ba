import assert from 'node:assert/strict'
import { stepsOf } from '../support/steps.ts'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openService } from './fuzz-http.ts'
import { isRefusal, openParsers, type Target } from './fuzz-parsers.ts'
import { mutated } from './mutate.ts'
import { Random } from './random.ts'

export interface FuzzExtent {
  /** The number of cases for each target. */
  readonly cases: number
  readonly seed: number
  readonly onTarget?: (name: string) => void
}

export interface FuzzReport {
  readonly cases: number
  readonly refused: number
  /** The steps of the most expensive batch; see {@link stepsOf}. */
  readonly mostSteps: number
  /** The longest time that the event loop was blocked, in milliseconds. It depends on the machine, so it is only reported. */
  readonly longestStall: number
  /** The growth of memory from the end of the first third of the targets to the end of the proof, in bytes. */
  readonly growth: number
}

/** Allowed for one case on the thread that answers requests: about 100 ms on a quiet machine. */
const MAX_STEPS = 10_000_000
const MAX_GROWTH = 64 * 2 ** 20
const BATCH = 20

interface Test {
  after(work: () => Promise<void>): void
}

/**
 * Sends randomly changed input to every parser and to a service. Each input must be answered or refused with limited work,
 * and must leave nothing in memory. @throws with target, seed and case
 */
export async function proveFuzz(t: Test, extent: FuzzExtent): Promise<FuzzReport> {
  const { targets: ways, archive } = await openService(t)
  const parsers = await openParsers(archive)
  t.after(parsers.close)
  const targets = [...parsers.targets, ...ways]
  const fuzzer = new Fuzzer(extent.seed)
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  let after = 0
  for (const [index, target] of targets.entries()) {
    extent.onTarget?.(target.name)
    await fuzzer.attack(target, extent.cases)
    if (index === Math.floor(targets.length / 3)) after = heap()
  }
  delay.disable()
  const growth = heap() - after
  assert.ok(growth < MAX_GROWTH, `memory grew by ${growth} bytes`)
  return { ...fuzzer.report, longestStall: Math.round(delay.max / 1e6), growth }
}

class Fuzzer {
  readonly #seed: number
  #cases = 0
  #refused = 0
  #mostSteps = 0

  constructor(seed: number) {
    this.#seed = seed
  }

  get report(): Pick<FuzzReport, 'cases' | 'refused' | 'mostSteps'> {
    return { cases: this.#cases, refused: this.#refused, mostSteps: this.#mostSteps }
  }

  /** Each target has its own generator, so that its cases do not depend on the other targets. */
  async attack(target: Target, cases: number): Promise<void> {
    for (const piece of target.corpus) await this.#try(target, piece, 'the example')
    const random = new Random(this.#seed ^ hashOf(target.name))
    const shape = { most: target.most }
    for (let done = 0; done < cases; done += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, cases - done) }, () => mutated(random, target.corpus, shape))
      const steps = await stepsOf(async () => {
        for (const [index, bytes] of batch.entries()) await this.#try(target, bytes, done + index)
      })
      this.#mostSteps = Math.max(this.#mostSteps, steps)
      if (steps < MAX_STEPS) continue
      for (const [index, bytes] of batch.entries()) await this.#requireLimitedWork(target, bytes, done + index)
    }
  }

  /** Checks one case of a batch that was too expensive as a whole. */
  async #requireLimitedWork(target: Target, bytes: Buffer, number: number): Promise<void> {
    const steps = await stepsOf(() => this.#try(target, bytes, number))
    assert.ok(steps < MAX_STEPS, this.#describe(target, bytes, number, `it takes ${steps} steps`))
  }

  async #try(target: Target, bytes: Buffer, number: number | string): Promise<void> {
    this.#cases++
    try {
      await target.run(bytes)
    } catch (error) {
      if (!isRefusal(error)) throw new Error(this.#describe(target, bytes, number, String(error)), { cause: error })
      this.#refused++
    }
  }

  #describe({ name }: Target, bytes: Buffer, number: number | string, what: string): string {
    const shown =
      bytes.length > 2000 ? `${bytes.toString('base64').slice(0, 2000)}… (${bytes.length})` : bytes.toString('base64')
    return `${name}, seed ${this.#seed}, case ${number}: ${what}\nin base64: ${shown}`
  }
}

/** The memory in use after a garbage collection, in bytes. */
function heap(): number {
  setFlagsFromString('--expose_gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** A small deterministic hash (FNV-1a). */
const hashOf = (text: string): number =>
  [...text].reduce((hash, sign) => Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 0x01000193), 0x811c9dc5) >>> 0
