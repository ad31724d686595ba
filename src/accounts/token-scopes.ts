/** What an access token permits, from the weakest on. Each but `quota` includes those before it; `admin` includes all. */
export const tokenScopes = ['read', 'write', 'quota', 'admin'] as const
export type TokenScope = (typeof tokenScopes)[number]

/** The limits of a request that an access token authenticated. */
export interface TokenGrant {
  readonly tokenId: string
  readonly scopes: readonly TokenScope[]
  /** Ids of the only contexts that the token opens; absent: all that the user has access to. */
  readonly contexts?: readonly string[]
}

/** A caller, of whom only the access token matters here. */
interface WithGrant {
  readonly grant?: TokenGrant
}

/** Whether the access token of the request, if any, has the scope. */
export function hasScope({ grant }: WithGrant, scope: TokenScope): boolean {
  if (!grant || grant.scopes.includes('admin')) return true
  return grant.scopes.includes(scope) || (scope === 'read' && grant.scopes.includes('write'))
}

/** Whether the access token of the request, if any, opens this context. */
export const opensContext = ({ grant }: WithGrant, context: string): boolean =>
  grant?.contexts?.includes(context) ?? true
