import { DOMParser } from '@xmldom/xmldom'
import { SaxesParser } from 'saxes'
import type { Bytes } from '../base/units.ts'

/** Why XML is refused. */
export type XmlReason = 'characters' | 'comment' | 'doctype' | 'markup' | 'processing-instruction' | 'size' | 'xml'

/** XML that is malformed, or contains constructs that our messages do not need. `reason` is short and stable. */
export class XmlRefused extends Error {
  readonly reason: XmlReason

  constructor(reason: XmlReason, detail: string) {
    super(detail)
    this.name = 'XmlRefused'
    this.reason = reason
  }
}

export interface XmlLimits {
  readonly bytes: Bytes
  readonly depth: number
  readonly elements: number
  readonly attributes: number
  /** Attributes of one element. */
  readonly attributesEach: number
  /** Different names of elements: the parser searches the whole text for the end of each. */
  readonly names: number
}

export const messageLimits: XmlLimits = {
  bytes: 524_288,
  depth: 40,
  elements: 10_000,
  attributes: 30_000,
  attributesEach: 100,
  names: 200,
}
/** Federations publish large aggregates. */
export const metadataLimits: XmlLimits = {
  bytes: 8_388_608,
  depth: 40,
  elements: 200_000,
  attributes: 600_000,
  attributesEach: 100,
  names: 400,
}

/**
 * Parses untrusted XML (D8.3). DOCTYPE, comments, CDATA and processing instructions are rejected in the text, before
 * different parsers can read them differently. Documents that are expensive to parse are rejected as well. @throws
 * {XmlRefused}
 */
export function parseXml(text: string, limits: XmlLimits): Document {
  requireWellFormed(text, limits)
  const problems: string[] = []
  const collect = (message: string): unknown => problems.push(message)
  const parser = new DOMParser({ errorHandler: { warning: collect, error: collect, fatalError: collect } })
  const document = parseWith(parser, text, problems)
  if (problems.length > 0 || !document?.documentElement) {
    throw new XmlRefused('xml', `not well-formed: ${problems[0] ?? 'no element'}`)
  }
  return document
}

function parseWith(parser: DOMParser, text: string, problems: string[]): Document | undefined {
  try {
    return parser.parseFromString(text, 'text/xml')
  } catch (error) {
    problems.push((error as Error).message)
    return undefined
  }
}

const FORBIDDEN_CHARACTERS = 'holds characters that XML does not allow'
/** The message of a parser may quote a name of any length. */
const MAX_MESSAGE = 200

/**
 * Rejects what a strict parser rejects, and documents that are expensive for the other parser, which makes the tree: that one accepts what
 * XML forbids, such as elements without an end, undeclared prefixes and one attribute under two prefixes.
 */
function requireWellFormed(text: string, limits: XmlLimits): void {
  if (Buffer.byteLength(text) > limits.bytes) throw new XmlRefused('size', `more than ${limits.bytes} bytes`)
  const body = text.replace(/^\uFEFF?\s*<\?xml [^<>?]*\?>/, '')
  if (body.includes('<?')) throw new XmlRefused('processing-instruction', 'holds a processing instruction')
  if (body.includes('<!--')) throw new XmlRefused('comment', 'holds a comment')
  if (/<!DOCTYPE/i.test(body)) throw new XmlRefused('doctype', 'holds a DOCTYPE')
  if (body.includes('<!')) throw new XmlRefused('markup', 'holds a CDATA section or a declaration')
  // For parsers the reference would end much later, so that their message would not help.
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\dA-Fa-f]+);)/.test(body)) throw new XmlRefused('xml', 'has a bare ampersand')
  // oxlint-disable-next-line no-control-regex -- characters that XML does not have
  const isPlain = !/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.test(body)
  if (!isPlain) throw new XmlRefused('characters', FORBIDDEN_CHARACTERS)
  const parser = new SaxesParser({ xmlns: true, position: false })
  const names = new Set<string>()
  const counts = { depth: 0, elements: 0, attributes: 0, own: 0 }
  const requireFew = (isFew: boolean, what = 'is nested too deeply or has too many parts'): void => {
    if (!isFew) throw new XmlRefused('size', what)
  }
  parser.on('error', ({ message }) => {
    if (message.startsWith('malformed character entity')) throw new XmlRefused('characters', FORBIDDEN_CHARACTERS)
    throw new XmlRefused('xml', `not well-formed: ${message.slice(0, MAX_MESSAGE)}`)
  })
  parser.on('opentagstart', ({ name }) => {
    names.add(name)
    counts.own = 0
    requireFew(++counts.depth <= limits.depth && ++counts.elements <= limits.elements && names.size <= limits.names)
  })
  parser.on('attribute', ({ name, value }) => {
    requireFew(++counts.own <= limits.attributesEach, 'has an element with too many attributes')
    requireFew(++counts.attributes <= limits.attributes)
    if (name === 'xmlns' || name.startsWith('xmlns:')) requireDeclaration(name, value)
  })
  parser.on('closetag', () => counts.depth--)
  parser.write(body).close()
}

function requireDeclaration(name: string, value: string): void {
  const isSound = /^[a-z][a-z\d+.-]*:/i.test(value) || (name === 'xmlns' && value === '')
  const isReserved = ['xmlns:xml', 'xmlns:xmlns'].includes(name) || reserved.includes(value)
  if (!isSound || (isReserved && !(name === 'xmlns:xml' && value === reserved[0]))) {
    throw new XmlRefused('xml', `${name}="${value}" declares no namespace`)
  }
}

const reserved = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/']

export function childElements(parent: Node): Element[] {
  const elements: Element[] = []
  for (let child = parent.firstChild; child; child = child.nextSibling) {
    if (child.nodeType === ELEMENT_NODE) elements.push(child as Element)
  }
  return elements
}

const ELEMENT_NODE = 1

/** The text without its comments, for documents in which they are usual; CDATA, in which they would be text, is refused. */
export function withoutComments(text: string): string {
  const kept: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf('<!--', at)
    const end = start < 0 ? -1 : text.indexOf('-->', start + 4)
    if (end < 0) return kept.join('') + text.slice(at)
    kept.push(text.slice(at, start))
    at = end + 3
  }
}

/** Children with this very name. Names are namespace and local part: prefixes mean nothing. */
export const childrenNamed = (parent: Node, namespace: string, name: string): Element[] =>
  childElements(parent).filter(child => child.namespaceURI === namespace && child.localName === name)

/** All elements below with this very name. */
export function descendantsNamed(parent: Node, namespace: string, name: string): Element[] {
  const found: Element[] = []
  // A message is searched several times, so no array is made for each of its elements.
  const search = (node: Node): void => {
    for (let child = node.firstChild; child; child = child.nextSibling) {
      if (child.nodeType !== ELEMENT_NODE) continue
      const element = child as Element
      if (element.namespaceURI === namespace && element.localName === name) found.push(element)
      search(element)
    }
  }
  search(parent)
  return found
}

/** The text of an element that contains only text; `undefined` when it contains elements. */
export function textOf(element: Element): string | undefined {
  if (childElements(element).length > 0) return undefined
  return element.textContent ?? ''
}

/** An attribute without a namespace. */
export const attributeOf = (element: Element, name: string): string | undefined =>
  element.hasAttribute(name) ? (element.getAttribute(name) ?? undefined) : undefined

/** Text made safe for XML, in content and in quoted attributes. Some readers take U+0085 and U+2028 for line ends, as XML 1.1 does. */
export const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"'\r\n\t\u0085\u2028]/g, character => `&#${character.codePointAt(0)};`)
