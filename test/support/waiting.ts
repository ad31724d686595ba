import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

/** How long something that is bound to happen may take on a busy machine, where a server that hangs is noticed after 30 s. */
export const TIMEOUT = 120_000

/** Waits for something that is bound to happen, and fails when it takes too long. */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `it did not happen: ${what}`)
    await delay(10)
  }
}

/** Asks again until the answer is as wanted. */
export async function until<T>(look: () => Promise<T> | T, isWanted: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + TIMEOUT
  for (;;) {
    const value = await look()
    if (isWanted(value)) return value
    assert.ok(performance.now() < deadline, `waited in vain; the last was ${JSON.stringify(value)}`)
    await delay(10)
  }
}
