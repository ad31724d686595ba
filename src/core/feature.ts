import { addAuditEvents, type AuditEvent } from '../accounts/audit.ts'
import { addEndOnDisabling, type EndOnDisabling } from '../accounts/users.ts'
import type { AddedRule } from '../accounts/password-rules.ts'
import type { Table as StoredTable } from '../backup/tables.ts'
import { addErrorCodes } from '../base/error-codes.ts'
import type { ErrorText } from '../base/error-text.ts'
import type { ScheduledJob } from '../base/scheduled-jobs.ts'
import type { Check } from '../config/check.ts'
import type { Setting } from '../config/setting.ts'
import type { Settings, SettingsOf } from '../config/settings.ts'
import { addLastingUploads, type LastingUploads } from '../files/lasting-uploads.ts'
import type { HttpServices, ReadHttp } from '../http/http-services.ts'
import { type Offer, type RouteDefinition, withServices } from '../http/interface/route.ts'
import type { Metric } from '../http/metrics.ts'
import type { CheckResult } from './check-result.ts'
import type { Capacity } from '../stores/ephemeral-store.ts'
import type { Migration } from '../stores/migrations.ts'
import type { Command, Program } from './command.ts'
import type { CommandCore, Core, ReadCore } from './core.ts'
import { addLostStore, type LostStore } from './lost-store.ts'
import type { Reload, SettingsChange } from './reload.ts'

/** A feature that has been opened. @typeParam T the rows of its settings */
export interface Opened<S extends object, T = object> {
  /** For later features that name it among their needs. */
  readonly services?: S
  /** All its routes but those that only read, each with the services that it uses. */
  readonly offers?: readonly Offer[]
  /** Run every minute, one after another. */
  readonly jobs?: readonly ScheduledJob[]
  readonly metrics?: readonly Metric[]
  /** Members of the extended status of the service. */
  readonly status?: () => Promise<Readonly<Record<string, unknown>>>
  /**
   * Called when the settings are read again: prepares objects that the feature has made from settings. They are put in force only after all
   * other features have prepared theirs. Not needed for settings that are read at each use.
   */
  readonly reload?: Reload<SettingsChange<T>>
  /** Called when all features are opened, before any request: repairs what a crash has left. @param isExclusive whether no other process uses the store */
  readonly recover?: (isExclusive: boolean) => Promise<void>
  /** Called when requests are served. */
  readonly begin?: () => void
  /** Called when the service stops, while requests end: ends requests that could take long. */
  readonly stop?: () => Promise<void>
  /** Called when requests and jobs have ended, for later features first. */
  readonly close?: () => Promise<void>
}

/** Gives routes the services that they use. */
export const offer = <S extends object>(
  services: S,
  routes: ReadonlyArray<RouteDefinition<HttpServices & NoInfer<S>>>,
): readonly Offer[] =>
  routes.map(definition => ({ definition, bind: http => definition.bind(withServices(http, services)) }))

/** The same for routes that only read. */
export const offerReads = <S extends object>(
  services: S,
  routes: ReadonlyArray<RouteDefinition<ReadHttp & NoInfer<S>>>,
): ReadonlyArray<Offer<ReadHttp>> =>
  routes.map(definition => ({ definition, bind: http => definition.bind(withServices(http, services)) }))

type Needs = Readonly<Record<string, Feature>>
type ServicesOf<N extends Needs> = { readonly [K in keyof N]: N[K] extends Feature<infer S> ? S : never }

/** What is known of a feature before it is opened. */
interface Facts {
  /** The name of its folder under `src/features/`. */
  readonly name: string
  /** Steps of the schema for its tables, with numbers that no other step has. */
  readonly schemaSteps?: readonly Migration[]
  /** Tables whose rows belong to the store: they are in every copy of it. */
  readonly tables?: readonly StoredTable[]
  /** Codes of its refusals. Their names are added to the type `ErrorCodes`. */
  readonly codes?: Readonly<Record<string, ErrorText>>
  /** Its events of the audit log. Their names are added to the type `AuditEvents`. */
  readonly events?: readonly AuditEvent[]
  /** Deletes data that a user loses for good when they are disabled. */
  readonly endOnDisabling?: EndOnDisabling
  readonly lastingUploads?: LastingUploads
  /** Commands of `stowage` by their names. Their code is loaded when they are used. */
  readonly commands?: Readonly<Record<string, (program: Program) => Promise<Command>>>
  /** Limits for ephemeral data that strangers can cause. */
  readonly capacity?: readonly Capacity[]
}

