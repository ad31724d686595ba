import type { SessionAtProvider } from './logout-xml.ts'
import type { VerifiedAssertion } from './response.ts'

/** What a session notes of the provider's session, as text. */
export interface NotedSession extends SessionAtProvider {
  /** Entity id of the provider. */
  readonly issuer: string
}

/** What a session must keep to be ended by the provider, and to end the provider's own. */
export function logoutDataOf(issuer: string, { name, nameId, sessionIndex }: VerifiedAssertion) {
  const noted: NotedSession = { issuer, name, nameId, sessionIndex }
  return {
    logoutKeys: [userKey(issuer, name), sessionKey(issuer, name, sessionIndex)],
    providerSession: JSON.stringify(noted),
  }
}

/** The key of all sessions of a user of the provider. */
export const userKey = (issuer: string, name: string): string => JSON.stringify([issuer, name])

/** The key of one session at the provider; some providers do not name it. */
export const sessionKey = (issuer: string, name: string, index = ''): string => JSON.stringify([issuer, name, index])

/** Whether the session was opened for this user of the provider. @param noted by {@link logoutDataOf} */
export function isOfUser(noted: string | undefined, issuer: string, name: string): boolean {
  if (noted === undefined) return false
  const session = JSON.parse(noted) as NotedSession
  return session.issuer === issuer && session.name === name
}
