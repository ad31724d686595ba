import { readFileSync } from 'node:fs'
import type { Milliseconds } from '../base/units.ts'

/** Linux counts processor time in hundredths of a second. */
const TICK: Milliseconds = 10
const NOT_BEGUN = 0
const UNKNOWN = -1

/** A task for a thread, and where the thread records that it has started. */
export interface ClockedTask<Task> {
  readonly task: Task
  /** The id of the thread. Shared memory. */
  readonly clock: Int32Array
}

/**
 * Measures the processor time of one task, from the thread that waits for it. It does not count while other programs have the
 * processor, so a task gets as much on a busy machine as on a quiet one. It counts from the first look at a task that has started:
 * most tasks end before, and reading the clock would take a good part of their time.
 */
export class TaskClock {
  readonly shared = new Int32Array(new SharedArrayBuffer(4))
  #begun: Milliseconds | undefined
  #ticks = 0

  /** True when the task has used this much processor time, or ten times as much elapsed time. */
  isOver(timeout: Milliseconds, now: Milliseconds): boolean {
    const used = this.#used(now)
    return used > timeout || (this.#begun !== undefined && now - this.#begun > 10 * timeout)
  }

  /** The processor time of the task; on platforms other than Linux the elapsed time since its start. */
  #used(now: Milliseconds): Milliseconds {
    const thread = Atomics.load(this.shared, 0)
    if (thread === NOT_BEGUN) return 0
    const ticks = thread === UNKNOWN ? now / TICK : (ticksOf(`self/task/${thread}`) ?? this.#ticks)
    if (this.#begun === undefined) {
      this.#begun = now
      this.#ticks = ticks
    }
    return (ticks - this.#ticks) * TICK
  }
}

/** The default export of a thread's module: runs one task with a clock. */
export const clocked =
  <Task, Result>(work: (task: Task) => Promise<Result>) =>
  async ({ task, clock }: ClockedTask<Task>): Promise<Result> => {
    Atomics.store(clock, 0, ownNumber())
    return await work(task)
  }

let number: number | undefined

function ownNumber(): number {
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
