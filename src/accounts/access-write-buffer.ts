import { StoreUnavailable } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'

/** What a request records in its session. */
export interface Access {
  readonly lastAccess: Milliseconds
  readonly expires: Milliseconds
  readonly cookieSent: Milliseconds
}

/**
 * Records an access in a session, and returns that session: a copy for each request would be most of what the request leaves behind.
 * If several nodes record accesses, the latest counts, in whatever order they are written.
 */
export function noteIn<Accessed extends Access>(session: Accessed, access: Access | undefined): Accessed {
  if (!access) return session
  const noted: { -readonly [Member in keyof Access]: Access[Member] } = session
  noted.lastAccess = Math.max(session.lastAccess, access.lastAccess)
  noted.expires = Math.max(session.expires, access.expires)
  noted.cookieSent = Math.max(session.cookieSent, access.cookieSent)
  return session
}

/**
 * Session accesses that wait to be written: the latest one of each session, many in one write. A crash loses at most the
 * time of a last access, because the creation and the end of a session never wait here.
 */
export class AccessWriteBuffer {
  readonly #delay: Milliseconds
  readonly #write: (notes: ReadonlyMap<string, Access>) => Promise<void>
  readonly #waiting = new Map<string, Access>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  /** @param write stores the accesses in those sessions that still exist */
  constructor(delay: Milliseconds, write: (notes: ReadonlyMap<string, Access>) => Promise<void>) {
    this.#delay = delay
    this.#write = write
  }

  of(id: string): Access | undefined {
    return this.#waiting.get(id)
  }

  add(id: string, access: Access): void {
    this.#waiting.set(id, access)
    this.#timer ??= setTimeout(() => void this.flush(), this.#delay).unref()
  }

  /** Writes the waiting accesses. They keep waiting while the store cannot be reached. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#writeAll())
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    const notes = new Map(this.#waiting)
    if (notes.size === 0) return
    try {
      await this.#write(notes)
      // Lookups needed these accesses until now. A newer access of the same session keeps waiting.
      for (const [id, access] of notes) if (this.#waiting.get(id) === access) this.#waiting.delete(id)
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) for (const id of notes.keys()) this.#waiting.delete(id)
      if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => void this.flush(), this.#delay).unref()
    }
  }
}

const UNREACHABLE = Symbol('unreachable')

/** For what need not be written: without it the session is less fresh, or expires by itself. */
export const unlessUnreachable = (error: unknown): typeof UNREACHABLE => {
  if (error instanceof StoreUnavailable) return UNREACHABLE
  throw error
}
