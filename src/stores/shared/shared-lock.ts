/** Tries before a thread sleeps: sections last microseconds, putting a thread to sleep and waking it takes fifty. */
const SPINS = 200

const FREE = 0
const LOCKED = 1
const LOCKED_WITH_SLEEPERS = 2

/**
 * Takes the lock at `words[at]`, which all threads share. It blocks the thread, so use it only for sections of a few
 * microseconds that call no foreign code. Returns whether the thread had to sleep.
 */
export function lock(words: Int32Array, at: number): boolean {
  if (Atomics.compareExchange(words, at, FREE, LOCKED) === FREE) return false
  for (let tries = 0; tries < SPINS; tries++) {
    if (Atomics.load(words, at) === FREE && Atomics.compareExchange(words, at, FREE, LOCKED) === FREE) return false
  }
  // From here on the lock counts as one with sleepers, so that its next release wakes one of them.
  while (Atomics.exchange(words, at, LOCKED_WITH_SLEEPERS) !== FREE) Atomics.wait(words, at, LOCKED_WITH_SLEEPERS)
  return true
}

export function unlock(words: Int32Array, at: number): void {
  if (Atomics.exchange(words, at, FREE) === LOCKED_WITH_SLEEPERS) Atomics.notify(words, at, 1)
}
