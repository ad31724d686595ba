import { InvalidInput } from '../../base/errors.ts'
import { parseXml, type XmlLimits, XmlRefused } from '../xml.ts'
import { childrenNamed, textOf, trimBlanks, type XmlElement } from '../xml-element.ts'
import { isTicket } from './ticket.ts'

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
