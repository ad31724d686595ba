import { ask, Problem } from './api.ts'

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

/** Ends them; those that have ended meanwhile are over as well. @throws {Problem} */
export async function endLogins(logins: readonly Login[]): Promise<void> {
  for (const { token } of logins) {
    await ask('auth/tokens', { method: 'DELETE', json: { token } }).catch((error: unknown) => {
      if (!(error instanceof Problem && error.code === 'unknown-token')) throw error
    })
  }
}
