import type { Bytes } from '../base/units.ts'

/** The place of every so manieth id is kept, so that a page is cut out without reading the ids before it. */
const STEP = 128

/**
 * The ids of a list's members, as the JSON text that each page of the list contains: a list can have a hundred thousand, and
 * clients expect all of them with every page (W2.7).
 */
export class MemberIds {
  readonly size: number
  /** A JSON array in the order of the list. */
  readonly json: string
  /** Where the first, the 129th, the 257th id begin in the text. */
  readonly #starts: readonly number[]

  /** @param joined the ids with a slash between them, which no id contains; an empty text if there is none */
  constructor(joined: string) {
    this.json = joined === '' ? '[]' : `["${joined.replaceAll('/', '","')}"]`
    const starts: number[] = []
    let size = 0
    for (let at = joined === '' ? 0 : 1; at > 0; at = this.json.indexOf(',', at) + 1) {
      if (size % STEP === 0) starts.push(at)
      size++
    }
    this.size = size
    this.#starts = starts
  }

  /** Its approximate size in memory, with the compressed form that pages of a long list are sent in. */
  get bytes(): Bytes {
    return Math.ceil(1.4 * this.json.length) + 8 * this.#starts.length
  }

  slice(offset: number, limit = Number.POSITIVE_INFINITY): readonly string[] {
    const end = Math.min(this.size, offset + limit)
    if (offset >= end) return []
    const next = this.#starts[Math.ceil(end / STEP)]
    const text = this.json.slice(this.#starts[Math.floor(offset / STEP)], next === undefined ? -1 : next - 1)
    const first = offset % STEP
    return (JSON.parse(`[${text}]`) as string[]).slice(first, first + end - offset)
  }

  /** For responses that are not put together from texts. */
  toJSON(): readonly string[] {
    return this.slice(0)
  }
}
