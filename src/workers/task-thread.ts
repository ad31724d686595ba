import { Worker } from 'node:worker_threads'
import { realSystem } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import {
  FIRST_PLACE,
  type HandedTask,
  hasBegun,
  PLACES,
  type TaskOutcome,
  THREAD,
  type ThreadData,
  withdraw,
} from './serve-tasks.ts'
import { TaskClock } from './task-clock.ts'
import { withoutRequire } from './thread-module.ts'

/** A task, and who waits for it. */
export interface Job<Task, Result> {
  readonly task: Task
  readonly caller: string
  readonly clientGone: AbortSignal | undefined
  /** Memory of the task that is moved to the thread instead of copied. */
  readonly moved: readonly ArrayBuffer[]
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** JavaScript memory, in megabytes: for objects that live long, and for those that live briefly. */
export interface Megabytes {
  readonly old: number
  readonly young: number
}

export interface TaskThreadOptions {
  /** The module of the thread, which calls `serveTasks`. */
  readonly module: URL
  readonly megabytes?: Megabytes | undefined
  /** Called when the thread starts, which gets the result as `dataOfThread()`. */
  readonly data?: (() => unknown) | undefined
  /** Called when it may have another task. */
  readonly onPlace?: () => void
  /** The error for a task that took too much memory; by default that of the engine. */
  readonly exceeded?: (cause: unknown) => Error
}

interface Handed<Task, Result> extends Job<Task, Result> {
  /** Absent while the task waits here. */
  posted?: { readonly number: number; readonly place: number }
  /** Since the first look at the task after it began. */
  clock?: TaskClock
}

const MAX_NUMBER = 2 ** 30

/** A thread that does one task after the other. It starts with the first one, and again after it has been ended. */
export class TaskThread<Task, Result> {
  readonly #options: TaskThreadOptions
  readonly #board = new Int32Array(new SharedArrayBuffer(4 * (FIRST_PLACE + PLACES)))
  #worker: Worker | undefined
  /** The first one runs or is about to; those behind it wait in the thread, or here if they have memory to move or it has no place. */
  #jobs: Array<Handed<Task, Result>> = []
  #number = 0
  #idleSince: Milliseconds = 0

  constructor(options: TaskThreadOptions) {
    this.#options = options
  }

  get jobs(): ReadonlyArray<Job<Task, Result>> {
    return this.#jobs
  }

  get isStarted(): boolean {
    return this.#worker !== undefined
  }

