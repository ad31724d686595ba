import type { FastifyReply, FastifyRequest } from 'fastify'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Overloaded } from '../../base/errors.ts'
import { timed } from '../../base/request-timings.ts'
import { Semaphore } from '../../base/semaphore.ts'
import type { Bytes } from '../../base/units.ts'
import { acceptedCoding, addVary, codedTag, type Coding } from './negotiate.ts'

/** A smaller response fits into one packet uncompressed. */
const MIN_BYTES: Bytes = 1400
const MAX_BYTES: Bytes = 16 * 2 ** 20
const textTypes = /^(?:text\/(?!html)|application\/(?:json|ld\+json|rdf\+json|rdf\+xml|trig|n-triples|n-quads|xml)\b)/

const encoders: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: bytes => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: bytes => promisify(gzip)(bytes),
}

const encode = async (bytes: Buffer, coding: Coding): Promise<Buffer> =>
  await timed('serialising', coding, () => encoders[coding](bytes))

/** Compresses responses, a limited number at once: an encoder takes several megabytes. */
export class Compression {
  readonly #running = new Semaphore({ concurrency: 4, concurrencyOfOne: 3, queue: 0, what: 'compressions' })

  /**
   * Compresses the body of a route marked `compressible`. No such route returns secrets: if an attacker can add to a body, its compressed
   * size reveals the secrets in it (BREACH). Streams, that is files and archives, stay as they are, and so do all responses while the
   * encoders are busy.
   * @param share the caller that the encoder counts for
   */
  async apply(request: FastifyRequest, reply: FastifyReply, payload: unknown, share: string): Promise<unknown> {
    addVary(reply, 'Accept-Encoding')
    const coding = acceptedCoding(request)
    const isWhole =
      request.method === 'GET' && reply.statusCode === 200 && reply.getHeader('content-encoding') === undefined
    if (coding === undefined || !isWhole || !textTypes.test(String(reply.getHeader('content-type')))) return payload
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload
    if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) return payload
    const coded = await this.#encode(bytes, coding, share)
    if (!coded) return payload
    const etag = reply.getHeader('etag')
    if (typeof etag === 'string') reply.header('etag', codedTag(etag, coding))
    reply.header('content-encoding', coding).removeHeader('content-length')
    return coded
  }

  /** `undefined` while the encoders are busy. */
  async #encode(bytes: Buffer, coding: Coding, share: string): Promise<Buffer | undefined> {
    try {
      return await this.#running.run(() => encode(bytes, coding), { of: share })
    } catch (error) {
      if (error instanceof Overloaded) return undefined
      throw error
    }
  }
}

/** A text that stays the same, so each coding of it is made once. */
export class StaticText {
  readonly #bytes: Buffer
  readonly #coded = new Map<Coding, Promise<Buffer>>()

  constructor(text: string) {
    this.#bytes = Buffer.from(text)
  }

  async send(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    addVary(reply, 'Accept-Encoding')
    const coding = acceptedCoding(request)
    if (coding === undefined) return await reply.send(this.#bytes)
    return await reply.header('content-encoding', coding).send(await this.#in(coding))
  }

  #in(coding: Coding): Promise<Buffer> {
    const known = this.#coded.get(coding)
    if (known) return known
    const coded = encode(this.#bytes, coding)
    this.#coded.set(coding, coded)
    // The next request tries again.
    coded.catch(() => this.#coded.delete(coding))
    return coded
  }
}

/** True when the route allows compression and the entry is not a user or group. */
export const isCompressible = (request: FastifyRequest): boolean =>
  request.route.compressible === true && !isAboutPeople(request)

/** Users have properties that clients choose, which may be secrets. */
const isAboutPeople = ({ params }: FastifyRequest): boolean =>
  (params as Readonly<Record<string, string>>)['context'] === '_principals'
