import type { Argon2Cost } from '../accounts/hash-thread.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { SettingsSources } from '../config/load.ts'

/** What the program runs on and with, as it is handed to the server. */
export interface Machine {
  readonly system: System
  readonly log: Log
  /** `SERVICE_ADMIN_PASSWORD`; counts only when the store is new (D5.5). */
  readonly adminPassword: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`: what tokens outside memory are sealed with, instead of a key file; not yet checked. */
  readonly tokenKey?: string | undefined
  readonly version: string
  /** What the settings were read from. Without it there is one thread: others read them anew. */
  readonly sources?: SettingsSources | undefined
  /** Replaces the configured cost of a password hash. Only tests set it, where hashing is not what they test. */
  readonly hashCost?: Argon2Cost | undefined
}
