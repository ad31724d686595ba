import type { SqlValue } from './sql.ts'

/** The values that drivers receive: integers as bigint, booleans as 0 or 1. */
export type BoundValue = string | number | bigint | null | Uint8Array

/**
 * Returns the value to bind, or throws a `TypeError` if an engine would store a different value. Needed because the bindings
 * are lax: those of SQLite end a string at its first NUL and convert a Date or a Map to NULL, those of PostgreSQL convert
 * either to text, both without an error. The error message does not contain the value, which may be a secret.
 */
export function bindable(value: SqlValue): BoundValue {
  if (value === null || value instanceof Uint8Array) return value
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new TypeError('text with NUL cannot be bound')
    // With the u flag this matches lone surrogates only; they have no UTF-8 form.
    if (/\p{Surrogate}/u.test(value)) throw new TypeError('text with a lone surrogate cannot be bound')
    return value
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError('a number that is not finite cannot be bound')
    // node:sqlite binds every number as REAL: 'a' || 1 would be a1.0 and sums of sizes would lose bits.
    return Number.isSafeInteger(value) ? BigInt(value) : value
  }
  if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) !== value) throw new TypeError('an integer beyond 64 bits cannot be bound')
    return value
  }
  const type = Object.prototype.toString.call(value).slice(8, -1)
  throw new TypeError(`a value of type ${type} cannot be bound`)
}
