import { createPublicKey, type KeyObject } from 'node:crypto'
import { type Attributes, attributesOf, valuesOf } from '../sso/attributes.ts'
import { SsoRefused, refused } from '../sso/refusal.ts'
import type { Milliseconds } from '../../base/units.ts'
import {
  earliest,
  parseXmlTime,
  attributeOf,
  childElements,
  childrenNamed,
  descendantsNamed,
  textOf,
  trimBlanks,
  type XmlElement,
} from '../sso/xml-element.ts'
import { decryptElement } from './decryption.ts'
import {
  decodeMessage,
  expired,
  type NameId,
  parseMessage,
  readNameId,
  requireIssuer,
  requireName,
  requireNameId,
  requireOne,
  requireTime,
  requireUniqueIds,
  requireVersion,
} from './message.ts'
import { BEARER, DS, SAML, SAMLP, SUCCESS, TRANSIENT_FORMAT } from './names.ts'
import { signatureOf, verifiedElement } from './signature.ts'

/** The expected values of an acceptable response. Plain data, because it is sent to the worker that checks the response. */
export interface ExpectedResponse {
  /** Entity id of the identity provider. */
  readonly issuer: string
  /** Relying-party id of this service. */
  readonly audience: string
  /** The very address the response must have been made for. */
  readonly acsUrl: string
  /** The attribute with the user name; `undefined`: the NameID. */
  readonly nameAttribute?: string | undefined
  /** `undefined`: the sign-on was begun at the provider, and that is allowed. */
  readonly requestId: string | undefined
  /** Public keys of the provider's metadata, PEM. */
  readonly keys: readonly string[]
  /** PEM. */
  readonly decryptionKeys: readonly string[]
  /** Classes of authentication (AuthnContextClassRef) that are accepted; empty: all. */
  readonly authnContexts: readonly string[]
  readonly now: Milliseconds
  readonly clockSkew: Milliseconds
}

export interface VerifiedAssertion {
  readonly id: string
  /** Entity id of the provider. */
  readonly issuer: string
  readonly name: string
  readonly attributes: Attributes
  /** The assertion is invalid after this time. */
  readonly until: Milliseconds
  /** The end of the provider's session, if the assertion limits it, with the tolerance for clocks. */
  readonly sessionEnds: Milliseconds | undefined
  /** When the user authenticated. */
  readonly authenticated: Milliseconds | undefined
  /** How the user authenticated. */
  readonly authnContext: string | undefined
  /** Names the session at the provider. */
  readonly sessionIndex: string | undefined
  /** The NameID as a LogoutRequest must repeat it; absent where an attribute has the name and no NameID can be read. */
  readonly nameId: NameId | undefined
}

/**
 * Judges a SAML response (D8.3), from top to bottom. Identity is read from the signed bytes only.
 * @param encoded base64 as the form carries it
 * @throws {SsoRefused} naming the first check that failed
 */
export async function verifyResponse(encoded: string, expected: ExpectedResponse): Promise<VerifiedAssertion> {
  const response = parseMessage(decodeMessage(encoded))
  requireName(response, SAMLP, 'Response')
  requireVersion(response)
  requireUniqueIds(response)
  requireStatus(response)
  requireNoStraySignatures(response, requireOneAssertion(response))
  const keys = expected.keys.map(key => createPublicKey(key))

  const signature = signatureOf(response)
  const trusted = signature ? verifiedElement(response, signature, keys) : undefined
  const assertion = await verifiedAssertion({ response, trusted }, keys, expected.decryptionKeys)
  checkEnvelope(trusted ?? response, trusted !== undefined, expected)
  return checkAssertion(assertion, expected)
}

function requireStatus(response: XmlElement): void {
  const [status, ...more] = childrenNamed(response, SAMLP, 'Status')
  const codes = status ? childrenNamed(status, SAMLP, 'StatusCode') : []
  const [code] = codes
  if (!status || more.length > 0 || !code || codes.length > 1) throw refused('status', 'one status', 'none or several')
  const value = attributeOf(code, 'Value')
  if (value === SUCCESS) return
  const inner = childrenNamed(code, SAMLP, 'StatusCode').map(sub => attributeOf(sub, 'Value'))
  const message = childrenNamed(status, SAMLP, 'StatusMessage').map(element => element.textContent)
  throw refused('status', SUCCESS, [value, ...inner, ...message].join(' '))
}

