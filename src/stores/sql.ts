/** What a statement may bind. Drivers refuse anything else, text with NUL or lone surrogates, and numbers not finite. */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array

/** A statement with its values kept apart: `parts` has one element more than `values`. Made by {@link sql} only. */
export interface Sql {
  readonly parts: readonly string[]
  readonly values: readonly SqlValue[]
}

const isSql = (value: SqlValue | Sql): value is Sql => typeof value === 'object' && value !== null && 'parts' in value

/**
 * The one way to write a statement: `sql\`SELECT name FROM principals WHERE id = ${id}\``. Values become parameters,
 * never text; another `Sql` is spliced in, so that conditions can be composed.
 */
export function sql(strings: TemplateStringsArray, ...inserted: ReadonlyArray<SqlValue | Sql>): Sql {
  if (!inserted.some(isSql)) return { parts: strings, values: inserted as readonly SqlValue[] }
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

/** The name of a table or column as part of a statement. @throws {TypeError} when it could be anything else. */
export function name(text: string): Sql {
  if (!/^[a-z][a-z0-9_]*$/.test(text)) throw new TypeError(`"${text}" is no name of a table or column`)
  return { parts: [text], values: [] }
}

/** Engines limit how many values a statement may have; many rows are written or asked for in portions of so many. */
const PORTION = 200

/** The items in portions, by default such as fit into a statement as values of their own. */
export function* portionsOf<T>(items: readonly T[], size = PORTION): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size)
}

/** Pieces of a statement separated by commas. */
export function listed(pieces: ReadonlyArray<SqlValue | Sql>): Sql {
  const parts: string[] = ['']
  const values: SqlValue[] = []
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) parts[parts.length - 1] += ', '
    if (isSql(piece)) {
      const [first = '', ...rest] = piece.parts
      parts[parts.length - 1] += first
      parts.push(...rest)
      values.push(...piece.values)
    } else {
      parts.push('')
      values.push(piece)
    }
  }
  return { parts, values }
}

/** Text without what no engine stores: NUL becomes a space, half of a surrogate pair the replacement character. */
export const storableText = (text: string): string => text.replaceAll('\0', ' ').toWellFormed()

/** The cheapest question that only a working engine answers. */
export const ping: Sql = sql`SELECT 1 AS one`