type Table = Readonly<Record<string, Setting>>

/** A section of docs/configuration.md. */
interface SettingsSection<T extends Table = Table> {
  readonly title: string
  readonly rows: T
  /**
   * Keys that were settings once, each with a clause that says what happens instead. The start prints the clause if the setting is still
   * set.
   */
  readonly removed?: Readonly<Record<string, string>>
}

/** The core, with the settings of the feature beside its own. */
type With<C extends ReadCore | CommandCore, T> = C & { readonly settings: SettingsOf<T> }
/** The settings, before anything is opened. */
interface Configured<T> {
  readonly settings: Settings & SettingsOf<T>
}

/** Routes that only read. Reader threads answer those that are marked as heavy. */
interface Reads<T> {
  readonly routes: readonly RouteDefinition[]
  /** Called by the process, and by each of its reader threads. */
  readonly offers: (core: With<ReadCore, T>) => ReadonlyArray<Offer<ReadHttp>>
}

interface Declared<S extends object, N extends Needs, T extends Table> extends Facts {
  readonly settings?: SettingsSection<T>
  /** Settings that are each valid, but not together. They are checked whether the feature is on or off. */
  readonly contradictions?: ReadonlyArray<Check<NoInfer<T>>>
  /**
   * Checks files with keys and certificates and addresses of servers that the settings name. `config check` and the start call it. It
   * writes nothing and connects to nothing. @throws {StartupError}
   */
  readonly requireUsable?: (configured: Configured<T>) => void | Promise<void>
  /** What it knows of a store that is not there. */
  readonly lostStore?: LostStore<T>
  /** Earlier features whose services this one uses. */
  readonly needs?: N
  /** All routes but those that only read. They are known also while the feature is off: for the documentation. */
  readonly routes?: readonly RouteDefinition[]
  readonly reads?: Reads<T>
  /** Rules for new passwords, also for passwords that a command sets. @throws {StartupError} when data that a rule reads cannot be used */
  readonly passwordRules?: (configured: Configured<T>) => readonly AddedRule[]
  /** Fills the interfaces of the core that are needed when a command changes the store, as `open` does in the service. */
  readonly openForCommand?: (core: With<CommandCore, T>) => void
  /** Lines of `stowage doctor`, which starts nothing. @param subject with `SERVICE_AUTH_TOKEN_KEY` */
  readonly checks?: (
    subject: Configured<T> & { readonly tokenKey: string | undefined },
  ) => Promise<readonly CheckResult[]>
  /** Makes the services of the feature. @param needs the services of each needed feature; `undefined` for a feature that is off */
  readonly open: (core: With<Core, T>, needs: ServicesOf<N>) => Opened<S, T> | Promise<Opened<S, T>>
}

interface Switched<T> {
  /** `doctor` has lines about the feature also while it is off. */
  readonly checksWhileOff?: boolean
  /** False: the settings switch the feature off. It is not opened or checked, and none of its routes exists. */
  readonly isOn: (configured: Configured<T>) => boolean
}

