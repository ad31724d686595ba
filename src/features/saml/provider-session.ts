import type { VerifiedIdentity } from '../sso/identity-provider.ts'
import type { VerifiedAssertion } from './response.ts'
import type { Milliseconds } from '../../base/units.ts'
import { escapeXml } from '../sso/xml.ts'
import type { NameIdAttributes } from './message.ts'
import { SAML, SAMLP, SUCCESS } from './names.ts'

/** The provider's session as a session here stores it, as text. */
export interface NotedSession extends SessionAtProvider {
  /** Entity id of the provider. */
  readonly issuer: string
}

/** An honest NameID has at most 256 characters, and the store keeps this for each session. */
const MAX_NOTED_CHARACTERS = 4_096

/**
 * The data that a session stores so that the provider can end it, and so that a sign-out can end the provider's session. Nothing if the
 * assertion has no NameID: no message of single logout can name its session.
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

interface Sent {
  readonly id: string
  readonly issued: Milliseconds
  readonly destination: string
  /** Relying-party id of this service. */
  readonly issuer: string
}

/** The user and the session that the provider is to end, as its assertion named them. */
interface SessionAtProvider {
  readonly name: string
  readonly nameId: NameIdAttributes
  readonly sessionIndex: string | undefined
}

/** How long the provider may take: as long as its users can stay on its pages. */
const REQUEST_TTL: Milliseconds = 300_000

/** LogoutRequest (SAML Core 3.7.1). */
export const logoutRequestXml = (sent: Sent, { name, nameId, sessionIndex }: SessionAtProvider): string =>
  `<samlp:LogoutRequest ${head(sent)} NotOnOrAfter="${new Date(sent.issued + REQUEST_TTL).toISOString()}">` +
  `<saml:Issuer>${escapeXml(sent.issuer)}</saml:Issuer>` +
  `<saml:NameID${attributes(nameId)}>${escapeXml(name)}</saml:NameID>` +
  (sessionIndex === undefined ? '' : `<samlp:SessionIndex>${escapeXml(sessionIndex)}</samlp:SessionIndex>`) +
  '</samlp:LogoutRequest>'

/** LogoutResponse (SAML Core 3.7.2): the sessions here have ended. A request that is refused gets no response. */
export const logoutResponseXml = (sent: Sent, inResponseTo: string): string =>
  `<samlp:LogoutResponse ${head(sent)} InResponseTo="${escapeXml(inResponseTo)}">` +
  `<saml:Issuer>${escapeXml(sent.issuer)}</saml:Issuer>` +
  `<samlp:Status><samlp:StatusCode Value="${SUCCESS}"/></samlp:Status></samlp:LogoutResponse>`

const head = ({ id, issued, destination }: Sent): string =>
  `xmlns:samlp="${SAMLP}" xmlns:saml="${SAML}" ID="${escapeXml(id)}" Version="2.0"` +
  ` IssueInstant="${new Date(issued).toISOString()}" Destination="${escapeXml(destination)}"`

const attributes = (nameId: NameIdAttributes): string =>
  Object.entries(nameId)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join('')
