import { refused } from '../sso/refusal.ts'
import { createPublicKey, type KeyObject } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import type { Milliseconds } from '../../base/units.ts'
import { type XmlLimits } from '../sso/xml.ts'
import { attributeOf, childrenNamed, descendantsNamed, textOf, type XmlElement } from '../sso/xml-element.ts'
import {
  decodeMessage,
  decodeUtf8,
  expired,
  parseMessage,
  readNameId,
  requireIssuer,
  requireNameId,
  requireOne,
  requireTime,
  requireUniqueIds,
  requireVersion,
} from './message.ts'
import { DS, PARTIAL_LOGOUT, SAMLP, SUCCESS } from './names.ts'
import { requireSignedText, signatureOf, verifiedElement } from './signature.ts'

/** A message of single logout as the browser brings it. Plain data, because it is sent to the worker that checks it. */
export type ReceivedLogout =
  | { readonly binding: 'redirect' /** The raw query, which the signature covers. */; readonly query: string }
  | { readonly binding: 'post'; readonly kind: LogoutKind /** Base64. */; readonly encoded: string }

export type LogoutKind = 'SAMLRequest' | 'SAMLResponse'

/** The expected values of an acceptable message. */
export interface ExpectedLogout {
  /** Entity id of the identity provider. */
  readonly issuer: string
  /** The very address of this service that the message must have been made for. */
  readonly destination: string
  /** Id of the LogoutRequest that a response must answer; `undefined`: none was sent. */
  readonly requestId: string | undefined
  /** Public keys of the provider's metadata, PEM. */
  readonly keys: readonly string[]
  /** PEM. */
  readonly decryptionKeys: readonly string[]
  readonly now: Milliseconds
  readonly clockSkew: Milliseconds
}

/** A message by which the provider ends sessions of one of its users. */
export interface LogoutRequest {
  readonly kind: 'request'
  readonly id: string
  /** Entity id of the provider. */
  readonly issuer: string
  /** The NameID of the user. */
  readonly name: string
  /** The sessions at the provider; empty: all of the user. */
  readonly sessionIndexes: readonly string[]
  readonly issued: Milliseconds
  /** A second use of the message would be possible until this time. */
  readonly until: Milliseconds
}

/** The provider's response to a request of this service. */
export interface LogoutResponse {
  readonly kind: 'response'
  /** `partial`: the session at the provider has ended, but not all sessions at other services. */
  readonly outcome: 'complete' | 'partial' | 'failed'
  /** Codes and message of the status. */
  readonly status: string
}

export type VerifiedLogout = LogoutRequest | LogoutResponse

type Times = Pick<LogoutRequest, 'issued' | 'until'>

/** A message names one user and some sessions: no attributes, no assertions. */
const logoutLimits: XmlLimits = {
  bytes: 65_536,
  depth: 20,
  elements: 2_000,
  attributes: 4_000,
  attributesEach: 50,
  names: 100,
}

/** Maximum age of a message, whatever validity it states. Its ID is remembered as long. */
const MAX_AGE: Milliseconds = 600_000
const MAX_ID_LENGTH = 256
/** Sessions of one user at the provider, in one message. */
const MAX_SESSION_INDEXES = 100

/**
 * Checks a message of single logout (SAML Core 3.7, Profiles 4.4), from top to bottom. A message must be signed, and only the part that the
 * signature covers is read. @throws {SsoRefused} naming the first check that failed
 */
export function verifyLogout(received: ReceivedLogout, expected: ExpectedLogout): VerifiedLogout {
  const keys = expected.keys.map(key => createPublicKey(key))
  const { kind, root } = received.binding === 'redirect' ? fromQuery(received.query, keys) : fromForm(received, keys)
  const name = kind === 'SAMLRequest' ? 'LogoutRequest' : 'LogoutResponse'
  if (root.uri !== SAMLP || root.local !== name) throw refused('root', name, root.name)
  requireVersion(root)
  requireIssuer(requireOne(root, 'Issuer', 'issuer'), expected.issuer)
  const destination = attributeOf(root, 'Destination')
  if (destination !== expected.destination) throw refused('destination', expected.destination, destination)
  const times = requireRecent(root, expected)
  return kind === 'SAMLRequest' ? readRequest(root, expected, times) : readResponse(root, expected)
}

