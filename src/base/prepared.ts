/** A change that has been prepared so far that it cannot fail any more. Either of the two functions is called, once. */
export interface Prepared {
  /** Names the thing that changes, unless it is a setting. */
  readonly what?: string
  readonly apply: () => void
  readonly discard?: () => Promise<void>
}
