import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Caller, requireAdmin, requireSignedIn, type TokenScope } from '../../accounts/caller.ts'
import type { ErrorCode } from '../../base/error-codes.ts'
import type { Bodies } from '../protocol/body.ts'
import type { Method, Route } from '../route.ts'
import type { Answer } from './answer.ts'
import type { NoQuery, Query, RequestBody, ValuesOf } from './inputs.ts'
import type { JsonSchema } from './schema.ts'

/** The chapters of docs/interface.md, and the tags of `openapi.json`. */
export const chapters = [
  'Sessions',
  'Creating',
  'Entries',
  'Resources',
  'Trash',
  'Public links',
  'Contexts and quota',
  'Archives and statistics',
  'Search',
  'Lookup',
  'Tools',
  'Status and administration',
] as const
export type Chapter = (typeof chapters)[number]

/**
 * Codes by status. A status without codes stands for the general ones: `not-signed-in`, `not-allowed`,
 * `not-found`…
 */
export type Refusals = Readonly<Partial<Record<RefusalStatus, readonly ErrorCode[]>>>
export type RefusalStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 406
  | 408
  | 409
  | 412
  | 413
  | 415
  | 416
  | 429
  | 501
  | 502
  | 503
  | 504
  | 507

interface PathPart {
  readonly description?: string
  readonly schema?: JsonSchema
  readonly example?: string
}

/**
 * The only description of an operation: requests are read by it, and `openapi.json` and docs/interface.md are
 * generated from it.
 */
export interface Description<Q extends Query = Query, B = unknown> {
  /** Unique and stable: the `operationId`, for generated clients. */
  readonly id: string
  readonly chapter: Chapter
  /** One sentence: what the operation does. */
  readonly summary: string
  /** Further facts for callers. Markdown. */
  readonly details?: string
  /** The permitted callers, if not all callers are permitted and `requires` does not define them. */
  readonly access?: string
  /** Checked before any part of the request is read; `to` completes "Sign in to …" and "You may not …". */
  readonly requires?: { readonly role: 'admin' | 'user'; readonly to: string }
  /** The meaning of a path parameter that is not any context or entry. */
  readonly path?: Readonly<Record<string, PathPart>>
  readonly query?: Q
  readonly body?: RequestBody<B>
  readonly answers: Readonly<Record<number, Answer>>
  readonly refusals?: Refusals
  /** The supported conditional headers: those of a reader (304, 412) or of a writer (412). */
  readonly conditional?: 'read' | 'write'
  /** The media type of errors, where it is not `application/problem+json` (and a page, where `htmlErrors`). */
  readonly refusedAs?: 'text/html'
}

/** `context` and `entry` of `/:context/entry/:entry`, `*` of `/ui/*`. */
type PathNames<U extends string> = U extends `${string}:${infer N}/${infer R}`
  ? N | PathNames<`/${R}`>
  : U extends `${string}:${infer N}`
    ? N
    : U extends `${string}*`
      ? '*'
      : never

/** A request and its reply, with everything read that the declaration describes. */
export interface Exchange<U extends string = string, Q extends Query = Query, B = unknown> {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly caller: Caller
  /** The path parameters. */
  readonly params: Readonly<Record<PathNames<U>, string>>
  readonly query: ValuesOf<Q>
  /** Reads the body. Call it, or let a service call it, after the caller's right has been checked. */
  readonly body: () => Promise<B>
}

interface Declared<D, U extends string, Q extends Query, B> {
  readonly method: Method
  readonly url: U
  /** False when this configuration does not have the route; the response is then 404 or 405. */
  readonly isOffered?: (deps: D) => boolean
  readonly skipAuth?: true
  readonly csrfExempt?: true
  readonly htmlErrors?: true
  readonly pageAt?: string
  readonly compressible?: true
  readonly allowWithoutMfa?: true
  readonly onContentOrigin?: true
  readonly tokenScopes?: readonly TokenScope[]
  /** Returns the body of a JSON response, or `undefined` after it has sent the reply itself. */
  readonly handle: (deps: D, exchange: Exchange<U, Q, B>) => unknown
}

