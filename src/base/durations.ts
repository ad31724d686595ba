import type { Milliseconds } from './units.ts'

const factors: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  ms: 1,
  '': 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/**
 * A duration as written in the settings (D10.4): digits and an optional ns, us, ms, s, m, h or d; without a
 * unit, milliseconds. Returns `undefined` for any other text. Nanoseconds and microseconds can give fractions
 * of a millisecond.
 */
export function parseDuration(text: string): Milliseconds | undefined {
  const match = /^(\d+)(ns|us|ms|s|m|h|d)?$/i.exec(text)
  if (!match) return undefined
  const duration = Number(match[1]) * (factors[(match[2] ?? '').toLowerCase()] ?? 1)
  return duration <= Number.MAX_SAFE_INTEGER ? duration : undefined
}
