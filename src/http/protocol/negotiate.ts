import Negotiator from 'negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

const MAX_MEDIA_RANGES = 50

/**
 * The one of these media types that `Accept` prefers; `undefined` when it has none of them. Its first 50 ranges count: each is
 * compared with each type.
 */
export function preferredType(request: FastifyRequest, available: readonly string[]): string | undefined {
  const { accept } = request.headers
  const shortened = accept?.split(',', MAX_MEDIA_RANGES).join(',')
  return new Negotiator({ headers: shortened === undefined ? {} : { accept: shortened } }).mediaType([...available])
}

/** True when the request prefers a page to JSON. `*\/*`, which command-line clients send, does not. */
export const prefersHtml = (request: FastifyRequest): boolean =>
  preferredType(request, ['application/json', 'text/html']) === 'text/html'

const MAX_LANGUAGES = 50
/** Language tags have at most 35 characters in practice (RFC 5646 4.4.1). The limit bounds the work of the pattern below. */
const MAX_ITEM_CHARACTERS = 100

/** `Accept-Language` as a map from tag to weight, at most 50 tags, weights to three decimals (D3.1). */
export function acceptLanguage(header: string | undefined): Record<string, number> {
  const weights = new Map<string, number>()
  for (const item of header?.split(',') ?? []) {
    if (item.length > MAX_ITEM_CHARACTERS) continue
    const match =
      /^\s*([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*|\*)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/.exec(item)
    const tag = match?.[1]
    if (tag !== undefined && weights.size < MAX_LANGUAGES) weights.set(tag, Number(match?.[2] ?? 1))
  }
  return Object.fromEntries(weights)
}

/** Adds a request header to those on which the response depends. */
export function addVary(reply: FastifyReply, name: string): void {
  const present = reply.getHeader('vary')
  const names = typeof present === 'string' ? present.split(', ') : []
  if (!names.includes(name)) reply.header('vary', [...names, name].join(', '))
}
