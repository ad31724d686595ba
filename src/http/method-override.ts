import { type IncomingMessage, METHODS } from 'node:http'
import type { BaseAddress } from './base-address.ts'
import { Parameters } from './protocol/parameters.ts'
import type { BoundRoute } from './bound-route.ts'

/** What a POST can name in its query (W3.0.4). */
const ofQuery: ReadonlyMap<string, string> = new Map([
  ['put', 'PUT'],
  ['delete', 'DELETE'],
])

/** The addresses of routes where a header names the method, as patterns. */
export const methodHeaderPatterns = (routes: readonly BoundRoute[]): readonly RegExp[] =>
  [...new Set(routes.filter(({ methodInHeader }) => methodInHeader).map(({ url }) => url))].map(
    url => new RegExp(`^${url.replaceAll(/:\w+/g, '[^/?]+')}(\\?|$)`),
  )

/**
 * The address of a request below the base address. A POST becomes the method that it stands for, before anything else sees the request:
 * `method` in the query names it for clients whose forms or proxies let only GET and POST pass, and at some addresses a header.
 */
export function routeOf(request: IncomingMessage, base: BaseAddress, patterns: readonly RegExp[]): string {
  const url = base.route(request.url ?? '/')
  const meant = request.headers['x-http-method-override']
  if (typeof meant === 'string' && METHODS.includes(meant) && patterns.some(pattern => pattern.test(url)))
    request.method = meant
  else if (request.method === 'POST') request.method = methodInQuery(url) ?? 'POST'
  return url
}

/** Nothing below `/auth/` (D2.9). */
function methodInQuery(url: string): string | undefined {
  const [path = '', query = ''] = url.split('?', 2)
  if (!query.includes('method=')) return undefined
  try {
    if (decodeURIComponent(path).startsWith('/auth/')) return undefined
    return ofQuery.get(Parameters.parse(query, 'invalid-query').get('method')?.toLowerCase() ?? '')
  } catch {
    // A later step refuses what cannot be decoded.
    return undefined
  }
}
