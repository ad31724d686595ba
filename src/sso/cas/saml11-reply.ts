import { type Attributes, attributesOf } from '../attributes.ts'
import type { SsoCheck } from '../checks.ts'
import { SsoRefused } from '../refusal.ts'
import { parseXmlTime } from '../xml-time.ts'
import type { Milliseconds } from '../../base/units.ts'
import {
  attributeOf,
  childElements,
  childrenNamed,
  descendantsNamed,
  textOf,
  trimBlanks,
  type XmlElement,
} from '../xml-element.ts'
import type { CasUser } from './cas-user.ts'
import { onlyText } from './only-text.ts'
import type { Expected } from './expected.ts'

const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'
const PROTOCOL = 'urn:oasis:names:tc:SAML:1.0:protocol'
const ASSERTION = 'urn:oasis:names:tc:SAML:1.0:assertion'

/**
 * SAML 1.1 as CAS servers speak it: the answer to our own request over a connection to the configured server, so nothing is
 * signed. InResponseTo and Recipient are not compared: servers put there what they like.
 */
export function userInSaml11(root: XmlElement, expected: Expected): CasUser {
  const response = responseIn(root)
  requireStatus(response)
  const assertion = only('Assertion', childrenNamed(response, ASSERTION, 'Assertion'))
  only('Assertion', descendantsNamed(root, ASSERTION, 'Assertion'))
  requireVersion(assertion)
  requireConditions(only('Conditions', childrenNamed(assertion, ASSERTION, 'Conditions')), expected)
  return { name: nameOf(assertion), attributes: readAttributes(assertion) }
}

/** A value with elements inside is not read. */
function readAttributes(assertion: XmlElement): Attributes {
  const pairs: Array<readonly [string, string]> = []
  for (const attribute of descendantsNamed(assertion, ASSERTION, 'Attribute')) {
    const name = attributeOf(attribute, 'AttributeName')
    if (!name) continue
    for (const element of childrenNamed(attribute, ASSERTION, 'AttributeValue')) {
      const value = trimBlanks(textOf(element) ?? '')
      if (value !== '') pairs.push([name, value])
    }
  }
  return attributesOf(pairs)
}

function responseIn(root: XmlElement): XmlElement {
  if (root.uri !== SOAP || root.local !== 'Envelope') {
    throw refused('cas-reply', 'a SOAP envelope', `${root.local} of ${root.uri || 'no namespace'}`)
  }
  const [content, ...others] = childElements(only('Body', childrenNamed(root, SOAP, 'Body')))
  if (others.length > 0) throw refused('cas-reply', 'one element in the Body', `${others.length + 1}`)
  if (content?.uri !== PROTOCOL || content.local !== 'Response') {
    throw refused('cas-reply', 'a SAML 1 Response', content?.local ?? 'nothing')
  }
  requireVersion(content)
  return content
}

function requireVersion(element: XmlElement): void {
  const version = attributeOf(element, 'MajorVersion')
  if (version !== '1') throw refused('cas-reply', 'MajorVersion 1', version ?? 'none')
}

/** The code is a qualified name whose prefix differs from server to server; some put their reason inside. */
function requireStatus(response: XmlElement): void {
  const status = only('Status', childrenNamed(response, PROTOCOL, 'Status'))
  const code = only('StatusCode', childrenNamed(status, PROTOCOL, 'StatusCode'))
  const value = attributeOf(code, 'Value') ?? 'none'
  const isSuccess = /^([\w.-]+:)?Success$/.test(value) && childElements(code).length === 0
  if (isSuccess) return
  const reason = trimBlanks(status.textContent)
  throw refused('cas-failure', 'Success', reason === '' ? value : `${value}: ${reason}`)
}

function requireConditions(conditions: XmlElement, { serviceUrl, now, clockSkew }: Expected): void {
  const notBefore = timeIn(conditions, 'NotBefore')
  const notOnOrAfter = timeIn(conditions, 'NotOnOrAfter')
  const clock = `${new Date(now).toISOString()}, give or take ${clockSkew} ms`
  if (now + clockSkew < notBefore) {
    throw refused('not-before', clock, `valid in ${notBefore - now} ms, ${attributeOf(conditions, 'NotBefore')}`)
  }
  if (now - clockSkew >= notOnOrAfter) {
    throw refused('expired', clock, `over since ${now - notOnOrAfter} ms, ${attributeOf(conditions, 'NotOnOrAfter')}`)
  }
  const restrictions = childrenNamed(conditions, ASSERTION, 'AudienceRestrictionCondition')
  if (restrictions.length === 0) throw refused('audience', serviceUrl, 'no audience')
  for (const restriction of restrictions) {
    const audiences = childrenNamed(restriction, ASSERTION, 'Audience').map(audience =>
      trimBlanks(textOf(audience) ?? ''),
    )
    if (!audiences.includes(serviceUrl)) throw refused('audience', serviceUrl, audiences.join(', '))
  }
}

/** A time without a time zone is ambiguous and therefore invalid; a missing time limits nothing. */
function timeIn(conditions: XmlElement, name: string): Milliseconds {
  const text = attributeOf(conditions, name) ?? 'none'
  const time = parseXmlTime(text)
  if (time === undefined) throw refused('cas-reply', `${name} with a zone`, text)
  return time
}

/** The name of the signed-in subject; all statements of the assertion must be about the same subject. */
function nameOf(assertion: XmlElement): string {
  const statement = only('AuthenticationStatement', descendantsNamed(assertion, ASSERTION, 'AuthenticationStatement'))
  const subject = only('Subject', childrenNamed(statement, ASSERTION, 'Subject'))
  const name = onlyText('NameIdentifier', childrenNamed(subject, ASSERTION, 'NameIdentifier'))
  for (const identifier of descendantsNamed(assertion, ASSERTION, 'NameIdentifier')) {
    const other = onlyText('NameIdentifier', [identifier])
    if (other !== name) throw refused('cas-reply', `statements about ${name} only`, other)
  }
  return name
}

function only(what: string, elements: readonly XmlElement[]): XmlElement {
  const [element, ...others] = elements
  if (element && others.length === 0) return element
  throw refused('cas-reply', `exactly one ${what}`, `${elements.length}`)
}

const refused = (check: SsoCheck, expected: string, received: string): SsoRefused =>
  new SsoRefused({ check, expected, received })
