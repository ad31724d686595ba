import { refused, type SsoRefused } from '../sso/refusal.ts'
import { XmlRefused, messageLimits, parseUnsignedXml } from '../sso/xml.ts'
import {
  type XmlElement,
  trimBlanks,
  attributeOf,
  childElements,
  childrenNamed,
  textOf,
  descendantsNamed,
  earliest,
  parseXmlTime,
} from '../sso/xml-element.ts'
import { type Attributes, attributesOf } from '../sso/attributes.ts'
import type { Milliseconds } from '../../base/units.ts'

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

/** The root element of a reply in XML. No reply is signed: the connection to the server vouches for it. */
function parse(text: string): XmlElement {
  try {
    return parseUnsignedXml(text, messageLimits)
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error
    const received = `${error.reason}: ${error.message}`
    throw refused('cas-reply', 'plain, well-formed XML', received, error)
  }
}

/** A user as a CAS server names and describes them. */
export interface CasUser {
  readonly name: string
  readonly attributes: Attributes
  /** When the server has authenticated the user, wall clock; absent if it does not say. */
  readonly authenticated?: Milliseconds
}

/** The values that a reply must match. */
interface Expected {
  readonly serviceUrl: string
  readonly now: Milliseconds
  readonly clockSkew: Milliseconds
}

/**
 * CAS 1: `yes`, a line end, the name, and a line end that may be missing. A reply with more lines is refused, because it would be a guess
 * which line is the name.
 */
function nameInCas1(reply: string): string {
  const text = reply.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  if (/^no(\n|$)/.test(text)) throw refused('cas-failure', 'yes', text.trim())
  const name = /^yes\n([^\p{Cc}]+)\n?$/u.exec(text)?.[1]
  // The CAS server should remove blanks around the name; a blank line is not a name.
  if (name !== undefined && name.trim() !== '') return trimBlanks(name)
  throw refused('cas-reply', 'two lines: yes, and a name', JSON.stringify(text))
}

const CAS = 'http://www.yale.edu/tp/cas'

/**
 * Elements that may occur once in a reply. They are compared by local name, because another namespace makes
 * them no safer.
 */
const outcomes = new Set(['authenticationSuccess', 'authenticationFailure', 'proxySuccess', 'proxyFailure'])
const proxying = new Set(['proxies', 'proxy', 'proxyGrantingTicket'])

/**
 * CAS 2 and 3: a `serviceResponse` with exactly one outcome, and no further outcome around or inside it: a server that does not escape a
 * value can be made to write elements (apereo/phpCAS#228).
 */
function userInServiceResponse(root: XmlElement): CasUser {
  if (root.uri !== CAS || root.local !== 'serviceResponse') {
    throw refused('cas-reply', `a serviceResponse of ${CAS}`, `${root.local} of ${root.uri || 'no namespace'}`)
  }
  const [outcome, ...others] = childElements(root)
  if (!outcome || others.length > 0) throw refused('cas-reply', 'one outcome', `${childElements(root).length} elements`)
  const second = descendants(outcome).find(({ local }) => outcomes.has(local))
  if (second) throw refused('cas-reply', 'one outcome', `${second.local} inside ${outcome.local}`)
  if (outcome.uri !== CAS) throw refused('cas-reply', `an outcome of ${CAS}`, outcome.uri || 'no namespace')
  if (outcome.local === 'authenticationFailure') throw failureOf(outcome)
  if (outcome.local !== 'authenticationSuccess') throw refused('cas-reply', 'authenticationSuccess', outcome.local)
  requireNoProxy(outcome)
  const attributes = serviceAttributes(outcome)
  const authenticated = authenticationDate(attributes)
  return {
    name: onlyText('user', childrenNamed(outcome, CAS, 'user')),
    attributes,
    ...(authenticated === undefined ? {} : { authenticated }),
  }
}

/** An attribute of the protocol. Servers write the name of the zone behind the offset: `2026-01-02T03:04:05Z[UTC]`. */
function authenticationDate({ authenticationDate: stated }: Attributes): Milliseconds | undefined {
  const texts = Array.isArray(stated) ? stated.map(String) : []
  return earliest(texts.map(text => parseXmlTime(text.replace(/\[[\w/+-]+\]$/, ''))))
}

