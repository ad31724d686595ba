import { Problem } from './api.ts'

/** More at once would wait for one another in the service. */
const AT_ONCE = 4

export interface Outcome<T> {
  readonly done: readonly T[]
  /** The first failure. The work goes on after it, unless the service does not respond. */
  readonly problem: unknown
}

/**
 * Works through many things, some at a time, in their order. What no longer exists is passed over.
 * @param onProgress called with the number of those that are over
 */
export async function forMany<T>(
  things: readonly T[],
  work: (thing: T) => Promise<unknown>,
  onProgress: (count: number) => void,
  signal: AbortSignal,
  atOnce = AT_ONCE,
): Promise<Outcome<T>> {
  const done: T[] = []
  let [problem, next, count]: [unknown, number, number] = [undefined, 0, 0]
  let isOver = false
  const worker = async (): Promise<void> => {
    for (;;) {
      const thing = things[next++]
      if (thing === undefined || isOver || signal.aborted) return
      try {
        await work(thing)
        done.push(thing)
      } catch (error) {
        if (!(error instanceof Problem && error.status === 404)) problem ??= error
        if (!(error instanceof Problem) || error.status === 0 || error.status === 401) isOver = true
      }
      onProgress(++count)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { done, problem }
}
