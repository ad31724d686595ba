import type { Files } from '../../files/files.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Database } from '../../stores/database.ts'
import type { FileZips } from '../zips/file-zip.ts'
import { rateLimitKey } from '../../accounts/caller.ts'
import { findFile } from '../../files/file-records.ts'
import { NotFound } from '../../base/errors.ts'
import type { LinkedItem as Item, LinkVisits, Visit } from './link-visits.ts'
import { isList } from '../../model/entry.ts'
import { contentAddress, parseRange, sendFile, sendZip, untilSent } from '../../http/download.ts'
import {
  content,
  json,
  redirect,
  flagParameter,
  paging,
  textParameter,
  type Exchange,
  type Refusals,
  route,
} from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { anything, list, named, object, oneOf, optional, text } from '../../http/interface/schema.ts'
import { count, time } from '../../http/interface/shared-schemas.ts'
import type { RightCheck } from '../../http/running-transfers.ts'
import { LinkCookie } from './link-cookie.ts'
import { setCookie } from '../../http/protocol/cookies.ts'
import { isoTime } from '../../base/times.ts'

const chapter = 'Public links'
/** A secret, a password and what JSON adds. */
const MAX_BODY = 16_384

const itemMembers = {
  id: text(),
  name: text(),
  kind: oneOf('file', 'folder'),
  size: optional(count),
  mediaType: optional(text()),
  modified: time,
} as const
const LinkedItem = named('LinkedItem', object(itemMembers))
const OpenedLink = named(
  'OpenedLink',
  object({ link: text(), item: LinkedItem, expires: optional(time), downloadsLeft: optional(count) }),
)

const described = ({ modified, ...item }: Item) => ({ ...item, modified: isoTime(modified) })

const id = { type: 'string' }
const linkPath = { description: 'The `link` of the response that opened it.', schema: id, example: 'none' }
const entryPath = { description: 'The `id` of a file behind the link.', schema: id, example: 'none' }
const folderQuery = { folder: textParameter('The `id` of a folder in it; the folder of the link by default.') }
const gone: Refusals = { 404: ['link-gone', 'link-expired', 'link-used-up', 'not-found'] }

interface Services extends HttpServices {
  readonly linkVisits: LinkVisits
  readonly zips: FileZips
  readonly files: Files
  readonly database: Database
}

/**
 * Routes for people without an account who use a public link (D25.9 to D25.12). A session of the same browser does not count: a visitor
 * gets the linked entry, and never other entries that the session may read.
 */
