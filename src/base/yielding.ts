import { setImmediate as onImmediate } from 'node:timers'
import { setImmediate } from 'node:timers/promises'

/** Work on this many characters takes a few milliseconds at most. */
const MAX_CHARACTERS = 65_536
/** What a step costs beside its characters, in characters: a statement of the database. */
const STEP = 3000

/**
 * Lets other requests run between two steps of the work on a text, if the text is long: each step of a body of 8 MB takes tens of
 * milliseconds, and no request should wait for all of them.
 */
export async function yieldAfter(text: { readonly length: number }): Promise<void> {
  if (text.length > MAX_CHARACTERS) await setImmediate()
}

const waiting: (() => void)[] = []

function beginNext(): void {
  waiting.shift()?.()
  if (waiting.length > 0) onImmediate(beginNext)
}

/**
 * Waits until this thread may begin with a step of some milliseconds: one in each turn of its event loop. Of many that have come at the same
 * moment, none would take long, and yet a request that comes then would wait for all of them.
 */
export const takeTurn = (): Promise<void> =>
  new Promise(begin => {
    if (waiting.push(begin) === 1) onImmediate(beginNext)
  })

/** Lets other requests run now and then during work of many steps. Counts characters and steps, not time, so it always does the same. */
export class Yielding {
  #since = 0

  /** @param characters what the last step worked on */
  async after(characters: number): Promise<void> {
    this.#since += STEP + characters
    if (this.#since <= MAX_CHARACTERS) return
    this.#since = 0
    await setImmediate()
  }
}
