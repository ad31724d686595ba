import { type Bytes, UNLIMITED } from './units.ts'

const factors: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

/**
 * A size as written in the settings (D7.8): digits and an optional k, m, g or t in upper or lower case,
 * powers of 1024; `-1` means unlimited. Returns `undefined` for any other text: fractions, `KB`, inner
 * blanks, other signs, more than 2^53-1 bytes.
 */
export function parseSize(text: string): Bytes | undefined {
  if (text === String(UNLIMITED)) return UNLIMITED
  const match = /^(\d+)([kmgt]?)$/i.exec(text)
  if (!match) return undefined
  const size = Number(match[1]) * (factors[(match[2] ?? '').toLowerCase()] ?? 1)
  return Number.isSafeInteger(size) ? size : undefined
}
