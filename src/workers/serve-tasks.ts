import { parentPort } from 'node:worker_threads'
import { type PlainRefusal, plainRefusal } from '../base/refusals.ts'

export type TaskOutcome =
  | { readonly result: unknown }
  | { readonly refused: PlainRefusal }
  | { readonly error: unknown }

/** Makes this thread one of a pool: it does the work of one task after the other. */
export function serveTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  parentPort?.on('message', (task: Task) => {
    void outcomeOf(async () => await work(task)).then(outcome => parentPort?.postMessage(outcome))
  })
}

/** Errors lose their class between threads, so a refusal of the service travels as a value. */
async function outcomeOf(work: () => Promise<unknown>): Promise<TaskOutcome> {
  try {
    return { result: await work() }
  } catch (error) {
    const refused = plainRefusal(error)
    return refused ? { refused } : { error }
  }
}
