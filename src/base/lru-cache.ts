import { LRUCache } from 'lru-cache'

/** Caches values computed from texts that occur repeatedly. Only the most recently used values are kept. */
export class LruCache<Value extends {}> {
  readonly #make: (text: string) => Value
  readonly #values: LRUCache<string, Value>

  /** @param most the maximum number of cached values */
  constructor(make: (text: string) => Value, most: number) {
    this.#make = make
    this.#values = new LRUCache({ max: most })
  }

  get size(): number {
    return this.#values.size
  }

  /** Returns the value of this text, computed at most once while it is cached. */
  get(text: string): Value {
    const known = this.#values.get(text)
    if (known !== undefined) return known
    const value = this.#make(text)
    this.#values.set(text, value)
    return value
  }

  clear(): void {
    this.#values.clear()
  }
}
