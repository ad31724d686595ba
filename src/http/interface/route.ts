import type { Content, RequestBody } from './bodies.ts'
import { type Schema, text, type JsonSchema } from './schema.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { Bodies } from '../protocol/body.ts'
import { isFlagSet, type Parameters } from '../protocol/parameters.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { requireAdmin, requireSignedIn } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { ErrorCode } from '../../base/error-codes.ts'
import type { ErrorStatus } from '../../base/error-text.ts'
import type { HttpServices } from '../http-services.ts'
import type { Heavy, Method, BoundRoute, RouteMarks } from '../bound-route.ts'

/**
 * Useful requests after a response (OpenAPI links): the id of an operation, and the sources of its parameters
 * as runtime expressions such as `$response.body#/entryId`.
 */
export type Links = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The response of an operation with one status. */
export interface Answer {
  readonly description: string
  readonly content?: Content
  readonly headers?: Readonly<Record<string, string>>
  readonly links?: Links
}

interface Extras {
  readonly example?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly links?: Links
}

export const json = (description: string, schema: Schema, { example, ...extras }: Extras = {}): Answer => ({
  description,
  content: { types: ['application/json'], schema, ...(example === undefined ? {} : { example }) },
  ...extras,
})

export const content = (
  description: string,
  types: readonly string[],
  schema: Schema,
  extras: Extras = {},
): Answer => ({
  description,
  content: { types, schema },
  ...extras,
})

/** A response without a body. */
export const empty = (description: string, extras: Omit<Extras, 'example'> = {}): Answer => ({ description, ...extras })

export const done = empty('Done.')
export const unchanged = empty('Not changed since the state that the request names.')
export const redirect = (description: string): Answer =>
  empty(description, { headers: { Location: 'Where to go on.' } })

/** A page for people. */
export const page = (description: string): Answer => content(description, ['text/html'], text())

/** A query parameter: its meaning, its schema for the description, and how it is read. */
export interface Parameter<T> {
  readonly description: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
  /** An example value, which generated tests send. */
  readonly example?: string | number | boolean | undefined
  /** @throws {InvalidInput} `invalid-query` */
  readonly read: (parameters: Parameters, name: string) => T
}

type Query = Readonly<Record<string, Parameter<unknown>>>

/** The query of a route without parameters. */
type NoQuery = Readonly<Record<string, never>>

export type ValuesOf<Q extends Query> = { readonly [K in keyof Q]: Q[K] extends Parameter<infer T> ? T : never }

interface Hints {
  readonly example?: string
  /** Further keywords of JSON Schema, for the description only. */
  readonly keywords?: JsonSchema
}

/** Any text. */
export const textParameter = (
  description: string,
  { example, keywords = {} }: Hints = {},
): Parameter<string | undefined> => ({
  description,
  schema: { type: 'string', ...keywords },
  isRequired: false,
  example,
  read: (parameters, name) => parameters.get(name),
})

export const requiredText = (description: string, { example, keywords = {} }: Hints = {}): Parameter<string> => ({
  description,
  schema: { type: 'string', ...keywords },
  isRequired: true,
  example,
  read: (parameters, name) => {
    const value = parameters.get(name)
    if (value !== undefined && value !== '') return value
    throw invalid(`The parameter \`${name}\` is missing.`)
  },
})

/** A flag. Without a value, or with `true`, it is set; `false`, `off` and `0` mean the same as leaving it out. */
export const flagParameter = (description: string): Parameter<boolean> => ({
  description,
  schema: { enum: ['', 'true', 'false'] },
  isRequired: false,
  read: isFlagSet,
})

/**
 * A whole number, at least `min`. An empty value means the same as leaving it out.
 * @param cap larger numbers are reduced to this one
 * @param max larger numbers are refused
 */
export const wholeNumber = (
  description: string,
  {
    otherwise,
    min = 0,
    max = Number.MAX_SAFE_INTEGER,
    cap = max,
  }: { readonly otherwise: number; readonly min?: number; readonly max?: number; readonly cap?: number },
): Parameter<number> => ({
  description,
  schema: { type: 'integer', minimum: min, maximum: max, default: otherwise },
  isRequired: false,
  read: (parameters, name) => {
    const given = parameters.get(name)
    if (given === undefined || given === '') return otherwise
    const number = /^-?\d{1,16}$/.test(given) ? Number(given) : Number.NaN
    if (number >= min && number <= max) return Math.min(number, cap)
    const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} on` : `from ${min} to ${max}`
    throw invalid(`\`${name}\` must be a whole number ${range}, but is "${shown(given)}".`)
  },
})

/** One of these words. An empty value means the same as leaving it out. */
export const choice = <const T extends readonly string[], const D extends T[number] | undefined>(
  description: string,
  values: T,
  otherwise: D,
): Parameter<T[number] | D> => ({
  description,
  schema: { enum: values, ...(otherwise === undefined ? {} : { default: otherwise }) },
  isRequired: false,
  read: (parameters, name) => {
    const given = parameters.get(name)
    if (given === undefined || given === '') return otherwise
    const value = values.find(known => known === given)
    if (value !== undefined) return value
    throw invalid(`\`${name}\` must be one of ${values.join(', ')}, but is "${shown(given)}".`)
  },
})

