import type { EffectiveSetting } from '../config/effective-setting.ts'
import type { CheckResult } from './check-result.ts'

/** How this process is configured, and what is wrong with it. */
export interface Examination {
  readonly settings: () => readonly EffectiveSetting[]
  /** What `stowage doctor` finds. It takes seconds. */
  readonly runChecks: () => Promise<readonly CheckResult[]>
}
