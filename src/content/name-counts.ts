export interface Count {
  readonly name: string
  readonly lang?: string
  readonly count: number
}

interface Counted {
  readonly name: string
  readonly lang: string | undefined
  total: number
  /** The number of entries. */
  usedIn: number
  lastEntry: number
}

const MAX_NAMES = 100_000
/** All names together: the response takes several times as much memory. */
const MAX_CHARACTERS = 4 * 2 ** 20
const MAX_NAME = 1000

/** How often names occur, in total and by entry. Names that exceed the limits are not counted. */
export class NameCounts {
  /** By language, then by name: a key of both would be another text for each. */
  readonly #byLanguage = new Map<string | undefined, Map<string, Counted>>()
  #size = 0
  #characters = 0
  #lastEntry = 0
  entriesWithAny = 0
  isComplete = true

  /** @param entry its number, from 1; all names of an entry come one after the other */
  add(given: string, entry: number, lang?: string): void {
    if (this.#lastEntry !== entry) this.entriesWithAny++
    this.#lastEntry = entry
    const name = given.length > MAX_NAME ? given.slice(0, MAX_NAME) : given
    const counted = this.#byLanguage.get(lang)?.get(name)
    if (!counted) {
      this.#addNew(name, entry, lang)
      return
    }
    counted.total++
    if (counted.lastEntry !== entry) counted.usedIn++
    counted.lastEntry = entry
  }

  /** The most frequent first; of those that are as frequent, the first in alphabetical order. */
  list(): Counted[] {
    return [...this.#byLanguage.values()]
      .flatMap(names => [...names.values()])
      .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  counts(): Count[] {
    return this.list().map(({ name, lang, total }) =>
      lang === undefined ? { name, count: total } : { name, lang, count: total },
    )
  }

  #addNew(name: string, entry: number, lang: string | undefined): void {
    const characters = this.#characters + name.length
    if (this.#size >= MAX_NAMES || characters > MAX_CHARACTERS) {
      this.isComplete = false
      return
    }
    this.#size++
    this.#characters = characters
    const names = this.#byLanguage.get(lang) ?? new Map<string, Counted>()
    this.#byLanguage.set(lang, names)
    const own = ownText(name)
    names.set(own, { name: own, lang, total: 1, usedIn: 1, lastEntry: entry })
  }
}

/** A part of a text keeps all of it in memory. */
const ownText = (part: string): string => JSON.parse(JSON.stringify(part)) as string
