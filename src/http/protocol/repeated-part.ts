import { promisify } from 'node:util'
import { constants, crc32, deflateRaw } from 'node:zlib'
import type { Bytes } from '../../base/units.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** A large part of the body that is in other bodies too. */
    repeatedPart: RepeatedPart | undefined
  }
}

const deflate = promisify(deflateRaw)

/** A shorter text is compressed in little time. */
const MIN_BYTES: Bytes = 65_536

/** The part is compressed once, and each client unpacks it faster than with a lower level. */
const LEVEL = 6

/** No name, no time, unknown system (RFC 1952 2.3). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])
const TRAILER_BYTES: Bytes = 8

/**
 * A large text that many bodies contain, such as the ids of a long list, which are in each page of it. It is compressed once.
 * In every body it is a piece of the compressed stream that refers to nothing before it (RFC 1951 3.2), so the pieces can be joined.
 */
export class RepeatedPart {
  /** As long as the owner of a text is in use. */
  static readonly #ofOwner = new WeakMap<object, RepeatedPart>()

  readonly #text: string
  #deflated: Promise<Buffer> | undefined

  private constructor(text: string) {
    this.#text = text
  }

  /** @param owner what the text belongs to: the same object has the same text. Returns `undefined` for a short text. */
  static of(owner: object, text: string): RepeatedPart | undefined {
    if (text.length < MIN_BYTES) return undefined
    const present = this.#ofOwner.get(owner)
    if (present) return present
    const part = new RepeatedPart(text)
    this.#ofOwner.set(owner, part)
    return part
  }

  /** The body in gzip (RFC 1952). @param body contains the part */
  async gzip(body: string): Promise<Buffer> {
    const at = body.lastIndexOf(this.#text)
    if (at < 0) throw new Error('the body does not contain its repeated part')
    this.#deflated ??= piece(this.#text, constants.Z_FULL_FLUSH)
    const pieces = await Promise.all([
      piece(body.slice(0, at), constants.Z_FULL_FLUSH),
      this.#deflated,
      piece(body.slice(at + this.#text.length), constants.Z_FINISH),
    ])
    const trailer = Buffer.alloc(TRAILER_BYTES)
    trailer.writeUInt32LE(crc32(body), 0)
    trailer.writeUInt32LE(Buffer.byteLength(body) % 2 ** 32, 4)
    return Buffer.concat([HEADER, ...pieces, trailer])
  }
}

const piece = (text: string, finishFlush: number): Promise<Buffer> => deflate(text, { level: LEVEL, finishFlush })