/** The one assertion, plain or encrypted, as a child of the response; none anywhere else. */
function requireOneAssertion(response: XmlElement): XmlElement {
  const direct = [...childrenNamed(response, SAML, 'Assertion'), ...childrenNamed(response, SAML, 'EncryptedAssertion')]
  const all = ['Assertion', 'EncryptedAssertion'].flatMap(name => descendantsNamed(response, SAML, name))
  const [one] = direct
  if (one && direct.length === 1 && all.length === 1) return one
  throw refused(
    'assertion-count',
    'one assertion, directly in the response',
    `${direct.length} directly, ${all.length} in all`,
  )
}

/** Signatures are allowed on the response and on its assertion, nowhere else. */
function requireNoStraySignatures(response: XmlElement, assertion: XmlElement): void {
  const stray = descendantsNamed(response, DS, 'Signature').find(
    ({ parent }) => parent !== response && parent !== assertion,
  )
  if (stray) throw refused('signature-shape', 'signatures of response and assertion only', stray.parent?.name)
}

interface Received {
  readonly response: XmlElement
  /** The response as it was signed, if it was. */
  readonly trusted: XmlElement | undefined
}

/** The assertion as it was signed: with the response, by itself, or both. */
async function verifiedAssertion(
  { response, trusted }: Received,
  keys: readonly KeyObject[],
  decryptionKeys: readonly string[],
): Promise<XmlElement> {
  const carrier = requireOneAssertion(trusted ?? response)
  if (carrier.local === 'EncryptedAssertion') {
    const plain = decryptElement(carrier, 'Assertion', decryptionKeys)
    return trusted ? openedAssertion(plain, true, keys) : withoutDetails(() => openedAssertion(plain, false, keys))
  }
  const original = requireOneAssertion(response)
  const signature = signatureOf(original)
  if (signature) return verifiedElement(original, signature, keys)
  if (trusted) return carrier
  throw unsigned()
}

function openedAssertion(plain: string, isTrusted: boolean, keys: readonly KeyObject[]): XmlElement {
  const assertion = parseMessage(plain)
  requireUniqueIds(assertion)
  if (['Assertion', 'EncryptedAssertion'].some(name => descendantsNamed(assertion, SAML, name).length > 0)) {
    throw refused('assertion-count', 'one assertion', 'another one inside')
  }
  const signature = signatureOf(assertion)
  if (descendantsNamed(assertion, DS, 'Signature').length > (signature ? 1 : 0)) {
    throw refused('signature-shape', 'a signature of the assertion only', 'another one inside')
  }
  if (signature) return verifiedElement(assertion, signature, keys)
  // Not signed itself: the signature of the response covers the encrypted form.
  if (isTrusted) return assertion
  throw unsigned()
}

/**
 * An attacker can send us an altered copy of the encrypted part of another user's response. Our response must
 * not reveal whether it could be decrypted, because that would disclose the text step by step. Administrators
 * see the reason.
 */
function withoutDetails(open: () => XmlElement): XmlElement {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof SsoRefused)) throw error
    const { check, expected, received } = error.failed
    throw refused('decryption', expected ?? check, `${check}: ${received ?? 'nothing'}`)
  }
}

const unsigned = (): SsoRefused => refused('signature-missing', 'a signed response or assertion', 'no signature')

/**
 * Checks the statements of the response about itself. Without a signature they prove nothing, but a contradiction is always an error.
 */
function checkEnvelope(response: XmlElement, isSigned: boolean, { issuer, acsUrl, requestId }: ExpectedResponse): void {
  const issuers = childrenNamed(response, SAML, 'Issuer')
  if (issuers.length > 1) throw refused('issuer', issuer, 'several')
  const [said] = issuers
  if (said) requireIssuer(said, issuer)
  // A signed response must name its issuer (SAML profiles 4.1.4.2).
  else if (isSigned) throw refused('issuer', issuer, 'none')
  const destination = attributeOf(response, 'Destination')
  // A signed response must name it (SAML bindings 3.5.5.2).
  if (destination !== acsUrl && (isSigned || destination !== undefined))
    throw refused('destination', acsUrl, destination)
  const inResponseTo = attributeOf(response, 'InResponseTo')
  if (inResponseTo !== requestId) throw refused('in-response-to', requestId ?? 'nothing', inResponseTo)
}