interface Message {
  readonly kind: LogoutKind
  /** Everything in it is signed. */
  readonly root: XmlElement
}

/** An entity id has at most 1,024 characters (SAML Core 8.3.6). */
const MAX_ISSUER_LENGTH = 1_024

/**
 * The provider that the message names. It is not verified yet: it only selects the keys to try if there are many possible senders.
 * @throws {SsoRefused}
 */
export function statedIssuer(received: ReceivedLogout): string {
  const text =
    received.binding === 'redirect' ? readQuery(received.query).text() : decodeMessage(received.encoded, logoutLimits)
  const issuer = textOf(requireOne(parseMessage(text, logoutLimits), 'Issuer', 'issuer'))?.trim()
  if (issuer && issuer.length <= MAX_ISSUER_LENGTH) return issuer
  throw refused('issuer', 'an entity id', issuer ? `${issuer.length} characters` : 'none')
}

/** The signature covers the parameters as they are written in the query (SAML bindings 3.4.4.1), so they are not decoded before. */
function fromQuery(query: string, keys: readonly KeyObject[]): Message {
  const { kind, signed, algorithm, value, text } = readQuery(query)
  requireSignedText(signed, { algorithm, value }, keys)
  const root = parseMessage(text(), logoutLimits)
  requireUniqueIds(root)
  return { kind, root }
}

interface SignedQuery {
  readonly kind: LogoutKind
  /** What the signature covers. */
  readonly signed: string
  readonly algorithm: string
  readonly value: Buffer
  /** Inflates the message. */
  readonly text: () => string
}

function readQuery(query: string): SignedQuery {
  const raw = readParameters(query)
  const kinds = (['SAMLRequest', 'SAMLResponse'] as const).filter(name => raw.has(name))
  const [kind] = kinds
  if (!kind || kinds.length > 1) throw refused('message', 'SAMLRequest or SAMLResponse', kinds.join(' and '))
  const encoding = raw.get('SAMLEncoding')
  if (encoding !== undefined && decodeParameter(encoding) !== DEFLATE)
    throw refused('message', DEFLATE, decodeParameter(encoding))
  const [algorithm, signature] = [raw.get('SigAlg'), raw.get('Signature')]
  if (algorithm === undefined || signature === undefined)
    throw refused('signature-missing', 'a signed message', 'no signature')
  const signed = [kind, 'RelayState', 'SigAlg'].filter(name => raw.has(name)).map(name => `${name}=${raw.get(name)}`)
  return {
    kind,
    signed: signed.join('&'),
    algorithm: decodeParameter(algorithm),
    value: Buffer.from(decodeParameter(signature), 'base64'),
    text: () => inflate(decodeParameter(raw.get(kind) ?? '')),
  }
}

const DEFLATE = 'urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE'
const ownParameters = new Set(['SAMLRequest', 'SAMLResponse', 'RelayState', 'SigAlg', 'Signature', 'SAMLEncoding'])

/** The parameters of the binding, undecoded. A repeated parameter is refused: it could be read differently from how it was signed. */
function readParameters(query: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const part of query.split('&')) {
    const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(part) ?? []
    if (!ownParameters.has(name)) continue
    if (found.has(name)) throw refused('message', `${name} once`, 'several')
    found.set(name, value)
  }
  return found
}

function decodeParameter(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll('+', ' '))
  } catch {
    throw refused('message', 'percent-encoded UTF-8', 'other characters')
  }
}

/** A few bytes can inflate to gigabytes: the limit holds while they are inflated. */
function inflate(encoded: string): string {
  const base64 = encoded.replaceAll(/\s/g, '')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw refused('base64', 'base64', 'other characters')
  return decodeUtf8(inflated(Buffer.from(base64, 'base64')))
}

