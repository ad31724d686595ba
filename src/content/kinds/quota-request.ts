import { InvalidInput } from '../../base/errors.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { type Bytes, UNLIMITED } from '../../base/units.ts'

/** Members of a quota object that clients cannot set. Sent back, they are ignored, whatever their value (I2.6). */
export const READ_ONLY = ['fillLevel', 'hasDefaultQuota'] as const

/** The quota in a quota object, as GET returns it (D7.1). @throws {InvalidInput} `invalid-quota` */
export function readQuotaObject(json: unknown): Bytes {
  if (!isObject(json))
    throw new InvalidInput(
      'invalid-quota',
      `The body must be a JSON object with \`quota\`, but is ${jsonTypeOf(json)}.`,
    )
  requireOnly(json, ['quota', ...READ_ONLY])
  return requireQuotaValue(json['quota'])
}

/** The member `quota` of a context: a number, or the whole quota object. @throws {InvalidInput} `invalid-quota` */
export const readQuotaMember = (value: unknown): Bytes =>
  isObject(value) ? readQuotaObject(value) : requireQuotaValue(value)

function requireQuotaValue(value: unknown): Bytes {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0)
  if (isWhole && value >= UNLIMITED) return value
  throw new InvalidInput(
    'invalid-quota',
    `\`quota\` must be -1 (unlimited) or a whole number of bytes from 0 to 2^53-1, but is ${jsonTypeOf(value)}.`,
  )
}

/** Checks that the object contains known members only; any other member is an error (D7.1). */
export function requireOnly(body: Readonly<Record<string, unknown>>, members: readonly string[]): void {
  const others = Object.keys(body).filter(member => !members.includes(member))
  if (others.length > 0) throw new InvalidInput('invalid-quota', `These members cannot be set: ${others.join(', ')}.`)
}
