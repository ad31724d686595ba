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
  /** The provider must have the user authenticate again. */
  readonly forcesAuthn: boolean
  readonly authnContext: RequestedAuthnContext | undefined
  /** The user name is in an attribute, so any NameID will do: most providers of a federation have no e-mail address there. */
  readonly anyNameId: boolean
}

/** How the user is to authenticate (SAML Core 3.3.2.2.1). */
export interface RequestedAuthnContext {
  readonly comparison: 'exact' | 'minimum' | 'maximum' | 'better'
  /** AuthnContextClassRef, the preferred one first. */
  readonly classes: readonly string[]
}

/** AuthnRequest (SAML Core 3.4.1): NameID format e-mail where the name is there, response by HTTP-POST to our ACS. */
export const authnRequestXml = (request: AuthnRequest): string =>
  `<samlp:AuthnRequest xmlns:samlp="${SAMLP}" xmlns:saml="${SAML}" ID="${escapeXml(request.id)}" Version="2.0"` +
  ` IssueInstant="${new Date(request.issued).toISOString()}" Destination="${escapeXml(request.destination)}"` +
  (request.forcesAuthn ? ' ForceAuthn="true"' : '') +
  ` ProtocolBinding="${POST_BINDING}" AssertionConsumerServiceURL="${escapeXml(request.acsUrl)}">` +
  `<saml:Issuer>${escapeXml(request.issuer)}</saml:Issuer>` +
  `<samlp:NameIDPolicy${request.anyNameId ? '' : ` Format="${EMAIL_FORMAT}"`} AllowCreate="true"/>` +
  `${contextXml(request.authnContext)}</samlp:AuthnRequest>`

function contextXml(requested: RequestedAuthnContext | undefined): string {
  if (!requested) return ''
  const classes = requested.classes.map(
    one => `<saml:AuthnContextClassRef>${escapeXml(one)}</saml:AuthnContextClassRef>`,
  )
  return `<samlp:RequestedAuthnContext Comparison="${requested.comparison}">${classes.join('')}</samlp:RequestedAuthnContext>`
}
