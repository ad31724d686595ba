import { ask, askTagged, Problem } from './api.ts'

interface LoginData {
  readonly loginTime: string
  readonly lastAccess: string
  readonly inetAddress: string
  readonly userAgent: string
}

export interface Login extends LoginData {
  readonly token: string
  /** The one that this page goes by. */
  readonly isThis: boolean
}

type Logins = Readonly<Record<string, LoginData>>

const listed = (logins: Logins, isThis: boolean): Login[] =>
  Object.entries(logins)
    .map(([token, login]) => ({ ...login, token, isThis }))
    .sort((a, b) => b.lastAccess.localeCompare(a.lastAccess))

/** All logins of the user, the one of this page first, then the latest used. @throws {Problem} */
export async function loadOwnLogins(signal: AbortSignal): Promise<readonly Login[]> {
  const [current, others] = await Promise.all([
    ask<Logins>('auth/tokens?scope=current', { signal }),
    ask<Logins>('auth/tokens?scope=others', { signal }),
  ])
  return [...listed(current, true), ...listed(others, false)]
}

/** All logins of somebody else, the latest used first. @throws {Problem} */
export async function loadLoginsOf(name: string, signal: AbortSignal): Promise<readonly Login[]> {
  return listed(await ask<Logins>(`auth/tokens?${new URLSearchParams({ user: name }).toString()}`, { signal }), false)
}

export interface LoginOfUser extends Login {
  readonly userId: string
  readonly userName: string
}

interface Wanted {
  /** Part of a user name, an address or a device. */
  readonly query: string
  readonly offset: number
  readonly limit: number
}

/** Some of the logins of all users, the latest first, and how many there are. @throws {Problem} */
export async function loadAllLogins(
  { query, offset, limit }: Wanted,
  signal: AbortSignal,
): Promise<{ readonly logins: readonly LoginOfUser[]; readonly results: number }> {
  const parameters = new URLSearchParams({ user: '*', query, offset: String(offset), limit: String(limit) })
  const path = `auth/tokens?${parameters.toString()}`
  const { value, total } = await askTagged<Readonly<Record<string, LoginData & { readonly userName: string }>>>(path, {
    signal,
  })
  // A handle ends with the id of its user.
  const logins = Object.entries(value).map(([token, login]) => ({
    ...login,
    token,
    isThis: false,
    userId: token.slice(token.indexOf('.') + 1),
  }))
  return { logins, results: total ?? logins.length }
}

/** Ends them; those that have ended meanwhile are over as well. @throws {Problem} */
export async function endLogins(logins: readonly Login[]): Promise<void> {
  for (const { token } of logins) {
    await ask('auth/tokens', { method: 'DELETE', json: { token } }).catch((error: unknown) => {
      if (!(error instanceof Problem && error.code === 'unknown-token')) throw error
    })
  }
}
