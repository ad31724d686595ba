import { parentPort, workerData } from 'node:worker_threads'
import { memoryOf } from './moved.ts'
import { threadNumber } from './task-clock.ts'

/** Where a thread and the one that hands it tasks meet, in shared memory: its number, then a place for each task that it may have. */
export const THREAD = 0
export const FIRST_PLACE = 1
/**
 * One task runs, and others are at hand when it ends: otherwise both threads would wait for each other between any two tasks. The more
 * are at hand, the less often each thread wakes the other.
 */
export const PLACES = 8

/** What a thread is opened with. */
export interface ThreadData {
  readonly board: Int32Array
  readonly data: unknown
}

export interface HandedTask {
  readonly number: number
  readonly place: number
  readonly task: unknown
}

export type TaskOutcome = { readonly number: number } & ({ readonly result: unknown } | { readonly error: unknown })

/** What the pool was given for its threads. */
export const dataOfThread = <Data>(): Data => (workerData as ThreadData).data as Data

/** Makes this thread one of a pool: it does the work of one task after the other, in the order in which they come. */
export function serveTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  const { board } = workerData as ThreadData
  Atomics.store(board, THREAD, threadNumber())
  let last = Promise.resolve()
  parentPort?.on('message', (handed: HandedTask) => {
    last = last.then(() => serve(handed))
  })

  async function serve({ number, place, task }: HandedTask): Promise<void> {
    if (!begin(board, place, number)) return
    try {
      const result = await work(task as Task)
      answer({ number, result }, memoryOf(result))
    } catch (error) {
      answer({ number, error })
    }
  }
}

function answer(outcome: TaskOutcome, moved: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(outcome, moved)
}

/** False when the task has been withdrawn. */
const begin = (board: Int32Array, place: number, number: number): boolean =>
  Atomics.compareExchange(board, place, number, -number) === number

/** Takes a task back that has not begun. False when it has. */
export const withdraw = (board: Int32Array, place: number, number: number): boolean =>
  Atomics.compareExchange(board, place, number, 0) === number

export const hasBegun = (board: Int32Array, place: number, number: number): boolean =>
  Atomics.load(board, place) === -number
