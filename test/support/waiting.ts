import assert from 'node:assert/strict'
import { setImmediate, setTimeout as delay } from 'node:timers/promises'

/** Maximum wait for an expected state. Loaded machines are slow, and a server that hangs is noticed after 30 s. */
export const TIMEOUT = 120_000

/** Waits for a state that must come. @throws when it does not come in time */
export async function eventually(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT
  while (!(await condition())) {
    assert.ok(performance.now() < deadline, `it did not happen: ${what}`)
    await delay(10)
  }
}

/** Polls until the value is as wanted. @throws when that takes too long */
export async function until<T>(look: () => Promise<T> | T, isWanted: (value: T) => boolean): Promise<T> {
  const deadline = performance.now() + TIMEOUT
  for (;;) {
    const value = await look()
    if (isWanted(value)) return value
    assert.ok(performance.now() < deadline, `waited in vain; the last was ${JSON.stringify(value)}`)
    await delay(10)
  }
}

/** Lets everything run that is ready to run, `count` times over. */
export async function turns(count = 20): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate()
}
