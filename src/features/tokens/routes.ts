import { requireText } from '../../content/values.ts'
import { tokenScopes } from '../../accounts/token-scopes.ts'
import { targetUser } from '../../http/caller.ts'
import { done, json, textParameter, route } from '../../http/interface/route.ts'
import { jsonBody } from '../../http/interface/bodies.ts'
import { list, named, object, oneOf, optional, text } from '../../http/interface/schema.ts'
import type { StepUp } from '../../accounts/step-up.ts'
import type { EntryReads } from '../../content/entry-reads.ts'
import type { HttpServices } from '../../http/http-services.ts'
import type { Database } from '../../stores/database.ts'
import type { AccessToken, AccessTokens } from './access-tokens.ts'
import { isoTime, readExpiry } from '../../base/times.ts'

const time = text({ format: 'date-time' })
const scope = oneOf(...tokenScopes)

const NewAccessToken = named(
  'NewAccessToken',
  object({
    name: text(),
    expires: text(),
    scopes: list(scope),
    contexts: optional(list(text())),
    addresses: optional(list(text())),
  }),
)

const Tokens = named(
  'AccessTokens',
  list(
    object({
      id: text(),
      name: text(),
      scopes: list(scope),
      contexts: optional(list(text())),
      addresses: optional(list(text())),
      created: time,
      expires: time,
      lastUsed: optional(time),
      lastAddress: optional(text()),
    }),
  ),
)

interface Services extends HttpServices {
  readonly accessTokens: AccessTokens
  readonly database: Database
  readonly entries: EntryReads
  readonly stepUp: StepUp
}

/** Credentials for programs, with fewer rights than their user (D24). */
export const accessTokenRoutes = [
  route({
    id: 'createAccessToken',
    method: 'POST',
    url: '/auth/access-tokens',
    chapter: 'Sessions',
    summary: 'Create an access token for a program. The token is in this response only.',
    details:
      '`expires` is a date or time of ISO 8601, at most 366 days from now if `service.auth.access-tokens.max-age` has its default. `write` includes `read`; `quota` and `admin` are for administrators, and `admin` includes all others. ' +
      '`contexts` contains ids or names of contexts, `addresses` CIDR ranges; without them the token is valid for all contexts, and from all addresses. ' +
      'Send it as `Authorization: Bearer …`, or as the password of HTTP Basic.',
    requires: { role: 'user', to: 'create an access token' },
    body: jsonBody(NewAccessToken, {
      example: { name: 'Nightly import', expires: '2099-01-01', scopes: ['write'], contexts: ['photos'] },
    }),
    answers: { 201: json('The token.', object({ id: text(), token: text({ pattern: '^stow_[0-9A-Za-z]{49}$' }) })) },
    refusals: {
      400: ['invalid-value'],
      403: ['access-token-scope', 'fresh-sign-in-required'],
      404: ['not-found'],
      409: ['conflict'],
    },
    handle: async (deps: Services, { caller, body, reply }) => {
      deps.stepUp.requireFresh(caller)
      const { name, expires, scopes, contexts, addresses } = await body()
      const created = await deps.accessTokens.create(caller, {
        name,
        expires: readExpiry(expires),
        scopes: tokenScopes.filter(known => scopes.includes(known)),
        contexts: contexts && (await idsOf(deps, contexts)),
        addresses,
      })
      reply.status(201)
      return created
    },
  }),
  route({
    id: 'listAccessTokens',
    method: 'GET',
    url: '/auth/access-tokens',
    chapter: 'Sessions',
    summary: 'List the access tokens of the caller, the latest first, with their last use to the minute.',
    requires: { role: 'user', to: 'list access tokens' },
    query: { user: textParameter('For administrators: the name of another user.') },
    answers: { 200: json('The tokens, without the secret part.', Tokens) },
    refusals: { 403: ['not-allowed', 'access-token-scope'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, query }) => {
      const { id } = await targetUser(deps, caller, query.user, "list another user's access tokens")
      return (await deps.accessTokens.list(id)).map(describe)
    },
  }),
  route({
    id: 'revokeAccessToken',
    method: 'DELETE',
    url: '/auth/access-tokens/:token',
    chapter: 'Sessions',
    summary:
      'Revoke an access token. The next request with it is refused. Administrators can revoke the tokens of all users.',
    requires: { role: 'user', to: 'revoke access tokens' },
    path: { token: { description: 'The `id` of the token.', schema: { type: 'string' }, example: 'none' } },
    answers: { 204: done },
    refusals: { 403: ['access-token-scope', 'fresh-sign-in-required'], 404: ['not-found'] },
    handle: async (deps: Services, { caller, params, reply }) => {
      deps.stepUp.requireFresh(caller)
      await deps.accessTokens.revoke(caller, params.token)
      return await reply.status(204).send()
    },
  }),
]

/** @throws {NotFound} */
const idsOf = async ({ entries }: Pick<Services, 'entries'>, keys: readonly string[]): Promise<string[]> =>
  await Promise.all(keys.map(key => entries.contextId(requireText(key, 'contexts'))))

const describe = ({ created, expires, lastUsed, userId: _userId, ...token }: AccessToken) => ({
  ...token,
  created: isoTime(created),
  expires: isoTime(expires),
  lastUsed: isoTime(lastUsed),
})
