import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { InvalidInput, Overloaded, TooLarge, TooSlow, UnsupportedType } from '../../base/errors.ts'
import { MAX_JSON_COST, parseJson } from '../../base/json.ts'
import { currentRequest } from '../../base/request-timings.ts'
import type { System } from '../../base/system.ts'
import { decodeUtf8, parseMediaType } from '../../base/text.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { Parameters } from './parameters.ts'
import { onResponseEnd } from './response-end.ts'

export interface BodyLimits {
  /** The longest pause in a body. */
  readonly idleTimeout: Milliseconds
  /** The maximum size of a JSON or RDF body. */
  readonly maxJson: Bytes
  /** The maximum size of all bodies together that are read as a whole, until their responses have ended. */
  readonly memory: Bytes
}

/**
 * The minimum average rate of a body, in bytes per second. The slowest mobile networks are faster; a client that sends less only keeps a
 * connection open. Time that the service itself takes does not count.
 */
const MIN_RATE: Bytes = 512
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
   * ends too early @param refused its abort ends the stream with its reason
   */
  async *stream(request: IncomingMessage, response: ServerResponse, refused?: AbortSignal): AsyncGenerator<Uint8Array> {
    if (request.headers.expect !== undefined) response.writeContinue()
    const { idleTimeout } = this.#limits
    // If reading of the request itself ended early, Node would close the connection, so callers read this stream instead.
    const body = new PassThrough({ highWaterMark: AHEAD })
    const fail = (): void => {
      if (!request.readableEnded)
        body.destroy(new InvalidInput('bad-request', 'The connection ended before the body did.'))
    }
    const stop = (): unknown => body.destroy(refused?.reason as Error)
    refused?.addEventListener('abort', stop)
    if (refused?.aborted) stop()
    const refuse = (reason: string): unknown => body.destroy(new TooSlow('request-timeout', reason))
    const wait = (): NodeJS.Timeout =>
      setTimeout(() => refuse(`Nothing of the body came for ${idleTimeout / 1000} seconds.`), idleTimeout)
    if (request.destroyed) fail()
    else request.once('close', fail).pipe(body)
    let waited: Milliseconds = 0
    let received: Bytes = 0
    let since = this.#system.monotonic()
    let idle = wait()
    const timings = currentRequest()
    let endWait = timings?.begin('client', 'body')
    try {
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        clearTimeout(idle)
        endWait?.()
        waited += this.#system.monotonic() - since
        if (waited > GRACE && received < (MIN_RATE * waited) / 1000) {
          throw new TooSlow('request-timeout', `The body comes slower than ${MIN_RATE} bytes per second.`)
        }
        received += chunk.length
        yield chunk
        since = this.#system.monotonic()
        idle = wait()
        endWait = timings?.begin('client', 'body')
      }
    } finally {
      clearTimeout(idle)
      endWait?.()
      refused?.removeEventListener('abort', stop)
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

/** True when the request announces a body that is not empty. */
export const hasBody = (request: IncomingMessage): boolean =>
  announcesBody(request) && request.headers['content-length'] !== '0'

/** The media type of the body without parameters, in lower case; `undefined` if none is stated or the text is no media type. */
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
