import type { System } from '../base/system.ts'

export type Engine = 'sqlite' | 'postgres'

/**
 * Values that a statement may bind. Drivers reject anything else, text with NUL or lone surrogates, and numbers that are not
 * finite.
 */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array

/** A statement with its values kept separate: `parts` has one element more than `values`. Created by {@link sql} only. */
export interface Sql {
  readonly parts: readonly string[]
  readonly values: readonly SqlValue[]
}

const isSql = (value: SqlValue | Sql): value is Sql => typeof value === 'object' && value !== null && 'parts' in value

/**
 * The only way to write a statement: `sql\`SELECT name FROM principals WHERE id = ${id}\``. Values become parameters, never
 * text; another `Sql` is inserted as part of the statement, so that conditions can be composed.
 */
export const sql = (strings: TemplateStringsArray, ...inserted: ReadonlyArray<SqlValue | Sql>): Sql =>
  inserted.some(isSql) ? composed(strings, inserted) : { parts: strings, values: inserted as readonly SqlValue[] }

function composed(strings: readonly string[], inserted: ReadonlyArray<SqlValue | Sql>): Sql {
  const parts = [strings[0] ?? '']
  const values: SqlValue[] = []
  inserted.forEach((value, index) => {
    const following = strings[index + 1] ?? ''
    if (isSql(value)) {
      const [first = '', ...rest] = value.parts
      parts[parts.length - 1] += first
      parts.push(...rest)
      parts[parts.length - 1] += following
      values.push(...value.values)
    } else {
      parts.push(following)
      values.push(value)
    }
  })
  return { parts, values }
}

/** The name of a table or column as part of a statement. @throws {TypeError} for any text that is not a plain name. */
export function name(text: string): Sql {
  if (!/^[a-z][a-z0-9_]*$/.test(text)) throw new TypeError(`"${text}" is not a name of a table or column`)
  return { parts: [text], values: [] }
}

/** Rows per statement, because databases limit the number of values in one. */
const PORTION = 200

/** Splits the items into portions, by default of a size that fits into a statement as values. */
export function* portionsOf<T>(items: Iterable<T>, size = PORTION): Generator<readonly T[]> {
  let portion: T[] = []
  for (const item of items) {
    if (portion.push(item) < size) continue
    yield portion
    portion = []
  }
  if (portion.length > 0) yield portion
}

/** Joins parts of a statement with commas. */
export const listed = (pieces: ReadonlyArray<SqlValue | Sql>): Sql =>
  composed(['', ...pieces.slice(1).map(() => ', '), ''], pieces)

/** Replaces characters that no engine stores: NUL becomes a space, an unpaired surrogate the replacement character. */
export const storableText = (text: string): string => text.replaceAll('\0', ' ').toWellFormed()

/**
 * The present time in milliseconds, as part of a statement. It comes from the clock of the database server if several nodes
 * can share it, because their own clocks may differ, and from `system` if this process is the only one.
 */
export const databaseTime = ({ engine }: { readonly engine: Engine }, system: Pick<System, 'now'>): Sql =>
  engine === 'postgres' ? sql`CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)` : sql`${system.now()}`

/** The cheapest statement that only a working engine answers. */
export const ping: Sql = sql`SELECT 1 AS one`

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
    // Lone surrogates have no UTF-8 form.
    if (!value.isWellFormed()) throw new TypeError('text with a lone surrogate cannot be bound')
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
