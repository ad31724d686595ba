/**
 * A value, or the promise of one. What is in memory is returned at once: each promise on the path of a request costs a turn of the
 * queue of promises, and memory.
 */
export type Awaitable<T> = T | Promise<T>

/** Uses the value, at once if it is there. */
export const andThen = <T, R>(value: Awaitable<T>, use: (value: T) => Awaitable<R>): Awaitable<R> =>
  value instanceof Promise ? value.then(use) : use(value)
