import type { Argon2Cost } from '../accounts/hash-thread.ts'
import type { Hasher, HashLimits } from '../accounts/passwords.ts'
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
  /** The commit from which a package was built. A clone has none. */
  readonly commit?: string | undefined
  /** The sources of the settings. They are read again to show where each value comes from. */
  readonly sources?: WrittenSources | undefined
  /** Reads the settings again. @throws {StartupError} with everything that is wrong */
  readonly reread?: (() => LoadedSettings) | undefined
  /** Replaces the cost of a password hash, its limits and the threads for it. Only tests set it. */
  readonly hashing?:
    | {
        readonly cost?: Argon2Cost
        readonly limits?: HashLimits
        readonly hasher?: Hasher
      }
    | undefined
}
