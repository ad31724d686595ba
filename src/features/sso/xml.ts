import { SaxesParser } from 'saxes'
import type { Bytes } from '../../base/units.ts'
import { XmlElement } from './xml-element.ts'

/** Why XML is refused. */
type XmlReason = 'characters' | 'comment' | 'doctype' | 'markup' | 'processing-instruction' | 'size' | 'xml'

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
  /** Different names of elements; honest documents have a few dozens. */
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
 * Parses untrusted XML (D8.3) with a strict parser, and returns its root. DOCTYPE, comments, CDATA and processing instructions are
 * rejected in the text. Documents that are expensive to read are rejected as well. @throws {XmlRefused}
 */
export function parseXml(text: string, limits: XmlLimits): XmlElement {
  const body = requirePlain(text, limits)
  const parser = new SaxesParser({ xmlns: true, position: false })
  parser.on('error', ({ message }) => {
    if (message.startsWith('malformed character entity')) throw new XmlRefused('characters', FORBIDDEN_CHARACTERS)
    throw new XmlRefused('xml', `not well-formed: ${message.slice(0, MAX_MESSAGE)}`)
  })
  const counts = countParts(parser, limits)
  let root: XmlElement | undefined
  let open: XmlElement | undefined
  parser.on('opentag', tag => {
    const element = new XmlElement(tag, open)
    open?.children.push(element)
    root ??= element
    open = element
  })
  parser.on('text', part => {
    // White space around the root is no part of it.
    open?.children.push(part)
  })
  parser.on('closetag', () => {
    open = open?.parent
    counts.depth--
  })
  parser.write(body).close()
  if (!root) throw new XmlRefused('xml', 'not well-formed: no element')
  return root
}

const FORBIDDEN_CHARACTERS = 'holds characters that XML does not allow'
/** The message of a parser may quote a name of any length. */
const MAX_MESSAGE = 200

/** The text without its declaration, if it has none of the constructs that are rejected. */
function requirePlain(text: string, limits: XmlLimits): string {
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
  return body
}

/** Rejects a document as soon as it has too many parts. Returns the depth, which the caller lowers when an element ends. */
function countParts(parser: SaxesParser<{ xmlns: true; position: false }>, limits: XmlLimits): { depth: number } {
  const names = new Set<string>()
  const counts = { depth: 0, elements: 0, attributes: 0, own: 0 }
  const requireFew = (isFew: boolean, what = 'is nested too deeply or has too many parts'): void => {
    if (!isFew) throw new XmlRefused('size', what)
  }
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
  return counts
}

function requireDeclaration(name: string, value: string): void {
  // The parser trims the address, canonical XML writes all of it.
  const isAddress = value.trim() === value && /^[a-z][a-z\d+.-]*:/i.test(value)
  const isSound = isAddress || (name === 'xmlns' && value === '')
  const isReserved = ['xmlns:xml', 'xmlns:xmlns'].includes(name) || reserved.includes(value)
  if (!isSound || (isReserved && !(name === 'xmlns:xml' && value === reserved[0]))) {
    throw new XmlRefused('xml', `${name}="${value}" declares no namespace`)
  }
}

const reserved = ['http://www.w3.org/XML/1998/namespace', 'http://www.w3.org/2000/xmlns/']

/**
 * Parses XML that no signature covers: files that people have written by hand, and replies of a server over its own connection. Comments
 * and processing instructions are left out, and CDATA is text. @throws {XmlRefused}
 */
export const parseUnsignedXml = (text: string, limits: XmlLimits): XmlElement => parseXml(plainXml(text), limits)

/** Constructs that the strict parser rejects: the beginning of each, its end, and its replacement. */
const constructs: Readonly<Record<string, readonly [end: string, write: (content: string) => string]>> = {
  '<!--': ['-->', () => ''],
  '<?': ['?>', () => ''],
  '<![CDATA[': [']]>', content => escapeXml(content)],
}

/** A construct without an end stays in the text, so that the parser rejects it. */
function plainXml(text: string): string {
  const kept: string[] = []
  const begins = /<!--|<\?|<!\[CDATA\[/g
  let at = 0
  for (let found = begins.exec(text); found; found = begins.exec(text)) {
    const [end, write] = constructs[found[0]] ?? ['', () => '']
    const start = found.index + found[0].length
    const last = text.indexOf(end, start)
    if (last < 0) break
    kept.push(text.slice(at, found.index), write(text.slice(start, last)))
    at = last + end.length
    begins.lastIndex = at
  }
  return kept.join('') + text.slice(at)
}

/** Text made safe for XML, in content and in quoted attributes. Some readers take U+0085 and U+2028 for line ends, as XML 1.1 does. */
export const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"'\r\n\t\u0085\u2028]/g, character => `&#${character.codePointAt(0)};`)
