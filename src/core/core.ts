import type { Login, PasswordLoginPolicy } from '../accounts/login.ts'
import type { BasicCredentials } from '../accounts/basic-credentials.ts'
import type { SecondFactor } from '../accounts/second-factor.ts'
import type { SignIn } from '../accounts/sign-in.ts'
import type { TrustedDevices } from '../accounts/trusted-devices.ts'
import type { MailQueue } from '../mails/mail-queue.ts'
import type { Examination } from './examination.ts'
import type { Layout } from '../backup/tables.ts'
import type { BaseAddress } from '../http/base-address.ts'
import type { ProviderSlot } from '../http/identity-providers.ts'
import type { Metrics } from '../http/metrics.ts'
import type { UiAssets } from '../http/page.ts'
import type { RequestRecords } from '../http/request-records.ts'
import type { Audit } from '../accounts/audit.ts'
import type { UserCache } from '../accounts/user-cache.ts'
import type { Sessions } from '../accounts/sessions.ts'
import type { CredentialKind } from '../accounts/credential-kinds.ts'
import type { StepUp } from '../accounts/step-up.ts'
import type { SignInPage } from '../http/sign-in-page.ts'
import type { Lockout } from '../accounts/lockout.ts'
import type { PasswordRules } from '../accounts/password-rules.ts'
import type { Passwords } from '../accounts/passwords.ts'
import type { SealedSecrets } from '../accounts/sealed-secrets.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import type { Changes } from '../content/changes.ts'
import type { Creation } from '../content/creation.ts'
import type { ContextQuotaSlot } from '../content/context-quota.ts'
import type { Entries } from '../content/entries.ts'
import type { EntryLoader } from '../content/entry-loader.ts'
import type { EntryReads } from '../content/entry-reads.ts'
import type { ListMoves } from '../content/list-moves.ts'
import type { EntryViews } from '../content/entry-view.ts'
import type { MetadataReads } from '../content/metadata.ts'
import type { Files } from '../files/files.ts'
import type { Garbage } from '../files/garbage.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import type { Resources } from '../content/resources.ts'
import type { ContentOriginSlot } from '../http/content-origin.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { EphemeralStore } from '../stores/ephemeral-store.ts'
import type { Database } from '../stores/database.ts'
import type { DiskSpace } from '../stores/disk.ts'
import type { Stopping } from '../http/http-services.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import type { TranslateArchive } from './translate-archive.ts'

/** What a feature may use to answer reads, also in a reader thread: nothing here changes the store. */
export interface ReadCore {
  /** The values in force at each reading. */
  readonly settings: Settings
  readonly system: System
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
  readonly entries: EntryReads
  readonly views: EntryViews
  readonly metadata: MetadataReads
}

/** The part of the core that features may use in a command that changes the store. */
export type CommandCore = Pick<Core, 'settings' | 'system' | 'log' | 'audit' | 'blobs' | 'files'>

/** The services that every request or every change of an entry uses. A feature builds on these and on earlier features. */
export interface Core extends ReadCore {
  readonly log: Log
  readonly audit: Audit
  readonly users: UserCache
  readonly passwords: Passwords
  /** Who may sign in with a password. */
  readonly passwordLogins: PasswordLoginPolicy
  readonly sessions: Sessions
  readonly signInPage: SignInPage
  /** Kinds of credentials of a request; a feature adds its own. */
  readonly credentials: CredentialKind[]
  readonly login: Login
  /** Absent when HTTP Basic is off. */
  readonly basic: BasicCredentials | undefined
  /** The end of every sign-in. */
  readonly signIn: SignIn
  /** Absent when trusted devices are disabled. */
  readonly devices: TrustedDevices | undefined
  /** The feature that has second factors fills it in. */
  readonly secondFactor: SecondFactor
  /** Asks for a recent proof of identity before a change that matters. */
  readonly stepUp: StepUp
  readonly passwordRules: PasswordRules
  /** Counts wrong passwords, of whatever a feature has a password for. */
  readonly lockout: Lockout
  /** Seals secrets that are needed again, so that a copy of the database does not have them. @param purpose what they open */
  readonly sealedSecrets: (purpose: string) => SealedSecrets
  readonly entries: Entries
  readonly changes: Changes
  readonly listMoves: ListMoves
  /** Creates entries, users with all that belongs to them among them. */
  readonly creation: Creation
  readonly contextQuota: ContextQuotaSlot
  readonly files: Files
  readonly blobs: BlobStore
  readonly ledger: Ledger
  /** Deletes blobs that no file needs any more. */
  readonly garbage: Garbage
  /** Counts and other data with a time to live, which all nodes share. */
  readonly ephemeral: EphemeralStore
  readonly contentOrigin: ContentOriginSlot
  readonly resources: Resources
  /** The keys that seal tokens, the same on all nodes; none when tokens are kept in memory. */
  readonly tokenKeys: readonly Uint8Array[]
  /** Absent without a mail server. */
  readonly mails: MailQueue | undefined
  readonly identityProviders: ProviderSlot
  /** A feature that records requests fills it. */
  readonly records: RequestRecords
  /** Members of the extended status, of all features. */
  readonly status: () => Promise<Readonly<Record<string, unknown>>>
  readonly stopping: Stopping
  readonly examination: Examination
  /** The disk of the data folder; absent when the data folder is not used. */
  readonly disk: DiskSpace | undefined
  /** The metrics of the core and of all features. */
  readonly metrics: Metrics
  readonly ui: UiAssets
  /** Known when the service has begun to listen. */
  readonly address: { readonly base: BaseAddress }
  /** For the archives of other programs. */
  readonly translateArchive: TranslateArchive
  /** All variables of the process. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Of this program. */
  readonly version: string
  /** Of copies of the store. */
  readonly layout: Layout
  /** The file with the keys of {@link sealedSecrets}, if the service has made it. */
  readonly ownKeyFile: string | undefined
}
