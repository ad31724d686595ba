import type { Fetch } from '../fetch.ts'
import { withQuery } from '../with-query.ts'
import { escapeXml } from '../xml.ts'
import type { CasVersion } from './reply.ts'

/** One ticket to have validated. */
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
