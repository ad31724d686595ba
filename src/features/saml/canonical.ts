import { refused } from '../sso/refusal.ts'
import type { SaxesAttributeNS } from 'saxes'
import { messageLimits } from '../sso/xml.ts'
import type { OpenedTag, XmlElement } from '../sso/xml-element.ts'

/** The namespace that a prefix stands for at this place; the default namespace for an empty prefix. */
export type Resolve = (prefix: string) => string | undefined

/** A declaration that is written: prefix and namespace. */
type Declared = readonly [prefix: string, uri: string]

/**
 * Exclusive canonical XML without comments (W3C xml-exc-c14n) of an element, written while it is parsed, so that a document is never held
 * as a whole. The first element that is opened is the apex.
 */
export class CanonicalWriter {
  readonly #emit: (text: string) => void
  readonly #listed: readonly string[]
  /**
   * The namespaces that have been written for the open elements: for each prefix the innermost declaration. Nothing is deleted, because
   * keys that are deleted and added again make a `Map` slow.
   */
  readonly #written = new Map<string, string>()
  /**
   * For each open element, the declarations that its own declarations replaced; an empty address stands for none. Copying all written
   * namespaces for each element would take a second for some messages.
   */
  readonly #replaced: Array<readonly Declared[]> = []

  /** @param prefixes of InclusiveNamespaces; `#default` is the default namespace */
  constructor(emit: (text: string) => void, prefixes: readonly string[] = []) {
    this.#emit = emit
    this.#listed = prefixes.map(prefix => (prefix === '#default' ? '' : prefix))
  }

  open({ name, prefix, uri, attributes }: WrittenTag, resolve: Resolve): void {
    const above = this.#written
    const declared: Declared[] = []
    const own: SaxesAttributeNS[] = []
    // In an element without declarations, a listed prefix means the same as in its parent.
    let isListed = this.#replaced.length === 0
    declare(declared, above, prefix, uri)
    for (const key in attributes) {
      const attribute = attributes[key]
      if (!attribute) continue
      if (isDeclaration(attribute)) {
        isListed = true
        continue
      }
      own.push(attribute)
      if (attribute.prefix !== '') declare(declared, above, attribute.prefix, attribute.uri)
    }
    if (isListed) for (const listed of this.#listed) declare(declared, above, listed, resolve(listed) ?? '')
    this.#replaced.push(declared.map(([one]) => [one, above.get(one) ?? '']))
    for (const [one, address] of declared) above.set(one, address)
    this.#emit(`<${name}${declarationsText(declared)}${attributesText(own)}>`)
  }

  text(text: string): void {
    this.#emit(/[&<>\r]/.test(text) ? text.replaceAll(/[&<>\r]/g, escaped) : text)
  }

  close(name: string): void {
    for (const [prefix, uri] of this.#replaced.pop() ?? []) this.#written.set(prefix, uri)
    this.#emit(`</${name}>`)
  }
}

/** An element of the parser or of a tree, with its prefixes resolved. */
type WrittenTag = Pick<OpenedTag, 'name' | 'prefix' | 'uri' | 'attributes'>

/** Notes a declaration unless an element above has written the same. */
function declare(declared: Declared[], above: ReadonlyMap<string, string>, prefix: string, uri: string): void {
  if (prefix === 'xml' || uri === (above.get(prefix) ?? '') || declared.some(([one]) => one === prefix)) return
  declared.push([prefix, uri])
}

function declarationsText(declared: Declared[]): string {
  if (declared.length > 1) declared.sort(([one], [other]) => compare(one, other))
  let text = ''
  for (const [prefix, uri] of declared) text += ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeAttribute(uri)}"`
  return text
}

function attributesText(own: SaxesAttributeNS[]): string {
  if (own.length > 1) own.sort((one, other) => compare(one.uri, other.uri) || compare(one.local, other.local))
  let text = ''
  for (const { name, value } of own) text += ` ${name}="${escapeAttribute(value)}"`
  return text
}

/**
 * The maximum size of a message in which every character is escaped. Only namespaces can make the form longer, because each is written
 * again where it is used.
 */
const MAX_CHARACTERS = 6 * messageLimits.bytes

/**
 * The exclusive canonical form of an element of a message.
 * @param prefixes of InclusiveNamespaces
 * @param without a child that is left out: the signature
 * @throws {SsoRefused} `xml-size`
 */
export function canonicalForm(element: XmlElement, prefixes: readonly string[], without?: XmlElement): string {
  const parts: string[] = []
  let length = 0
  const writer = new CanonicalWriter(text => {
    length += text.length
    if (length > MAX_CHARACTERS) throw refused('xml-size', `${MAX_CHARACTERS} characters in canonical form`, 'more')
    parts.push(text)
  }, prefixes)
  const write = (tag: XmlElement): void => {
    writer.open(tag, prefix => tag.resolve(prefix))
    for (const child of tag.children) {
      if (typeof child === 'string') writer.text(child)
      else if (child !== without) write(child)
    }
    writer.close(tag.name)
  }
  write(element)
  return parts.join('')
}

/** Namespace declarations are not attributes here. */
export const isDeclaration = ({ name, prefix }: Pick<SaxesAttributeNS, 'name' | 'prefix'>): boolean =>
  name === 'xmlns' || prefix === 'xmlns'

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const escapeAttribute = (value: string): string =>
  /[&<"\t\n\r]/.test(value) ? value.replaceAll(/[&<"\t\n\r]/g, escaped) : value

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}
const escaped = (character: string): string => escapes[character] ?? character
