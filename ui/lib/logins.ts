import { ask, askTagged, Problem } from './api.ts'
import { namesOf } from './principals.ts'

interface LoginData {
  readonly loginTime: string
  readonly lastAccess: string
  readonly inetAddress: string
  readonly userAgent: string
}

export interface Login extends LoginData {
  readonly token: string
  /** Whether it is the session of this page. */
  readonly isThis: boolean
}

type Logins = Readonly<Record<string, LoginData>>

const listed = (logins: Logins, isThis: boolean): Login[] =>
  Object.entries(logins)
    .map(([token, login]) => ({ ...login, token, isThis }))
    .sort((a, b) => b.lastAccess.localeCompare(a.lastAccess))

/** All sessions of the user: the one of this page first, then the most recently used. @throws {Problem} */
export async function loadOwnLogins(signal: AbortSignal): Promise<readonly Login[]> {
  const [current, others] = await Promise.all([
    ask<Logins>('auth/tokens?scope=current', { signal }),
    ask<Logins>('auth/tokens?scope=others', { signal }),
  ])
  return [...listed(current, true), ...listed(others, false)]
}

/** All sessions of another user, the most recently used first. @throws {Problem} */
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

/** A part of the sessions of all users, the latest first, and the number of all. @throws {Problem} */
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
  const names = await namesOf(
    logins.map(({ userId }) => userId),
    signal,
  )
  const named = logins.map(login => ({ ...login, userName: names.get(login.userId) ?? login.userName }))
  return { logins: named, results: total ?? logins.length }
}

/** Ends the sessions; sessions that have already ended cause no error. @throws {Problem} */
export async function endLogins(logins: readonly Login[]): Promise<void> {
  for (const { token } of logins) {
    await ask('auth/tokens', { method: 'DELETE', json: { token } }).catch((error: unknown) => {
      if (!(error instanceof Problem && error.code === 'unknown-token')) throw error
    })
  }
}
