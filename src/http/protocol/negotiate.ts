import Negotiator from 'negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { timed } from '../../base/request-parts.ts'
import type { Bytes } from '../../base/units.ts'

/** What the client prefers: the media type, the language and the coding of a response, and its compression. */

const MAX_MEDIA_RANGES = 50

/**
 * Finds the one of these media types that `Accept` prefers; `undefined` when it has none of them. Its first 50 ranges count: each is
 * compared with each type.
 */
export function preferenceAmong(available: readonly string[]): (request: FastifyRequest) => string | undefined {
  return ({ headers: { accept } }) => {
    // No preference (RFC 9110 12.5.1), as most programs have none.
    if (accept === undefined || accept === '*/*') return available[0]
    const shortened = accept.split(',', MAX_MEDIA_RANGES).join(',')
    return new Negotiator({ headers: { accept: shortened } }).mediaType([...available])
  }
}

const preferredPage = preferenceAmong(['application/json', 'text/html'])

/** True when the request prefers a page to JSON. `*\/*`, which command-line clients send, does not. */
export const prefersHtml = (request: FastifyRequest): boolean => preferredPage(request) === 'text/html'

const MAX_LANGUAGES = 50
/** Language tags have at most 35 characters in practice (RFC 5646 4.4.1). The limit bounds the work of the pattern below. */
const MAX_ITEM_CHARACTERS = 100
const WEIGHTED_LANGUAGE =
  /^\s*([a-z]{1,8}(?:-[a-z\d]{1,8})*|\*)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i

/** `Accept-Language` as a map from tag to weight, at most 50 tags, weights to three decimals (D3.1). */
export function acceptLanguage(header: string | undefined): Record<string, number> {
  if (header === undefined) return {}
  const weights = new Map<string, number>()
  for (const item of header.split(',')) {
    if (item.length > MAX_ITEM_CHARACTERS) continue
    const match = WEIGHTED_LANGUAGE.exec(item)
    const tag = match?.[1]
    if (tag !== undefined && weights.size < MAX_LANGUAGES) weights.set(tag, Number(match?.[2] ?? 1))
  }
  return Object.fromEntries(weights)
}

/** Adds a request header to those on which the response depends. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary')
  if (typeof present !== 'string') reply.header('vary', name)
  else if (!present.split(', ').includes(name)) reply.header('vary', `${present}, ${name}`)
}

const codings = ['br', 'gzip'] as const
export type Coding = (typeof codings)[number]

/** A smaller response fits into one packet uncompressed. */
const MIN_BYTES: Bytes = 1400
const MAX_BYTES: Bytes = 16 * 2 ** 20
const textTypes = /^(?:text\/(?!html)|application\/(?:json|ld\+json|rdf\+json|rdf\+xml|trig|n-triples|n-quads|xml)\b)/

/** The types of the package lack the order that decides between codings of the same quality. */
type Encodings = (available: readonly string[], options: { readonly preferred: readonly string[] }) => string[]

/** Names a body as it is, for the client to weigh against the codings. */
const UNCODED = 'identity'

/**
 * The coding of these that the client prefers; of equal ones the first. `undefined` means uncompressed, which the client may prefer too
 * (RFC 9110 12.5.3).
 */
export function acceptedCoding(request: FastifyRequest, available: readonly Coding[] = codings): Coding | undefined {
  const header = request.headers['accept-encoding']
  if (header === undefined) return undefined
  const negotiator: { readonly encodings: Encodings } = new Negotiator({ headers: { 'accept-encoding': header } })
  const choices = [...available, UNCODED]
  const [first] = negotiator.encodings(choices, { preferred: choices })
  return available.find(coding => coding === first)
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
  br: bytes => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  gzip: bytes => promisify(gzip)(bytes),
}

/**
 * Compresses the body of a route marked `compressible`. No such route returns secrets: if an attacker can add
 * to a body, its compressed size reveals the secrets in it (BREACH). Streams, that is files and archives,
 * stay as they are.
 */
export async function compress(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  addVary(reply, 'Accept-Encoding')
  const coding = acceptedCoding(request)
  const isWhole =
    request.method === 'GET' && reply.statusCode === 200 && reply.getHeader('content-encoding') === undefined
  const isKnown = typeof payload === 'string' || Buffer.isBuffer(payload)
  if (coding === undefined || !isWhole || !isKnown || !textTypes.test(String(reply.getHeader('content-type'))))
    return payload
  const bytes = Buffer.from(payload)
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) return payload
  const coded = await timed('serialising', coding, () => compressors[coding](bytes))
  const etag = reply.getHeader('etag')
  if (typeof etag === 'string') reply.header('etag', codedTag(etag, coding))
  reply.header('content-encoding', coding).removeHeader('content-length')
  return coded
}

/** True when the route allows compression and the entry is not a user or group. */
export const isCompressible = (request: FastifyRequest): boolean =>
  request.route.compressible === true && !isAboutPeople(request)

/** Users have properties that clients choose, which may be secrets. */
const isAboutPeople = ({ params }: FastifyRequest): boolean =>
  (params as Readonly<Record<string, string>>)['context'] === '_principals'
