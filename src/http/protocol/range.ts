import { RangeNotSatisfiable } from '../../base/errors.ts'
import type { Bytes } from '../../base/units.ts'
import type { ByteRange } from '../../stores/blob-store.ts'

/**
 * The part that a `Range` header requests. `undefined` means the whole: without a header, with a malformed
 * one, with another unit, and with several ranges, for which RFC 9110 14.2 allows it.
 * @throws {RangeNotSatisfiable}
 */
export function parseRange(header: string | undefined, size: Bytes): ByteRange | undefined {
  // Divided without one pattern for all: blanks around optional digits would let it try every division of a long run of blanks.
  const [, range] = /^\s*bytes\s*=(.*)$/i.exec(header ?? '') ?? []
  const [first, last, ...rest] = (range ?? '').split('-').map(end => end.trim())
  if (first === undefined || last === undefined || rest.length > 0 || ![first, last].every(isDigits)) return undefined
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    if (length === 0) throw new RangeNotSatisfiable(size)
    return { first: size - length, last: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return undefined
  if (start >= size) throw new RangeNotSatisfiable(size)
  return { first: start, last: end }
}

const isDigits = (text: string): boolean => /^\d*$/.test(text)
