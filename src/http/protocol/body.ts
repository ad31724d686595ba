import type { ErrorCode } from '../../base/error-codes.ts'
import { InvalidInput, NotSupported, Overloaded, TooLarge, TooSlow, UnsupportedType } from '../../base/errors.ts'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { parseMediaType, decodeUtf8 } from '../../base/text.ts'
import { MAX_JSON_COST, parseJson } from '../../base/json.ts'
import { currentRequest } from '../../base/request-parts.ts'
import type { System } from '../../base/system.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'

/** Parameters of one query or form, known or not: an address has room for 8,000, a form of a sign-on for 800,000. */
const MAX_PARAMETERS = 200

/** Names and values of a query or a form, in order, including duplicates. */
export class Parameters {
  readonly #pairs: ReadonlyArray<readonly [name: string, value: string]>
  readonly #code: ErrorCode

  private constructor(pairs: ReadonlyArray<readonly [string, string]>, code: ErrorCode) {
    this.#pairs = pairs
    this.#code = code
  }

  /** Of an address without a query. */
  static readonly none = new Parameters([], 'invalid-query')

  /** @throws {InvalidInput} `code` for a malformed percent escape, bytes that are not UTF-8, or too many parameters */
  static parse(text: string, code: ErrorCode): Parameters {
    const decode = (part: string): string => {
      if (plain.test(part)) return part
      try {
        return decodeURIComponent(part.replaceAll('+', ' '))
      } catch (error) {
        const shown = part.length > 40 ? `${part.slice(0, 40)}…` : part
        throw new InvalidInput(code, `"${shown}" is not valid percent-encoded UTF-8.`, { cause: error })
      }
    }
    const pairs: Array<readonly [name: string, value: string]> = []
    for (const part of text.split('&')) {
      if (part === '') continue
      if (pairs.length === MAX_PARAMETERS) {
        throw new InvalidInput(code, `There are more than ${MAX_PARAMETERS} parameters.`)
      }
      const equals = part.indexOf('=')
      pairs.push(equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))])
    }
    return new Parameters(pairs, code)
  }

  has(name: string): boolean {
    return this.#pairs.some(([present]) => present === name)
  }

  /** Returns the single value of a parameter. @throws {InvalidInput} when the parameter occurs more than once */
  get(name: string): string | undefined {
    const first = this.#pairs.find(([present]) => present === name)
    if (first === undefined || this.#pairs.length === 1) return first?.[1]
    const count = this.#pairs.filter(([present]) => present === name).length
    if (count > 1) throw new InvalidInput(this.#code, `\`${name}\` is given ${count} times.`)
    return first[1]
  }
}

/** A name or value that stands for itself, as most do. */
const plain = /^[A-Za-z0-9_.-]*$/

/** True for a flag without a value, and for `true` (W3.0.4). */
export function isFlagSet(parameters: Parameters, name: string): boolean {
  const value = parameters.get(name)
  return value !== undefined && !['false', 'off', '0'].includes(value.toLowerCase())
}

/** Refuses feeds of contexts, lists and searches (W3.8.5). @throws {NotSupported} */
export function refuseFeed({ parameters }: { readonly parameters: Parameters }): void {
  if (parameters.has('syndication')) throw new NotSupported('not-available', 'Feeds are not available yet.')
}

export interface BodyLimits {
  /** The longest pause in a body. */
  readonly idleTimeout: Milliseconds
  /** The minimum average rate of a body, in bytes per second. Time that the service itself takes does not count. */
  readonly minimumRate: Bytes
  /** The maximum size of a JSON or RDF body. */
  readonly maxJson: Bytes
  /** The maximum size of all bodies together that are read as a whole, until their responses have ended. */
  readonly memory: Bytes
}

/** The minimum rate applies only after this time. */
const GRACE: Milliseconds = 10_000
/** Maximum number of bytes received ahead of their reader. */
const AHEAD: Bytes = 65_536
/** The maximum size of a form, and of JSON with the same content as a form (D2.1). */
export const MAX_FORM_BYTES: Bytes = 32_768

/** Reads request bodies. Reads nothing and sends no `100 Continue` before a handler asks for the body (D7.4). */
export class Bodies {
  readonly #system: System
  readonly #limits: BodyLimits
  /** The size of the bodies in memory. */
  #inMemory: Bytes = 0

  constructor(system: System, limits: BodyLimits) {
    this.#system = system
    this.#limits = limits
  }

  /** Returns a function that counts bytes of a body which stays in memory until its response has ended; it throws {@link Overloaded}. */
  counter(response: ServerResponse): (bytes: Bytes) => void {
    let own: Bytes = 0
    onResponseEnd(response, () => (this.#inMemory -= own))
    return bytes => {
      if (this.#inMemory + bytes > this.#limits.memory)
        throw new Overloaded(
          `Large requests in progress take more than ${this.#limits.memory} bytes. Try again when some have finished.`,
        )
      if (response.closed) return
      this.#inMemory += bytes
      own += bytes
    }
  }

  /**
   * The bytes as they arrive, with back-pressure. A reader that stops early leaves the connection usable for
   * the response.
   * @throws {TooSlow} when the bytes stop or arrive too slowly @throws {InvalidInput} when the connection
   * ends too early
   */
  async *stream(request: IncomingMessage, response: ServerResponse): AsyncGenerator<Uint8Array> {
    if (request.headers.expect !== undefined) response.writeContinue()
    const { idleTimeout, minimumRate } = this.#limits
    // Whoever stops reading a request closes its connection, so this stream is read instead.
    const body = new PassThrough({ highWaterMark: AHEAD })
    const fail = (): void => {
      if (!request.readableEnded)
        body.destroy(new InvalidInput('bad-request', 'The connection ended before the body did.'))
    }
    const refuse = (reason: string): unknown => body.destroy(new TooSlow('request-timeout', reason))
    const wait = (): NodeJS.Timeout =>
      setTimeout(() => refuse(`Nothing of the body came for ${idleTimeout / 1000} seconds.`), idleTimeout)
    if (request.destroyed) fail()
    else request.once('close', fail).pipe(body)
    let waited: Milliseconds = 0
    let received: Bytes = 0
    let since = this.#system.monotonic()
    let idle = wait()
    const parts = currentRequest()
    let endWait = parts?.begin('client', 'body')
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        clearTimeout(idle)
        endWait?.()
        waited += this.#system.monotonic() - since
        if (waited > GRACE && received < (minimumRate * waited) / 1000) {
          throw new TooSlow('request-timeout', `The body comes slower than ${minimumRate} bytes per second.`)
        }
        received += chunk.length
        yield chunk
        since = this.#system.monotonic()
        idle = wait()
        endWait = parts?.begin('client', 'body')
      }
    } finally {
      clearTimeout(idle)
      endWait?.()
      request.off('close', fail).unpipe(body)
    }
  }

  /**
   * Returns the whole body, alone in its memory, so that it can be given to another thread without a copy.
   * @throws {TooLarge} `body-too-large` @throws {Overloaded}
   */
  async bytes(
    request: IncomingMessage,
    response: ServerResponse,
    limit: Bytes = this.#limits.maxJson,
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
    const count = this.counter(response)
    const chunks: Uint8Array[] = []
    let size: Bytes = 0
    for await (const chunk of this.stream(request, response)) {
      size += chunk.length
      if (size > limit) throw tooLarge(limit)
      count(chunk.length)
      chunks.push(chunk)
    }
    const bytes = new Uint8Array(size)
    let at = 0
    for (const chunk of chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }

  /** Returns the whole body as text. @throws {InvalidInput} when it is not UTF-8 */
  async text(request: IncomingMessage, response: ServerResponse, limit: Bytes = this.#limits.maxJson): Promise<string> {
    return decodeUtf8(await this.bytes(request, response, limit))
  }

  /** Returns the text of a JSON body; an empty body is allowed with any type. @throws {UnsupportedType} */
  async jsonText(request: IncomingMessage, response: ServerResponse, limit?: Bytes): Promise<string> {
    if (hasBody(request)) requireType(request, ['application/json', 'application/rdf+json'])
    return await this.text(request, response, limit)
  }

  /** Returns a JSON value. @throws {InvalidInput} `invalid-json`, also for an empty body @throws {TooLarge} `body-too-large` */
  async json(request: IncomingMessage, response: ServerResponse, limit?: Bytes): Promise<unknown> {
    const text = await this.jsonText(request, response, limit)
    return parseJson(text, { maxCost: MAX_JSON_COST })
  }

  /** Returns the fields of a form (D2.1). @throws {UnsupportedType} @throws {InvalidInput} `invalid-form` */
  async form(request: IncomingMessage, response: ServerResponse, limit: Bytes = MAX_FORM_BYTES): Promise<Parameters> {
    requireType(request, ['application/x-www-form-urlencoded'])
    return Parameters.parse(await this.text(request, response, limit), 'invalid-form')
  }
}

/** True when the request announces a body, even an empty one. */
export const announcesBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined

const hasBody = (request: IncomingMessage): boolean =>
  announcesBody(request) && request.headers['content-length'] !== '0'

/** The media type of the body without parameters, in lower case; `undefined` where none is stated or what is stated is none. */
export const mediaTypeOf = ({ headers }: IncomingMessage): string | undefined =>
  headers['content-type'] === undefined ? undefined : parseMediaType(headers['content-type'])

function requireType(request: IncomingMessage, accepted: readonly string[]): void {
  const type = mediaTypeOf(request)
  if (type !== undefined && accepted.includes(type)) return
  throw new UnsupportedType('unsupported-type', `The body must be ${accepted.join(' or ')}, not ${type ?? 'untyped'}.`)
}

const tooLarge = (limit: Bytes): TooLarge =>
  new TooLarge('body-too-large', `The body may have at most ${limit} bytes.`, { extra: { limit } })

/** This much of an unwanted body is still read, so that the client can read the response. */
const MAX_DRAINED: Bytes = 8 * 1_048_576
const DRAIN_TIMEOUT: Milliseconds = 5000

/**
 * Reads and drops the rest of a body that nobody reads any more, when its response is about to be sent. Closes the connection after the
 * response when there is too much: closing at once would make the system discard the response, and reading everything would let a refused
 * upload run to its end. Resolves when nothing more is read.
 */
export function dropUnreadBody(request: IncomingMessage, response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    if (request.complete || request.destroyed) return resolve()
    let dropped = 0
    const stop = (): void => {
      clearTimeout(timer)
      request.off('data', count)
      resolve()
    }
    const giveUp = (): void => {
      stop()
      request.pause()
      onResponseEnd(response, () => request.socket.destroySoon())
    }
    const timer = setTimeout(giveUp, DRAIN_TIMEOUT).unref()
    const count = (chunk: Uint8Array): void => {
      dropped += chunk.length
      if (dropped > MAX_DRAINED) giveUp()
    }
    request.on('data', count)
    for (const end of ['end', 'close'] as const) request.once(end, stop)
    request.resume()
    return undefined
  })
}

/** Time from the last byte of the upload to its response. One more than promised, because timers may fire a millisecond early. */
const LISTENS_AFTER: Milliseconds = 20 + 1

/**
 * Delays the response to a chunked upload for superagent on Node, which starts to listen only after its upload has closed. It
 * would miss an immediate response, also an error response, and wait for half a minute (W3.8.1).
 */
export async function holdForLateListener(request: IncomingMessage, response: ServerResponse): Promise<void> {
  await dropUnreadBody(request, response)
  await new Promise(resolve => setTimeout(resolve, LISTENS_AFTER))
}

/** True when the response must be delayed. A client that sends `Expect: 100-continue` has not begun to send the body. */
export const isLateListener = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined && headers.expect === undefined && isSuperagent(headers)

/**
 * Old releases of superagent on Node send their name. Current ones send no `User-Agent`; they are recognised by that and by
 * the headers that they always send, because the published client must work unmodified (D12).
 */
function isSuperagent({ 'user-agent': name, 'accept-encoding': encodings, connection }: IncomingHttpHeaders): boolean {
  if (name !== undefined) return name.startsWith('node-superagent')
  return encodings === 'gzip, deflate' && connection?.toLowerCase() === 'close'
}

/** Calls `done` when the response has been handed on as a whole or its client has left; at once if there is none or that is over. */
export function onResponseEnd(response: ServerResponse | undefined, done: () => void): void {
  if (!response || response.closed) done()
  else response.once('close', done)
}

/** A signal that aborts when the client has disconnected before it has the response. */
export function clientGoneSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  onResponseEnd(raw, () => {
    if (!raw.writableFinished) controller.abort(new InvalidInput('bad-request', 'The client has left.'))
  })
  return controller.signal
}
