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
