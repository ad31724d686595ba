import { availableParallelism } from 'node:os'
import type { Server } from 'node:net'
import type { SharedCounters } from '../base/shared-counters.ts'
import type { WriteTurn } from '../stores/shared/write-turn.ts'
import type { HttpServer } from './shared-port.ts'

/** More threads gain little, because they share one disk and one turn to write. */
const MAX_AUTOMATIC = 8

/** The number of threads that answer requests; `wanted` 0 means the number of cores. */
export const threadCount = (wanted: number): number =>
  wanted === 0 ? Math.min(availableParallelism(), MAX_AUTOMATIC) : wanted

/** What a call may have besides its argument. */
export interface CallOptions {
  /** Ends the call: it rejects with the reason of the signal, and the signal of the answer is aborted. */
  readonly signal?: AbortSignal | undefined
  /**
   * A call that the signal ends still settles with its answer, which may be on its way: for a result that must not be lost, such as a permit.
   */
  readonly keepsAnswer?: boolean
  /** Memory of the argument that is moved to the other thread instead of copied. */
  readonly moved?: readonly ArrayBuffer[]
}

/** Handles calls from other threads under one name. The signal is aborted when the caller no longer needs the result. */
export type CallHandler = (argument: never, signal: AbortSignal) => unknown

/**
 * The connection of one of several serving threads to the others. Each is a complete service; the first is
 * the main thread.
 */
interface Team {
  readonly count: number
  readonly turn: WriteTurn
  readonly counters: SharedCounters
  /** Random, of this process: for secrets that no other process needs. */
  readonly key: Uint8Array
  /**
   * Shared memory for sessions, counters and login flows. The first thread makes it; the others receive it
   * here.
   */
  facts: SharedArrayBuffer | undefined
  /** Registers the function that other threads reach by a call or {@link collect} under this name. */
  answer(name: string, handler: CallHandler): void
  /** Calls the first thread; rejects when that rejects. */
  callFirst<T>(name: string, argument?: unknown, options?: CallOptions): Promise<T>
  /** Returns the answers of all threads, that of the first one first. */
  collect<T>(name: string): Promise<T[]>
}

/** Only the first thread runs startup tasks, sweeps, mail and password hashing. */
export interface FirstThread extends Team {
  readonly isFirst: true
  /** Resolves with the reason when a thread has ended by itself. The others are then not a complete service. */
  readonly failure: Promise<Error>
  /** Prepares the server, and its second listener, to share the port on which they are about to listen. */
  share(server: HttpServer, second?: Server): void
  /**
   * Starts the other threads with this data. Resolves when all serve requests. @throws the error that
   * prevents one from serving
   */
  start(data: ThreadData): Promise<void>
  /** Ends the other threads, whatever they do. */
  end(): Promise<void>
  /** Calls all other threads; resolves when each has answered. */
  tell(name: string): Promise<void>
}

export interface OtherThread extends Team {
  readonly isFirst: false
  /** The base address, which the first thread knows after it has started to listen. */
  readonly base: string
  /** Accepts connections on the port of the first thread. */
  listen(server: HttpServer): Promise<void>
}

export type ThreadTeam = FirstThread | OtherThread

/** Data that the first thread copies to the others. */
export interface ThreadData {
  readonly base: string
  readonly version: string
  readonly tokenKey: string | undefined
}
