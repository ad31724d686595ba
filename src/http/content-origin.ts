import type { FastifyServerOptions } from 'fastify'
import type { EntryAddress } from '../model/addresses.ts'
import type { BaseAddress } from './base-address.ts'
import type { BoundRoute } from './bound-route.ts'

/** The file that an address on the content origin permits to read: one state of it, for one session or through one share. */
export interface FileOnContentOrigin extends EntryAddress {
  /** Digest of the file: the address is for this state only. */
  readonly sha256: string
  /** Handle of the session that asked for the address; absent: a guest did. */
  readonly session: string | undefined
  /** Id of the share through which the file is read; then sessions are ignored. */
  readonly share: string | undefined
}

/** A second origin of this service, for files that a browser would run or render with active content (D18.15). */
export interface ContentOrigin {
  readonly base: BaseAddress
  /** Whether a request with this `Host` header is for the content origin. */
  isAt(host: string | undefined): boolean
  /** A new address of the file, which works for some minutes. */
  addressOf(file: FileOnContentOrigin): string
}

/** The feature that has a content origin fills it. */
export interface ContentOriginSlot {
  current?: ContentOrigin
}

const CONTENT = 'content'

/** Keeps the routes of the content origin and all other routes apart: a request finds only routes of its own origin. */
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

export type RouterConstraints = NonNullable<NonNullable<FastifyServerOptions['routerOptions']>['constraints']>

/** The part of a registration that says for which origin a route is. */
export const onlyAt = (route: Pick<BoundRoute, 'onContentOrigin'> | undefined): { origin?: string } =>
  route?.onContentOrigin === true ? { origin: CONTENT } : {}
