import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../accounts/caller.ts'
import type { SpentTime } from '../../base/request-parts.ts'
import type { ThreadPool } from '../../workers/thread-pool.ts'

/** A GET, or a HEAD, which has the same response without the body. */
export interface ReadTask {
  /** Relative to the base address. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** What decides about the rights of the caller; the thread learns nothing else of them. */
  readonly caller: { readonly id: string } & Pick<Caller, 'groups' | 'grant' | 'acquaintances'>
}

export interface ReadAnswer {
  /** What the thread spent its time on. */
  readonly spent: SpentTime
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Bytes for a part of a body, which may begin within a character. */
  readonly body: string | Uint8Array
}

/** The threads that answer heavy reads. */
export type Readers = Pick<ThreadPool<ReadTask, ReadAnswer>, 'run' | 'close'>
