import { LRUCache } from 'lru-cache'
import type { RedisConnection } from './redis-connection.ts'

/** So many keys in one command at most: the server answers nobody else meanwhile. */
const MAX_KEYS = 500
/** Of the values that were read last, so many stay with their texts. */
const MAX_KEPT = 2000
/** Longer texts are read too rarely to be kept. */
const MAX_LENGTH = 2000

interface Read {
  readonly key: string
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Parsed {
  readonly text: string
  readonly value: unknown
}

/**
 * Reads what one turn of the event loop asks for with one command, sent after the last of it was asked for: a command costs this
 * process far more than a key in it. The server is asked each time; a text that comes back the same is not parsed again.
 */
export class RedisReads {
  readonly #redis: Pick<RedisConnection, 'command'>
  readonly #parsed = new LRUCache<string, Parsed>({ max: MAX_KEPT })
  #waiting: Read[] = []

  constructor(redis: Pick<RedisConnection, 'command'>) {
    this.#redis = redis
  }

  /**
   * The value of a key; the next reader may get the same object.
   * @throws {StoreUnavailable}
   */
  get(key: string): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#askAll())
      this.#waiting.push({ key, resolve, reject })
    })
  }

  #askAll(): void {
    const reads = this.#waiting
    this.#waiting = []
    for (let from = 0; from < reads.length; from += MAX_KEYS) void this.#ask(reads.slice(from, from + MAX_KEYS))
  }

  async #ask(reads: readonly Read[]): Promise<void> {
    try {
      const replies = await this.#replies(reads.map(({ key }) => key))
      for (const [index, read] of reads.entries()) this.#answer(read, replies[index])
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }

  async #replies(keys: readonly string[]): Promise<readonly unknown[]> {
    if (keys.length > 1) return (await this.#redis.command('MGET', ...keys)) as unknown[]
    return [await this.#redis.command('GET', ...keys)]
  }

  /** A text that is not ours fails only the read of its key. */
  #answer({ key, resolve, reject }: Read, text: unknown): void {
    try {
      resolve(this.#parse(key, text))
    } catch (error) {
      reject(error)
    }
  }

  #parse(key: string, text: unknown): unknown {
    // A present value is never empty: it is JSON.
    if (typeof text !== 'string' || text === '') {
      this.#parsed.delete(key)
      return undefined
    }
    const known = this.#parsed.get(key)
    if (known?.text === text) return known.value
    const value: unknown = JSON.parse(text)
    if (text.length <= MAX_LENGTH) this.#parsed.set(key, { text, value })
    else this.#parsed.delete(key)
    return value
  }
}
