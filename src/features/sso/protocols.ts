import type { Key } from '../../config/core-keys.ts'
import type { Settings, SettingsOf } from '../../config/settings.ts'
import type { CheckResult } from '../../core/check-result.ts'
import type { BaseAddress } from '../../http/base-address.ts'
import type { Mapping } from './mapping.ts'

/** The settings of one provider. */
export interface ConfiguredProvider {
  readonly name: string
  /** `undefined` if names are not addresses. */
  readonly domains: readonly string[] | undefined
  readonly mapping: Mapping
}

/** Keys of the settings that every protocol has, for messages. */
interface ProtocolKeys<K> {
  readonly on: K
  /** The list of its providers, and the domains of each; absent for a protocol with one provider. */
  readonly idps?: K
  readonly domains?: K
  readonly groups: K
  readonly prefix: K
  readonly map: K
}

/** What is known of a protocol of sign-on before anything is opened. @typeParam T the rows of its settings */
export interface SignOnProtocol<T = object> {
  /** In addresses and in `GET /management/sso`. */
  readonly name: string
  /** For messages. */
  readonly title: string
  readonly keys: ProtocolKeys<Key | (keyof T & string)>
  /** Names of providers that no setting gives, so that no other protocol may have a provider of this name. */
  readonly ownNames: readonly string[]
  readonly isOn: (settings: Settings & SettingsOf<T>) => boolean
  /** The providers in use; none while the protocol is off. */
  readonly providers: (settings: Settings & SettingsOf<T>) => readonly ConfiguredProvider[]
  /** Its member of `GET /management/sso` while it is off. */
  readonly statusWhenOff: unknown
  /** Lines of `stowage doctor` while it is on. */
  readonly check: (settings: Settings & SettingsOf<T>, base: BaseAddress) => Promise<readonly CheckResult[]>
}

/** In the order of buttons and reports. */
const registered: SignOnProtocol[] = []

/** The protocols of all features, on or off. */
export const protocols: readonly SignOnProtocol[] = registered

/** A feature that signs users in by a protocol registers it when it is loaded. */
export function registerProtocol<T>(protocol: SignOnProtocol<T>): void {
  // The program reads the settings of all features together, so each finds its own among them.
  registered.push(protocol as unknown as SignOnProtocol)
}
