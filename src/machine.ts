import type { Log } from './base/log.ts'
import type { System } from './base/system.ts'

/** What the program runs on and with, as it is handed to the server. */
export interface Machine {
  readonly system: System
  readonly log: Log
  /** `SERVICE_ADMIN_PASSWORD`; counts only when the store is new (D5.5). */
  readonly adminPassword: string | undefined
  readonly version: string
}
