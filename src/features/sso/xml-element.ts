import type { SaxesAttributeNS, SaxesTagNS } from 'saxes'
import { parseTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'

/** The data that the strict parser reports when an element opens. */
export type OpenedTag = Pick<SaxesTagNS, 'name' | 'prefix' | 'local' | 'uri' | 'attributes' | 'ns'>

/** An element of a document that the strict parser has accepted. After parsing nothing in it changes. */
export class XmlElement {
  /** As the document has it, with its prefix. Use `uri` and `local` to recognise an element: prefixes mean nothing. */
  readonly name: string
  readonly prefix: string
  readonly local: string
  /** The namespace; empty: none. */
  readonly uri: string
  /** By name, with its prefix; declarations of namespaces are among them. An object without a prototype, so that no name is special. */
  readonly attributes: Readonly<Record<string, SaxesAttributeNS>>
  /** The namespaces that are declared here, by prefix; the empty prefix stands for the default namespace. The object has no prototype. */
  readonly ns: Readonly<Record<string, string>>
  /** `undefined`: the root. */
  readonly parent: XmlElement | undefined
  readonly children: Array<XmlElement | string> = []

  constructor({ name, prefix, local, uri, attributes, ns }: OpenedTag, parent: XmlElement | undefined) {
    this.name = name
    this.prefix = prefix
    this.local = local
    this.uri = uri
    this.attributes = attributes
    this.ns = ns
    this.parent = parent
  }

  /** All text in it, including the text of elements inside. */
  get textContent(): string {
    return this.children.map(child => (typeof child === 'string' ? child : child.textContent)).join('')
  }

  /** The namespace that a prefix stands for here. */
  resolve(prefix: string): string | undefined {
    return this.ns[prefix] ?? this.parent?.resolve(prefix)
  }
}

export const childElements = (parent: XmlElement): XmlElement[] =>
  parent.children.filter(child => typeof child !== 'string')

/** Children with this very name. Names are namespace and local part: prefixes mean nothing. */
export function childrenNamed(parent: XmlElement, namespace: string, name: string): XmlElement[] {
  const found: XmlElement[] = []
  for (const child of parent.children) if (isNamed(child, namespace, name)) found.push(child)
  return found
}

/** All elements below with this very name. */
export function descendantsNamed(parent: XmlElement, namespace: string, name: string): XmlElement[] {
  const found: XmlElement[] = []
  const search = ({ children }: XmlElement): void => {
    for (const child of children) {
      if (typeof child === 'string') continue
      if (isNamed(child, namespace, name)) found.push(child)
      search(child)
    }
  }
  search(parent)
  return found
}

const isNamed = (child: XmlElement | string, namespace: string, name: string): child is XmlElement =>
  typeof child !== 'string' && child.local === name && child.uri === namespace

/** The text of an element that contains only text; `undefined` when it contains elements. */
export const textOf = (element: XmlElement): string | undefined =>
  element.children.every(child => typeof child === 'string') ? element.textContent : undefined

/** An attribute by its name, with the prefix as it is written; usually one without a namespace. */
export const attributeOf = (element: XmlElement, name: string): string | undefined => element.attributes[name]?.value

/** The white space of XML, with which servers indent. JavaScript counts more characters as white space, and these can be part of a name. */
const BLANKS = ' \t\r\n'

/** Without the white space around it. */
export function trimBlanks(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && BLANKS.includes(text.charAt(start))) start++
  while (end > start && BLANKS.includes(text.charAt(end - 1))) end--
  return text.slice(start, end)
}

/** A point in time of XML Schema (`dateTime`) with seconds and its zone, which SAML requires; `undefined` for any other text. */
export const parseXmlTime = (text: string): Milliseconds | undefined =>
  /T\d{2}:\d{2}:\d{2}/.test(text) ? parseTime(text) : undefined

/** The earliest of the times; `undefined` if there is none, or one of them is not known. */
export function earliest(times: ReadonlyArray<Milliseconds | undefined>): Milliseconds | undefined {
  const known = times.filter(time => time !== undefined)
  return known.length === 0 || known.length < times.length ? undefined : Math.min(...known)
}
