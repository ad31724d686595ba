import type { AccessTokens } from '../accounts/access-tokens.ts'
import type { Audit } from '../accounts/audit.ts'
import type { BasicCredentials } from '../accounts/basic-credentials.ts'
import type { FactorPolicy, UserCache } from '../accounts/caller.ts'
import type { PasskeySignIn } from '../accounts/factors/passkey-sign-in.ts'
import type { Passkeys } from '../accounts/factors/passkeys.ts'
import type { SecondFactors } from '../accounts/factors/second-factors.ts'
import type { SignIn } from '../accounts/factors/sign-in.ts'
import type { StepUp } from '../accounts/factors/step-up.ts'
import type { Lockout } from '../accounts/lockout.ts'
import type { Login } from '../accounts/login.ts'
import type { PasswordReset } from '../accounts/password-reset.ts'
import type { PasswordRules } from '../accounts/password-rules.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { TrustedDevices } from '../accounts/trusted-devices.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Milliseconds } from '../base/units.ts'
import type { AccessMails } from '../content/access-mails.ts'
import type { ContextExport } from '../content/archive/export.ts'
import type { FileZips } from '../content/archive/file-zip.ts'
import type { ContextImport } from '../content/archive/import.ts'
import type { Creation } from '../content/creation.ts'
import type { ContextKind } from '../content/kinds/context.ts'
import type { Entries } from '../content/entries.ts'
import type { EntryViews } from '../content/entry-view.ts'
import type { Acquaintances } from '../search/acquaintances.ts'
import type { Search } from '../search/search.ts'
import type { Metadata } from '../content/metadata.ts'
import type { Quotas } from '../content/quotas.ts'
import type { ResumableUploads } from '../content/resumable-uploads.ts'
import type { Resources } from '../content/resources.ts'
import type { ListMoves } from '../content/list-moves.ts'
import type { Statistics } from '../content/statistics.ts'
import type { LinkVisits } from '../content/links/link-visits.ts'
import type { PublicLinks } from '../content/links/links.ts'
import type { Trash } from '../content/trash/trash.ts'
import type { Files } from '../files/files.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { GraphReader } from '../graph/graph-reader.ts'
import type { Proxy } from '../proxy/proxy.ts'
import type { CasSignOn } from '../sso/cas/sign-on.ts'
import type { SsoFailures } from '../sso/failures.ts'
import type { OidcSignOn } from '../sso/oidc/sign-on.ts'
import type { SamlSignOn } from '../sso/saml/sign-on.ts'
import type { SignOnPreview } from '../sso/sign-on-preview.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import type { Outages } from './outages.ts'
import type { ForwardingHeader, CorsOptions, AuthCookie, CookieOptions } from './protocol/sender.ts'
import type { BaseAddress } from './base-address.ts'
import type { ContentOrigin } from './content-origin.ts'
import type { Bodies, BodyLimits } from './protocol/body.ts'
import type { UiAssets } from './page.ts'
import type { History } from './history.ts'
import type { Metrics, ScheduledBackups } from './metrics.ts'
import type { Readiness } from './readiness.ts'
import type { SlowRequests } from './slow-requests.ts'
import type { Readers } from './readers/read-task.ts'
import type { Tracing } from './tracing.ts'

/** The settings of `http/`. */
export interface HttpOptions {
  /** Read at each request, because a port that the system chooses is known only after the start. */
  readonly address: { readonly base: BaseAddress }
  readonly trustedProxies: readonly string[]
  /** Where trusted proxies write the address of the client. */
  readonly clientAddressHeader: ForwardingHeader
  readonly cookie: CookieOptions
  /** Where browsers report violations of the content security policy. */
  readonly cspReportUrl: string | undefined
  /** What a browser deletes at a sign-out (`Clear-Site-Data`); `auto`: its storage, where no other application shares the origin. */
  readonly clearSiteData: 'auto' | 'off' | 'storage' | 'cache'
  /** An unknown token is an error rather than a guest (D2.7). */
  readonly invalidTokenIsError: boolean
  /** Active media types that are nevertheless shown in the browser (D7.7). */
  readonly inlineTypes: readonly string[]
  readonly body: BodyLimits
  readonly cors: CorsOptions
  /** Responses may be loaded as scripts, by pages of every site. */
  readonly jsonp: boolean
  readonly search: {
    /** Most hits of one response. */
    readonly maxLimit: number
  }
  /** An e-mail address or web page where users without a context ask for one. */
  readonly contact: string | undefined
  /** Who shows it may read the metrics; absent: administrators only. */
  readonly metricsToken: string | undefined
  readonly version: string
  /** The database, as the status names it. */
  readonly repositoryType: 'sqlite' | 'postgres'
}

