import { readFileSync } from 'node:fs'
import type { Milliseconds } from '../base/units.ts'

/** Linux counts processor time in hundredths of a second. */
const TICK: Milliseconds = 10
const NOT_BEGUN = 0
const UNKNOWN = -1

/** What a thread is given to do, and where it notes that it has begun. */
export interface ClockedTask<Task> {
  readonly task: Task
  /** Number of the thread, and its processor time at the beginning of the task, in ticks. Shared memory. */
  readonly clock: Int32Array
}

/**
 * Processor time of one task, read by the thread that waits for it. It starts with the task, not with the thread, and does
 * not run while other programs have the processor: on a busy machine a task has no less than on a quiet one.
 */
export class TaskClock {
  readonly shared = new Int32Array(new SharedArrayBuffer(8))
  #begun: Milliseconds | undefined

  /** Whether the task has had this much processor time, or ten times as much of any time. */
  isOver(timeout: Milliseconds, now: Milliseconds): boolean {
    const used = this.#used(now)
    return used > timeout || (this.#begun !== undefined && now - this.#begun > 10 * timeout)
  }

  /** Time that the task has had; elsewhere than on Linux the time since it began. */
  #used(now: Milliseconds): Milliseconds {
    const [thread = NOT_BEGUN, ticks = 0] = this.shared
    if (thread === NOT_BEGUN) return 0
    this.#begun ??= now
    return thread === UNKNOWN ? now - this.#begun : ((ticksOf(`self/task/${thread}`) ?? ticks) - ticks) * TICK
  }
}

/** The default export of a thread's module: does one task, with a clock. */
export const clocked =
  <Task, Result>(work: (task: Task) => Promise<Result>) =>
  async ({ task, clock }: ClockedTask<Task>): Promise<Result> => {
    const thread = ownNumber()
    clock[1] = thread === UNKNOWN ? 0 : (ticksOf(`self/task/${thread}`) ?? 0)
    clock[0] = thread
    return await work(task)
  }

let number: number | undefined

function ownNumber(): number {
  number ??= process.platform === 'linux' ? Number(statusOf('thread-self')?.split(' ', 1)[0] ?? UNKNOWN) : UNKNOWN
  return number
}

function ticksOf(place: string): number | undefined {
  // The name of the thread, in brackets, may hold anything.
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
