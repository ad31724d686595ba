import { availableParallelism } from 'node:os'
import type { WriteTurn } from '../stores/shared/write-turn.ts'
import type { HttpServer } from './shared-port.ts'

/** More threads than this gain little: they share one disk and one turn to write. */
const MAX_AUTOMATIC = 8

/** How many threads answer requests; `wanted` is 0 for as many as there are cores. */
export const threadCount = (wanted: number): number =>
  wanted === 0 ? Math.min(availableParallelism(), MAX_AUTOMATIC) : wanted

/** What a thread answers when another one calls it under a name. */
export type Answer = (argument: never) => unknown

/** What one of several serving threads has in common with the others. Each is a complete service; the first is the main thread. */
interface Team {
  readonly count: number
  readonly turn: WriteTurn
  /** Memory for sessions, counters and login flows. The first thread makes it, the others find it here. */
  facts: SharedArrayBuffer | undefined
  /** Says what this thread answers when others call or {@link collect} under this name. */
  answer(name: string, answer: Answer): void
  /** Calls the first thread; rejects as it does. */
  callFirst<T>(name: string, argument?: unknown): Promise<T>
  /** The answers of all threads, that of the first at the beginning. */
  collect<T>(name: string): Promise<T[]>
}

/** Startup tasks, sweeps, mail and password hashing are the work of the first thread alone. */
export interface FirstThread extends Team {
  readonly isFirst: true
  /** Resolves when a thread has ended by itself, with the reason: the others are no whole service without it. */
  readonly failure: Promise<Error>
  /** Prepares the server to share the port on which it is about to listen. */
  share(server: HttpServer): void
  /** Starts the other threads with what they need to begin; resolves when all serve requests. @throws what keeps one from it */
  start(data: ThreadData): Promise<void>
  /** Calls all other threads; resolves when each has answered. */
  tell(name: string): Promise<void>
}

export interface OtherThread extends Team {
  readonly isFirst: false
  /** The base address, which the first thread knows since it listens. */
  readonly base: string
  /** Accepts connections at the port of the first thread. */
  listen(server: HttpServer): Promise<void>
}

export type ThreadTeam = FirstThread | OtherThread

/** What the first thread hands to the others besides what all of them share; it is copied. */
export interface ThreadData {
  readonly base: string
  readonly version: string
  readonly tokenKey: string | undefined
}