/** Sign-on through identity providers. */
export interface Sso {
  readonly failures: SsoFailures
  readonly preview: SignOnPreview
  /** Absent when CAS is off. */
  readonly cas: CasSignOn | undefined
  /** Absent when SAML is off. */
  readonly saml: SamlSignOn | undefined
  /** Absent when OpenID Connect is off. */
  readonly oidc: OidcSignOn | undefined
  /** A page of this service leads on after a sign-on, instead of a redirect (D8.5). */
  readonly landsOnPage: boolean
}

/** How this process is configured, and what is wrong with it. */
export interface AdminDiagnostics {
  /** Every setting with its value; secrets are masked. */
  readonly settings: () => ReadonlyArray<{
    readonly key: string
    readonly value: string
    readonly isSet: boolean
    readonly origin: 'default' | 'file' | 'environment' | '--set' | 'secret file'
    /** The heading and the meaning in docs/configuration.md. */
    readonly area: string
    readonly meaning: string
  }>
  /** What `stowage doctor` finds. It takes seconds. */
  readonly runChecks: () => Promise<
    ReadonlyArray<{ readonly level: 'ok' | 'warning' | 'problem'; readonly text: string }>
  >
}

/** The services of other modules, as the routes need them. */
export interface AppServices {
  readonly database: Database
  readonly cache: DependencyCache
  readonly sessions: Sessions
  readonly users: UserCache
  /** Absent where everybody may read the names of all users. */
  readonly acquaintances: Acquaintances | undefined
  readonly login: Login
  /** The end of every sign-in. */
  readonly signIn: SignIn
  readonly factors: SecondFactors
  readonly factorPolicy: FactorPolicy
  readonly stepUp: StepUp
  /** Absent when passkeys are off, or browsers offer none for the base address. */
  readonly passkeys: Passkeys | undefined
  /** Absent when a passkey alone signs no user in. */
  readonly passkeySignIn: PasskeySignIn | undefined
  readonly lockout: Lockout
  readonly audit: Audit
  /** Absent when access tokens are off. */
  readonly accessTokens: AccessTokens | undefined
  /** Absent when HTTP Basic is off. */
  readonly basic: BasicCredentials | undefined
  /** Absent when trusted devices are disabled. */
  readonly devices: TrustedDevices | undefined
  readonly passwordRules: PasswordRules
  /** Absent when passwords are not reset by e-mail. */
  readonly passwordReset: PasswordReset | undefined
  /** Read at each request, because its providers may be replaced. */
  readonly sso: Sso
  readonly entries: Entries
  readonly contexts: ContextKind
  /** Absent without a mail server. */
  readonly accessMails: AccessMails | undefined
  readonly quotas: Quotas
  readonly resumableUploads: ResumableUploads
  readonly exports: ContextExport
  readonly zips: FileZips
  readonly imports: ContextImport
  readonly statistics: Statistics
  readonly creation: Creation
  readonly search: Search
  readonly views: EntryViews
  readonly metadata: Metadata
  readonly resources: Resources
  readonly listMoves: ListMoves
  readonly trash: Trash
  /** Absent when public links are off. */
  readonly links: PublicLinks | undefined
  /** Absent when public links are off. */
  readonly linkVisits: LinkVisits | undefined
  readonly files: Files
  readonly ledger: Ledger
  readonly graphs: GraphReader
  /** Threads for heavy reads; absent where everything is answered by this thread. */
  readonly readers: Readers | undefined
  readonly ui: UiAssets
  /** Absent when nothing is fetched for others. */
  readonly proxy: Proxy | undefined
  /** Absent when active files have no origin of their own. */
  readonly contentOrigin: ContentOrigin | undefined
  readonly metrics: Metrics
  readonly history: History
  /** Absent without scheduled backups. */
  readonly backups: ScheduledBackups | undefined
  readonly slowRequests: SlowRequests
  /** Absent when no traces are sent. */
  readonly tracing: Tracing | undefined
  readonly insight: AdminDiagnostics
  readonly readiness: Readiness
  /**
   * Refuses changes that add rows while the disk has no space for them; absent where rows take none of it.
   * @throws {StorageFull} @throws {StorageReadOnly}
   */
  readonly requireSpace: (() => void) | undefined
  /** The disk has refused a write: measure it now. */
  readonly checkDisk: () => void
  readonly system: System
  readonly log: Log
}

/** All that a route may need: plain fields, no container. */
export interface Services extends AppServices {
  readonly outages: Outages
  readonly options: HttpOptions
  readonly base: BaseAddress
  readonly startedAt: Milliseconds
  readonly bodies: Bodies
  readonly cookie: AuthCookie
}

/** The services that a route uses. It gets no others. */
export type Uses<K extends keyof Services> = Pick<Services, K>
