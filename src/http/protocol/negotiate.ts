import Negotiator from 'negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What the client prefers: the media type, the language and the coding of a response. */

const MAX_MEDIA_RANGES = 50

/**
 * Finds the media type that `Accept` prefers among these; `undefined` when it accepts none of them. Only the first 50 ranges count, because
 * each is compared with each type.
 */
export function preferenceAmong(available: readonly string[]): (request: FastifyRequest) => string | undefined {
  return ({ headers: { accept } }) => {
    // No preference (RFC 9110 12.5.1), as most programs have none.
    if (accept === undefined || accept === '*/*') return available[0]
    const shortened = accept.split(',', MAX_MEDIA_RANGES).join(',')
    return new Negotiator({ headers: { accept: shortened } }).mediaType([...available])
  }
}

/** The languages of the browser, the preferred one first. */
export const languagesOf = (request: FastifyRequest): readonly string[] =>
  new Negotiator(request.raw).languages().filter(language => language !== '*')

const preferredPage = preferenceAmong(['application/json', 'text/html'])

/** True when the request prefers a page to JSON. `*\/*`, which command-line clients send, does not. */
export const prefersHtml = (request: FastifyRequest): boolean => preferredPage(request) === 'text/html'

/**
 * True when a browser navigates to the address, so that its user sees the page to which a redirect leads. A program that prefers HTML, as
 * Java does by default, must get the response itself. Browsers send `Sec-Fetch-Mode`; older browsers are recognised because they accept
 * XHTML as well.
 */
export function isNavigation(request: FastifyRequest): boolean {
  const { accept = '', 'sec-fetch-mode': mode } = request.headers
  if (!prefersHtml(request)) return false
  return mode === undefined ? /\bapplication\/xhtml\+xml\b/i.test(accept) : mode === 'navigate'
}

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

/** The types of the package lack the order that decides between codings of the same quality. */
type Encodings = (available: readonly string[], options: { readonly preferred: readonly string[] }) => string[]

/** Names a body as it is, for the client to weigh against the codings. */
const UNCODED = 'identity'

/**
 * The coding that the client prefers among these; the first of equal ones. `undefined` means uncompressed, which the client may also prefer
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
