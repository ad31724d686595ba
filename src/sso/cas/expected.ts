import type { Milliseconds } from '../../base/units.ts'

/** What a reply must fit to. */
export interface Expected {
  readonly serviceUrl: string
  readonly now: Milliseconds
  readonly clockSkew: Milliseconds
}
