import type { LastRows, Queries, WriteLast } from '../database.ts'

interface Left {
  readonly item: unknown
  readonly write: WriteLast<never>
}

/**
 * What the transactions of one commit leave to be written at its end. Each has a queue of its own, which joins that of the commit when the
 * transaction has succeeded.
 */
export class CommitQueue implements LastRows {
  readonly #earlier: CommitQueue | undefined
  /** `undefined` for one that an earlier transaction has left and this one has dropped. */
  readonly #left = new Map<string, Left | undefined>()

  /** @param earlier what the transactions before this one have left */
  constructor(earlier?: CommitQueue) {
    this.#earlier = earlier
  }

  get keys(): readonly string[] {
    return [...this.#left.keys()]
  }

  put<T>(key: string, item: T, write: WriteLast<T>): void {
    this.#left.set(key, { item, write })
  }

  get<T>(key: string, write: WriteLast<T>): T | undefined {
    if (!this.#left.has(key)) return this.#earlier?.get(key, write)
    const left = this.#left.get(key)
    return left?.write === write ? (left.item as T) : undefined
  }

  drop(isDropped: (key: string) => boolean): void {
    for (const { keys } of [this, ...(this.#earlier ? [this.#earlier] : [])])
      for (const key of keys) if (isDropped(key)) this.#left.set(key, undefined)
  }

  /** Adds what the next transaction has left. */
  join(next: CommitQueue): void {
    for (const [key, left] of next.#left) {
      if (left) this.#left.set(key, left)
      else this.#left.delete(key)
    }
  }

  async write(tx: Queries): Promise<void> {
    const itemsOf = new Map<WriteLast<never>, unknown[]>()
    for (const left of this.#left.values()) {
      if (!left) continue
      const items = itemsOf.get(left.write)
      if (items) items.push(left.item)
      else itemsOf.set(left.write, [left.item])
    }
    for (const [write, items] of itemsOf) await write(tx, items as never[])
  }
}
