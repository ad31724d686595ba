import { InvalidInput } from '../../base/errors.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { type Bytes, UNLIMITED } from '../../base/units.ts'
import { QUOTA_READ_ONLY, requireOnly } from '../../content/context-quota.ts'

/** A limit as clients send it: bytes or a number of files, -1 for none. @throws {InvalidInput} `invalid-quota` */
export function requireLimit(value: unknown, member: 'quota' | 'maxFiles'): number {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0)
  if (isWhole && value >= UNLIMITED) return value
  const unit = member === 'quota' ? 'bytes' : 'files'
  throw new InvalidInput(
    'invalid-quota',
    `\`${member}\` must be -1 (unlimited) or a whole number of ${unit} from 0 to 2^53-1, but is ${jsonTypeOf(value)}.`,
  )
}

/** The quota in a quota object, as GET returns it (D7.1). @throws {InvalidInput} `invalid-quota` */
export function readQuotaObject(json: unknown): Bytes {
  if (!isObject(json))
    throw new InvalidInput(
      'invalid-quota',
      `The body must be a JSON object with \`quota\`, but is ${jsonTypeOf(json)}.`,
    )
  requireOnly(json, ['quota', ...QUOTA_READ_ONLY])
  return requireLimit(json['quota'], 'quota')
}

/** The member `quota` of a context: a number, or the whole quota object. @throws {InvalidInput} `invalid-quota` */
export const readQuotaMember = (value: unknown): Bytes =>
  isObject(value) ? readQuotaObject(value) : requireLimit(value, 'quota')
