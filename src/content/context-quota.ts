import { InvalidInput } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { UsageChange } from '../files/quota-thresholds.ts'
import type { EntryWriter } from './changes.ts'

/** How the quota of a context is set together with its name. */
export interface ContextQuota {
  /** Reads a member `quota`: a number, or the whole quota object. @throws {InvalidInput} `invalid-quota` */
  read(value: unknown): Bytes
  /** Runs in a transaction that has checked the right. @param quota `undefined` for the quota of the settings */
  set(writer: EntryWriter, context: string, quota: Bytes | undefined): Promise<UsageChange>
}

/** Filled by the feature that has quotas, while they are on. Without it a quota is refused. */
export interface ContextQuotaSlot {
  filled?: ContextQuota
}

/** Members of a quota object that clients cannot set. Sent back, they are ignored, whatever their value (I2.6). */
export const QUOTA_READ_ONLY = ['fillLevel', 'hasDefaultQuota'] as const

/** Checks that the object contains known members only; any other member is an error (D7.1). @throws {InvalidInput} `invalid-quota` */
export function requireOnly(body: Readonly<Record<string, unknown>>, members: readonly string[]): void {
  const others = Object.keys(body).filter(member => !members.includes(member))
  if (others.length > 0) throw new InvalidInput('invalid-quota', `These members cannot be set: ${others.join(', ')}.`)
}
