import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { BaseAddress } from './base-address.ts'
import type { ContentOrigin } from './content-origin.ts'
import type { Outages } from './outages.ts'
import type { UiAssets } from './page.ts'
import type { RunningTransfers } from './running-transfers.ts'
import type { Bodies, BodyLimits } from './protocol/body.ts'
import type { AuthCookie, CookieOptions } from './protocol/cookies.ts'
import type { CorsOptions } from './protocol/cors.ts'

/** The settings of `http/`. */
export interface HttpOptions {
  /** Read at each request, because a port that the system chooses is known only after the start. */
  readonly address: { readonly base: BaseAddress }
  readonly trustedProxies: readonly string[]
  readonly cookie: CookieOptions
  /** Where browsers report violations of the content security policy. */
  readonly cspReportUrl: string | undefined
  /** An unknown token is an error rather than a guest (D2.7). */
  readonly invalidTokenIsError: boolean
  /** Active media types that are nevertheless shown in the browser (D7.7). */
  readonly inlineTypes: readonly string[]
  readonly body: BodyLimits
  readonly cors: CorsOptions
  /** Responses may be loaded as scripts, by pages of every site. */
  readonly jsonp: boolean
  readonly version: string
  /** The commit from which a package was built. A clone has none. */
  readonly commit: string | undefined
}

/** Set before the end of the process: requests are still served. */
export interface Stopping {
  isDraining: boolean
}

/** What the application gives to every route, beside the services of its feature. */
export interface HttpServices {
  readonly options: HttpOptions
  readonly base: BaseAddress
  readonly startedAt: Milliseconds
  readonly bodies: Bodies
  readonly cookie: AuthCookie
  readonly outages: Outages
  readonly ui: UiAssets
  /** Absent when active files have no origin of their own. */
  readonly contentOrigin: ContentOrigin | undefined
  readonly system: System
  readonly log: Log
  readonly transfers: RunningTransfers
}

/** The part of these services that a reader thread has. */
export type ReadHttp = Pick<HttpServices, 'base'>
