import { LRUCache } from 'lru-cache'
import type { Bytes } from '../base/units.ts'
import { Dependents } from './dependents.ts'

/** A value to cache, and what it was derived from. */
export interface Cacheable<T> {
  readonly value: T
  /** The value is dropped when one of these changes; see `change-log.ts` for their form. */
  readonly subjects: readonly string[]
  /** Approximate memory of the value. */
  readonly bytes: Bytes
}

/** Memory of one cached value besides the value itself, with a subject or two. */
const OVERHEAD: Bytes = 450

/** Values in a limited memory, each until one of its subjects is dropped. */
export class CachedValues {
  readonly #values: LRUCache<string, Cacheable<unknown>>
  readonly #dependents = new Dependents()

  constructor(maxBytes: Bytes) {
    this.#values = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }, key) => bytes + 2 * key.length + OVERHEAD,
      dispose: ({ subjects }, key) => {
        for (const subject of subjects) this.#dependents.remove(subject, key)
      },
    })
  }

  /** Number of values, and their approximate memory. */
  get load(): { readonly values: number; readonly bytes: Bytes } {
    return { values: this.#values.size, bytes: this.#values.calculatedSize }
  }

  get(key: string): Cacheable<unknown> | undefined {
    return this.#values.get(key)
  }

  /** A value that is too large is not kept. */
  keep(key: string, { value, subjects, bytes }: Cacheable<unknown>): void {
    this.#values.set(key, { value, subjects, bytes })
    if (!this.#values.has(key)) return
    for (const subject of subjects) this.#dependents.add(subject, key)
  }

  drop(subject: string): void {
    for (const key of this.#dependents.of(subject)) this.#values.delete(key)
  }

  clear(): void {
    this.#values.clear()
  }
}
