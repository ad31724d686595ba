import type { BasicCredentials } from '../accounts/basic-credentials.ts'
import type { CredentialKind } from '../accounts/credential-kinds.ts'
import type { SecondFactor } from '../accounts/second-factor.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { UserCache } from '../accounts/user-cache.ts'
import type { Entries } from '../content/entries.ts'
import type { QuotaRefusals } from '../content/quota-refusals.ts'
import type { Acquaintances } from '../search/acquaintances.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import type { HttpServices, Stopping } from './http-services.ts'
import type { Metrics } from './metrics.ts'
import type { Readers } from './readers/read-task.ts'
import type { RequestRecords } from './request-records.ts'

/** The services that the steps around a route use. A route gets its own services. */
export interface AppServices extends Pick<HttpServices, 'contentOrigin' | 'log' | 'system' | 'transfers' | 'ui'> {
  readonly cache: DependencyCache
  readonly sessions: Sessions
  readonly users: UserCache
  /** Absent where everybody may read the names of all users. */
  readonly acquaintances: Acquaintances | undefined
  readonly secondFactor: SecondFactor
  /** The kinds of credentials that features bring. */
  readonly credentials: readonly CredentialKind[]
  /** Absent when HTTP Basic is off. */
  readonly basic: BasicCredentials | undefined
  readonly entries: Entries
  readonly quotaRefusals: QuotaRefusals
  /** Threads for heavy reads; absent where everything is answered by this thread. */
  readonly readers: Readers | undefined
  readonly metrics: Metrics
  readonly records: RequestRecords
  readonly stopping: Stopping
  /**
   * Refuses changes that add rows while the disk has no space for them; absent where rows take none of it.
   * @throws {StorageFull} @throws {StorageReadOnly}
   */
  readonly requireSpace: (() => void) | undefined
  /** The disk has refused a write: measure it now. */
  readonly checkDisk: () => void
}
