import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { InvalidInput, Overloaded, TooLarge, TooSlow, UnsupportedType } from '../../base/errors.ts'
import { MAX_JSON_COST, parseJson } from '../../base/json.ts'
import { notePassing } from '../../base/passing-bytes.ts'
import { decodeUtf8 } from '../../base/text.ts'
import type { System } from '../../base/system.ts'
import { takeTurnFor, Turns } from '../../base/yielding.ts'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { Arrivals } from './arrivals.ts'
import { Parameters } from './query.ts'
import { MemoryInUse } from '../../base/memory-in-use.ts'
import { onResponseEnd } from './pipelines.ts'

export interface BodyLimits {
  /** The longest pause in a body. */
  readonly idleTimeout: Milliseconds
  /** The minimum average rate of a body, in bytes per second. Time that the service itself takes does not count. */
  readonly minimumRate: Bytes
  /** The maximum size of a JSON or RDF body. */
  readonly maxJson: Bytes
  /** For bodies that are read as a whole, until their response has ended. */
  readonly memory: BodyMemoryLimits
}

/** The minimum rate applies only after this time. */
const GRACE: Milliseconds = 10_000
/** The maximum size of a form, and of JSON with the same content as a form (D2.1). */
export const MAX_FORM_BYTES: Bytes = 32_768

/** A body reserves this much memory before its first byte, and later up to so many times what has come. */
const FIRST_RESERVED: Bytes = 65_536
const GROWTH = 16

/** A client can close a thousand connections at the same moment; what each leaves behind takes as long as a request. */
const departures = new Turns(8)

/** Reads request bodies. Reads nothing and sends no `100 Continue` before a handler asks for the body (D7.4). */
export class Bodies {
  readonly #system: System
  readonly #limits: BodyLimits
  readonly #memory: BodyMemory

  constructor(system: System, limits: BodyLimits) {
    this.#system = system
    this.#limits = limits
    this.#memory = new BodyMemory(limits.memory)
  }

  /** Records the caller whose memory limit the body of this request counts against: a user, or the address of a guest. */
  belongs(request: IncomingMessage, owner: string): void {
    this.#memory.belongs(request, owner)
  }

  /** For a body that is kept in memory, until its response has ended. */
  reserve(request: IncomingMessage, response: ServerResponse): BodyReservation {
    return this.#memory.reserve(request, response)
  }

