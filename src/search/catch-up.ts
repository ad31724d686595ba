import { setTimeout } from 'node:timers/promises'
import type { Log } from '../base/log.ts'
import { counter, type Progress } from '../base/progress.ts'
import type { Bytes, Milliseconds } from '../base/units.ts'
import { CONTEXTS, type EntryAddress } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { Database, Queries, TransactionOptions } from '../stores/database.ts'
import { addToIndex, markComplete, missingInIndex, refillIndex } from './index-records.ts'

/** Maximum number of missing entries indexed before the first response, so that a small store is complete from the start. */
const MAX_AT_START = 500
/** Maximum number of entries per transaction while a service answers: other writes wait for its end. */
const BATCH: Batch = { entries: 30, bytes: 262_144, options: { durability: 'relaxed' } }
/** The same while nothing else uses the store. */
const LARGE_BATCH: Batch = {
  entries: 500,
  bytes: 2 * 2 ** 20,
  options: { durability: 'relaxed', noTimeout: true },
}
/** Pause between two transactions, for everything else. */
const PAUSE: Milliseconds = 2

interface Batch {
  readonly entries: number
  readonly bytes: Bytes
  readonly options: TransactionOptions
}

/** The entries of a context with these ids, as far as they exist. `content/` implements it. */
type EntriesOf = (queries: Queries, context: string, ids: readonly string[]) => AsyncIterable<Entry>

interface Source {
  readonly database: Database
  readonly entriesOf: EntriesOf
}

const first: EntryAddress = { context: '', id: '' }

/**
 * Indexes entries that are missing in the index, for instance after an upgrade that has emptied it. Missing entries are found by comparing
 * the tables, so interrupted work goes on where it ended. Entries that are written meanwhile are indexed with their change, unless only
 * their info has changed; searches find each entry as soon as it is indexed.
 */
export class CatchUp {
  readonly #source: Source
  readonly #log: Log
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #isComplete = false

  constructor(database: Database, entriesOf: EntriesOf, log: Log) {
    this.#source = { database, entriesOf }
    this.#log = log
  }

  /** Whether every entry is in the index. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /**
   * Indexes the entries that are needed before the first response: all contexts, because the contexts of a user are looked up in the index,
   * and some other entries.
   */
  async begin(): Promise<void> {
    let place: EntryAddress | undefined = { context: CONTEXTS, id: '' }
    const isContext = ({ context }: EntryAddress): boolean => context === CONTEXTS
    while (place && isContext(place)) place = (await indexNext(this.#source, place, BATCH, isContext))?.place
    place = first
    for (let count = 0; place && count < MAX_AT_START; count += BATCH.entries)
      place = (await indexNext(this.#source, place, BATCH))?.place
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
      const { database } = this.#source
      place = (await database.withExclusiveLock(() => indexNext(this.#source, present, BATCH)))?.place
      if (place) await setTimeout(PAUSE)
      if (signal.aborted) return
    }
    await this.#setComplete(true)
    this.#log.info('the search index is complete')
  }

  async #setComplete(isComplete: boolean): Promise<void> {
    await markComplete(this.#source.database, isComplete)
    this.#isComplete = isComplete
  }
}

/**
 * Fills the index of a store that nothing else uses, and that cannot be used before this is done.
 * @param entries the number of entries, for the progress
 */
export async function fillIndex(source: Source, entries: number | undefined, progress: Progress): Promise<void> {
  await refillIndex(source.database, progress, async () => {
    const onEntry = counter(progress, 'Filling the search index', entries)
    let place: EntryAddress | undefined = first
    while (place) {
      const indexed = await indexNext(source, place, LARGE_BATCH)
      for (let count = 0; count < (indexed?.count ?? 0); count++) onEntry()
      place = indexed?.place
    }
  })
}

/** Indexes the next missing entries after this place. Returns the place of the last one; `undefined` when none are missing. */
async function indexNext(
  { database, entriesOf }: Source,
  after: EntryAddress,
  batch: Batch,
  isWanted: (address: EntryAddress) => boolean = () => true,
): Promise<{ readonly place: EntryAddress; readonly count: number } | undefined> {
  const missing = (await missingInIndex(database, after, batch.entries)).filter(isWanted)
  let size = 0
  const tooLarge = missing.findIndex(entry => (size += entry.size) > batch.bytes)
  const some = tooLarge < 0 ? missing : missing.slice(0, Math.max(1, tooLarge))
  const place = some.at(-1)
  if (!place) return undefined
  // Nothing is lost that cannot be indexed again.
  await database.transaction(async tx => {
    const entries: Entry[] = []
    for (const [context, addresses] of Map.groupBy(some, ({ context }) => context)) {
      const ids = addresses.map(({ id }) => id)
      for await (const entry of entriesOf(tx, context, ids)) entries.push(entry)
    }
    await addToIndex(tx, entries)
  }, batch.options)
  return { place, count: some.length }
}