function checkAssertion(assertion: XmlElement, expected: ExpectedResponse): VerifiedAssertion {
  requireVersion(assertion)
  const id = attributeOf(assertion, 'ID')
  if (!id || id.length > 256) throw refused('assertion-id', 'an id', id)
  requireIssuer(requireOne(assertion, 'Issuer', 'issuer'), expected.issuer)
  checkConditions(assertion, expected)
  const authentication = checkAuthentication(assertion, expected)
  const subject = requireOne(assertion, 'Subject', 'subject')
  const until = checkConfirmation(subject, expected)
  const attributes = readAttributes(assertion)
  const { issuer, nameAttribute } = expected
  const named =
    nameAttribute === undefined
      ? checkName(subject, expected)
      : { name: nameFrom(attributes, nameAttribute), nameId: findNameId(subject, expected) }
  return { id, issuer, ...named, attributes, until, ...authentication }
}

/** Requires exactly one value: with several, it would be unclear which of them identifies the user. */
function nameFrom(attributes: Attributes, attribute: string): string {
  const values = valuesOf(attributes, attribute)
  const [name] = values
  if (name !== undefined && values.length === 1) return name
  const received = values.length === 0 ? `none; received ${Object.keys(attributes).join(', ')}` : values.join(', ')
  throw refused('name-attribute', `one value of ${attribute}`, received)
}

/**
 * The attributes by their `Name`, because `FriendlyName` is for display only and must not identify an attribute (SAML Core 2.7.3.1). Values
 * that contain elements are left out.
 */
function readAttributes(assertion: XmlElement): Attributes {
  const pairs: Array<readonly [string, string]> = []
  for (const statement of childrenNamed(assertion, SAML, 'AttributeStatement')) {
    for (const attribute of childrenNamed(statement, SAML, 'Attribute')) {
      const name = attributeOf(attribute, 'Name')
      if (!name) continue
      for (const value of childrenNamed(attribute, SAML, 'AttributeValue')) {
        const text = trimBlanks(textOf(value) ?? '')
        if (text) pairs.push([name, text])
      }
    }
  }
  return attributesOf(pairs)
}

function checkConditions(assertion: XmlElement, expected: ExpectedResponse): void {
  const conditions = requireOne(assertion, 'Conditions', 'conditions')
  requireTimes(conditions, expected)
  const known = ['AudienceRestriction', 'OneTimeUse', 'ProxyRestriction']
  const unknown = childElements(conditions).find(child => child.uri !== SAML || !known.includes(child.local))
  if (unknown) throw refused('conditions', known.join(', '), unknown.name)
  const restrictions = childrenNamed(conditions, SAML, 'AudienceRestriction')
  const audiences = restrictions.map(one =>
    childrenNamed(one, SAML, 'Audience').map(audience => textOf(audience)?.trim()),
  )
  const isForUs = audiences.length > 0 && audiences.every(some => some.includes(expected.audience))
  if (!isForUs) throw refused('audience', expected.audience, audiences.flat().join(', '))
}

type Authentication = Pick<VerifiedAssertion, 'sessionEnds' | 'authenticated' | 'authnContext' | 'sessionIndex'>

/** The user must have authenticated in an accepted way, and the provider's own session must not be over. */
function checkAuthentication(assertion: XmlElement, expected: ExpectedResponse): Authentication {
  const { now, clockSkew } = expected
  const statements = childrenNamed(assertion, SAML, 'AuthnStatement')
  if (statements.length === 0) throw refused('authn-statement', 'a statement of authentication', 'none')
  const ends: Milliseconds[] = []
  for (const statement of statements) {
    requireContext(statement, expected)
    const text = attributeOf(statement, 'SessionNotOnOrAfter')
    if (text === undefined) continue
    const end = requireTime(text, 'session-expired')
    if (now - clockSkew >= end) throw expired('session-expired', text, now)
    ends.push(end + clockSkew)
  }
  const [first] = statements
  return {
    sessionEnds: ends.length === 0 ? undefined : Math.min(...ends),
    authenticated: earliest(statements.map(instantOf)),
    authnContext: first && contextOf(first),
    sessionIndex: statements.map(statement => attributeOf(statement, 'SessionIndex')).find(index => index),
  }
}

const instantOf = (statement: XmlElement): Milliseconds | undefined =>
  parseXmlTime(attributeOf(statement, 'AuthnInstant') ?? '')

