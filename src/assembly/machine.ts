import type { Argon2Cost } from '../accounts/hash-thread.ts'
import type { Hasher } from '../accounts/passwords.ts'
import type { Log } from '../base/log.ts'
import type { System } from '../base/system.ts'
import type { LoadedSettings } from '../config/load.ts'
import type { WrittenSources } from '../config/source-values.ts'

/** The environment of the program, passed to the server. */
export interface RuntimeEnvironment {
  readonly system: System
  readonly log: Log
  /** `SERVICE_ADMIN_PASSWORD`; used only while admin has no password (D5.5). */
  readonly adminPassword: string | undefined
  /** `SERVICE_AUTH_TOKEN_KEY`: seals tokens outside memory, instead of a key file; not checked yet. */
  readonly tokenKey?: string | undefined
  readonly version: string
  /** The sources of the settings. They are read again to show where each value comes from. */
  readonly sources?: WrittenSources | undefined
  /** Reads the settings again. @throws {StartupError} with everything that is wrong */
  readonly reread?: (() => LoadedSettings) | undefined
  /** Replaces the configured cost of a password hash and the threads for it. Only tests set it, when they do not test hashing. */
  readonly hashing?: { readonly cost: Argon2Cost; readonly hasher: Hasher } | undefined
}
