import type { HttpServices } from './http-services.ts'
import type { Files } from '../files/files.ts'
import { create } from 'content-disposition'
import { RangeNotSatisfiable } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { ByteRange } from '../stores/blob-store.ts'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { fileNameOf, mediaTypeOf as storedMediaType } from '../content/file-description.ts'
import type { FileRecord } from '../files/file-records.ts'
import type { Entry } from '../model/entry.ts'
import { fileValidators, isRangeCurrent, isUnchanged, validatorHeaders } from './representations.ts'
import { isGuest } from '../accounts/caller.ts'
import { handleOf } from '../accounts/tokens.ts'
import type { RightCheck } from './running-transfers.ts'
import { onResponseEnd } from './protocol/response-end.ts'
import { addVary, isNavigation } from './protocol/negotiate.ts'

/**
 * A `Content-Disposition` header for a name that a user chose (RFC 6266). Control characters are removed,
 * because `filename*` would deliver them percent-encoded to clients that write them to disks or logs.
 * Characters that change the direction of text are removed too, because they can make `gpj.exe` look like
 * `exe.jpg`.
 */
export const contentDisposition = (name: string, type: 'inline' | 'attachment' = 'attachment'): string =>
  create(name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, '') || 'file', { type })

/**
 * The part that a `Range` header requests. `undefined` stands for the whole file: without a header, for a malformed header, for another
 * unit, and for several ranges (RFC 9110 14.2 allows this).
 * @throws {RangeNotSatisfiable}
 */
