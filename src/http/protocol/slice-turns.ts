import { realSystem, type System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import type { LoopTurns } from './loop-turns.ts'

/** When the tasks below have taken so long, the rest of the turn of the event loop belongs to others. */
const SHARE: Milliseconds = 2

type Task = () => void

/** Runs the tasks of all connections that are read in slices, each after the other, in a share of each turn of the event loop. */
export class SliceTurns {
  readonly #turns: LoopTurns
  readonly #clock: Pick<System, 'monotonic'>
  readonly #waiting = new Set<Task>()
  /** What tasks have taken in this turn. */
  #spent: Milliseconds = 0
  #isRunning = false

  /** @param clock the real one, also where time stands still otherwise: it measures this machine's own work */
  constructor(turns: LoopTurns, clock: Pick<System, 'monotonic'> = realSystem) {
    this.#turns = turns
    this.#clock = clock
  }

  /** Runs a task once, at once if there is time, behind those that wait. */
  add(task: Task): void {
    this.#waiting.add(task)
    this.#run()
  }

  /** Runs what belongs to a task and tells how long it took. */
  measure(part: () => void): Milliseconds {
    if (this.#spent === 0) this.#turns.next(() => this.#begin())
    const begun = this.#clock.monotonic()
    part()
    const took = this.#clock.monotonic() - begun
    this.#spent += took
    return took
  }

  #run(): void {
    // A task can add others.
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      for (const task of this.#waiting) {
        if (this.#spent >= SHARE) return
        this.#waiting.delete(task)
        task()
      }
    } finally {
      this.#isRunning = false
    }
  }

  #begin(): void {
    this.#spent = 0
    this.#run()
  }
}