function inflated(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: logoutLimits.bytes })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw refused('size', `${logoutLimits.bytes} bytes`, 'more')
    throw refused('deflate', 'a message that is compressed with DEFLATE', 'other bytes')
  }
}

function fromForm(
  { kind, encoded }: Extract<ReceivedLogout, { binding: 'post' }>,
  keys: readonly KeyObject[],
): Message {
  const root = parseMessage(decodeMessage(encoded, logoutLimits), logoutLimits)
  requireUniqueIds(root)
  const signature = signatureOf(root)
  if (!signature) throw refused('signature-missing', 'a signed message', 'no signature')
  const stray = descendantsNamed(root, DS, 'Signature').find(({ parent }) => parent !== root)
  if (stray) throw refused('signature-shape', 'a signature of the message only', stray.parent?.name)
  return { kind, root: verifiedElement(root, signature, keys) }
}

/** Returns when the message was issued, and until when a second use must be recognised. */
function requireRecent(root: XmlElement, { now, clockSkew }: ExpectedLogout): Times {
  const issued = attributeOf(root, 'IssueInstant')
  if (issued === undefined) throw refused('expired', 'an IssueInstant', 'none')
  const time = requireTime(issued, 'expired')
  if (now + clockSkew < time) throw refused('not-yet-valid', `not before ${issued}`, new Date(now).toISOString())
  if (now - clockSkew >= time + MAX_AGE) throw expired('expired', new Date(time + MAX_AGE).toISOString(), now)
  return { issued: time, until: time + MAX_AGE + clockSkew }
}

function readRequest(root: XmlElement, expected: ExpectedLogout, times: Times): LogoutRequest {
  const { issuer, now, clockSkew, decryptionKeys } = expected
  const id = attributeOf(root, 'ID')
  if (!id || id.length > MAX_ID_LENGTH) throw refused('message', 'an ID', id)
  const end = attributeOf(root, 'NotOnOrAfter')
  if (end !== undefined && now - clockSkew >= requireTime(end, 'expired')) throw expired('expired', end, now)
  const { text: name } = readNameId(requireNameId(root, decryptionKeys), 'a NameID')
  const indexes = childrenNamed(root, SAMLP, 'SessionIndex').map(index => textOf(index)?.trim())
  if (indexes.length > MAX_SESSION_INDEXES)
    throw refused('size', `${MAX_SESSION_INDEXES} sessions`, `${indexes.length}`)
  // An empty SessionIndex must not extend the message to all sessions of the user.
  if (indexes.some(index => !index)) throw refused('message', 'a SessionIndex with a text', 'none')
  return { kind: 'request', id, issuer, name, sessionIndexes: indexes.filter(index => index !== undefined), ...times }
}

function readResponse(root: XmlElement, { requestId }: ExpectedLogout): LogoutResponse {
  const inResponseTo = attributeOf(root, 'InResponseTo')
  if (requestId === undefined || inResponseTo !== requestId)
    throw refused('in-response-to', requestId ?? 'no response: no sign-out is in progress', inResponseTo)
  const [status, ...more] = childrenNamed(root, SAMLP, 'Status')
  const codes = status ? childrenNamed(status, SAMLP, 'StatusCode') : []
  const [code] = codes
  if (!status || more.length > 0 || !code || codes.length > 1) throw refused('status', 'one status', 'none or several')
  const values = [code, ...childrenNamed(code, SAMLP, 'StatusCode')].map(one => attributeOf(one, 'Value') ?? '')
  const messages = childrenNamed(status, SAMLP, 'StatusMessage').map(element => element.textContent)
  const outcome = values.includes(PARTIAL_LOGOUT) ? 'partial' : values[0] === SUCCESS ? 'complete' : 'failed'
  return { kind: 'response', outcome, status: [...values, ...messages].join(' ') }
}
