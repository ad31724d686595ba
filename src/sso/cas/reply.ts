import { SsoRefused } from '../refusal.ts'
import { XmlRefused, messageLimits, parseXml } from '../xml.ts'
import type { XmlElement } from '../xml-element.ts'
import type { CasUser } from './cas-user.ts'
import { nameInCas1 } from './cas1-reply.ts'
import type { Expected } from './expected.ts'
import { userInServiceResponse } from './service-response.ts'
import { userInSaml11 } from './saml11-reply.ts'

export type CasVersion = 'cas1' | 'cas2' | 'cas3' | 'saml11'

/** Reads the CAS server's reply to a validation (D9.2). CAS 1 has no attributes. @throws {SsoRefused} */
export function verifyReply(version: CasVersion, text: string, expected: Expected): CasUser {
  switch (version) {
    case 'cas1':
      return { name: nameInCas1(text), attributes: {} }
    case 'cas2':
    case 'cas3':
      return userInServiceResponse(parse(text))
    case 'saml11':
      return userInSaml11(parse(text), expected)
  }
}

/** The root element of a reply in XML. */
function parse(text: string): XmlElement {
  try {
    return parseXml(text, messageLimits)
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error
    const received = `${error.reason}: ${error.message}`
    throw new SsoRefused({ check: 'cas-reply', expected: 'plain, well-formed XML', received }, { cause: error })
  }
}
