import { randomBytes } from 'node:crypto'
import type { Milliseconds } from './units.ts'

/** The machine as the rooms see it. Tests hand in one whose clock they turn and whose randomness has a seed. */
export interface System {
  /** Wall clock, whole milliseconds since the Unix epoch. May jump. */
  now(): Milliseconds
  /** Never jumps and never goes back; only differences mean something. */
  monotonic(): Milliseconds
  /** Bytes from the system's secure source. */
  randomBytes(count: number): Uint8Array
}

export const realSystem: System = {
  now: () => Date.now(),
  monotonic: () => {
    // Unlike performance.now() this counts from the same moment in every thread.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
  randomBytes: count => randomBytes(count),
}
