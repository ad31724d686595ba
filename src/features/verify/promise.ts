import type { Outcome } from './outcome.ts'
import type { Site } from './site.ts'

/** A sentence of the documents that holds behind a proxy, and the check of it. */
export interface Promised {
  /** For `--only`. */
  readonly id: string
  readonly sentence: string
  /** The page that promises it, below `docs/`. */
  readonly page: string
  /** The findings of `doctor` that decide it. */
  readonly codes?: readonly string[]
  /**
   * `beside`: the check waits for time limits of a proxy, so it runs beside the other checks. `last`: the check uses up limits, so it runs
   * after them.
   */
  readonly runs?: 'beside' | 'last'
  /** @throws {CannotCheck} when something that the check needs is missing */
  readonly check: (site: Site) => Promise<Outcome>
}
