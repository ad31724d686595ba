import { DOMParser } from '@xmldom/xmldom'
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
  scan(text, limits)
  const problems: string[] = []
  const collect = (message: string): unknown => problems.push(message)
  const parser = new DOMParser({ errorHandler: { warning: collect, error: collect, fatalError: collect } })
  const document = parseWith(parser, text, problems)
  if (problems.length > 0 || !document?.documentElement) {
    throw new XmlRefused('xml', `not well-formed: ${problems[0] ?? 'no element'}`)
  }
  requireNamespaces(document.documentElement)
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

/** One pass over the text, without a parser: what it finds would cost a parser dearly or lead it astray. */
function scan(text: string, { bytes, depth, elements, attributes, attributesEach, names }: XmlLimits): void {
  if (Buffer.byteLength(text) > bytes) throw new XmlRefused('size', `more than ${bytes} bytes`)
  const body = text.replace(/^\uFEFF?\s*<\?xml [^<>?]*\?>/, '')
  if (body.includes('<?')) throw new XmlRefused('processing-instruction', 'holds a processing instruction')
  if (body.includes('<!--')) throw new XmlRefused('comment', 'holds a comment')
  if (/<!DOCTYPE/i.test(body)) throw new XmlRefused('doctype', 'holds a DOCTYPE')
  if (body.includes('<!')) throw new XmlRefused('markup', 'holds a CDATA section or a declaration')
  // The parser takes it for text; servers that do not escape what they write are not to be believed.
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\dA-Fa-f]+);)/.test(body)) throw new XmlRefused('xml', 'has a bare ampersand')
  requireCharacters(body)
  const open: string[] = []
  const seen = new Set<string>()
  const counts = { elements: 0, attributes: 0 }
  for (let at = body.indexOf('<'); at >= 0; at = body.indexOf('<', at + 1)) {
    restOfTag.lastIndex = at + 1
    const tag = restOfTag.exec(body)?.[0].slice(0, -1)
    if (tag === undefined) throw new XmlRefused('xml', 'a tag does not end')
    if (tag.startsWith('/')) {
      // The parser closes open elements by itself and continues.
      if (tag.slice(1).trimEnd() !== open.pop()) throw new XmlRefused('xml', 'an end tag closes nothing')
    } else {
      counts.elements++
      const name = /^[^\s/]*/.exec(tag)?.[0] ?? ''
      seen.add(name)
      if (!tag.endsWith('/')) open.push(name)
      const own = count(tag, '=')
      counts.attributes += own
      if (own > attributesEach) throw new XmlRefused('size', 'has an element with too many attributes')
    }
    const hasTooMany = counts.elements > elements || counts.attributes > attributes || seen.size > names
    if (hasTooMany || open.length > depth) throw new XmlRefused('size', 'is nested too deeply or has too many parts')
  }
  const content = body.trim()
  const hasText = content !== '' && (!content.startsWith('<') || !content.endsWith('>'))
  if (hasText) throw new XmlRefused('xml', 'has text outside its element')
}

function count(text: string, sign: string): number {
  let found = 0
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + 1)) found++
  return found
}

/** Up to the bracket that ends it, one inside quotes not counted. One character at a time, so that it cannot backtrack. */
const restOfTag = /(?:[^<>"']|"[^"<]*"|'[^'<]*')*>/y

/** As themselves or by number. */
function requireCharacters(text: string): void {
  // oxlint-disable-next-line no-control-regex -- characters that XML does not have
  const isPlain = !/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/.test(text)
  const codes = [...text.matchAll(/&#(?:x([\da-f]+)|(\d+));/gi)]
  const isSound = codes.every(([, hex, decimal]) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd
    return code < 0xd800 || (code > 0xdfff && code < 0xfffe) || (code > 0xffff && code < 0x110000)
  })
  if (!isPlain || !isSound) throw new XmlRefused('characters', 'holds characters that XML does not allow')
}

/**
 * The parser accepts what XML names forbid: an undeclared prefix, one attribute under two prefixes,
 * namespaces that are not absolute addresses. Two readers could interpret such elements differently.
 */
function requireNamespaces(root: Element): void {
  const pending: Element[] = [root]
  for (let element = pending.pop(); element; element = pending.pop()) {
    if (element.prefix && !element.namespaceURI) throw new XmlRefused('xml', `undeclared prefix ${element.prefix}`)
    requireAttributes(element)
    pending.push(...childElements(element))
  }
}

function requireAttributes(element: Element): void {
  const seen = new Set<string>()
  const { attributes } = element
  for (let at = 0; at < attributes.length; at++) {
    const { name, prefix, localName, namespaceURI, value } = attributes.item(at) as Attr
    if (name === 'xmlns' || prefix === 'xmlns') requireDeclaration(name, value)
    else if (prefix && !namespaceURI) throw new XmlRefused('xml', `undeclared prefix ${prefix}`)
    const full = `${prefix ? namespaceURI : ''} ${localName}`
    if (seen.has(full)) throw new XmlRefused('xml', `the attribute ${name} twice`)
    seen.add(full)
  }
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
  return childElements(parent).flatMap(child => [
    ...(child.namespaceURI === namespace && child.localName === name ? [child] : []),
    ...descendantsNamed(child, namespace, name),
  ])
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
