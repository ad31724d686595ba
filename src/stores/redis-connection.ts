import type { createClient } from '@redis/client'
import { StartupError, Unreachable } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Milliseconds } from '../base/units.ts'

/** An answer that takes longer is no answer. The client itself has no limit for a command that is on its way. */
const COMMAND_LIMIT: Milliseconds = 2000
/** A connection on which nothing arrives for so long is given up, and every command on it fails at once. */
const SILENCE_LIMIT: Milliseconds = 3000
/** Often enough that a healthy connection is never silent. */
const PING_INTERVAL: Milliseconds = 1000
const LONGEST_PAUSE: Milliseconds = 1000
/** The first version whose `SET` takes all options that are used; Valkey calls itself 7 or later as well. */
const OLDEST_VERSION = 7

type Client = ReturnType<typeof createClient>

/**
 * Connects to `redis://` or `rediss://[user:password@]host[:port][/database]`.
 * @throws {StartupError} which names host and port, never the password
 */
export async function connectRedis(url: string, log: Log): Promise<RedisConnection> {
  const place = placeOf(url)
  // Loaded only where it is used.
  const driver = await import('@redis/client')
  let isStarted = false
  let client: Client | undefined
  try {
    client = driver.createClient({
      url,
      // Commands that cannot be sent fail at once, instead of waiting for a connection.
      disableOfflineQueue: true,
      pingInterval: PING_INTERVAL,
      socket: {
        connectTimeout: COMMAND_LIMIT,
        socketTimeout: SILENCE_LIMIT,
        reconnectStrategy: attempts => isStarted && Math.min(LONGEST_PAUSE, 50 * 2 ** attempts),
      },
    })
    const connection = new RedisConnection(client, place, log)
    await client.connect()
    isStarted = true
    await connection.examine()
    return connection
  } catch (error) {
    client?.destroy()
    if (error instanceof StartupError) throw error
    throw new StartupError(`Redis at ${place} cannot be used: ${withoutPassword(reasonOf(error), url)}`)
  }
}

/** One connection that comes back by itself. While it is away, every command fails soon with {@link Unreachable}. */
export class RedisConnection {
  readonly #client: Client
  readonly #place: string
  readonly #log: Log
  #isAway = false

  constructor(client: Client, place: string, log: Log) {
    this.#client = client
    this.#place = place
    this.#log = log
    // Without a listener an error of the socket would end the process.
    client.on('error', (error: unknown) => this.#noteAway(error))
    client.on('ready', () => this.#noteBack())
  }

  /**
   * The reply to one command. After a rejection it may have been executed all the same, even a while later.
   * @throws {Unreachable}
   */
  async command(...parts: readonly string[]): Promise<unknown> {
    try {
      const reply = await withinLimit(this.#client.sendCommand(parts))
      this.#noteBack()
      return reply
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) throw error
      // What else the server refuses is no fault of the request: it is loading, read-only, full …
      this.#noteAway(error)
      throw new Unreachable('Logins cannot be looked up at the moment. Try again shortly.', { cause: error })
    }
  }

  /** @throws {StartupError} when the server is too old */
  async examine(): Promise<void> {
    const info = String(await this.command('INFO', 'server', 'memory'))
    const version = /^redis_version:(\d+)[^\r\n]*/m.exec(info)
    if (Number(version?.[1]) < OLDEST_VERSION) {
      throw new StartupError(
        `Redis at ${this.#place} is too old (${version?.[0]}): version ${OLDEST_VERSION} or later is needed.`,
      )
    }
    const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction'
    if (policy === 'noeviction') return
    this.#log.warn(
      { policy },
      'Redis may drop logins and lockouts when it is full: set its maxmemory-policy to noeviction',
    )
  }

  async close(): Promise<void> {
    // Who still asks is told no, but the log is not.
    this.#isAway = true
    // Waits for the replies to come, if the connection is alive.
    await withinLimit(this.#client.close()).catch(() => this.#client.destroy())
  }

  #noteAway(error: unknown): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#log.error({ reason: reasonOf(error), redis: this.#place }, 'Redis cannot be reached')
  }

  #noteBack(): void {
    if (!this.#isAway) return
    this.#isAway = false
    this.#log.info({ redis: this.#place }, 'Redis is reached again')
  }
}

async function withinLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${COMMAND_LIMIT} ms`)), COMMAND_LIMIT)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Host, port and database: what may be shown of the address. */
const placeOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return host + pathname
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Unreachable ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

function withoutPassword(text: string, url: string): string {
  const { password } = new URL(url)
  return password === '' ? text : text.replaceAll(password, '…').replaceAll(decodeURIComponent(password), '…')
}