export function parseRange(header: string | undefined, size: Bytes): ByteRange | undefined {
  // Not a single pattern for the whole header: with blanks around optional digits, the pattern would try every division of a long run of
  // blanks.
  const [, range] = /^\s*bytes\s*=(.*)$/i.exec(header ?? '') ?? []
  const [first, last, ...rest] = (range ?? '').split('-').map(end => end.trim())
  if (first === undefined || last === undefined || rest.length > 0 || ![first, last].every(isDigits)) return undefined
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    if (length === 0) throw new RangeNotSatisfiable(size)
    return { first: size - length, last: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw new RangeNotSatisfiable(size)
  return { first: start, last: end }
}

const isDigits = (text: string): boolean => /^\d*$/.test(text)

/** How a file is sent. A request for the file at its own address needs only `check`. */
interface Sending {
  /** Looks the right to read the file up again, while it is being sent. */
  readonly check: RightCheck
  /** Ignores ranges and conditions: sends the whole file. */
  readonly isWhole?: boolean
  /** On the content origin active files are shown as well. Only pages of this origin may show them in a frame. */
  readonly framedBy?: string
  /** The record of the file, where it has been read for this request. */
  readonly file?: FileRecord
}

/** Sends the file of an entry, or the requested part of it; 204 while there is none (D7.7). */
export async function sendFile(
  { files, options, transfers }: Pick<HttpServices, 'options' | 'transfers'> & { readonly files: Files },
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
  { check, isWhole = false, framedBy, file: known }: Sending,
): Promise<unknown> {
  const { method } = request
  const headers = isWhole ? {} : request.headers
  const ifRange = [headers['if-range']].flat()[0]
  let outcome: 'unchanged' | ByteRange | 'all' = 'all'
  const choose = (file: FileRecord): ByteRange | 'all' | undefined => {
    // Before the bytes are opened: a refusal must not leave a file handle behind.
    const isDownload = request.parameters.has('download')
    const type = storedMediaType(entry)
    const isHarmless = !isExecutable(type) && isShownInline(type, options.inlineTypes)
    const isInline = !isDownload && (isHarmless || (framedBy !== undefined && isActive(type)))
    reply.headers(fileHeaders(entry, file, isInline))
    if (isWhole) reply.header('accept-ranges', 'none')
    if (framedBy !== undefined) reply.headers(isolatedHeaders(type, framedBy))
    const state = fileValidators(entry, file)
    if (isUnchanged(headers, state)) outcome = 'unchanged'
    // RFC 9110 14.2: a range means something with GET only.
    else if (method === 'HEAD') return undefined
    else outcome = (isRangeCurrent(ifRange, state) && parseRange(headers.range, file.size)) || 'all'
    return outcome === 'unchanged' ? undefined : outcome
  }
  if (method !== 'HEAD') transfers.watch(request, reply, check)
  const found = await files.read(entry, choose, known)
  if (!found) return await reply.status(204).send()
  return await sendPart(reply, outcome, found)
}

function sendPart(
  reply: FastifyReply,
  outcome: 'unchanged' | ByteRange | 'all',
  { file, bytes }: { readonly file: FileRecord; readonly bytes: NodeJS.ReadableStream | undefined },
): FastifyReply {
  if (outcome === 'unchanged') return reply.status(304).send()
  const isPart = outcome !== 'all'
  const length = isPart ? outcome.last - outcome.first + 1 : file.size
  if (isPart) reply.status(206).header('content-range', `bytes ${outcome.first}-${outcome.last}/${file.size}`)
  return reply.header('content-length', length).send(bytes)
}

/** Files that a browser could run are sent as attachments. Files that it shows cannot reach the service. */
function fileHeaders(entry: Entry, file: FileRecord, isInline: boolean): Record<string, string> {
  const type = storedMediaType(entry)
  return {
    ...validatorHeaders(fileValidators(entry, file)),
    'content-type': contentTypeOf(type),
    'content-disposition': contentDisposition(fileNameOf(entry), isInline ? 'inline' : 'attachment'),
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'accept-ranges': 'bytes',
    digest: `sha-256=${file.sha256}`,
    'repr-digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
  }
}

/**
 * The headers of a file on the content origin. A document may use its own styles, fonts and pictures; it runs no scripts, sends
 * no forms and loads nothing from elsewhere. `no-store`: no copy outlives the right to read the file.
 */
const isolatedHeaders = (type: string, framedBy: string): Record<string, string> => ({
  'content-security-policy': `${type === PDF ? pdfPolicy : documentPolicy}; frame-ancestors ${framedBy}`,
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
})

const PDF = 'application/pdf'
const documentPolicy =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; media-src data:; base-uri 'none'; form-action 'none'"
/** Browsers show PDF with a viewer of their own, which they do not start in a sandbox. */
const pdfPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; base-uri 'none'; form-action 'none'"

/** Types whose content a browser runs, or renders in ways that can deceive. */
const isActive = (type: string): boolean =>
  isExecutable(type) || type === PDF || type === 'text/html' || /^(?:text|application)\/xml$|\+xml$/.test(type)

/**
 * Scripts and style sheets take effect in pages of their own origin, and pages of this service allow scripts and styles from their origin.
 * As plain text that must not be sniffed, no browser runs them.
 */
const isExecutable = (type: string): boolean =>
  /^(?:text|application)\/(?:x-)?(?:javascript|ecmascript|jscript|livescript)[\d.]*$|^text\/css$/.test(type)

function contentTypeOf(type: string): string {
  if (isExecutable(type)) return 'text/plain; charset=utf-8'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

const passiveTypes =
  /^(?:image\/(?:png|jpe?g|gif|webp|avif|bmp|tiff)|audio\/.+|video\/.+|text\/(?:plain|csv)|application\/json)$/

const isShownInline = (type: string, configured: readonly string[]): boolean =>
  passiveTypes.test(type) || configured.includes(type)

interface Reading {
  /** Id of the share through which the file is read. */
  readonly share?: string
  /** The record of the file, where it has been read for this request. */
  readonly file?: FileRecord
}

/**
 * Where a browser that opens an active file is to go on: the address of a new ticket on the content origin. `undefined` when the
 * request is answered here, because it comes from a program or an embedding page, or is a download. The caller may read the file.
 */
export async function contentAddress(
  { contentOrigin, files }: Pick<HttpServices, 'contentOrigin'> & { readonly files: Files },
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
  { share, file: known }: Reading = {},
): Promise<string | undefined> {
  if (!contentOrigin || !isActive(storedMediaType(entry))) return undefined
  addVary(reply, 'Sec-Fetch-Mode')
  addVary(reply, 'Accept')
  const { caller } = request
  if (!isOpenedByPerson(request) || (!isGuest(caller) && !caller.session)) return undefined
  const file = known ?? (await files.read(entry, () => undefined))?.file
  if (!file) return undefined
  return contentOrigin.addressOf({
    context: entry.context,
    id: entry.id,
    sha256: file.sha256,
    session: caller.session && handleOf(caller.session),
    share,
  })
}

/** True when a person opens the address in a browser tab or frame, without credentials that only this request carries. */
function isOpenedByPerson(request: FastifyRequest): boolean {
  const { method, headers, parameters, callback } = request
  if (method !== 'GET' || parameters.has('download') || callback !== undefined) return false
  if (headers.authorization !== undefined || headers.range !== undefined) return false
  const { 'sec-fetch-dest': destination = 'document' } = headers
  return isNavigation(request) && ['document', 'iframe', 'frame'].includes(destination)
}

/** Calls the given function when the response has ended. */
export const untilSent =
  ({ raw }: FastifyReply) =>
  (done: () => void): void =>
    onResponseEnd(raw, done)

/** Sends the stream that `open` makes. When the client leaves, the stream is closed, and with it the file that it reads. */
export async function sendZip(
  { transfers }: Pick<HttpServices, 'transfers'>,
  request: FastifyRequest,
  reply: FastifyReply,
  { name, open, check }: { readonly name: string; readonly open: () => Readable; readonly check: RightCheck },
): Promise<FastifyReply> {
  if (request.method !== 'HEAD') transfers.watch(request, reply, check)
  reply.type('application/zip').header('content-disposition', contentDisposition(`${name}.zip`))
  return await reply.send(request.method === 'HEAD' ? undefined : open())
}
