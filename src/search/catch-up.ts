import { setTimeout } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { CONTEXTS, type EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { Database, Queries } from '../stores/database.ts'
import { indexEntry, markComplete, missingInIndex } from './index-records.ts'

/** Maximum number of missing entries indexed before the first response, so that a small store is complete from the start. */
const MAX_AT_START = 500
/** Maximum number of entries per transaction. It blocks requests and other writes for a few milliseconds. */
const BATCH = 20
const MAX_BYTES: Bytes = 262_144
/** Pause between two transactions, for everything else. */
const PAUSE: Milliseconds = 10

/** `content/` implements it. */
type FindEntry = (queries: Queries, address: EntryAddress) => Promise<Entry | undefined>

const first: EntryAddress = { context: '', id: '' }

/**
 * Indexes the entries that are missing in the index, for instance after an upgrade that has emptied it. What is missing is found by
 * comparing the tables, so work that was interrupted goes on where it ended. Entries that are written meanwhile are indexed with their
 * change, unless only their info has changed; these and the others are found as soon as they are indexed.
 */
export class CatchUp {
  readonly #database: Database
  readonly #findEntry: FindEntry
  readonly #log: Log
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #isComplete = false

  constructor(database: Database, findEntry: FindEntry, log: Log) {
    this.#database = database
    this.#findEntry = findEntry
    this.#log = log
  }

  /** Whether every entry is in the index. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /**
   * Indexes what is needed before the first response: all contexts, because a user's contexts are looked up in the index, and some other
   * entries.
   */
  async begin(): Promise<void> {
    let place: EntryAddress | undefined = { context: CONTEXTS, id: '' }
    while (place?.context === CONTEXTS) place = await this.#index(place, ({ context }) => context === CONTEXTS)
    place = first
    for (let count = 0; place && count < MAX_AT_START; count += BATCH) place = await this.#index(place)
    await this.#setComplete(place === undefined)
    if (!this.#isComplete)
      this.#log.warn('the search index is being completed; until then searches do not find all entries')
  }

  /** Indexes the rest while the service answers. Does nothing when all is indexed or this is already running. */
  run(): Promise<void> {
    if (this.#isComplete) return Promise.resolve()
    return (this.#running ??= this.#indexRest().finally(() => (this.#running = undefined)))
  }

  /** Ends the work; the next start continues it. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running?.catch(() => {})
  }

  async #indexRest(): Promise<void> {
    const { signal } = this.#stopping
    for (let place: EntryAddress | undefined = first; place; ) {
      const present: EntryAddress = place
      place = await this.#database.withExclusiveLock(() => this.#index(present))
      if (place) await setTimeout(PAUSE)
      if (signal.aborted) return
    }
    await this.#setComplete(true)
    this.#log.info('the search index is complete')
  }

  /** Indexes the next missing entries after this place. Returns the place of the last one; `undefined` when none are missing. */
  async #index(
    after: EntryAddress,
    isWanted: (address: EntryAddress) => boolean = () => true,
  ): Promise<EntryAddress | undefined> {
    const missing = (await missingInIndex(this.#database, after, BATCH)).filter(isWanted)
    let size = 0
    const tooLarge = missing.findIndex(entry => (size += entry.size) > MAX_BYTES)
    const some = tooLarge < 0 ? missing : missing.slice(0, Math.max(1, tooLarge))
    if (some.length === 0) return undefined
    // Nothing is lost that cannot be indexed again.
    await this.#database.transaction(
      async tx => {
        for (const address of some) {
          const entry = await this.#findEntry(tx, address)
          if (entry) await indexEntry(tx, entry)
        }
      },
      { durability: 'relaxed' },
    )
    return some.at(-1)
  }

  async #setComplete(isComplete: boolean): Promise<void> {
    await markComplete(this.#database, isComplete)
    this.#isComplete = isComplete
  }
}
