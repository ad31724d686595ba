import type { System } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import { quotaOptions } from '../features/quotas/limits.ts'
import { type Bytes, UNLIMITED } from '../base/units.ts'
import { Ledger } from '../files/quota-ledger.ts'
import type { Database } from '../stores/database.ts'

export const createLedger = (settings: Settings, database: Database, system: System): Ledger =>
  new Ledger(database, system, quotaOptions(settings))

/** The quota of contexts without their own; -1 is unlimited. */
export function contextQuota(settings: Settings): Bytes {
  const { enforced, defaults } = quotaOptions(settings)
  return enforced ? defaults.context : UNLIMITED
}
