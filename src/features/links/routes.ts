import { linkStates } from './link-state.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Database } from '../../stores/database.ts'
import type { LinkRequest, ListedLink, PublicLinks } from './links.ts'
import { targetUser } from '../../http/caller.ts'
import { done, json, flagParameter, paging, textParameter, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { flag, integer, list, named, object, oneOf, optional, text } from '../../http/interface/schema.ts'
import { count, time, uri } from '../../http/interface/shared-schemas.ts'
import { isoTime, readExpiry } from '../../base/times.ts'

const chapter = 'Public links'

const NewLink = named(
  'NewPublicLink',
  object({
    name: optional(text()),
    password: optional(text()),
    expires: optional(text()),
    maxDownloads: optional(integer(1)),
  }),
)

const Link = named(
  'PublicLink',
  object({
    id: text(),
    contextId: text(),
    entryId: text(),
    item: optional(text()),
    name: optional(text()),
    hasPassword: flag,
    expires: optional(time),
    maxDownloads: optional(count),
    downloads: count,
    state: oneOf(...linkStates),
    created: time,
    createdBy: object({ id: text(), name: optional(text()) }),
    lastUsed: optional(time),
  }),
)

const meanings =
  '`state` is `gone` when the file is deleted or in the trash, or the creator may no longer administer it. `item` is the name of the file or folder.'

interface Services extends HttpServices {
  readonly links: PublicLinks
  readonly database: Database
}

const linkPath = {
  link: { description: 'The `id` of the link.', schema: { type: 'string' }, example: 'none' },
} as const

const urlOf = ({ base }: Services, secret: string): string => `${base.at('ui/link')}#${secret}`

const readWish = ({
  expires,
  ...wish
}: { readonly expires?: string | undefined } & Omit<LinkRequest, 'expires'>): LinkRequest => ({
  ...wish,
  expires: expires === undefined ? undefined : readExpiry(expires),
})

/** Public links of files and folders, for users who create and revoke them (D25.8). */
export const linkRoutes = [
  route({
    id: 'createPublicLink',
    method: 'POST',
    url: '/:context/links/:entry',
    chapter,
    summary: 'Create a public link to a file or a folder.',
    access: 'users who administer the entry',
    details:
      '`expires` is a date or time of ISO 8601, `maxDownloads` a limit; without them the link works until it is revoked. The password must meet the rules for passwords. `url` is the address to send.',
    body: jsonBody(NewLink, { example: { name: 'For the review', maxDownloads: 10 } }),
    answers: { 201: json('The link.', object({ id: text(), secret: text(), url: uri })) },
    refusals: {
      400: ['invalid-type', 'invalid-value', 'password-rules', 'password-too-long', 'password-missing'],
      401: [],
      403: ['not-allowed', 'access-token-scope'],
      404: [],
      409: ['conflict'],
      503: ['overloaded'],
    },
    // A link would outlive the token (D24.5).
    tokenScopes: [],
    handle: async (deps: Services, { caller, params, body, reply }) => {
      const { id, secret } = await deps.links.create(caller, params, async () => readWish(await body()))
      reply.status(201).header('cache-control', 'no-store')
      return { id, secret, url: urlOf(deps, secret) }
    },
  }),
  route({
    id: 'listPublicLinksOfEntry',
    method: 'GET',
    url: '/:context/links/:entry',
    chapter,
    summary: 'List the public links of a file or a folder, the latest first.',
    access: 'users who administer the entry',
    details: meanings,
    answers: { 200: json('The links.', object({ items: list(Link) })) },
    refusals: { 401: [], 403: [], 404: [] },
    handle: async (deps: Services, { caller, params }) => ({
      items: (await deps.links.list(caller, params)).map(describe),
    }),
  }),
  route({
    id: 'listPublicLinks',
    method: 'GET',
    url: '/auth/links',
    chapter,
    summary: 'List the public links that the caller created, the latest first.',
    details: meanings,
    requires: { role: 'user', to: 'list public links' },
    query: {
      ...paging,
      user: textParameter('For administrators: the name of another user.'),
      all: flagParameter('For administrators: the links of all users.'),
    },
    answers: { 200: json('The links.', object({ items: list(Link), results: count })) },
    refusals: { 403: ['not-allowed', 'access-token-scope'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, query }) => {
      const creator = query.all
        ? undefined
        : (await targetUser(deps, caller, query.user, 'see the public links of other users')).id
      const { items, results } = await deps.links.listBy(caller, creator, query)
      return { items: items.map(describe), results }
    },
  }),
  route({
    id: 'readPublicLink',
    method: 'GET',
    url: '/auth/links/:link',
    chapter,
    summary: 'Read the address of a public link again.',
    access: 'the creator',
    details:
      'The response is 404 for links of early builds, and for links that were sealed with a key which no longer exists.',
    requires: { role: 'user', to: 'read public links' },
    path: linkPath,
    answers: { 200: json('The address to send.', object({ url: uri })) },
    refusals: { 403: ['access-token-scope'], 404: ['not-found'] },
    // A link would outlive the token (D24.5).
    tokenScopes: [],
    handle: async (deps: Services, { caller, params }) => ({
      url: urlOf(deps, await deps.links.secretOf(caller, params.link)),
    }),
  }),
  route({
    id: 'changePublicLink',
    method: 'PUT',
    url: '/auth/links/:link',
    chapter,
    summary: 'Change the note, expiry, limit and password of a public link. Its address stays the same.',
    access: 'the creator, users who administer the entry, and administrators',
    details:
      'A member that the body leaves out is removed. Only the password then stays; an empty `password` removes it.',
    requires: { role: 'user', to: 'change public links' },
    path: linkPath,
    body: jsonBody(NewLink, { example: { name: 'For the review' } }),
    answers: { 204: done },
    refusals: {
      400: ['invalid-value', 'password-rules', 'password-too-long', 'password-missing'],
      403: ['access-token-scope'],
      404: ['not-found'],
      503: ['overloaded'],
    },
    tokenScopes: [],
    handle: async (deps: Services, { caller, params, body, reply }) => {
      await deps.links.change(caller, params.link, async () => readWish(await body()))
      return await reply.status(204).send()
    },
  }),
  route({
    id: 'revokePublicLink',
    method: 'DELETE',
    url: '/auth/links/:link',
    chapter,
    summary: 'Revoke a public link. Downloads and zips that are being sent end with it.',
    access: 'the creator, users who administer the entry, and administrators',
    requires: { role: 'user', to: 'revoke public links' },
    path: linkPath,
    answers: { 204: done },
    refusals: { 403: ['access-token-scope'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, params, reply }) => {
      await deps.links.revoke(caller, params.link)
      return await reply.status(204).send()
    },
  }),
]

const describe = ({ link, state, item, creator }: ListedLink) => ({
  id: link.id,
  contextId: link.place.context,
  entryId: link.place.id,
  item,
  name: link.name,
  hasPassword: link.password !== undefined,
  expires: isoTime(link.expires),
  maxDownloads: link.maxDownloads,
  downloads: link.downloads,
  state,
  created: isoTime(link.created),
  createdBy: { id: link.createdBy, name: creator },
  lastUsed: isoTime(link.lastUsed),
})
