import { readFileSync } from 'node:fs'
import type { Milliseconds } from '../base/units.ts'

/** Linux counts processor time in hundredths of a second. */
const TICK: Milliseconds = 10
const UNKNOWN = -1

/**
 * Measures the processor time of one task, from the thread that waits for it. It does not count while other programs have the
 * processor, so a task gets as much on a busy machine as on a quiet one. It counts from the first look at the task, which is later than its
 * beginning: most tasks end before, and reading the clock would take a good part of their time.
 */
export class TaskClock {
  readonly #thread: number
  readonly #begun: Milliseconds
  readonly #ticks: number
  #abandoned: Milliseconds | undefined

  /** @param thread the {@link threadNumber} of the thread whose task has begun */
  constructor(thread: number, now: Milliseconds) {
    this.#thread = thread
    this.#begun = now
    this.#ticks = this.#present(now, 0)
  }

  /** True when the task has used this much processor time, or ten times as much elapsed time. */
  isOver(timeout: Milliseconds, now: Milliseconds): boolean {
    const used = (this.#present(now, this.#ticks) - this.#ticks) * TICK
    return used > timeout || now - this.#begun > 10 * timeout
  }

  /** How long nobody has waited for the task, counted from the first call. */
  abandonedFor(now: Milliseconds): Milliseconds {
    this.#abandoned ??= now
    return now - this.#abandoned
  }

  /** The processor time of the thread; on platforms other than Linux the elapsed time. */
  #present(now: Milliseconds, otherwise: number): number {
    return this.#thread === UNKNOWN ? now / TICK : (ticksOf(`self/task/${this.#thread}`) ?? otherwise)
  }
}

let number: number | undefined

/** The number of the calling thread in Linux. */
export function threadNumber(): number {
  number ??= process.platform === 'linux' ? Number(statusOf('thread-self')?.split(' ', 1)[0] ?? UNKNOWN) : UNKNOWN
  return number
}

function ticksOf(place: string): number | undefined {
  // The name of the thread, in brackets, may contain anything.
  const fields = statusOf(place)?.split(') ').at(-1)?.split(' ')
  return fields && Number(fields[11]) + Number(fields[12])
}

function statusOf(place: string): string | undefined {
  try {
    return readFileSync(`/proc/${place}/stat`, 'latin1')
  } catch {
    // The thread has just ended, or there is no such folder.
    return undefined
  }
}