  /**
   * The bytes as they arrive, with back-pressure. A reader that stops early leaves the connection usable for
   * the response.
   * @throws {TooSlow} when the bytes stop or arrive too slowly @throws {InvalidInput} when the connection
   * ends too early
   */
  async *stream(request: IncomingMessage, response: ServerResponse): AsyncGenerator<Uint8Array> {
    if (request.headers.expect !== undefined) response.writeContinue()
    const arrivals = new Arrivals(request, this.#limits.idleTimeout)
    let waited: Milliseconds = 0
    let received: Bytes = 0
    try {
      for (;;) {
        const chunk = arrivals.take()
        if (chunk) {
          received += chunk.length
          notePassing(chunk.length)
          yield chunk
          continue
        }
        if (request.readableEnded) return
        if (request.destroyed) {
          await departures.take()
          throw new InvalidInput('bad-request', 'The connection ended before the body did.')
        }
        const from = this.#system.monotonic()
        await arrivals.next()
        waited += this.#system.monotonic() - from
        if (waited > GRACE && received < (this.#limits.minimumRate * waited) / 1000) {
          const rate = this.#limits.minimumRate
          throw new TooSlow('request-timeout', `The body comes slower than ${rate} bytes per second.`)
        }
      }
    } finally {
      arrivals.stop()
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
    const declared = Number(request.headers['content-length'] ?? limit)
    if (declared > limit) throw tooLarge(limit)
    const memory = this.reserve(request, response)
    if (request.headers['content-length'] !== undefined) memory.announce(declared)
    // Each chunk is copied to its place and dropped. Reserved bytes that are not yet written take no memory.
    let bytes = new Uint8Array(Math.min(declared, FIRST_RESERVED))
    let size = 0
    for await (const chunk of this.stream(request, response)) {
      if (size + chunk.length > limit) throw tooLarge(limit)
      memory.add(chunk.length)
      if (size + chunk.length > bytes.length) {
        const larger = new Uint8Array(Math.max(size + chunk.length, Math.min(declared, GROWTH * size)))
        larger.set(bytes.subarray(0, size))
        bytes = larger
      }
      bytes.set(chunk, size)
      size += chunk.length
    }
    return bytes.subarray(0, size)
  }

  /** Returns the whole body as text. @throws {InvalidInput} when it is not UTF-8 */
  async text(request: IncomingMessage, response: ServerResponse, limit: Bytes = this.#limits.maxJson): Promise<string> {
    const bytes = await this.bytes(request, response, limit)
    await takeTurnFor(bytes)
    return decodeUtf8(bytes)
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

/** The media type of the body without parameters, in lower case. */
export const mediaTypeOf = ({ headers }: IncomingMessage): string | undefined =>
  headers['content-type']?.split(';')[0]?.trim().toLowerCase()

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
 * After a response that left the body unread, the rest is read and dropped up to a limit, then the connection
 * is closed. Closing at once would make the system discard the response; reading everything would let a
 * refused upload run to its end.
 */
export function drainUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // Added before Node's own listener, which would discard the incoming data if no handler had begun to read.
  response.prependListener('finish', () => {
    if (!request.complete) request.read(0)
    void closeAfterBody(request)
  })
}

async function closeAfterBody(request: IncomingMessage): Promise<void> {
  if (!request.complete && !(await drain(request))) request.socket.destroy()
}

/** Reads the rest of a body and drops it. Resolves to false when the rest exceeds the limit. */
function drain(request: IncomingMessage): Promise<boolean> {
  return new Promise(resolve => {
    let drained = 0
    const stop = (isAtItsEnd: boolean): void => {
      clearTimeout(timer)
      request.off('data', count)
      resolve(isAtItsEnd)
    }
    const timer = setTimeout(() => stop(false), DRAIN_TIMEOUT).unref()
    const count = (chunk: Uint8Array): void => {
      drained += chunk.length
      if (drained > MAX_DRAINED) stop(false)
    }
    request.on('data', count)
    for (const end of ['end', 'close'] as const) request.once(end, () => stop(true))
    // A reader that still waits for bytes would keep the stream from flowing.
    request.removeAllListeners('readable')
    request.resume()
  })
}

/** Time from the last byte of the upload to its response. One more than promised, because timers may fire a millisecond early. */
const LISTENS_AFTER: Milliseconds = 20 + 1

/**
 * Delays the response to a chunked upload for superagent on Node, which starts to listen only after its upload has closed. It
 * would miss an immediate response, also an error response, and wait for half a minute (W3.8.1).
 */
export async function holdForLateListener(request: IncomingMessage): Promise<void> {
  if (!request.complete && !request.destroyed) await drain(request)
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

/** A signal that aborts soon after the client has disconnected before it has the response. */
export function clientGoneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  const onClose = (): void => {
    if (reply.raw.writableFinished) return
    void departures.take().then(() => controller.abort(new InvalidInput('bad-request', 'The client has left.')))
  }
  onResponseEnd(reply.raw, onClose)
  return controller.signal
}

export interface BodyMemoryLimits {
  /** For bodies of one caller at the same time. */
  readonly ofOne: Bytes
  /** For bodies of all callers. */
  readonly ofAll: Bytes
}

/** The memory that the body of one request takes. */
export interface BodyReservation {
  /**
   * Counts bytes that are about to come against the limit of the caller, before any of them is read. @throws {Overloaded}
   */
  announce(bytes: Bytes): void
  /** Counts bytes that have come. @throws {Overloaded} */
  add(bytes: Bytes): void
}

/**
 * Counts the memory of bodies that are read as a whole, from their first byte until the response has ended: in between they wait for
 * more bytes, for a thread that parses them, or for the turn to write. Announced bytes count against the caller's own limit at once, so
 * that the first of many bodies are read to their end. Only received bytes count against the common limit, so that a caller cannot take
 * memory from others by announcing much.
 */
export class BodyMemory {
  readonly #limits: BodyMemoryLimits
  readonly #owners = new WeakMap<IncomingMessage, string>()
  readonly #inUse = new MemoryInUse()

  constructor(limits: BodyMemoryLimits) {
    this.#limits = limits
  }

  /** Records the caller whose memory limit the body of this request counts against: a user, or the address of a guest. */
  belongs(request: IncomingMessage, owner: string): void {
    this.#owners.set(request, owner)
  }

  reserve(request: IncomingMessage, response: ServerResponse): BodyReservation {
    const owner = this.#owners.get(request) ?? ''
    let [announced, received] = [0, 0]
    let isOver = false
    onResponseEnd(response, () => {
      isOver = true
      this.#inUse.add(owner, -announced, -received)
    })
    const announce = (bytes: Bytes): void => {
      if (bytes <= announced || isOver) return
      const more = bytes - announced
      if (this.#inUse.of(owner) + more > this.#limits.ofOne)
        throw new Overloaded('Your large bodies take too much memory at once.')
      this.#inUse.add(owner, more, 0)
      announced = bytes
    }
    const add = (bytes: Bytes): void => {
      if (isOver) return
      announce(received + bytes)
      if (this.#inUse.ofAll + bytes > this.#limits.ofAll) throw new Overloaded('Too many large bodies at once.')
      this.#inUse.add(owner, 0, bytes)
      received += bytes
    }
    return { announce, add }
  }
}