/** A feature, without the types that only its own files know. @typeParam S its services */
export interface Feature<S extends object | undefined = object | undefined>
  extends Required<Omit<Facts, 'endOnDisabling' | 'lastingUploads'>> {
  readonly needs: Needs
  /** All routes, whatever the settings. */
  readonly routes: readonly RouteDefinition[]
  readonly settings: SettingsSection | undefined
  /** Rules for new passwords; none when the feature is off. Each is to be closed. @throws {StartupError} */
  readonly passwordRules: (settings: Settings) => readonly AddedRule[]
  /** Does nothing when the feature is off. */
  readonly openForCommand: (core: CommandCore) => void
  readonly contradictions: readonly Check[]
  /** Does nothing when the feature is off. @throws {StartupError} when what the settings name cannot be used */
  readonly requireUsable: (settings: Settings) => Promise<void>
  /** Lines of `stowage doctor`; none when the feature is off, unless it says otherwise. */
  readonly check: (settings: Settings, tokenKey: string | undefined) => Promise<readonly CheckResult[]>
  /** The routes that only read; none when the feature is off. */
  readonly offerReads: (core: ReadCore) => ReadonlyArray<Offer<ReadHttp>>
  /** @throws {TypeError} when a route is declared and not offered */
  readonly open: (core: Core, needs: Readonly<Record<string, object | undefined>>) => Promise<Running<S> | undefined>
}

/** An opened feature with all its routes. */
export interface Running<S extends object | undefined = object | undefined> extends Omit<Opened<object>, 'services'> {
  readonly services?: S
  readonly offers: readonly Offer[]
}

type None = Readonly<Record<string, never>>

/** Declares a feature: everything that belongs to it, in one object. */
export const feature = <S extends object, N extends Needs = None, T extends Table = None>(
  declared: Declared<S, N, T>,
): Feature<S> => withoutTypes(declared)

/** Declares a feature that settings can switch off. */
export const optionalFeature = <S extends object, N extends Needs = None, T extends Table = None>(
  declared: Declared<S, N, T> & Switched<T>,
): Feature<S | undefined> => withoutTypes(declared, declared)

/** The program reads the settings of all features together, so each finds its own among those of the core. */
function withoutTypes<S extends object, N extends Needs, T extends Table>(
  {
    name,
    schemaSteps = [],
    tables = [],
    codes = {},
    events = [],
    endOnDisabling,
    lastingUploads,
    commands = {},
    capacity = [],
    settings,
    contradictions = [],
    requireUsable,
    lostStore,
    needs,
    routes = [],
    reads,
    passwordRules,
    openForCommand,
    checks,
    open,
  }: Declared<S, N, T>,
  { isOn, checksWhileOff = false }: Switched<T> = { isOn: () => true },
): Feature<S> {
  addErrorCodes(codes)
  addAuditEvents(events)
  if (endOnDisabling) addEndOnDisabling(endOnDisabling)
  if (lastingUploads) addLastingUploads(lastingUploads)
  if (lostStore) addLostStore(lostStore as LostStore)
  const configuredBy = (settings: Settings) => ({ settings: settings as Settings & SettingsOf<T> })
  const all = [...(reads?.routes ?? []), ...routes]
  const readsOf = (core: With<ReadCore, T>) => (reads && isOn(core) ? reads.offers(core) : [])
  return {
    name,
    schemaSteps,
    tables,
    codes,
    events,
    commands,
    capacity,
    settings,
    contradictions: contradictions as readonly Check[],
    requireUsable: async settings => {
      const configured = configuredBy(settings)
      if (isOn(configured)) await requireUsable?.(configured)
    },
    needs: needs ?? {},
    routes: all,
    offerReads: core => readsOf(core as With<ReadCore, T>),
    openForCommand: core => {
      const own = core as With<CommandCore, T>
      if (isOn(own)) openForCommand?.(own)
    },
    passwordRules: settings => {
      const configured = configuredBy(settings)
      return passwordRules && isOn(configured) ? passwordRules(configured) : []
    },
    check: async (settings, tokenKey) => {
      const configured = configuredBy(settings)
      return checks && (checksWhileOff || isOn(configured)) ? await checks({ ...configured, tokenKey }) : []
    },
    open: async (core, given) => {
      const own = core as With<Core, T>
      if (!isOn(own)) return undefined
      // Only the loop reads it from here on: with settings that have the rows of all features.
      const opened = (await open(own, given as ServicesOf<N>)) as Opened<S>
      const offers = [...readsOf(own), ...(opened.offers ?? [])]
      const missing = all.find(route => !offers.some(({ definition }) => definition === route))
      if (missing) throw new TypeError(`${name} declares ${missing.method} ${missing.url} and does not offer it`)
      return { ...opened, offers }
    },
  }
}