function requireContext(statement: XmlElement, { authnContexts }: ExpectedResponse): void {
  if (authnContexts.length === 0) return
  const context = contextOf(statement)
  if (context !== undefined && authnContexts.includes(context)) return
  throw refused('authn-context', authnContexts.join(' '), context)
}

function contextOf(statement: XmlElement): string | undefined {
  const [context] = childrenNamed(statement, SAML, 'AuthnContext')
  const [reference] = context ? childrenNamed(context, SAML, 'AuthnContextClassRef') : []
  return reference && textOf(reference)?.trim()
}

/**
 * One bearer confirmation must be for this service and request, and be valid now; others may be for other services or other methods (SAML
 * profiles 4.1.4.3). Returns the latest end of all bearer confirmations for this service and request, because the assertion could be used
 * again until then: a confirmation that is not valid yet counts too.
 */
function checkConfirmation(subject: XmlElement, expected: ExpectedResponse): Milliseconds {
  const confirmations = childrenNamed(subject, SAML, 'SubjectConfirmation')
  const ends: Milliseconds[] = []
  const failures: SsoRefused[] = []
  let isConfirmed = false
  for (const confirmation of confirmations) {
    try {
      const data = requireForUs(confirmation, expected)
      ends.push(requireEnd(data) + expected.clockSkew)
      requireTimes(data, expected)
      isConfirmed = true
    } catch (error) {
      if (!(error instanceof SsoRefused)) throw error
      failures.push(error)
    }
  }
  if (isConfirmed) return Math.max(...ends)
  throw failures[0] ?? refused('subject-confirmation', 'a SubjectConfirmation', 'none')
}

/** The data of a bearer confirmation that is for this service and its request. */
function requireForUs(confirmation: XmlElement, expected: ExpectedResponse): XmlElement {
  const method = attributeOf(confirmation, 'Method')
  if (method !== BEARER) throw refused('subject-confirmation', BEARER, method)
  const data = requireOne(confirmation, 'SubjectConfirmationData', 'subject-confirmation')
  const recipient = attributeOf(data, 'Recipient')
  if (recipient !== expected.acsUrl) throw refused('recipient', expected.acsUrl, recipient)
  const inResponseTo = attributeOf(data, 'InResponseTo')
  if (inResponseTo !== expected.requestId)
    throw refused('in-response-to', expected.requestId ?? 'nothing', inResponseTo)
  return data
}

function requireEnd(data: XmlElement): Milliseconds {
  const end = attributeOf(data, 'NotOnOrAfter')
  if (end === undefined) throw refused('expired', 'a time until which the confirmation holds', 'none')
  return requireTime(end, 'expired')
}

type Named = Pick<VerifiedAssertion, 'name' | 'nameId'>

/** Requires exactly one NameID that contains only text; it may be encrypted. */
function checkName(subject: XmlElement, { decryptionKeys }: ExpectedResponse): Named {
  const others = childElements(subject).filter(
    child => child.uri !== SAML || !['NameID', 'EncryptedID', 'SubjectConfirmation'].includes(child.local),
  )
  if (others.length > 0) throw refused('name-id', 'one NameID', others[0]?.name)
  const nameId = readNameId(requireNameId(subject, decryptionKeys), 'an e-mail address')
  if (nameId.attributes.Format === TRANSIENT_FORMAT) throw refused('name-id', 'an e-mail address', 'a transient NameID')
  return { name: nameId.text, nameId }
}

/**
 * The NameID where an attribute contains the user name. Only single logout needs it then, so a NameID that cannot be read does not prevent the
 * sign-on.
 */
function findNameId(subject: XmlElement, { decryptionKeys }: ExpectedResponse): NameId | undefined {
  try {
    return readNameId(requireNameId(subject, decryptionKeys), 'a NameID')
  } catch (error) {
    if (error instanceof SsoRefused) return undefined
    throw error
  }
}

function requireTimes(element: XmlElement, { now, clockSkew }: ExpectedResponse): void {
  const start = attributeOf(element, 'NotBefore')
  const end = attributeOf(element, 'NotOnOrAfter')
  if (start !== undefined && now + clockSkew < requireTime(start, 'not-yet-valid')) {
    throw refused(
      'not-yet-valid',
      `not before ${start}`,
      `${new Date(now).toISOString()}, ${Date.parse(start) - now} ms early`,
    )
  }
  if (end !== undefined && now - clockSkew >= requireTime(end, 'expired')) throw expired('expired', end, now)
}
