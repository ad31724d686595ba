import { graphText } from '../graph/graph.ts'
import type { EntryAddress } from '../model/addresses.ts'
import { type Entry, type EntryHead, withMembers } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import { indexAtCommit, indexEntries, indexHeads, indexHeadsAtCommit } from './index-records.ts'

/** An import or a change of a list writes many entries; at most so many wait in memory. */
const MAX_ENTRIES = 100
/** In characters of metadata; a single entry may have more. */
const MAX_LENGTH = 2 ** 20

/** What a transaction has written and the index does not have yet: each entry once, in its last state, however often it was written. */
export class Unindexed {
  readonly #tx: Queries
  readonly #entries = new Map<string, Entry>()
  /** Entries of which only the head has changed. */
  readonly #heads = new Map<string, EntryHead>()
  #length = 0

  constructor(tx: Queries) {
    this.#tx = tx
  }

  async add(entry: Entry): Promise<void> {
    this.#heads.delete(keyOf(entry))
    this.#entries.set(keyOf(entry), entry)
    this.#length += graphText(entry.metadata).length
    const isFull = this.#entries.size >= MAX_ENTRIES || this.#length > MAX_LENGTH
    if (isFull && this.#entries.size > 1) await this.#writeEntries(indexEntries)
  }

  async addHead(head: EntryHead): Promise<void> {
    const { acl, contributors, modified } = head
    const waiting = this.#entries.get(keyOf(head))
    if (waiting) this.#entries.set(keyOf(head), withMembers(waiting, { acl, contributors, modified }))
    else this.#heads.set(keyOf(head), head)
    if (this.#heads.size >= MAX_ENTRIES) await this.#writeHeads(indexHeads)
  }

  /** Forgets an entry. Returns whether it was here. */
  drop(address: EntryAddress): boolean {
    const wasEntry = this.#entries.delete(keyOf(address))
    return this.#heads.delete(keyOf(address)) || wasEntry
  }

  dropAllOf(context: string): void {
    for (const waiting of [this.#entries, this.#heads]) {
      for (const [key, entry] of waiting) if (entry.context === context) waiting.delete(key)
    }
  }

  /** Writes everything, or leaves it to the end of the commit. */
  async finish(): Promise<void> {
    if (this.#heads.size > 0) await this.#writeHeads(indexHeadsAtCommit)
    if (this.#entries.size > 0) await this.#writeEntries(indexAtCommit)
  }

  async #writeEntries(write: (tx: Queries, entries: Iterable<Entry>) => Promise<void>): Promise<void> {
    const entries = [...this.#entries.values()]
    this.#entries.clear()
    this.#length = 0
    await write(this.#tx, entries)
  }

  async #writeHeads(write: typeof indexHeads): Promise<void> {
    const heads = [...this.#heads.values()]
    this.#heads.clear()
    await write(this.#tx, heads)
  }
}

const keyOf = ({ context, id }: EntryAddress): string => `${context}/${id}`
