import type { IncomingHttpHeaders } from 'node:http'
import { Forbidden } from '../../base/errors.ts'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Refuses a state-changing request that a page of another site made with the user's cookie (D2.9).
 * @param isAllowed true for the origin of the base address and those of the CORS list
 * @throws {Forbidden} `cross-site-request`
 */
export function refuseCrossSite(
  method: string,
  headers: IncomingHttpHeaders,
  isAllowed: (origin: string) => boolean,
): void {
  if (safeMethods.has(method)) return
  const { origin } = headers
  const isForeign = headers['sec-fetch-site'] === 'cross-site' || origin !== undefined
  if (!isForeign || (origin !== undefined && isAllowed(origin))) return
  throw new Forbidden('cross-site-request', `A page of ${origin ?? 'another site'} may not change anything here.`)
}
