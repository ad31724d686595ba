import { ask, Problem } from './api.ts'

export interface AccessToken {
  readonly id: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly contexts?: readonly string[]
  readonly addresses?: readonly string[]
  readonly created: string
  readonly expires: string
  readonly lastUsed?: string
  readonly lastAddress?: string
}

export interface NewAccessToken {
  readonly name: string
  readonly expires: string
  readonly scopes: readonly string[]
  readonly contexts?: readonly string[]
  readonly addresses?: readonly string[]
}

const PATH = 'auth/access-tokens'

/**
 * The user's own tokens, or with `user` those of that user.
 * @returns `undefined` if access tokens are switched off
 * @throws {Problem}
 */
export async function loadAccessTokens(
  signal: AbortSignal,
  name?: string,
): Promise<readonly AccessToken[] | undefined> {
  const query = name === undefined ? '' : `?${new URLSearchParams({ user: name }).toString()}`
  try {
    return await ask<readonly AccessToken[]>(PATH + query, { signal })
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined
    throw error
  }
}

/** @returns the token, which is shown once @throws {Problem} */
export const createAccessToken = async (wish: NewAccessToken): Promise<string> =>
  (await ask<{ readonly token: string }>(PATH, { method: 'POST', json: wish })).token

/** @throws {Problem} */
export const revokeAccessToken = (id: string): Promise<undefined> =>
  ask(`${PATH}/${encodeURIComponent(id)}`, { method: 'DELETE' })
