import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'

/**
 * Words: the next ticket; the number of commits, the one with which the log is copied next, the last one that was copied, and the length of
 * the log; the waiting time; then the places of waiting threads.
 */
const TICKETS = 0
const COMMITS = 1
const AWAITED = 2
const COPIED = 3
const LOG_PAGES = 4
const WAITS = 5
const WAITED_MICROSECONDS = 6
const PLACES = 7
/** More than there are threads: each waits with one ticket at most. */
const PLACE_COUNT = 256
/** Limits the delay after a missed wake-up, which would otherwise stop the thread for ever. */
const WAKE_UP_TIMEOUT: Milliseconds = 1000
/** Copying the log of a change of hundreds of megabytes takes seconds; after this time its thread has ended. */
const COPY_TIMEOUT: Milliseconds = 10_000
const ASKED_EVERY: Milliseconds = 50

/**
 * The right to write to the database file: one thread has it at a time, in order of arrival. A waiting thread continues to
 * answer requests, while waiting for the lock of the engine would block it. Those who have it also tell the thread that copies the log of
 * the database when there is something to copy, and wait for it when the log has become long.
 */
export class WriteTurn {
  readonly shared: SharedArrayBuffer
  readonly #words: Int32Array

  /** @param shared the turn of another thread; if absent, a new one */
  constructor(shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer((PLACES + PLACE_COUNT) * 4)
    this.#words = new Int32Array(this.shared)
  }

  /** Changes with each commit of any thread, as soon as that commit can be read. */
  get commits(): number {
    return Atomics.load(this.#words, COMMITS)
  }

  /** How many commits there were since `commits` had this value; the number of commits may have overflowed meanwhile. */
  commitsSince(commits: number): number {
    return (this.commits - commits) | 0
  }

  /** How often a thread waited for its turn, and the total time; both overflow to 0 at 2^32. */
  get waits(): { readonly count: number; readonly microseconds: number } {
    const unsigned = (at: number): number => Atomics.load(this.#words, at) >>> 0
    return { count: unsigned(WAITS), microseconds: unsigned(WAITED_MICROSECONDS) }
  }

  /** Must be called after each commit, before its callers are notified. */
  committed(): void {
    Atomics.add(this.#words, COMMITS, 1)
    // Waking a thread takes longer than most statements of a commit.
    if (this.commitsSince(Atomics.load(this.#words, AWAITED)) >= 0) Atomics.notify(this.#words, COMMITS)
  }

  /**
   * Blocks this thread until the number of commits has come to `awaited`, until a copy is asked for, or until `wake` is called and the
   * wait has ended. Only one thread waits for commits.
   */
  waitForCommits(awaited: number, hasEnded: () => boolean): void {
    const words = this.#words
    // Before the number is read: whoever commits afterwards knows what is awaited.
    Atomics.store(words, AWAITED, awaited)
    for (
      let { commits } = this;
      !hasEnded() && ((commits - Atomics.load(words, AWAITED)) | 0) < 0;
      { commits } = this
    ) {
      Atomics.wait(words, COMMITS, commits)
    }
  }

  /** Lets the waiting thread copy the log at once. */
  askForCopy(): void {
    Atomics.store(this.#words, AWAITED, this.commits)
    Atomics.notify(this.#words, COMMITS)
  }

  /** Notes that the commits up to this one are copied, and how many pages the log has. */
  copied(commits: number, pages: number): void {
    Atomics.store(this.#words, LOG_PAGES, pages)
    Atomics.store(this.#words, COPIED, commits)
    Atomics.notify(this.#words, COPIED)
  }

  /** The length of the log when it was copied last; 0 before, and after {@link copyAll}. */
  get logPages(): number {
    return Atomics.load(this.#words, LOG_PAGES)
  }

  /** In turn: resolves when the whole log is copied, so that the next commit begins it anew, or after so long without an answer. */
  async copyAll(timeout = COPY_TIMEOUT): Promise<void> {
    const words = this.#words
    const { commits } = this
    const timer = setInterval(() => {}, ASKED_EVERY)
    for (let waited = 0; waited < timeout; waited += ASKED_EVERY) {
      const copied = Atomics.load(words, COPIED)
      if (((copied - commits) | 0) >= 0) break
      // Asked again, because a thread that is about to wait overwrites what was asked for.
      this.askForCopy()
      const wait = Atomics.waitAsync(words, COPIED, copied, ASKED_EVERY)
      if (wait.async) await wait.value
    }
    clearInterval(timer)
    Atomics.store(words, LOG_PAGES, 0)
  }

  /** Lets the thread that waits for commits see whether its wait has ended. */
  wake(): void {
    Atomics.add(this.#words, COMMITS, 1)
    Atomics.notify(this.#words, COMMITS)
  }

  /** Runs the work while no other thread has the turn. A thread calls it for one piece of work at a time. */
  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const words = this.#words
    const ticket = Atomics.add(words, TICKETS, 1)
    await this.#come(ticket)
    try {
      return await work()
    } finally {
      const next = place(ticket + 1)
      Atomics.store(words, next, ticket + 1)
      Atomics.notify(words, next)
    }
  }

  /** Each place holds the last ticket that was served there: at first 0, the number of the very first ticket. */
  async #come(ticket: number): Promise<void> {
    const words = this.#words
    const at = place(ticket)
    if (Atomics.load(words, at) === ticket) return
    const begun = realSystem.monotonic()
    // Such a wait does not keep a Node process alive, so a timer does.
    const alive = setInterval(() => {}, WAKE_UP_TIMEOUT)
    for (let present = Atomics.load(words, at); present !== ticket; present = Atomics.load(words, at)) {
      const wait = Atomics.waitAsync(words, at, present, WAKE_UP_TIMEOUT)
      if (wait.async) await wait.value
    }
    clearInterval(alive)
    Atomics.add(words, WAITS, 1)
    Atomics.add(words, WAITED_MICROSECONDS, Math.round((realSystem.monotonic() - begun) * 1000))
  }
}

const place = (ticket: number): number => PLACES + (ticket & (PLACE_COUNT - 1))
