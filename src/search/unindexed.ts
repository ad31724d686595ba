import type { EntryAddress } from '../model/addresses.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import type { IndexPart } from './index-fields.ts'
import { type Changed, indexChanges } from './index-records.ts'

/** An import or a change of a list writes many entries; at most so many wait in memory. */
const MAX_ENTRIES = 100
/** In characters of metadata; a single entry may have more. */
const MAX_LENGTH = 2 ** 20

/** What a transaction has written and the index does not have yet: each entry once, in its last state, however often it was written. */
export class Unindexed {
  readonly #tx: Queries
  readonly #changes = new Map<string, Changed>()
  #length = 0

  constructor(tx: Queries) {
    this.#tx = tx
  }

  /** @param part what has changed since the entry was indexed, or added here, the last time */
  async add(entry: Entry, part: Exclude<IndexPart, 'head'> = 'all'): Promise<void> {
    const isAll = this.#changes.get(keyOf(entry))?.part === 'all'
    this.#changes.set(keyOf(entry), { entry, part: isAll ? 'all' : part })
    this.#length += entry.metadata.length
    if (this.#length > MAX_LENGTH && this.#changes.size > 1) await this.finish()
    else await this.#limit()
  }

  async addHead(head: EntryHead): Promise<void> {
    const { acl, contributors, modified } = head
    const waiting = this.#changes.get(keyOf(head))
    const change: Changed =
      waiting && waiting.part !== 'head'
        ? { ...waiting, entry: { ...waiting.entry, acl, contributors, modified } }
        : { entry: head, part: 'head' }
    this.#changes.set(keyOf(head), change)
    await this.#limit()
  }

  /** Forgets an entry. Returns whether it was here. */
  drop(address: EntryAddress): boolean {
    return this.#changes.delete(keyOf(address))
  }

  dropAllOf(context: string): void {
    for (const [key, { entry }] of this.#changes) if (entry.context === context) this.#changes.delete(key)
  }

  /** Writes everything. */
  async finish(): Promise<void> {
    if (this.#changes.size === 0) return
    const changes = [...this.#changes.values()]
    this.#changes.clear()
    this.#length = 0
    await indexChanges(this.#tx, changes)
  }

  async #limit(): Promise<void> {
    if (this.#changes.size >= MAX_ENTRIES) await this.finish()
  }
}

const keyOf = ({ context, id }: EntryAddress): string => `${context}/${id}`
