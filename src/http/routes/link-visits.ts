import type { FastifyRequest } from 'fastify'
import { findFile } from '../../files/file-records.ts'
import { NotFound } from '../../base/errors.ts'
import type { LinkedItem as Item, LinkVisits, Visit } from '../../content/links/link-visits.ts'
import { isList } from '../../model/entry.ts'
import { contentAddress, sendFile, parseRange } from '../download.ts'
import {
  content,
  json,
  redirect,
  flagParameter,
  paging,
  textParameter,
  type Refusals,
  route,
} from '../interface/route.ts'
import { jsonBody } from '../interface/bodies.ts'
import { anything, list, named, object, oneOf, optional, text } from '../interface/schema.ts'
import { count, time } from '../interface/schemas.ts'
import { LinkCookie } from '../browser-cookies.ts'
import { setCookie } from '../protocol/sender.ts'
import type { Uses } from '../services.ts'
import { isoTime } from '../../base/times.ts'
import { sendZip } from './zips.ts'

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

type Services = Uses<'base' | 'linkVisits' | 'options'>

const isOffered = ({ linkVisits }: Uses<'linkVisits'>): boolean => linkVisits !== undefined

/**
 * What people without an account do with a public link (D25.9 to D25.12). Who is signed in does not count: a visitor gets what the link opens,
 * never what the session of the same browser may read.
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
    isOffered,
    handle: async (deps: Services, { request, reply, body }) => {
      const { secret, password } = await body()
      const visits = serviceOf(deps)
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
      '`next` is the offset of the next page; absent at the end. A page may be short: what the creator may not read is left out, and so is what was added to a folder by people who did not administer it.',
    path: { link: linkPath },
    query: { ...paging, ...folderQuery },
    answers: { 200: json('Some of them.', object({ items: list(LinkedItem), next: optional(count) })) },
    refusals: gone,
    skipAuth: true,
    isOffered,
    handle: async (deps: Services, { request, params, query }) => {
      const visits = serviceOf(deps)
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
    summary: 'Read a file behind a public link. Counts as a download.',
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
    isOffered,
    handle: async (deps: Services & Uses<'contentOrigin' | 'files' | 'database'>, { request, reply, params }) => {
      const visits = serviceOf(deps)
      const visit = await enter(deps, request, params.link)
      const entry = await visits.entry(visit, params.entry)
      const file = isList(entry) ? undefined : await findFile(deps.database, entry)
      if (!file) throw new NotFound('no-file', 'There is no file behind this address.')
      const isLimited = visit.link.maxDownloads !== undefined
      if (request.method === 'GET' && (isLimited || isFirstPart(request.headers.range, file.size)))
        await visits.count(visit, entry)
      // A ticket works more than once, so it would get around a limit.
      const { link } = visit
      const address = isLimited ? undefined : await contentAddress(deps, request, reply, entry, { link: link.id, file })
      if (address !== undefined) return await reply.header('cache-control', 'no-store').redirect(address, 302)
      return await sendFile(deps, request, reply, entry, { isWhole: isLimited, file })
    },
  }),
  route({
    id: 'readPublicZip',
    method: 'GET',
    url: '/auth/link/:link/zip',
    chapter,
    summary: 'Download a folder behind a public link as a zip. Counts as one download.',
    access: 'visitors with the cookie of the link',
    path: { link: linkPath },
    query: folderQuery,
    answers: { 200: content('The zip.', ['application/zip'], anything) },
    refusals: { ...gone, 413: ['zip-too-large'] },
    skipAuth: true,
    htmlErrors: true,
    isOffered,
    handle: async (deps: Services & Uses<'zips'>, { request, reply, params, query }) => {
      const visits = serviceOf(deps)
      const visit = await enter(deps, request, params.link)
      const folder = await folderOf(visits, visit, query.folder)
      const options = { present: () => visits.presentCreator(visit), trustedOnly: true }
      const { name, open } = await deps.zips.open(visit.creator, folder.context, [folder.id], options)
      if (request.method === 'GET') await visits.count(visit, folder)
      return await sendZip(request, reply, name, open)
    },
  }),
]

function serviceOf({ linkVisits }: Uses<'linkVisits'>): LinkVisits {
  if (!linkVisits) throw new TypeError('public links are off')
  return linkVisits
}

async function enter(deps: Services, request: FastifyRequest, linkId: string): Promise<Visit> {
  const cookie = new LinkCookie(deps.base, deps.options.cookie.secure, linkId)
  // A response as a script can be read by pages of every site.
  const key = request.callback === undefined ? cookie.read(request.cookies) : undefined
  return await serviceOf(deps).enter(linkId, key, request.caller.client)
}

/** @throws {NotFound} */
async function folderOf(visits: LinkVisits, visit: Visit, id = visit.entry.id) {
  const folder = await visits.entry(visit, id)
  if (isList(folder)) return folder
  throw new NotFound('not-found', 'There is no such folder behind this link.')
}

/** Whether the response has the first byte of the file; further parts belong to a download that has been counted. */
const isFirstPart = (range: string | undefined, size: number): boolean => (parseRange(range, size)?.first ?? 0) === 0