/** A parameter that a function of its own reads. */
export const custom = <T>(
  description: string,
  read: Parameter<T>['read'],
  { example, keywords = {} }: Hints = {},
): Parameter<T> => ({ description, schema: { type: 'string', ...keywords }, isRequired: false, example, read })

/** `limit` and `offset` of lists that are returned in pages: 50 items by default, at most 100. */
export const paging = {
  limit: wholeNumber('How many to return; more than 100 counts as 100.', { otherwise: 50, cap: 100 }),
  offset: wholeNumber('How many to skip.', { otherwise: 0 }),
} as const

export const invalid = (detail: string, cause?: unknown): InvalidInput =>
  new InvalidInput('invalid-query', detail, { cause })

/** The start of a value, for a message. */
export const shown = (given: string): string => (given.length > 40 ? `${given.slice(0, 40)}…` : given)

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
 * Codes by status. A status without codes stands for the general one: `not-signed-in`, `not-allowed`, `not-found`…
 */
export type Refusals = Readonly<Partial<Record<ErrorStatus, readonly ErrorCode[]>>>
interface PathParameter {
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
  readonly path?: Readonly<Record<string, PathParameter>>
  readonly query?: Q
  readonly body?: RequestBody<B>
  readonly answers: Readonly<Record<number, Answer>>
  readonly refusals?: Refusals
  /** The supported conditional headers: those for reading (304, 412) or those for writing (412). */
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

interface Declared<D, U extends string, Q extends Query, B> extends RouteMarks {
  readonly method: Method
  readonly url: U
  /** False when this configuration does not have the route; the response is then 404 or 405. */
  readonly isOffered?: (deps: D) => boolean
  /** For a GET only. */
  readonly heavy?: Heavy
  /** Returns the body of a JSON response, or `undefined` after it has sent the reply itself. */
  readonly handle: (deps: D, exchange: Exchange<U, Q, B>) => unknown
}

/** A route without its services: `bind` passes the services to it. */
export interface RouteDefinition<in D = never> {
  readonly method: Method
  readonly url: string
  readonly htmlErrors: boolean
  /** The query parameter that selects the route among those of its address. */
  readonly parameter: string | undefined
  /** Absent for routes that programs do not use: pages, and addresses that only refuse. */
  readonly description: Description | undefined
  /** `undefined` when the configuration leaves the route out. */
  readonly bind: (deps: D) => BoundRoute | undefined
}

/**
 * Declares one operation together with its handler. The handler names the services that it uses and gets a
 * request whose query has been read:
 *
 * route({
 * id: 'readQuota', method: 'GET', url: '/:context/quota', chapter: 'Contexts and quota',
 * summary: 'Read the quota and the fill level of a context.',
 * answers: { 200: json('The quota.', Quota) },
 * handle: async ({ contexts }: Services, { caller, params }) => await contexts.quota(caller,
 * params.context),
 * })
 */
export function route<D, const U extends string, const Q extends Query = NoQuery, B = undefined>(
  declared: Declared<D, U, Q, B> & Description<Q, B>,
): RouteDefinition<D & { readonly bodies?: Bodies }> {
  return define(declared, declared)
}

/** A route that is not described: a page for people, or an address that refuses every request. */
export function undescribed<D, const U extends string>(
  declared: Declared<D, U, NoQuery, undefined>,
): RouteDefinition<D & { readonly bodies?: Bodies }> {
  return define(declared, undefined)
}

function define<D, U extends string, Q extends Query, B>(
  declared: Declared<D, U, Q, B>,
  description: Description<Q, B> | undefined,
): RouteDefinition<D & { readonly bodies?: Bodies }> {
  const { isOffered, handle, ...marks } = declared
  const { method, url, htmlErrors = false } = declared
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
    htmlErrors,
    parameter: declared.parameter,
    description,
    bind: deps => {
      if (isOffered && !isOffered(deps)) return undefined
      return {
        ...marks,
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

/** A route of a running feature: it has the services of the feature, and gets those of HTTP from the application. */
export interface Offer<in H = HttpServices> {
  readonly definition: RouteDefinition
  /** `undefined` when the settings leave the route out. */
  readonly bind: (http: H) => BoundRoute | undefined
}

/** The services of HTTP and those of a feature in one object. Getters stay getters: the base address is known only after the start. */
export const withServices = <H extends object, S extends object>(http: H, services: S): H & S =>
  Object.defineProperties({} as H & S, {
    ...Object.getOwnPropertyDescriptors(http),
    ...Object.getOwnPropertyDescriptors(services),
  })

const requireRole = (caller: Caller, { role, to }: NonNullable<Description['requires']>): void =>
  role === 'admin' ? requireAdmin(caller, to) : requireSignedIn(caller, to)

async function readBody<B>(
  body: RequestBody<B> | undefined,
  bodies: Bodies | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<B> {
  if (!body || !bodies) throw new TypeError('the route declares no body')
  return await body.read(bodies, request, reply)
}
