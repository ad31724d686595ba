import { parentPort } from 'node:worker_threads'
import * as errors from '../base/errors.ts'

export type TaskOutcome =
  | { readonly result: unknown }
  | { readonly refused: PlainRefusal }
  | { readonly error: unknown }

/** A refusal as a plain value, with the members of its class, because errors lose both between threads. */
type PlainRefusal = Pick<errors.ServiceError, 'name' | 'message'> & Readonly<Record<string, unknown>>

/** What a thread posts when it has loaded its modules, before its first outcome. */
export const READY = 'ready'

/** Makes this thread one of a pool: it does the work of one task after the other. */
export function serveTasks<Task, Result>(work: (task: Task) => Result | Promise<Result>): void {
  parentPort?.on('message', (task: Task) => {
    void outcomeOf(async () => await work(task)).then(outcome => parentPort?.postMessage(outcome))
  })
  parentPort?.postMessage(READY)
}

async function outcomeOf(work: () => Promise<unknown>): Promise<TaskOutcome> {
  try {
    return { result: await work() }
  } catch (error) {
    return error instanceof errors.ServiceError ? { refused: { ...error, message: error.message } } : { error }
  }
}

/** Restores a refusal. A refusal whose class is not in `base/errors.ts` becomes a plain error. */
export const refusalFrom = ({ name, message, ...members }: PlainRefusal): Error =>
  withClass(Object.assign(new Error(message), { name }, members))

/** Gives a refusal that comes from another thread its class again. Other errors stay as they are. */
export function withClass(error: Error): Error {
  const known: unknown = Object.entries(errors).find(([of]) => of === error.name)?.[1]
  return typeof known === 'function' ? (Object.setPrototypeOf(error, known.prototype as object) as Error) : error
}
