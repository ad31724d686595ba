import { InvalidInput } from '../../base/errors.ts'
import { parseXml, type XmlLimits, XmlRefused, escapeXml } from '../sso/xml.ts'
import { childrenNamed, textOf, trimBlanks, type XmlElement } from '../sso/xml-element.ts'
import type { Fetch } from '../../base/fetch.ts'
import { withQuery } from '../../base/with-query.ts'
import type { CasVersion } from './reply.ts'

/**
 * Whether the text is a service ticket. It may contain only characters that never need escaping. Tickets may be longer and have more kinds
 * of characters than in the protocol, because Shibboleth and Keycloak make such tickets (apereo/mod_auth_cas#134, #222). A proxy ticket
 * (`PT-`) is refused (D9.2).
 */
export const isTicket = (text: string): boolean => /^ST-[A-Za-z0-9._-]{1,1024}$/.test(text)

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol'

/** The largest ticket, the name of a user and the frame of the message fit in it many times. */
const limits: XmlLimits = { bytes: 16_384, depth: 10, elements: 50, attributes: 100, attributesEach: 20, names: 20 }

/**
 * The ticket in the only `SessionIndex` of a CAS server's logout message (CAS protocol, 2.3.3). All other
 * content is ignored, because servers put arbitrary values into the user name. @throws {InvalidInput}
 * `invalid-logout-request`
 */
export function ticketInLogoutRequest(text: string): string {
  const root = parse(text)
  if (root.uri !== PROTOCOL || root.local !== 'LogoutRequest') throw invalid('is not a SAML 2.0 LogoutRequest')
  const [index, ...others] = childrenNamed(root, PROTOCOL, 'SessionIndex')
  if (!index || others.length > 0) throw invalid('does not have exactly one SessionIndex')
  const ticket = trimBlanks(textOf(index) ?? '')
  if (!isTicket(ticket)) throw invalid('has no service ticket in its SessionIndex')
  return ticket
}

function parse(text: string): XmlElement {
  try {
    return parseXml(text, limits)
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error
    throw invalid(`is not plain, well-formed XML (${error.reason})`, error)
  }
}

const invalid = (what: string, cause?: unknown): InvalidInput =>
  new InvalidInput('invalid-logout-request', `The logout request ${what}.`, { cause })

/** A ticket to be validated. */
interface Validation {
  readonly version: CasVersion
  /** Ends in a slash. */
  readonly serverUrl: string
  readonly serviceUrl: string
  readonly ticket: string
  /** An XML id that was never used before. */
  readonly requestId: string
  readonly issueInstant: string
  /** The login URL has `renew=true`: the server must refuse a ticket of a session that it had already (CAS 2.5). */
  readonly renews: boolean
}

/** The request that asks the CAS server whose ticket it is. */
export function validationRequest(asked: Validation): Pick<Fetch, 'url' | 'method' | 'headers' | 'body'> {
  const { version, serverUrl, serviceUrl, ticket } = asked
  const renew: Record<string, string> = asked.renews ? { renew: 'true' } : {}
  if (version !== 'saml11') {
    return {
      url: withQuery(serverUrl + paths[version], { service: serviceUrl, ticket, ...renew }),
      headers: { accept: '*/*' },
    }
  }
  return {
    url: withQuery(`${serverUrl}samlValidate`, { TARGET: serviceUrl, ...renew }),
    method: 'POST',
    headers: {
      accept: 'text/xml',
      'content-type': 'text/xml; charset=utf-8',
      soapaction: 'http://www.oasis-open.org/committees/security',
    },
    body: soapRequest(asked),
  }
}

const paths = { cas1: 'validate', cas2: 'serviceValidate', cas3: 'p3/serviceValidate' } as const

const soapRequest = ({ ticket, requestId, issueInstant }: Validation): string =>
  '<?xml version="1.0" encoding="UTF-8"?>\n' +
  '<SOAP-ENV:Envelope xmlns:SOAP-ENV="http://schemas.xmlsoap.org/soap/envelope/"><SOAP-ENV:Header/><SOAP-ENV:Body>' +
  '<samlp:Request xmlns:samlp="urn:oasis:names:tc:SAML:1.0:protocol" MajorVersion="1" MinorVersion="1"' +
  ` RequestID="${escapeXml(requestId)}" IssueInstant="${escapeXml(issueInstant)}">` +
  `<samlp:AssertionArtifact>${escapeXml(ticket)}</samlp:AssertionArtifact>` +
  '</samlp:Request></SOAP-ENV:Body></SOAP-ENV:Envelope>'
