/** How long a proof over generated input goes on, and where its generator begins. */
export interface Extent {
  /** How many sequences of operations are tried. */
  readonly runs: number
  /** By chance when absent; a failure names it. */
  readonly seed?: number | undefined
}
