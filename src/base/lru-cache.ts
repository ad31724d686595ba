import { LRUCache } from 'lru-cache'

/** Values computed from texts that occur again and again; only the most recently used ones are kept. */
export class LruCache<Value extends {}> {
  readonly #make: (text: string) => Value
  readonly #values: LRUCache<string, Value>

  /** @param most how many values are kept */
  constructor(make: (text: string) => Value, most: number) {
    this.#make = make
    this.#values = new LRUCache({ max: most })
  }

  get size(): number {
    return this.#values.size
  }

  /** The value of this text, computed at most once while it stays in use. */
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
