import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller } from '../accounts/caller.ts'
import type { TokenScope } from '../accounts/token-scopes.ts'
import type { ErrorCode } from '../base/error-codes.ts'
import type { TraceContext } from '../base/trace-context.ts'
import type { Entries } from '../content/entries.ts'
import type { CrossOriginHeaders } from './protocol/cors.ts'
import type { Parameters } from './protocol/parameters.ts'
import type { RequestCookies } from './protocol/cookies.ts'
import type { RequestSpan } from './request-records.ts'

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
export type Method = (typeof methods)[number]

/** What a route declares for the steps around its handler. */
export interface RouteMarks {
  /** A sign-in or sign-out: invalid credentials in the request must not prevent it (D2.4). */
  readonly skipAuth?: boolean
  /**
   * Other sites send browsers here with a POST, by design: the only address that the cross-site check allows
   * (D2.9, D8.2).
   */
  readonly csrfExempt?: boolean
  /** Visited by people with a browser: errors may be pages (D1.4). */
  readonly htmlErrors?: boolean
  /** The page whose form is sent here: a browser that asks for this address with GET is led there. Relative to the base. */
  readonly pageAt?: string
  /** Answers only requests whose query has this parameter; other routes of the address answer the others (`selecting-parameter.ts`). */
  readonly parameter?: string
  /**
   * The page that shows people the resource at the address, relative to the base: a browser that opens the address without a query is
   * redirected to it. `undefined`: there is no page.
   */
  readonly pageOf?: (params: Readonly<Record<string, string>>) => string | undefined
  /** Answers on the content origin, and nowhere else (`content-origin.ts`). */
  readonly onContentOrigin?: boolean
  /** Responses contain no secrets, so text and RDF may be compressed (`negotiate.ts`). */
  readonly compressible?: boolean
  /** An access token needs one of these scopes; absent: `caller.ts` derives them from method and address. Empty: tokens are refused. */
  readonly tokenScopes?: readonly TokenScope[]
  /** Headers of every response, also of a refusal. */
  readonly headers?: Readonly<Record<string, string>>
  /** Headers of the protocol of the route that pages of other origins send and read. */
  readonly crossOrigin?: CrossOriginHeaders
  /** A POST may name another method in `X-HTTP-Method-Override`, for clients whose proxies let only GET and POST pass. */
  readonly methodInHeader?: boolean
  /** The handler knows a bearer token of its own, so one that is no access token is left to it, also with HTTP Basic on. */
  readonly readsBearerToken?: boolean
  /** Also answers users who must have a second factor and have none (D28.9). */
  readonly allowWithoutMfa?: boolean
}

/**
 * Whether a GET may take long, so that another thread answers it (`readers/`). A function decides by the request; `entries` finds how large
 * an entry is.
 */
export type Heavy = true | ((request: FastifyRequest, entries: Pick<Entries, 'summary'>) => boolean | Promise<boolean>)

/** A declared route (`interface/route.ts`) with its services: one address and method. A GET answers HEAD as well. */
export interface BoundRoute extends RouteMarks {
  readonly heavy?: Heavy | undefined
  readonly method: Method
  readonly url: string
  /** Returns the body of a JSON response, or `undefined` after it has sent the reply itself. */
  readonly handle: (request: FastifyRequest, reply: FastifyReply) => unknown
}

declare module 'fastify' {
  interface FastifyContextConfig extends RouteMarks {}

  interface FastifyRequest {
    /** The marks of the matched route and its address, which is absent for an unknown address. */
    route: FastifyContextConfig & { readonly url?: string }
    /** Who asks, and from where; set before the handler runs. */
    caller: Caller
    /** Parsed once. */
    cookies: RequestCookies
    parameters: Parameters
    /** The function that the response is handed to, as a script (`protocol/jsonp.ts`). */
    callback: string | undefined
    /** The trace to which the request belongs; absent if the caller names none and none are sent. */
    trace: TraceContext | undefined
    /** Absent when no traces are sent. */
    span: RequestSpan | undefined
    /** The code of the error response, if it is one. */
    refusal: ErrorCode | undefined
  }
}

/** A named parameter of the path; the router has matched it, so it is there. */
export function pathParameter(request: FastifyRequest, name: 'context' | 'entry' | 'type'): string {
  return (request.params as Readonly<Record<string, string>>)[name] ?? ''
}
