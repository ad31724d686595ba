import { Overloaded } from './errors.ts'

interface LimiterOptions {
  /** The maximum number of tasks that run at once. */
  readonly concurrency: number
  /** The maximum number of waiting tasks; the next one is refused. */
  readonly queue: number
  /** Names the tasks in the error message, for instance "password checks". */
  readonly what: string
}

interface Waiting {
  readonly begin: () => void
  readonly refuse: () => void
}

/**
 * Runs a limited number of tasks at once. A limited number of others wait: callers take turns, and the tasks of one caller run in
 * order of arrival. A task keeps its permit until it has ended, even if its client has left.
 *
 * Fair in the queue only: while nobody else waits, one caller may use all permits, and in a full queue a new caller displaces a task of the
 * one with the most. `FairLimiter` (`workers/fair-limiter.ts`) is for tasks of any length: it also limits what one caller runs, and a
 * client that leaves gives up its place in the queue.
 */
export class Limiter {
  readonly #options: LimiterOptions
  readonly #waiting: FairQueue<Waiting>
  #running = 0

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#waiting = new FairQueue(options.queue)
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** The number of running and of waiting tasks. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#running, waiting: this.#waiting.size }
  }

  /** @throws {Overloaded} when the queue is full, or `work` is displaced from it; `work` has not started then */
  async run<T>(work: () => Promise<T>, share?: QueueShare): Promise<T> {
    await this.acquire(share)
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /** For work of another thread, which must {@link release} the permit once; otherwise use {@link run}. @throws {Overloaded} like `run` */
  acquire(share?: QueueShare): Promise<void> {
    if (this.#running < this.#options.concurrency) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((begin, reject) => {
      const refuse = (): void => reject(new Overloaded(`Too many ${this.#options.what} at once.`))
      this.#waiting.add({ begin, refuse }, share)?.refuse()
    })
  }

  /** Passes the permit directly to the next waiting task, so that no new task can take it first. */
  release(): void {
    const next = this.#waiting.next()
    if (next) next.begin()
    else this.#running--
  }
}

/** Whose share of a queue an item takes. */
export interface QueueShare {
  /** The caller that it counts for, for instance a network address. */
  readonly of: string
  /** Goes before others. */
  readonly isPreferred?: boolean
}

/** After so many preferred items in a row another one is served, so that nobody waits for ever. */
const MAX_PREFERRED_IN_A_ROW = 4

const SHARED: QueueShare = { of: '' }

/**
 * A bounded queue whose callers take turns, so that one with many items delays another with one item by at most one item. In a full
 * queue a caller with few items displaces the last item of the one with the most; a preferred one displaces any other.
 */
export class FairQueue<T> {
  readonly #capacity: () => number
  readonly #preferred = new Map<string, T[]>()
  readonly #others = new Map<string, T[]>()
  #size = 0
  #inARow = 0

  /** @param capacity a function where it changes */
  constructor(capacity: number | (() => number)) {
    this.#capacity = typeof capacity === 'number' ? () => capacity : capacity
  }

  get size(): number {
    return this.#size
  }

  /** Adds the item. Returns the one that has no place: `undefined`, an item that was displaced, or this item itself. */
  add(item: T, share: QueueShare = SHARED): T | undefined {
    const capacity = this.#capacity()
    // Less than there was: one that left would make no room.
    if (this.#size > capacity) return item
    const lane = share.isPreferred ? this.#preferred : this.#others
    const own = lane.get(share.of)
    const dropped = this.#size < capacity ? undefined : this.#displace(own?.length ?? 0, share)
    if (this.#size >= capacity) return item
    const items = lane.get(share.of)
    if (items) items.push(item)
    else lane.set(share.of, [item])
    this.#size++
    return dropped
  }

  next(): T | undefined {
    const isOthersTurn = this.#inARow >= MAX_PREFERRED_IN_A_ROW && this.#others.size > 0
    const lane = this.#preferred.size > 0 && !isOthersTurn ? this.#preferred : this.#others
    this.#inARow = lane === this.#preferred ? this.#inARow + 1 : 0
    const [first] = lane
    if (!first) return undefined
    const [key, items] = first
    const item = items.shift()
    // At the end of the line: the next caller comes first.
    lane.delete(key)
    if (items.length > 0) lane.set(key, items)
    this.#size--
    return item
  }

  /** Removes and returns the last item of the caller with the most, if that is more than fair to the newcomer. */
  #displace(own: number, { isPreferred }: QueueShare): T | undefined {
    const inOthers = longest(this.#others)
    const inPreferred = longest(this.#preferred)
    if (inOthers && isPreferred) return this.#removeLast(this.#others, inOthers)
    const [lane, found] =
      (inPreferred?.[1].length ?? 0) > (inOthers?.[1].length ?? 0)
        ? [this.#preferred, inPreferred]
        : [this.#others, inOthers]
    return found && found[1].length > own + 1 ? this.#removeLast(lane, found) : undefined
  }

  #removeLast(lane: Map<string, T[]>, [key, items]: readonly [string, T[]]): T | undefined {
    const item = items.pop()
    if (items.length === 0) lane.delete(key)
    this.#size--
    return item
  }
}

function longest<T>(lane: ReadonlyMap<string, T[]>): readonly [string, T[]] | undefined {
  let found: readonly [string, T[]] | undefined
  for (const entry of lane) if (entry[1].length > (found?.[1].length ?? 0)) found = entry
  return found
}
