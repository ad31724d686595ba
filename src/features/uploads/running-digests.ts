import { createHash, type Hash } from 'node:crypto'
import type { Bytes } from '../../base/units.ts'

/** Maximum number of uploads whose digest is kept. */
const MAX_DIGESTS = 1000

interface Progress {
  readonly id: string
  readonly received: Bytes
  readonly isPartial: number
}

/**
 * SHA-256 of the bytes of uploads that this process has received. If another process received some of the bytes, the file is read once more
 * at its end.
 */
export class RunningDigests {
  /** The least recently used first. */
  readonly #digests = new Map<string, { readonly received: Bytes; readonly hash: Hash }>()

  find({ id, received, isPartial }: Progress): Hash | undefined {
    // The digest of a part is of no use for the whole.
    if (isPartial === 1) return undefined
    if (received === 0) return createHash('sha256')
    const known = this.#digests.get(id)
    return known?.received === received ? known.hash : undefined
  }

  keep(id: string, received: Bytes, hash: Hash): void {
    this.#digests.delete(id)
    this.#digests.set(id, { received, hash })
    const [oldest] = this.#digests.keys()
    if (this.#digests.size > MAX_DIGESTS && oldest !== undefined) this.#digests.delete(oldest)
  }
}