/**
 * The attributes of CAS 3, an element each: `<cas:attributes><cas:mail>…`. Servers with CAS 2 write them in the same way. Other styles,
 * and values with elements inside, are not read.
 */
function serviceAttributes(success: XmlElement): Attributes {
  const pairs: Array<readonly [string, string]> = []
  for (const element of childrenNamed(success, CAS, 'attributes').flatMap(childElements)) {
    const value = element.uri === CAS ? trimBlanks(textOf(element) ?? '') : ''
    if (value !== '') pairs.push([element.local, value])
  }
  return attributesOf(pairs)
}

/** D9.2. A proxy-granting ticket answers a wish that we never have. Attributes of the user may have these names. */
function requireNoProxy(success: XmlElement): void {
  const proxy = childElements(success).find(({ local }) => proxying.has(local))
  if (proxy) throw refused('cas-proxy', 'a login without proxies', proxy.local)
}

function failureOf(failure: XmlElement): SsoRefused {
  const code = attributeOf(failure, 'code') ?? 'no code'
  const text = trimBlanks(failure.textContent)
  const received = text === '' ? code : `${code}: ${text}`
  return refused('cas-failure', 'authenticationSuccess', received)
}

const descendants = (parent: XmlElement): XmlElement[] =>
  childElements(parent).flatMap(child => [child, ...descendants(child)])

const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/'
const PROTOCOL = 'urn:oasis:names:tc:SAML:1.0:protocol'
const ASSERTION = 'urn:oasis:names:tc:SAML:1.0:assertion'

/**
 * SAML 1.1 in the form that CAS servers use: the reply to a request of this service over a connection to the configured server, so it is
 * not signed. InResponseTo and Recipient are not compared, because servers fill them arbitrarily.
 */
function userInSaml11(root: XmlElement, expected: Expected): CasUser {
  const response = responseIn(root)
  requireStatus(response)
  const assertion = only('Assertion', childrenNamed(response, ASSERTION, 'Assertion'))
  only('Assertion', descendantsNamed(root, ASSERTION, 'Assertion'))
  requireVersion(assertion)
  requireConditions(only('Conditions', childrenNamed(assertion, ASSERTION, 'Conditions')), expected)
  const authenticated = parseXmlTime(attributeOf(authenticationIn(assertion), 'AuthenticationInstant') ?? '')
  return {
    name: nameOf(assertion),
    attributes: readAttributes(assertion),
    ...(authenticated === undefined ? {} : { authenticated }),
  }
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

/** The code is a qualified name whose prefix differs from server to server; some servers nest a second code with the reason. */
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
  const subject = only('Subject', childrenNamed(authenticationIn(assertion), ASSERTION, 'Subject'))
  const name = onlyText('NameIdentifier', childrenNamed(subject, ASSERTION, 'NameIdentifier'))
  for (const identifier of descendantsNamed(assertion, ASSERTION, 'NameIdentifier')) {
    const other = onlyText('NameIdentifier', [identifier])
    if (other !== name) throw refused('cas-reply', `statements about ${name} only`, other)
  }
  return name
}

const authenticationIn = (assertion: XmlElement): XmlElement =>
  only('AuthenticationStatement', descendantsNamed(assertion, ASSERTION, 'AuthenticationStatement'))

function only(what: string, elements: readonly XmlElement[]): XmlElement {
  const [element, ...others] = elements
  if (element && others.length === 0) return element
  throw refused('cas-reply', `exactly one ${what}`, `${elements.length}`)
}

/** Returns the text of the single element, which must contain text and nothing else. @throws {SsoRefused} */
function onlyText(what: string, elements: readonly XmlElement[]): string {
  const [element, ...others] = elements
  if (!element || others.length > 0)
    throw refused('cas-reply', `exactly one ${what}, of text only`, `${elements.length}`)
  const text = textOf(element)
  if (text === undefined) throw refused('cas-reply', `exactly one ${what}, of text only`, 'elements inside')
  const trimmed = trimBlanks(text)
  if (trimmed === '') throw refused('cas-reply', `exactly one ${what}, of text only`, 'an empty one')
  return trimmed
}
