import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../accounts/caller.ts'
import type { PhaseTimes } from '../../base/request-timings.ts'
import type { ThreadPool } from '../../workers/thread-pool.ts'

/** A GET, or a HEAD, which has the same response without the body. */
export interface ReadTask {
  /** Relative to the base address. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The function that the response is handed to, which has JSON (`protocol/jsonp.ts`). */
  readonly callback: string | undefined
  /** The data that decide about the rights of the caller; the thread gets nothing else about the caller. */
  readonly caller: { readonly id: string } & Pick<Caller, 'groups' | 'grant' | 'acquaintances'>
}

export interface ReadAnswer {
  /** What the thread spent its time on. */
  readonly spent: PhaseTimes
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes for a part of a body, which may begin within a character. */
  readonly body: string | Uint8Array
}

/** The threads that answer heavy reads. */
export type Readers = Pick<ThreadPool<ReadTask, ReadAnswer>, 'run' | 'close'>
