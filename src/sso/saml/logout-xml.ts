import type { Milliseconds } from '../../base/units.ts'
import { escapeXml } from '../xml.ts'
import type { NameIdAttributes } from './message.ts'
import { SAML, SAMLP, SUCCESS } from './names.ts'

interface Sent {
  readonly id: string
  readonly issued: Milliseconds
  readonly destination: string
  /** Relying-party id of this service. */
  readonly issuer: string
}

/** The user and the session that the provider is to end, as its assertion named them. */
export interface SessionAtProvider {
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
