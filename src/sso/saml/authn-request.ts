import type { Milliseconds } from '../../base/units.ts'
import { escapeXml } from '../xml.ts'
import { EMAIL_FORMAT, POST_BINDING, SAML, SAMLP } from './names.ts'

export interface AuthnRequest {
  readonly id: string
  readonly issued: Milliseconds
  /** Where the provider takes requests. */
  readonly destination: string
  readonly acsUrl: string
  /** Relying-party id of this service. */
  readonly issuer: string
}

/** AuthnRequest (SAML Core 3.4.1): NameID format e-mail, response by HTTP-POST to our ACS. */
export const authnRequestXml = ({ id, issued, destination, acsUrl, issuer }: AuthnRequest): string =>
  `<samlp:AuthnRequest xmlns:samlp="${SAMLP}" xmlns:saml="${SAML}" ID="${escapeXml(id)}" Version="2.0"` +
  ` IssueInstant="${new Date(issued).toISOString()}" Destination="${escapeXml(destination)}"` +
  ` ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escapeXml(acsUrl)}">` +
  `<saml:Issuer>${escapeXml(issuer)}</saml:Issuer>` +
  `<samlp:NameIDPolicy Format="${EMAIL_FORMAT}" AllowCreate="true"/></samlp:AuthnRequest>`
