import type { SaxesAttributeNS, SaxesTagNS } from 'saxes'

/** The namespace that a prefix stands for at this place; the default namespace for an empty prefix. */
export type Resolve = (prefix: string) => string | undefined

/**
 * Exclusive canonical XML without comments (W3C xml-exc-c14n) of an element, written while it is parsed, so that a document is never held
 * as a whole. The first element that is opened is the apex.
 */
export class CanonicalWriter {
  readonly #emit: (text: string) => void
  readonly #listed: readonly string[]
  /** For each open element, the namespaces that have been written for it or above it, by prefix. */
  readonly #written: Array<ReadonlyMap<string, string>> = []

  /** @param prefixes of InclusiveNamespaces; `#default` is the default namespace */
  constructor(emit: (text: string) => void, prefixes: readonly string[] = []) {
    this.#emit = emit
    this.#listed = prefixes.map(prefix => (prefix === '#default' ? '' : prefix))
  }

  open({ name, prefix, attributes }: OpenedTag, resolve: Resolve): void {
    const own = Object.values(attributes).filter(attribute => !isDeclaration(attribute))
    const prefixes = new Set([prefix, ...this.#listed])
    for (const attribute of own) if (attribute.prefix !== '') prefixes.add(attribute.prefix)
    const above = this.#written.at(-1)
    const declared = [...prefixes]
      .filter(one => one !== 'xml')
      .map(one => [one, resolve(one) ?? ''] as const)
      .filter(([one, uri]) => uri !== (above?.get(one) ?? ''))
      .sort(([one], [other]) => compare(one, other))
    this.#written.push(declared.length > 0 || !above ? new Map([...(above ?? []), ...declared]) : above)
    const namespaces = declared.map(([one, uri]) => ` xmlns${one === '' ? '' : `:${one}`}="${escapeAttribute(uri)}"`)
    own.sort((one, other) => compare(one.uri, other.uri) || compare(one.local, other.local))
    const others = own.map(attribute => ` ${attribute.name}="${escapeAttribute(attribute.value)}"`)
    this.#emit(`<${name}${namespaces.join('')}${others.join('')}>`)
  }

  text(text: string): void {
    this.#emit(/[&<>\r]/.test(text) ? text.replaceAll(/[&<>\r]/g, escaped) : text)
  }

  close(name: string): void {
    this.#written.pop()
    this.#emit(`</${name}>`)
  }
}

/** An element of the parser, with its prefixes resolved. */
export type OpenedTag = Pick<SaxesTagNS, 'name' | 'prefix' | 'attributes'>

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
