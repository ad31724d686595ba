import type { VerifiedIdentity } from '../identity-provider.ts'
import type { SessionAtProvider } from './logout-xml.ts'
import type { VerifiedAssertion } from './response.ts'

/** What a session notes of the provider's session, as text. */
export interface NotedSession extends SessionAtProvider {
  /** Entity id of the provider. */
  readonly issuer: string
}

/** An honest NameID has at most 256 characters, and the store keeps this for each session. */
const MAX_NOTED_CHARACTERS = 4_096

/**
 * What a session must keep to be ended by the provider, and to end the provider's own. Nothing if the assertion has no NameID: no message
 * of single logout can name its session.
 */
export function logoutDataOf({ issuer, nameId, sessionIndex }: VerifiedAssertion): LogoutData {
  if (!nameId) return {}
  const { text: name, attributes } = nameId
  const noted: NotedSession = { issuer, name, nameId: attributes, sessionIndex }
  const providerSession = JSON.stringify(noted)
  if (providerSession.length > MAX_NOTED_CHARACTERS) return {}
  return { logoutKeys: [userKey(issuer, name), sessionKey(issuer, name, sessionIndex)], providerSession }
}

type LogoutData = Pick<VerifiedIdentity, 'logoutKeys' | 'providerSession'>

/** Entity id of the provider that opened the session. @param noted by {@link logoutDataOf} */
export const issuerOfSession = (noted: string): string => (JSON.parse(noted) as NotedSession).issuer

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
