import type { Bytes } from '../../base/units.ts'
import { ANYTHING, type DependencyCache, memoryOf } from '../../stores/dependency-cache.ts'
import { textOfTask } from './messages.ts'
import type { ReadAnswer, ReadTask } from './read-task.ts'

/** Larger answers are made anew each time, so that a few of them do not displace all others. */
const MAX_ANSWER: Bytes = 262_144
/** Memory of an answer besides its body. */
const ANSWER_BYTES: Bytes = 500

/**
 * Keeps answers to searches until anything that an answer may contain has changed: many visitors of a portal send the same
 * searches, and most of the time nothing has changed since. An answer is kept for its address, headers and caller, which are all that
 * the thread gets that makes it.
 */
export class AnswerCache {
  readonly #cache: DependencyCache

  constructor(cache: DependencyCache) {
    this.#cache = cache
  }

  /** The present answer to the task. @param make makes it from the text of the task; refusals are not kept */
  async answer(task: ReadTask, make: (text: string) => Promise<ReadAnswer>): Promise<ReadAnswer> {
    const text = textOfTask(task)
    if (!task.url.startsWith('/search?')) return await make(text)
    let made: ReadAnswer | undefined
    const kept = await this.#cache.get(`answer ${text}`, async () => {
      made = await make(text)
      if ('refused' in made || made.isPassing === true || sizeOf(made.body) > MAX_ANSWER) return undefined
      return { value: made, subjects: [ANYTHING], bytes: sizeOf(made.body) + ANSWER_BYTES }
    })
    return kept ?? made ?? (await make(text))
  }
}

type Answered = Exclude<ReadAnswer, { readonly refused: unknown }>

const sizeOf = (body: Answered['body']): Bytes => (typeof body === 'string' ? memoryOf(body) : body.byteLength)
