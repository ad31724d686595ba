import type { FastifyReply, FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Bytes } from '../../base/units.ts'
import { addVary } from './negotiate.ts'

const codings = ['br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** A smaller response fits into one packet uncompressed. */
const MIN_BYTES: Bytes = 1400
const MAX_BYTES: Bytes = 16 * 2 ** 20
/**
 * Compression shares the thread pool with files and password hashes. Beyond this number, responses are sent
 * uncompressed.
 */
const MAX_AT_ONCE = 2
const textTypes = /^(?:text\/(?!html)|application\/(?:json|ld\+json|rdf\+json|rdf\+xml|trig|n-triples|n-quads|xml)\b)/

/** The coding that the client prefers; `undefined` means uncompressed (RFC 9110 12.5.3). */
export function acceptedCoding(request: FastifyRequest): Coding | undefined {
  const accepted = new Negotiator(request.raw).encodings([...codings])
  return codings.find(coding => accepted.includes(coding))
}

/** A strong ETag must not stand for different bytes (RFC 9110 8.8.3). */
export const codedTag = (etag: string, coding: Coding): string => etag.replace(/"$/, `.${coding}"`)

/** Lets conditional headers match a state by the ETag of any coding. */
export function removeCodingFromTags({ headers }: FastifyRequest['raw']): void {
  for (const name of ['if-match', 'if-none-match', 'if-range'] as const) {
    const tags = headers[name]
    if (typeof tags === 'string') headers[name] = tags.replaceAll(/\.(?:br|gzip)"/g, '"')
  }
}

const compressors: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: bytes =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  gzip: bytes => promisify(gzip)(bytes, { level: 6 }),
}

let running = 0

/**
 * Compresses the body of a route marked `compressible`. No such route returns secrets: if an attacker can add
 * to a body, its compressed size reveals the secrets in it (BREACH). Streams, that is files and archives,
 * stay as they are.
 */
export async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  addVary(reply, 'Accept-Encoding')
  const isWhole =
    request.method === 'GET' && reply.statusCode === 200 && reply.getHeader('content-encoding') === undefined
  if (!isWhole || typeof payload !== 'string' || !textTypes.test(String(reply.getHeader('content-type'))))
    return payload
  const coding = acceptedCoding(request)
  const bytes = Buffer.byteLength(payload)
  if (coding === undefined || bytes < MIN_BYTES || bytes > MAX_BYTES || running >= MAX_AT_ONCE) return payload
  running++
  try {
    const coded = await compressors[coding](Buffer.from(payload))
    const etag = reply.getHeader('etag')
    if (typeof etag === 'string') reply.header('etag', codedTag(etag, coding))
    reply.header('content-encoding', coding).removeHeader('content-length')
    return coded
  } finally {
    running--
  }
}

/** True when the route allows compression and the entry is not a user or group. */
export const isCompressible = (request: FastifyRequest): boolean =>
  request.routeOptions.config.compressible === true && !isAboutPeople(request)

/** Users have properties that clients choose, which may be secrets. */
const isAboutPeople = ({ params }: FastifyRequest): boolean =>
  (params as Readonly<Record<string, string>>)['context'] === '_principals'
