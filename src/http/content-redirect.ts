import type { FastifyReply, FastifyRequest } from 'fastify'
import { isGuest } from '../accounts/caller.ts'
import { handleOf } from '../accounts/session-handle.ts'
import { mediaTypeOf as storedMediaType } from '../content/file-description.ts'
import type { FileRecord } from '../files/file-records.ts'
import type { Entry } from '../model/entry.ts'
import { TICKET_PATH } from './content-origin.ts'
import { isActive } from './download.ts'
import { addVary, prefersHtml } from './protocol/negotiate.ts'
import type { Uses } from './services.ts'

interface ByLink {
  /** Id of the public link through which the file is read. */
  readonly link?: string
  /** The record of the file, where it has been read for this request. */
  readonly file?: FileRecord
}

/**
 * Where a browser that opens an active file is to go on: the address of a new ticket on the content origin. `undefined` when the
 * request is answered here, because it comes from a program or an embedding page, or is a download. The caller may read the file.
 */
export async function contentAddress(
  { contentOrigin, files }: Uses<'contentOrigin' | 'files'>,
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
  { link, file: known }: ByLink = {},
): Promise<string | undefined> {
  if (!contentOrigin || !isActive(storedMediaType(entry))) return undefined
  addVary(reply, 'Sec-Fetch-Mode')
  addVary(reply, 'Accept')
  const { caller } = request
  if (!isNavigation(request) || (!isGuest(caller) && !caller.session)) return undefined
  const file = known ?? (await files.read(entry, () => undefined))?.file
  if (!file) return undefined
  const ticket = contentOrigin.tickets.issue({
    context: entry.context,
    id: entry.id,
    sha256: file.sha256,
    session: caller.session && handleOf(caller.session),
    link,
  })
  return contentOrigin.base.at(TICKET_PATH + ticket)
}

/** True when a person opens the address in a browser tab or frame, without credentials that only this request carries. */
function isNavigation(request: FastifyRequest): boolean {
  const { method, headers, parameters, callback } = request
  if (method !== 'GET' || parameters.has('download') || callback !== undefined) return false
  if (headers.authorization !== undefined || headers.range !== undefined) return false
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = headers
  if (mode === undefined) return prefersHtml(request)
  return mode === 'navigate' && ['document', 'iframe', 'frame'].includes(destination)
}
