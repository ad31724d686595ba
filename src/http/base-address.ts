import { InvalidInput } from '../base/errors.ts'
import {
  absoluteGraph,
  absoluteText,
  type Graph,
  type GraphText,
  RELATIVE,
  relativeGraph,
  toRelative,
} from '../graph/graph.ts'

/** The public address of the service (D1.1). Every URI in a response is made from it, none from a request header. */
export class BaseAddress {
  /** Absolute, ends in a slash. */
  readonly href: string
  /** Begins and ends with a slash. */
  readonly path: string
  readonly origin: string
  readonly isHttps: boolean
  /** Paths that stand before the address of a route, each without its slash at the end; the equivalent of none is not among them. */
  readonly #prefixes: readonly string[]

  constructor(href: string) {
    const url = new URL(href)
    this.href = url.href.endsWith('/') ? url.href : `${url.href}/`
    this.path = new URL(this.href).pathname
    this.origin = url.origin
    this.isHttps = url.protocol === 'https:'
    this.#prefixes = [this.path.slice(0, -1), '/store'].filter(prefix => prefix !== '')
  }

  /**
   * True when the `Host` header is another name of this machine than in the base address, for instance
   * `localhost` instead of 127.0.0.1, on the same port.
   */
  isOtherNameOfLoopback(host: string | undefined): boolean {
    const own = new URL(this.href).host
    const port = /:\d+$/.exec(own)?.[0] ?? ''
    const names = ['127.0.0.1', 'localhost', '[::1]'].map(name => name + port)
    return host !== undefined && host !== own && names.includes(own) && names.includes(host.toLowerCase())
  }

  /** The absolute form of an IRI as the modules below know it. */
  toAbsolute(iri: string): string {
    return iri.startsWith(RELATIVE) ? this.href + iri.slice(RELATIVE.length) : iri
  }

  toRelative(iri: string): string {
    return toRelative(this.href, iri)
  }

  absoluteGraph(graph: Graph): Graph {
    return absoluteGraph(this.href, graph)
  }

  /** The stored text of a graph as clients see it. */
  absoluteText(text: GraphText): string {
    return absoluteText(this.href, text)
  }

  relativeGraph(graph: Graph): Graph {
    return relativeGraph(this.href, graph)
  }

  /** The absolute URL of a page of the service, for redirects. */
  at(path: string): string {
    return this.href + path
  }

  /** The address under which the routes are registered, for any of the equivalent addresses (D1.2). */
  route(asked: string): string {
    // A request may name the whole address (RFC 9112 3.2.2); the host in it is ignored (D1.1).
    const url = asked.startsWith('/') ? asked : asked.replace(/^https?:\/\/[^/?#]*\/?/i, '/')
    // `OPTIONS *` and the like ask about no address of ours, least of all about the first.
    if (!url.startsWith('/')) return `/${url}`
    for (const prefix of this.#prefixes) {
      if (!url.startsWith(prefix)) continue
      const next = url[prefix.length]
      if (next === '/') return url.slice(prefix.length)
      if (next === undefined || next === '?') return `/${url.slice(prefix.length)}`
    }
    return url
  }
}

/**
 * The absolute form of the address to which a browser is sent after signing in (D2.1).
 * @throws {InvalidInput} `invalid-form` unless the address has the origin of this service
 */
export function readSuccessUrl(base: BaseAddress, successUrl: string | undefined): string | undefined {
  if (successUrl === undefined) return undefined
  const isOwn = !/[\\\p{C}]/u.test(successUrl) && URL.canParse(successUrl, base.href)
  const url = isOwn ? new URL(successUrl, base.href) : undefined
  // A `blob:` URL has the origin of the page that made it.
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (isWeb && url.origin === base.origin && url.username === '' && url.password === '') return url.href
  throw new InvalidInput('invalid-form', '`successurl` is not an address of this service.')
}

/** The address of the service. Unless it is configured, it is known only when the server listens. */
export class ServiceAddress {
  #base: BaseAddress | undefined

  constructor(configured: string | undefined) {
    this.#base = configured === undefined ? undefined : new BaseAddress(configured)
  }

  get base(): BaseAddress {
    if (!this.#base) throw new Error('the base address is known only after the server has started to listen')
    return this.#base
  }

  get path(): string {
    return this.#base?.path ?? '/'
  }

  listensOn(port: number): void {
    this.#base ??= new BaseAddress(`http://127.0.0.1:${port}/`)
  }
}