export const linkVisitRoutes = [
  route({
    id: 'openPublicLink',
    method: 'POST',
    url: '/auth/link',
    chapter,
    summary: 'Open a public link. The response says what it leads to and sets a cookie for the following requests.',
    access: 'visitors with the secret and, if the link has one, the password',
    details:
      '`downloadsLeft` is absent without a limit. A wrong password counts towards a lockout of the network at this link.',
    body: jsonBody(object({ secret: text(), password: optional(text()) }), {
      limit: MAX_BODY,
      example: { secret: 'none' },
    }),
    answers: { 200: json('The file or folder.', OpenedLink, { headers: { 'Set-Cookie': 'of this link' } }) },
    refusals: {
      400: ['password-too-long'],
      403: ['link-password-required', 'link-password-wrong', 'cross-site-request'],
      ...gone,
      429: ['locked-out'],
      503: ['overloaded'],
    },
    skipAuth: true,
    handle: async (deps: Services, { request, reply, body }) => {
      const { secret, password } = await body()
      const visits = deps.linkVisits
      const { visit, key } = await visits.open(secret, password, request.caller.client)
      const { link } = visit
      setCookie(reply, new LinkCookie(deps.base, deps.options.cookie.secure, link.id).set(key))
      return {
        link: link.id,
        item: described(await visits.describe(visit, visit.entry)),
        expires: isoTime(link.expires),
        downloadsLeft: link.maxDownloads === undefined ? undefined : link.maxDownloads - link.downloads,
      }
    },
  }),
  route({
    id: 'listPublicFolder',
    method: 'GET',
    url: '/auth/link/:link/members',
    chapter,
    summary: 'List the files and folders in a folder behind a public link, in its order.',
    access: 'visitors with the cookie of the link',
    details:
      '`next` is the offset of the next page; it is absent on the last page. A page may be short, because it leaves out entries that the creator may not read, and entries that were added to a folder by people who did not administer them.',
    path: { link: linkPath },
    query: { ...paging, ...folderQuery },
    answers: { 200: json('A page of the list.', object({ items: list(LinkedItem), next: optional(count) })) },
    refusals: gone,
    skipAuth: true,
    handle: async (deps: Services, { request, params, query }) => {
      const visits = deps.linkVisits
      const visit = await enter(deps, request, params.link)
      const { items, next } = await visits.members(visit, await folderOf(visits, visit, query.folder), query)
      return { items: items.map(described), next }
    },
  }),
  route({
    id: 'readPublicFile',
    method: 'GET',
    url: '/auth/link/:link/files/:entry',
    chapter,
    summary: 'Read a file behind a public link. It counts as a download.',
    access: 'visitors with the cookie of the link',
    details: 'With a limit of downloads, `Range` is ignored.',
    path: { link: linkPath, entry: entryPath },
    query: { download: flagParameter('As an attachment.') },
    answers: {
      200: content('The file, in its own media type.', ['*/*'], anything),
      206: content('The part of the file that `Range` asks for.', ['*/*'], anything),
      302: redirect('With `service.content.base-url`, for a browser that opens an active file: to that origin.'),
    },
    refusals: { 404: [...(gone[404] ?? []), 'no-file'], 416: ['range-not-satisfiable'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, params }) => {
      const visits = deps.linkVisits
      const visit = await enter(deps, request, params.link)
      const entry = await visits.entry(visit, params.entry)
      const file = isList(entry) ? undefined : await findFile(deps.database, entry)
      if (!file) throw new NotFound('no-file', 'There is no file behind this address.')
      const isLimited = visit.link.maxDownloads !== undefined
      if (request.method === 'GET' && (isLimited || isFirstPart(request.headers.range, file.size)))
        await visits.count(visit, entry)
      // A ticket works more than once, so it would get around a limit.
      const { link } = visit
      const address = isLimited
        ? undefined
        : await contentAddress(deps, request, reply, entry, { share: link.id, file })
      if (address !== undefined) return await reply.header('cache-control', 'no-store').redirect(address, 302)
      const check: RightCheck = () => visits.recheck(visit, entry.id)
      return await sendFile(deps, request, reply, entry, { check, isWhole: isLimited, file })
    },
  }),
  route({
    id: 'readPublicZip',
    method: 'GET',
    url: '/auth/link/:link/zip',
    chapter,
    summary: 'Download a folder behind a public link as a zip. It counts as one download.',
    access: 'visitors with the cookie of the link',
    path: { link: linkPath },
    query: folderQuery,
    answers: { 200: content('The zip.', ['application/zip'], anything) },
    refusals: { ...gone, 413: ['zip-too-large'], 503: ['overloaded'] },
    skipAuth: true,
    htmlErrors: true,
    handle: async (deps: Services, { request, reply, params, query }) => {
      const visits = deps.linkVisits
      const visit = await enter(deps, request, params.link)
      const folder = await folderOf(visits, visit, query.folder)
      const options = {
        onEnd: untilSent(reply),
        // The zip has the rights of the creator, but counts towards the limits of the visitor.
        share: rateLimitKey(request.caller),
        present: () => visits.presentCreator(visit),
        trustedOnly: true,
      }
      const { name, open } = await deps.zips.open(visit.creator, folder.context, [folder.id], options)
      if (request.method === 'GET') await visits.count(visit, folder)
      const check: RightCheck = () => visits.recheck(visit, folder.id)
      return await sendZip(deps, request, reply, { name, open, check })
    },
  }),
]

async function enter(deps: Services, request: Exchange['request'], linkId: string): Promise<Visit> {
  const cookie = new LinkCookie(deps.base, deps.options.cookie.secure, linkId)
  // A response as a script can be read by pages of every site.
  const key = request.callback === undefined ? cookie.read(request.cookies) : undefined
  return await deps.linkVisits.enter(linkId, key, request.caller.client)
}

/** @throws {NotFound} */
async function folderOf(visits: LinkVisits, visit: Visit, id = visit.entry.id) {
  const folder = await visits.entry(visit, id)
  if (isList(folder)) return folder
  throw new NotFound('not-found', 'There is no such folder behind this link.')
}

/** Whether the response has the first byte of the file; further parts belong to a download that has been counted. */
const isFirstPart = (range: string | undefined, size: number): boolean => (parseRange(range, size)?.first ?? 0) === 0
