import type { FastifyRequest } from 'fastify'
import { hasScope, type TokenScope } from '../accounts/caller.ts'
import { Forbidden } from '../base/errors.ts'

const READ: readonly TokenScope[] = ['read']
const WRITE: readonly TokenScope[] = ['write']
const NONE: readonly TokenScope[] = []

/**
 * Checks once, for every route, that the access token of a request has a scope for it (D24.4). A route without a declaration of
 * its own is read with `read` and changed with `write`; below `/auth/` tokens are refused: they do not manage logins, passwords
 * and tokens (D24.5).
 * @throws {Forbidden} `access-token-scope`
 */
export function requireTokenScope({ caller, method, routeOptions: { url, config } }: FastifyRequest): void {
  const { grant } = caller
  // An unknown address is answered with 404.
  if (!grant || url === undefined) return
  const scopes = config.tokenScopes ?? scopesOf(method, url)
  if (scopes.some(scope => hasScope(caller, scope))) return
  const needed = scopes.length === 0 ? 'Sign in instead' : `It needs the scope ${scopes.join(' or ')}`
  throw new Forbidden('access-token-scope', `This access token does not permit this request. ${needed}.`)
}

function scopesOf(method: string, url: string): readonly TokenScope[] {
  if (url.startsWith('/auth/')) return NONE
  return method === 'GET' || method === 'HEAD' ? READ : WRITE
}
