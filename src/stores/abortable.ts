/**
 * Yields the items of `source`, and throws the reason of `signal` as soon as it aborts, even while the source is blocked. If
 * the caller stops early, the source is closed.
 */
export async function* abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void, undefined> {
  signal.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  // One listener for the whole run: a Promise.race per step would add more and more reactions to a promise that never
  // settles.
  let fail: (reason: unknown) => void = () => {}
  const abort = (): void => fail(signal.reason)
  signal.addEventListener('abort', abort)
  let ended = false
  try {
    for (;;) {
      signal.throwIfAborted()
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        fail = reject
        iterator.next().then(resolve, reject)
      })
      if (step.done) {
        ended = true
        return
      }
      yield step.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // Not awaited: behind a blocked `next` it would not settle.
    if (!ended) Promise.resolve(iterator.return?.()).catch(() => {})
  }
}
