import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { PreconditionFailed } from '../base/errors.ts'
import type { Milliseconds } from '../base/units.ts'
import { entryUri } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { FileRecord } from '../files/file-records.ts'
import type { Representation } from './rdf.ts'
import type { Uses } from './services.ts'

/** Identifies a state of a resource. */
export interface Validators {
  /** Strong, with its quotes; `undefined` when there is no representation yet. */
  readonly etag: string | undefined
  readonly modified: Milliseconds
}

/** A state that may have no date: what is built into the program has only a tag. */
type Dateless = Pick<Validators, 'etag'> & Partial<Validators>

/**
 * An entry's versions differ in their modification time, which never repeats (W3.0.5).
 * @param variant of the syntax, unless it is JSON: one strong tag must not stand for different bytes (RFC 9110 8.8.3).
 */
export const entryValidators = ({ modified }: Pick<Entry, 'modified'>, variant = 'json'): Validators => ({
  etag: variant === 'json' ? `"${modified}"` : `"${modified}-${variant}"`,
  modified,
})

/** The headers of a change: the tag of any variant names the state that is to be changed. */
export const withoutVariants = (headers: IncomingHttpHeaders): IncomingHttpHeaders => {
  const plain = (tags: string | undefined): string | undefined => tags?.replaceAll(/"(\d+)-[a-z0-9]+"/g, '"$1"')
  return { ...headers, 'if-match': plain(headers['if-match']), 'if-none-match': plain(headers['if-none-match']) }
}

/** A file's versions differ in their bytes. */
export const fileValidators = (entry: Entry, file: FileRecord | undefined): Validators => ({
  etag: file && `"${file.sha256}"`,
  modified: entry.modified,
})

export function validatorHeaders({ etag, modified }: Validators): Record<string, string> {
  const lastModified = new Date(modified).toUTCString()
  return etag === undefined ? { 'last-modified': lastModified } : { 'last-modified': lastModified, etag }
}

/** How far a client's clock, cut to seconds, may lie behind ours before its copy counts as old (W3.0.6). */
const SLACK: Milliseconds = 1000

/**
 * Judges a change against the conditions of the request (RFC 9110 13.2.2).
 * @throws {PreconditionFailed}
 */
export function requirePreconditions(headers: IncomingHttpHeaders, state: Validators): void {
  requireMatch(headers, state)
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined && matches(ifNoneMatch, state.etag, 'weak')) throw failed('If-None-Match')
}

/**
 * True when the reader already has the present state: the response is 304. Also checks a reader's `If-Match` and
 * `If-Unmodified-Since`.
 * @throws {PreconditionFailed}
 */
export function isUnchanged(headers: IncomingHttpHeaders, state: Dateless): boolean {
  requireMatch(headers, state)
  const ifNoneMatch = headers['if-none-match']
  if (ifNoneMatch !== undefined) return matches(ifNoneMatch, state.etag, 'weak')
  const since = parseDate(headers['if-modified-since'])
  return since !== undefined && state.modified !== undefined && Math.floor(state.modified / 1000) * 1000 <= since
}

/** The date counts only without a tag (RFC 9110 13.1.4). @throws {PreconditionFailed} */
function requireMatch(headers: IncomingHttpHeaders, { etag, modified }: Dateless): void {
  const ifMatch = headers['if-match']
  if (ifMatch === undefined) {
    if (isOlder(headers['if-unmodified-since'], modified)) throw failed('If-Unmodified-Since')
  } else if (!matches(ifMatch, etag, 'strong')) {
    throw failed('If-Match')
  }
}

/** True when a range requested with `If-Range` belongs to the current state (RFC 9110 13.1.5). */
export function isRangeCurrent(ifRange: string | undefined, state: Validators): boolean {
  if (ifRange === undefined) return true
  if (ifRange.startsWith('"')) return ifRange === state.etag
  return parseDate(ifRange) === Math.floor(state.modified / 1000) * 1000
}

const isOlder = (header: string | undefined, modified: Milliseconds | undefined): boolean => {
  const since = parseDate(header)
  return since !== undefined && modified !== undefined && modified - since >= SLACK
}

/** Unparsable dates are ignored, as the standard asks; a client of ours sends "Invalid Date" (W3.0.2). */
function parseDate(header: string | undefined): Milliseconds | undefined {
  const time = header === undefined ? Number.NaN : Date.parse(header)
  return Number.isNaN(time) ? undefined : time
}

function matches(list: string, etag: string | undefined, comparison: 'strong' | 'weak'): boolean {
  if (etag === undefined) return false
  if (list.trim() === '*') return true
  const candidates = list.match(/(?:W\/)?"[^"]*"/g) ?? []
  return candidates.some(tag => (comparison === 'weak' ? tag.replace(/^W\//, '') : tag) === etag)
}

const failed = (header: string): PreconditionFailed =>
  new PreconditionFailed('precondition-failed', `${header} does not hold: the resource has changed.`)

/** The conditions of the request. They are checked against the entry inside the transaction that changes it. */
export const preconditionOf =
  (request: FastifyRequest) =>
  (entry: Entry): void =>
    requirePreconditions(withoutVariants(request.headers), entryValidators(entry))

/** Sets the validators of the entry; true when the client has the current state. */
export function isFresh(
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Pick<Entry, 'modified'>,
  representation?: Representation,
): boolean {
  const state = entryValidators(entry, representation?.syntax.name)
  reply.headers(validatorHeaders(state))
  return isUnchanged(request.headers, state)
}

export const sendChanged = (reply: FastifyReply, entry: Entry): FastifyReply =>
  reply
    .status(204)
    .headers(validatorHeaders(entryValidators(entry)))
    .send()

export const sendCreated = ({ base }: Uses<'base'>, reply: FastifyReply, entry: Entry): FastifyReply =>
  reply
    .status(201)
    .headers({ ...validatorHeaders(entryValidators(entry)), location: base.toAbsolute(entryUri(entry)) })
    .send({ entryId: entry.id })
