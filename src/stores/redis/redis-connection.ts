import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { createClient } from '@redis/client'
import { StartupError, StoreUnavailable } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { Prepared } from '../../base/prepared.ts'
import { timed } from '../../base/request-timings.ts'
import type { Milliseconds } from '../../base/units.ts'
import { readPrivate } from '../key-file.ts'

/** After this time without a response the connection is closed, and every command on it fails at once. */
const COMMAND_LIMIT: Milliseconds = 2000
/** The client's own timeout counts sent data as well as received data, so it only detects a server that never greets. */
const GREETING_LIMIT: Milliseconds = 3000
/** Short enough that the timeout does not close a healthy connection. */
const PING_INTERVAL: Milliseconds = 1000
const MAX_PAUSE: Milliseconds = 1000
/** The first version whose `SET` supports all options that are used; Valkey also reports 7 or later. */
const OLDEST_VERSION = 7

type Client = ReturnType<typeof createClient>

/** The certificate that the service shows to a server that asks for one: paths of PEM files. */
interface ClientCertificate {
  readonly certificateFile: string
  readonly keyFile: string
}

export interface RedisConnectionOptions {
  readonly certificate?: ClientCertificate | undefined
}

/**
 * Connects to `redis://` or `rediss://[user:password@]host[:port][/database]`.
 * @throws {StartupError} which names host and port, never the password
 */
export async function connectRedis(
  url: string,
  log: Log,
  { certificate }: RedisConnectionOptions = {},
): Promise<RedisConnection> {
  const place = placeOf(url)
  let connection: RedisConnection | undefined
  try {
    const clients = await clientsOf(url, { certificate })
    connection = new RedisConnection(clients, place, log)
    await connection.open()
    return connection
  } catch (error) {
    await connection?.close()
    throw unusable(error, url)
  }
}

/** Makes clients with one password and one certificate. */
interface Clients {
  readonly make: () => Client
  /** Until then a client that cannot connect gives up at once. */
  isStarted: boolean
}

async function clientsOf(url: string, { certificate }: RedisConnectionOptions): Promise<Clients> {
  const tls = certificate && (await readCertificate(certificate))
  // Loaded only where it is used.
  const driver = await import('@redis/client')
  const clients = { isStarted: false, make }
  function make(): Client {
    return driver.createClient({
      url,
      // Commands that cannot be sent fail at once, instead of waiting for a connection.
      disableOfflineQueue: true,
      pingInterval: PING_INTERVAL,
      // Commands have a limit of this class; the limit of the client would create an `AbortSignal` for each command.
      commandOptions: { timeout: 0 },
      socket: {
        connectTimeout: COMMAND_LIMIT,
        socketTimeout: GREETING_LIMIT,
        reconnectStrategy: attempts => clients.isStarted && Math.min(MAX_PAUSE, 50 * 2 ** attempts),
        ...(tls ? { tls: true as const, ...tls } : {}),
      },
    })
  }
  return clients
}

const unusable = (error: unknown, url: string): StartupError =>
  error instanceof StartupError
    ? error
    : new StartupError(`Redis at ${placeOf(url)} cannot be used: ${withoutPassword(reasonOf(error), url)}`)

/** @throws {StartupError} which names the file */
export async function readCertificate({ certificateFile, keyFile }: ClientCertificate) {
  try {
    const pair = { cert: await readFile(certificateFile, 'utf8'), key: await readPrivate(keyFile) }
    if (new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) return pair
    throw new Error('the key does not belong to the certificate')
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(
      `The certificate for Redis cannot be used (${certificateFile}, ${keyFile}): ${reasonOf(error)}.`,
    )
  }
}

/** A connection that reconnects by itself. While it is down, every command fails soon with {@link StoreUnavailable}. */
export class RedisConnection {
  #clients: Clients
  readonly #place: string
  readonly #log: Log
  #client: Client
  #isAway = false
  #isClosed = false

  constructor(clients: Clients, place: string, log: Log) {
    this.#clients = clients
    this.#place = place
    this.#log = log
    this.#client = this.#listened(clients.make())
  }

  /** @throws {Error} at once when there is no server, or an unsuitable one */
  async open(): Promise<void> {
    await this.#client.connect()
    await this.#examine()
    this.#clients.isStarted = true
  }

  /** Connects with another password or certificate to the same server. @throws {StartupError} */
  async renew(url: string, options: RedisConnectionOptions): Promise<Prepared> {
    const clients = await clientsOf(url, options)
    const client = this.#listened(clients.make())
    try {
      await client.connect()
    } catch (error) {
      client.destroy()
      throw unusable(error, url)
    }
    clients.isStarted = true
    const apply = (): void => {
      const old = this.#client
      this.#clients = clients
      this.#client = client
      void ended(old)
    }
    return { apply, discard: async () => await ended(client) }
  }

  /**
   * Returns the reply to one command. After a rejection the command may still have been executed, even later.
   * @throws {StoreUnavailable}
   */
  async command(...parts: readonly string[]): Promise<unknown> {
    const client = this.#client
    try {
      const reply = await timed('database', 'Redis', () => withinLimit(client.sendCommand(parts)))
      this.#noteBack()
      return reply
    } catch (error) {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) throw error
      if (error instanceof NoAnswer) this.#replace(client)
      // Any other error of the server is not the fault of the request: it is loading, read-only, full …
      this.#noteAway(error)
      throw new StoreUnavailable('The store of sessions and lockouts', { cause: error, retryAfter: 2 })
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await ended(this.#client)
  }

  /** @throws {StartupError} when the server is too old */
  async #examine(): Promise<void> {
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

  /** Also ends the waiting of all other callers on the silent connection. */
  #replace(client: Client): void {
    if (this.#client !== client || this.#isClosed) return
    this.#client = this.#listened(this.#clients.make())
    client.destroy()
    // Tries until the connection is open, or closed by us.
    this.#client.connect().catch((error: unknown) => this.#noteAway(error))
  }

  #listened(client: Client): Client {
    // Without a listener an error of the socket would end the process.
    client.on('error', (error: unknown) => this.#noteAway(error))
    client.on('ready', () => this.#noteBack())
    return client
  }

  #noteAway(error: unknown): void {
    if (this.#isAway || this.#isClosed) return
    this.#isAway = true
    this.#log.error({ reason: reasonOf(error), redis: this.#place }, 'Redis cannot be reached')
  }

  #noteBack(): void {
    if (!this.#isAway) return
    this.#isAway = false
    this.#log.info({ redis: this.#place }, 'Redis can be reached again')
  }
}

class NoAnswer extends Error {}

/** Waits for outstanding replies, if the connection is alive. */
const ended = (client: Client): Promise<void> => withinLimit(client.close()).catch(() => client.destroy())

async function withinLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_resolve, reject) => {
    // A reply that has already arrived while this process was busy is read first.
    const refuse = (): void => reject(new NoAnswer(`no answer within ${COMMAND_LIMIT} ms`))
    timer = setTimeout(() => setImmediate(refuse), COMMAND_LIMIT)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Host, port and database: the part of the address that may be shown. */
const placeOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return host + pathname
}

const reasonOf = (error: unknown): string => {
  const cause = error instanceof StoreUnavailable ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

function withoutPassword(text: string, url: string): string {
  const { password } = new URL(url)
  return password === '' ? text : text.replaceAll(password, '…').replaceAll(decodeURIComponent(password), '…')
}
