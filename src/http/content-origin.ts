import type { FastifyServerOptions } from 'fastify'
import { BaseAddress } from './base-address.ts'
import type { ContentTickets } from './content-tickets.ts'
import type { Route } from './route.ts'

/** Where the content origin answers tickets, relative to its base address. */
export const TICKET_PATH = 'files/'

/** Where visitors of a public link read a file, relative to the base address. */
export const publicFilePath = (link: string, id: string): string => `auth/link/${link}/files/${id}`

/**
 * A second origin of this service, for files that a browser would run or render with active content (D18.15). It answers
 * tickets and nothing else, and uses no cookies, so such a file can reach neither the session nor the pages of the user.
 */
export class ContentOrigin {
  readonly base: BaseAddress
  readonly tickets: ContentTickets
  readonly #hosts: ReadonlySet<string>

  /** @param href absolute, with another host than the base address */
  constructor(href: string, tickets: ContentTickets) {
    const { protocol, host, port } = new URL(href)
    this.base = new BaseAddress(href)
    this.tickets = tickets
    // Some clients and proxies write the default port.
    const defaultPort = protocol === 'https:' ? 443 : 80
    this.#hosts = new Set(port === '' ? [host, `${host}:${defaultPort}`] : [host])
  }

  /** Whether a request with this `Host` header is for the content origin. */
  isAt(host: string | undefined): boolean {
    return host !== undefined && (this.#hosts.has(host) || this.#hosts.has(host.toLowerCase()))
  }
}

const CONTENT = 'content'

/** Keeps the routes of the content origin and all others apart: a request finds only those of the origin it is for. */
export const originConstraint = (contentOrigin: ContentOrigin): RouterConstraints => ({
  origin: {
    name: 'origin',
    mustMatchWhenDerived: true,
    storage: () => {
      const handlers = new Map<unknown, never>()
      return {
        get: origin => handlers.get(origin) ?? null,
        set: (origin, handler) => handlers.set(origin, handler as never),
      }
    },
    // Without a value the request matches the other routes; the declared type does not know this case.
    deriveConstraint: ({ headers }) => (contentOrigin.isAt(headers.host) ? CONTENT : (undefined as never)),
  },
})

type RouterConstraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>

/** The part of a registration that says for which origin a route is. */
export const onlyAt = (route: Pick<Route, 'onContentOrigin'> | undefined): { constraints?: { origin: string } } =>
  route?.onContentOrigin === true ? { constraints: { origin: CONTENT } } : {}
