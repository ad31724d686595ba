/**
 * What is made from texts that come again and again, of the most recently used ones; what falls out is left to the garbage
 * collector.
 */
export class LruCache<Value> {
  readonly #make: (text: string) => Value
  readonly #most: number
  readonly #values = new Map<string, Value>()

  constructor(make: (text: string) => Value, most: number) {
    this.#make = make
    this.#most = most
  }

  get size(): number {
    return this.#values.size
  }

  /** The value of this text, made at most once while it stays in use. */
  get(text: string): Value {
    const known = this.#values.get(text)
    const value = known ?? this.#make(text)
    // A Map keeps the order of insertion: the first is the one unused for longest.
    if (known !== undefined) this.#values.delete(text)
    this.#values.set(text, value)
    if (this.#values.size > this.#most) this.#dropOldest()
    return value
  }

  clear(): void {
    this.#values.clear()
  }

  #dropOldest(): void {
    for (const text of this.#values.keys()) {
      this.#values.delete(text)
      return
    }
  }
}
