import { type SsoCheck, SsoRefused, refused } from '../sso/refusal.ts'
import type { Milliseconds } from '../../base/units.ts'
import {
  parseXmlTime,
  attributeOf,
  childElements,
  childrenNamed,
  textOf,
  trimBlanks,
  type XmlElement,
} from '../sso/xml-element.ts'
import { messageLimits, parseXml, type XmlLimits, XmlRefused } from '../sso/xml.ts'
import { decryptElement } from './decryption.ts'
import { ENTITY_FORMAT, SAML } from './names.ts'

/** Checks that every SAML message needs: text, ids, issuer and times. All functions here throw {@link SsoRefused}. */

/** The text of a message in base64, as a form carries it. */
export function decodeMessage(encoded: string, { bytes: max }: XmlLimits = messageLimits): string {
  const base64 = encoded.replaceAll(/[\s\u00A0]/g, '')
  if (base64.length > max * 1.4) throw refused('size', `${max} bytes`, 'more')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw refused('base64', 'base64', 'other characters')
  return decodeUtf8(Buffer.from(base64, 'base64'))
}

export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw refused('utf-8', 'UTF-8', 'other bytes', error)
  }
}

/** The root element. */
export function parseMessage(text: string, limits: XmlLimits = messageLimits): XmlElement {
  try {
    return parseXml(text, limits)
  } catch (error) {
    if (!(error instanceof XmlRefused)) throw error
    throw new SsoRefused(
      { check: `xml-${error.reason}`, expected: 'plain XML', received: error.message },
      { cause: error },
    )
  }
}

/** If several elements had the same id, a signature could cover another element than the one that is read. */
export function requireUniqueIds(root: XmlElement): void {
  const seen = new Set<string>()
  const pending = [root]
  for (let element = pending.pop(); element; element = pending.pop()) {
    for (const name of ['ID', 'Id', 'id', 'AssertionID']) {
      const id = attributeOf(element, name)
      if (id === undefined) continue
      if (seen.has(id)) throw refused('duplicate-id', 'ids that occur once', id)
      seen.add(id)
    }
    pending.push(...childElements(element))
  }
}

export function requireIssuer(element: XmlElement, expected: string): void {
  const format = attributeOf(element, 'Format')
  const received = textOf(element)?.trim()
  if (received !== expected || (format !== undefined && format !== ENTITY_FORMAT))
    throw refused('issuer', expected, received)
}

export const expired = (check: SsoCheck, end: string, now: Milliseconds): SsoRefused =>
  refused(check, `before ${end}`, `${new Date(now).toISOString()}, ${now - Date.parse(end)} ms late`)

export function requireTime(text: string, check: SsoCheck): Milliseconds {
  const time = parseXmlTime(text)
  if (time === undefined) throw refused(check, 'a date-time with a zone', text)
  return time
}

export function requireVersion(element: XmlElement): void {
  const version = attributeOf(element, 'Version')
  if (version !== '2.0') throw refused('version', '2.0', version)
}

export function requireName(element: XmlElement, namespace: string, name: string): void {
  if (element.uri !== namespace || element.local !== name) throw refused('root', name, element.name)
}

export function requireOne(parent: XmlElement, name: string, check: SsoCheck): XmlElement {
  const [one, ...more] = childrenNamed(parent, SAML, name)
  if (one && more.length === 0) return one
  throw refused(check, `exactly one ${name}`, one ? `${more.length + 1}` : 'none')
}

/** The attributes of a NameID, each with its value. */
export type NameIdAttributes = Readonly<Partial<Record<(typeof nameIdAttributes)[number], string>>>

const nameIdAttributes = ['Format', 'NameQualifier', 'SPNameQualifier', 'SPProvidedID'] as const

export interface NameId {
  readonly text: string
  readonly attributes: NameIdAttributes
}

/** A NameID that is nothing but text. @param expected for the refusal */
export function readNameId(nameId: XmlElement, expected: string): NameId {
  const content = textOf(nameId)
  const text = content === undefined ? undefined : trimBlanks(content)
  if (!text) throw refused('name-id', expected, text === undefined ? 'elements' : 'nothing')
  const pairs = nameIdAttributes.map(name => [name, attributeOf(nameId, name)] as const)
  return { text, attributes: Object.fromEntries(pairs.filter(([, value]) => value !== undefined)) }
}

/** The one NameID or EncryptedID of a subject, or of a LogoutRequest. The element around it must have been verified. */
export function requireNameId(parent: XmlElement, decryptionKeys: readonly string[]): XmlElement {
  const plain = childrenNamed(parent, SAML, 'NameID')
  const encrypted = childrenNamed(parent, SAML, 'EncryptedID')
  const count = plain.length + encrypted.length
  const [one] = [...plain, ...encrypted]
  if (!one || count > 1) throw refused('name-id', 'exactly one NameID', count === 0 ? 'none' : `${count}`)
  return plain.length > 0 ? one : parseMessage(decryptElement(one, 'NameID', decryptionKeys))
}
