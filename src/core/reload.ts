import type { Prepared } from '../base/prepared.ts'
import type { Key } from '../config/core-keys.ts'
import type { Settings, SettingsOf } from '../config/settings.ts'

/** What changes when the settings are read again while the service runs. @typeParam T the rows of a feature */
export interface SettingsChange<T = object> {
  /** The settings to put in force: the new values of settings that can change, and the present values of all others. */
  readonly next: Settings & SettingsOf<T>
  readonly changed: ReadonlySet<Key | keyof T>
}

/** Prepares a part of the program for changed settings. `undefined`: the part depends on none of them. @throws {StartupError} */
export type Reload<Change = SettingsChange> = (change: Change) => Promise<Prepared | undefined>
