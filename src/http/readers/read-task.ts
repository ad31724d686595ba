import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../accounts/caller.ts'
import type { PlainRefusal } from '../../base/refusals.ts'

/** A GET, or a HEAD, which has the same response without the body. */
export interface ReadTask {
  /** Relative to the base address. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Of it, the thread learns only what decides about rights. */
  readonly caller: Caller
}

/** A large body is UTF-8, or compressed as the headers say: it is moved between threads, and sent without another copy. */
export type ReadAnswer =
  | {
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string | Uint8Array
      /** Made while entries were added to the index that have not changed themselves: the same search may soon find more. */
      readonly isPassing?: true
    }
  | { readonly refused: PlainRefusal }

/** The threads that answer heavy reads. */
export interface Readers {
  /**
   * @param caller whose fair share the task belongs to
   * @param clientGone makes the signal that the client has left; called only if a thread is needed
   */
  run(task: ReadTask, caller: string, clientGone: () => AbortSignal): Promise<ReadAnswer>
  close(): Promise<void>
}
