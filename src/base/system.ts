import { randomBytes } from 'node:crypto'
import type { Milliseconds } from './units.ts'

/** Time and randomness. Tests pass a clock that they move, and randomness from a seed. */
export interface System {
  /** The wall clock in whole milliseconds since the Unix epoch. It may jump. */
  now(): Milliseconds
  /** The wall clock with its microseconds, as three decimals. */
  preciseNow(): Milliseconds
  /** A clock that never jumps and never goes back. Only differences have a meaning. */
  monotonic(): Milliseconds
  /** Bytes from the system's secure random source. */
  randomBytes(count: number): Uint8Array
}

export const realSystem: System = {
  now: Date.now,
  preciseNow: () => {
    // `Date.now()` has whole milliseconds. `performance.now()` is more precise, but does not follow when the wall clock is set.
    const precise = performance.timeOrigin + performance.now()
    return Date.now() + Math.floor((precise % 1) * 1000) / 1000
  },
  monotonic: () => {
    // Unlike performance.now() this counts from the same moment in every thread.
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1000 + nanoseconds / 1e6
  },
  randomBytes,
}
