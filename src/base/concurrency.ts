import { setImmediate } from 'node:timers/promises'
import { Overloaded } from './errors.ts'

/**
 * What runs at once: one task at a time, a limited number of tasks, calls that callers share, pauses in long work, and counters that threads
 * share.
 */

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
 * A mutex for each key: work on the same key runs in turn, work on different keys runs at the same time.
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
  async run<T>(work: () => Promise<T>, turn?: Turn): Promise<T> {
    await this.acquire(turn)
    try {
      return await work()
    } finally {
      this.release()
    }
  }

  /** For work of another thread, which must {@link release} the permit once; otherwise use {@link run}. @throws {Overloaded} like `run` */
  acquire(turn?: Turn): Promise<void> {
    if (this.#running < this.#options.concurrency) {
      this.#running++
      return Promise.resolve()
    }
    return new Promise((begin, reject) => {
      const refuse = (): void => reject(new Overloaded(`Too many ${this.#options.what} at once.`))
      this.#waiting.add({ begin, refuse }, turn)?.refuse()
    })
  }

  /** Passes the permit directly to the next waiting task, so that no new task can take it first. */
  release(): void {
    const next = this.#waiting.next()
    if (next) next.begin()
    else this.#running--
  }
}

/**
 * A call that covers what was done before it, so that callers can share it: those who come while one for the same key is under way share
 * the next.
 */
export class SharedCalls {
  readonly #call: (key: string) => Promise<void>
  readonly #inTurn = new KeyedMutex()
  /** The calls that have not begun. */
  readonly #next = new Map<string, Promise<void>>()

  constructor(call: (key: string) => Promise<void>) {
    this.#call = call
  }

  /** Settles like a call that begins after this. */
  run(key: string): Promise<void> {
    const next = this.#next.get(key) ?? this.#inTurn.run(key, () => this.#begin(key))
    this.#next.set(key, next)
    return next
  }

  async #begin(key: string): Promise<void> {
    this.#next.delete(key)
    await this.#call(key)
  }
}

/** A counter of permits. A caller that gets none uses the slower way. */
export class Places {
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  /** Whether a place was free; then it is taken. */
  take(): boolean {
    if (this.#free === 0) return false
    this.#free--
    return true
  }

  giveBack(): void {
    this.#free++
  }
}

/** Whose turn it is in a queue. */
export interface Turn {
  /** Those who take turns, for instance by network address. */
  readonly of: string
  /** Goes before others. */
  readonly isPreferred?: boolean
}

/** After so many preferred items in a row another one is served, so that nobody waits for ever. */
const MAX_PREFERRED_IN_A_ROW = 4

const SHARED: Turn = { of: '' }

/**
 * A bounded queue whose callers take turns, so that one with many items delays another with one item by at most one item. In a full
 * queue a caller with few items displaces the last item of the one with the most; a preferred one displaces any other.
 */
export class FairQueue<T> {
  readonly #capacity: number
  readonly #preferred = new Map<string, T[]>()
  readonly #others = new Map<string, T[]>()
  #size = 0
  #inARow = 0

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#size
  }

  /** Adds the item. Returns the one that has no place: `undefined`, an item that was displaced, or this item itself. */
  add(item: T, turn: Turn = SHARED): T | undefined {
    const lane = turn.isPreferred ? this.#preferred : this.#others
    const own = lane.get(turn.of)
    const dropped = this.#size < this.#capacity ? undefined : this.#displace(own?.length ?? 0, turn)
    if (this.#size >= this.#capacity) return item
    const items = lane.get(turn.of)
    if (items) items.push(item)
    else lane.set(turn.of, [item])
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
  #displace(own: number, { isPreferred }: Turn): T | undefined {
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

/** Work on this many characters takes a few milliseconds at most. */
const MAX_STRETCH = 65_536
/** What a step costs beside its characters, in characters: a statement of the database. */
const STEP = 3000

/**
 * Lets other requests run between two steps of the work on a text, if the text is long: each step of a body of 8 MB takes tens of
 * milliseconds, and no request should wait for all of them.
 */
export async function turnAfter(text: { readonly length: number }): Promise<void> {
  if (text.length > MAX_STRETCH) await setImmediate()
}

/** Lets other requests run now and then during work of many steps. Counts characters and steps, not time, so it always does the same. */
export class Turns {
  #since = 0

  /** @param characters what the last step worked on */
  async after(characters: number): Promise<void> {
    this.#since += STEP + characters
    if (this.#since <= MAX_STRETCH) return
    this.#since = 0
    await setImmediate()
  }
}

/** Words: the next number, the present minute, how often something has happened in it. */
const NEXT = 0
const MINUTE = 1
const IN_MINUTE = 2
const WORDS = 3

/** Two counters that the threads of a process share: each number is given once, in the order of the calls. */
export class Counters {
  readonly shared: SharedArrayBuffer
  readonly #words: Int32Array

  /** @param shared the counters of another thread; if absent, new ones */
  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(WORDS * 4)) {
    this.shared = shared
    this.#words = new Int32Array(shared)
  }

  /** Increases with each call in any thread, up to 2^28; then it begins again. */
  next(): number {
    return Atomics.add(this.#words, NEXT, 1) & (2 ** 28 - 1)
  }

  /** How often this has been called for this minute, with this call. Between two minutes a few calls may count for either. */
  inMinute(minute: number): number {
    const present = minute & (2 ** 31 - 1)
    const last = Atomics.load(this.#words, MINUTE)
    if (last !== present && Atomics.compareExchange(this.#words, MINUTE, last, present) === last) {
      Atomics.store(this.#words, IN_MINUTE, 0)
    }
    return Atomics.add(this.#words, IN_MINUTE, 1) + 1
  }
}

/**
 * A value, or the promise of one. What is in memory is returned at once: each promise on the path of a request costs a turn of the
 * queue of promises, and memory.
 */
export type Awaitable<T> = T | Promise<T>

/** Uses the value, at once if it is there. */
export const andThen = <T, R>(value: Awaitable<T>, use: (value: T) => Awaitable<R>): Awaitable<R> =>
  value instanceof Promise ? value.then(use) : use(value)
