import { InvalidInput } from '../../base/errors.ts'
import { type Bytes, UNLIMITED } from '../../base/units.ts'

/** A quota as clients may set it (D7.1). @throws {InvalidInput} `invalid-quota` */
export function requireQuotaValue(value: unknown): Bytes {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0)
  if (isWhole && value >= UNLIMITED) return value
  throw new InvalidInput('invalid-quota', '`quota` must be -1 (unlimited) or a whole number of bytes from 0 to 2^53-1.')
}

/** Checks that the object contains only members that can be set; any other member is an error (D7.1). */
export function requireOnly(body: Readonly<Record<string, unknown>>, members: readonly string[]): void {
  const others = Object.keys(body).filter(member => !members.includes(member))
  if (others.length > 0) throw new InvalidInput('invalid-quota', `These members cannot be set: ${others.join(', ')}.`)
}