/** A route without its services: `bind` passes it those that it uses. */
export interface RouteDefinition<in D = never> {
  readonly method: Method
  readonly url: string
  readonly htmlErrors: boolean
  /** Absent for routes that programs do not use: pages, and addresses that only refuse. */
  readonly description: Description | undefined
  /** `undefined` when the configuration leaves the route out. */
  readonly bind: (deps: D) => Route | undefined
}

/**
 * Declares one operation together with its handler. The handler names the services that it uses and gets a
 * request whose query has been read:
 *
 * route({
 * id: 'readQuota', method: 'GET', url: '/:context/quota', chapter: 'Contexts and quota',
 * summary: 'Read the quota and the fill level of a context.',
 * answers: { 200: json('The quota.', Quota) },
 * handle: async ({ contexts }: Uses<'contexts'>, { caller, params }) => await contexts.quota(caller,
 * params.context),
 * })
 */
export function route<D, const U extends string, const Q extends Query = NoQuery, B = undefined>(
  declared: Declared<D, U, Q, B> & Description<Q, B>,
): RouteDefinition<D & { readonly bodies: Bodies }> {
  return define(declared, declared)
}

/** A route that is not described: a page for people, or an address that refuses every request. */
export function undescribed<D, const U extends string>(
  declared: Declared<D, U, NoQuery, undefined>,
): RouteDefinition<D & { readonly bodies: Bodies }> {
  return define(declared, undefined)
}

function define<D, U extends string, Q extends Query, B>(
  declared: Declared<D, U, Q, B>,
  description: Description<Q, B> | undefined,
): RouteDefinition<D & { readonly bodies: Bodies }> {
  const { method, url, isOffered, skipAuth, csrfExempt, htmlErrors, pageAt, compressible, tokenScopes, handle } =
    declared
  const { onContentOrigin, allowWithoutMfa } = declared
  const parameters = Object.entries(description?.query ?? {})
  const { body, requires } = description ?? {}
  const readQuery = ({ parameters: given }: FastifyRequest): ValuesOf<Q> => {
    const values: Record<string, unknown> = {}
    for (const [name, { read }] of parameters) values[name] = read(given, name)
    return values as ValuesOf<Q>
  }
  return {
    method,
    url,
    htmlErrors: htmlErrors === true,
    description,
    bind: deps => {
      if (isOffered && !isOffered(deps)) return undefined
      return {
        method,
        url,
        ...(skipAuth ? { skipAuth } : {}),
        ...(csrfExempt ? { csrfExempt } : {}),
        ...(htmlErrors ? { htmlErrors } : {}),
        ...(pageAt === undefined ? {} : { pageAt }),
        ...(compressible ? { compressible } : {}),
        ...(allowWithoutMfa ? { allowWithoutMfa } : {}),
        ...(onContentOrigin ? { onContentOrigin } : {}),
        ...(tokenScopes ? { tokenScopes } : {}),
        handle: (request, reply) => {
          if (requires) requireRole(request.caller, requires)
          return handle(deps, {
            request,
            reply,
            caller: request.caller,
            params: request.params as Exchange<U>['params'],
            query: readQuery(request),
            body: async () => await readBody(body, deps.bodies, request, reply),
          })
        },
      }
    },
  }
}

const requireRole = (caller: Caller, { role, to }: NonNullable<Description['requires']>): void =>
  role === 'admin' ? requireAdmin(caller, to) : requireSignedIn(caller, to)

async function readBody<B>(
  body: RequestBody<B> | undefined,
  bodies: Bodies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<B> {
  if (!body) throw new TypeError('the route declares no body')
  return await body.read(bodies, request, reply)
}