  /** Whether it should get a task. What would wait behind a task that has been seen to run is better off elsewhere. */
  get hasPlace(): boolean {
    const [running] = this.#jobs
    return running === undefined || (this.#jobs.length < PLACES && running.clock === undefined)
  }

  /** Gives the thread a task, where it has a place. */
  hand(job: Job<Task, Result>): void {
    const { task, caller, clientGone, moved, resolve, reject } = job
    const handed: Handed<Task, Result> = { task, caller, clientGone, moved, resolve, reject }
    try {
      this.#worker ??= this.#start()
    } catch (error) {
      // The system has no thread or memory left. Others may have some a moment later.
      return reject(error)
    }
    this.#worker.ref()
    this.#jobs.push(handed)
    this.#postWaiting()
  }

  /** Removes a task that has not begun. False when it has. */
  takeBack(job: Job<Task, Result>): boolean {
    const handed = this.#jobs.find(one => one === job)
    if (!handed) return false
    const { posted, moved } = handed
    if (posted && (moved.length > 0 || !withdraw(this.#board, posted.place, posted.number))) return false
    this.#remove(handed)
    return true
  }

  /** Measures the running task, from the first call on; `undefined` while it has not begun. */
  clock(now: Milliseconds): TaskClock | undefined {
    const [running] = this.#jobs
    if (!running?.posted || !hasBegun(this.#board, running.posted.place, running.posted.number)) return undefined
    running.clock ??= new TaskClock(Atomics.load(this.#board, THREAD), now)
    return running.clock
  }

  /** Ends the thread in the middle of its task. The one behind it gets a new one. */
  kill(error: Error): void {
    void this.#stop()
    this.#jobs.shift()?.reject(error)
    this.#restart()
  }

  /** Ends the thread if it has had nothing to do for so long. */
  endIfIdleFor(time: Milliseconds, now: Milliseconds): void {
    if (this.#jobs.length === 0 && now - this.#idleSince > time) void this.#stop()
  }

  async close(error: Error): Promise<void> {
    const ended = this.#stop()
    const jobs = this.#jobs
    this.#jobs = []
    for (const { reject } of jobs) reject(error)
    await ended
  }

  #start(): Worker {
    const { module, megabytes, data } = this.#options
    const workerData: ThreadData = { board: this.#board, data: data?.() }
    const worker = new Worker(module, {
      workerData,
      ...withoutRequire,
      ...(megabytes
        ? { resourceLimits: { maxOldGenerationSizeMb: megabytes.old, maxYoungGenerationSizeMb: megabytes.young } }
        : {}),
    })
    worker.on('message', (outcome: TaskOutcome) => this.#settle(outcome))
    worker.on('error', error => worker === this.#worker && this.#fail(error))
    worker.on('exit', code => worker === this.#worker && this.#fail(new Error(`the thread has ended with ${code}`)))
    return worker
  }

  #stop(): Promise<unknown> | undefined {
    const worker = this.#worker
    this.#worker = undefined
    return worker?.terminate()
  }

  /** Posts what may be posted, in order of arrival: the thread has a limited number of places. */
  #postWaiting(): void {
    for (const [index, job] of this.#jobs.entries()) {
      if (job.posted) continue
      // Moved memory cannot be moved again, so such a task is posted when nothing can hinder it any more.
      if (index > 0 && (job.moved.length > 0 || index >= PLACES)) return
      this.#post(job)
    }
  }

  #post(handed: Handed<Task, Result>): void {
    this.#number = (this.#number % MAX_NUMBER) + 1
    let place = FIRST_PLACE
    while (this.#jobs.some(({ posted }) => posted?.place === place)) place++
    handed.posted = { number: this.#number, place }
    Atomics.store(this.#board, place, this.#number)
    const message: HandedTask = { number: this.#number, place, task: handed.task }
    try {
      this.#worker?.postMessage(message, handed.moved)
    } catch (error) {
      this.#remove(handed)
      handed.reject(error)
    }
  }

  #settle(outcome: TaskOutcome): void {
    const handed = this.#jobs.find(({ posted }) => posted?.number === outcome.number)
    // Unknown: of a task whose thread was ended meanwhile.
    if (!handed) return
    this.#remove(handed)
    if ('error' in outcome) handed.reject(outcome.error)
    else handed.resolve(outcome.result as Result)
  }

  #remove(handed: Handed<Task, Result>): void {
    this.#jobs.splice(this.#jobs.indexOf(handed), 1)
    this.#postWaiting()
    this.#noteIdle()
    this.#options.onPlace?.()
  }

  #noteIdle(): void {
    if (this.#jobs.length > 0) return
    this.#worker?.unref()
    this.#idleSince = realSystem.monotonic()
  }

  /** The thread has ended by itself. */
  #fail(error: unknown): void {
    this.#worker = undefined
    const isOutOfMemory = (error as { readonly code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY'
    // A thread that cannot even start would fail for each task in turn, so all of them learn why.
    const failed = this.#jobs.splice(0, isOutOfMemory ? 1 : this.#jobs.length)
    for (const { reject } of failed) reject(isOutOfMemory ? (this.#options.exceeded?.(error) ?? error) : error)
    this.#restart()
  }

  /** Gives those that have not begun to a new thread. */
  #restart(): void {
    const waiting = this.#jobs
    this.#jobs = []
    for (const job of waiting) this.hand(job)
    this.#noteIdle()
    this.#options.onPlace?.()
  }
}
