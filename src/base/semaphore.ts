import { Overloaded } from './errors.ts'
import { timed } from './request-timings.ts'

/**
 * Runs one task at a time, in the order of the calls. Calls must not be nested: a task that calls `run` waits
 * for itself.
 */
export class Mutex {
  #last: Promise<unknown> = Promise.resolve()

  /** Settles like `work`. A failure does not affect the next task. */
  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.then(ignore, ignore)
    return result
  }
}

const ignore = (): void => {}

/**
 * A mutex for each key: work on the same key runs in order, work on different keys runs at the same time.
 * Calls must not be nested.
 */
export class KeyedMutex {
  readonly #inUse = new Map<string, { readonly mutex: Mutex; users: number }>()

  /** Settles like `work`. A key without waiting or running work takes no memory. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const held = this.#inUse.get(key) ?? { mutex: new Mutex(), users: 0 }
    this.#inUse.set(key, held)
    held.users++
    try {
      return await held.mutex.run(work)
    } finally {
      if (--held.users === 0) this.#inUse.delete(key)
    }
  }
}

/** Whose share of a queue an item takes. */
interface QueueShare {
  /** The caller that it counts for: a user, or a network address. */
  readonly of: string
  /** Goes before others. */
  readonly isPreferred?: boolean
}

/** Maximum number of preferred items in a row, so that the others are served, too. */
const MAX_PREFERRED_IN_A_ROW = 4

type Lane<T> = Map<string, T[]>

/**
 * A bounded queue that serves callers round-robin, so that a caller with many items delays another caller by at most one item. In a full
 * queue, an item of a caller with few items displaces the last item of the caller with the most; a preferred item displaces any other item.
 */
export class FairQueue<T> {
  readonly #capacity: () => number
  readonly #preferred: Lane<T> = new Map()
  readonly #others: Lane<T> = new Map()
  #size = 0
  #inARow = 0

  /** @param capacity a function where it changes */
  constructor(capacity: number | (() => number)) {
    this.#capacity = typeof capacity === 'number' ? () => capacity : capacity
  }

  get size(): number {
    return this.#size
  }

  countOf(share: QueueShare): number {
    return this.#laneOf(share).get(share.of)?.length ?? 0
  }

  /** Adds the item. Returns the one that has no place: `undefined`, an item that was displaced, or this item itself. */
  add(item: T, share: QueueShare): T | undefined {
    const capacity = this.#capacity()
    // The capacity was lowered below the number of items: dropping one of them would not make room for this one.
    if (this.#size > capacity) return item
    const dropped = this.#size < capacity ? undefined : this.#displace(this.countOf(share), share)
    if (this.#size >= capacity) return item
    const lane = this.#laneOf(share)
    const items = lane.get(share.of)
    if (items) items.push(item)
    else lane.set(share.of, [item])
    this.#size++
    return dropped
  }

  /** Removes the item. False when it is not here any more. */
  remove(item: T, share: QueueShare): boolean {
    const lane = this.#laneOf(share)
    const items = lane.get(share.of) ?? []
    const at = items.indexOf(item)
    if (at >= 0) this.#take(lane, share.of, items, at)
    return at >= 0
  }

  /** Removes and returns the item that is next. @param mayTake whether an item of this caller may be next */
  next(mayTake: (caller: string) => boolean = () => true): T | undefined {
    const isOthersTurn = this.#inARow >= MAX_PREFERRED_IN_A_ROW
    const lanes = isOthersTurn ? [this.#others, this.#preferred] : [this.#preferred, this.#others]
    for (const lane of lanes) {
      for (const [caller, items] of lane) {
        if (!mayTake(caller)) continue
        this.#inARow = lane === this.#preferred ? this.#inARow + 1 : 0
        const item = this.#take(lane, caller, items, 0)
        // At the end of the line: the next caller comes first.
        if (lane.delete(caller) && items.length > 0) lane.set(caller, items)
        return item
      }
    }
    return undefined
  }

  #laneOf({ isPreferred }: QueueShare): Lane<T> {
    return isPreferred ? this.#preferred : this.#others
  }

  #take(lane: Lane<T>, caller: string, items: T[], at: number): T | undefined {
    const [item] = items.splice(at, 1)
    if (items.length === 0) lane.delete(caller)
    this.#size--
    return item
  }

  /** Removes and returns the last item of the caller with the most, if that is more than fair to the newcomer. */
  #displace(own: number, { isPreferred }: QueueShare): T | undefined {
    const inOthers = longest(this.#others)
    const inPreferred = longest(this.#preferred)
    const isOther = inOthers.items.length > 0 && (isPreferred || inOthers.items.length >= inPreferred.items.length)
    const { caller, items } = isOther ? inOthers : inPreferred
    if (!(isOther && isPreferred) && items.length <= own + 1) return undefined
    return this.#take(isOther ? this.#others : this.#preferred, caller, items, items.length - 1)
  }
}

function longest<T>(lane: Lane<T>): { readonly caller: string; readonly items: T[] } {
  let found: { caller: string; items: T[] } = { caller: '', items: [] }
  for (const [caller, items] of lane) if (items.length > found.items.length) found = { caller, items }
  return found
}

export interface SemaphoreOptions {
  /** The maximum number of tasks that run at once. */
  readonly concurrency: number
  /** The maximum for one caller; less than `concurrency` where tasks may take long, so that others can always start. */
  readonly concurrencyOfOne?: number
  /** The maximum number of waiting tasks; the next one is refused. */
  readonly queue: number
  /** The maximum for one caller. */
  readonly queueOfOne?: number
  /** Names the tasks in the error message, for instance "password checks". */
  readonly what: string
}

export interface Share extends QueueShare {
  /** Ends the wait. A task that runs must watch it itself. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a limited number of tasks at once. A limited number of others wait: callers are served round-robin, and the tasks of one caller run in order of
 * arrival. A task keeps its place until it has ended, even if its client has left.
 */
export class Semaphore {
  readonly #options: SemaphoreOptions
  readonly #waiting: FairQueue<{ readonly begin: () => void; readonly refuse: () => void }>
  readonly #running = new Map<string, number>()
  #allRunning = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
    this.#waiting = new FairQueue(options.queue)
  }

  get concurrency(): number {
    return this.#options.concurrency
  }

  /** The number of running and of waiting tasks. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.#allRunning, waiting: this.#waiting.size }
  }

  /** @throws {Overloaded} when too many wait; `work` has not started then @throws the reason of the signal */
  async run<T>(work: () => Promise<T>, share: Share = { of: '' }): Promise<T> {
    share.signal?.throwIfAborted()
    if (this.#mayBegin(share.of)) this.#count(share.of, 1)
    else await timed('waiting', this.#options.what, () => this.#wait(share))
    try {
      return await work()
    } finally {
      this.#count(share.of, -1)
      this.#waiting.next(caller => this.#mayBegin(caller))?.begin()
    }
  }

  #mayBegin(caller: string): boolean {
    const { concurrency, concurrencyOfOne = concurrency } = this.#options
    return this.#allRunning < concurrency && (this.#running.get(caller) ?? 0) < concurrencyOfOne
  }

  #count(caller: string, change: number): void {
    this.#allRunning += change
    const running = (this.#running.get(caller) ?? 0) + change
    if (running === 0) this.#running.delete(caller)
    else this.#running.set(caller, running)
  }

  /** Resolves when the task has a place. A task that arrives later cannot take this place first. */
  async #wait(share: Share): Promise<void> {
    const { queueOfOne = Number.POSITIVE_INFINITY, what } = this.#options
    if (this.#waiting.countOf(share) >= queueOfOne) throw new Overloaded(`You have too many ${what} waiting.`)
    await new Promise<void>((resolve, reject) => {
      const waiting = {
        begin: () => {
          this.#count(share.of, 1)
          resolve()
        },
        refuse: () => reject(new Overloaded(`Too many ${what} at once.`)),
      }
      this.#waiting.add(waiting, share)?.refuse()
      const leave = (): void => void (this.#waiting.remove(waiting, share) && reject(share.signal?.reason as Error))
      share.signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
