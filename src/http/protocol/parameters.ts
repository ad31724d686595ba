import type { ErrorCode } from '../../base/error-codes.ts'
import { InvalidInput } from '../../base/errors.ts'

/** Maximum number of parameters of a query or form. Limits on size alone would allow 8,000 in an address and 800,000 in a sign-on form. */
const MAX_PARAMETERS = 200

/** Names and values of a query or a form, in order, including duplicates. */
export class Parameters {
  readonly #pairs: ReadonlyArray<readonly [name: string, value: string]>
  readonly #code: ErrorCode

  private constructor(pairs: ReadonlyArray<readonly [string, string]>, code: ErrorCode) {
    this.#pairs = pairs
    this.#code = code
  }

  /** Of an address without a query. */
  static readonly none = new Parameters([], 'invalid-query')

  /** @throws {InvalidInput} `code` for a malformed percent escape, bytes that are not UTF-8, or too many parameters */
  static parse(text: string, code: ErrorCode): Parameters {
    const decode = (part: string): string => {
      if (plain.test(part)) return part
      try {
        return decodeURIComponent(part.replaceAll('+', ' '))
      } catch (error) {
        const shown = part.length > 40 ? `${part.slice(0, 40)}…` : part
        throw new InvalidInput(code, `"${shown}" is not valid percent-encoded UTF-8.`, { cause: error })
      }
    }
    const pairs: Array<readonly [name: string, value: string]> = []
    for (const part of text.split('&')) {
      if (part === '') continue
      if (pairs.length === MAX_PARAMETERS) {
        throw new InvalidInput(code, `There are more than ${MAX_PARAMETERS} parameters.`)
      }
      const equals = part.indexOf('=')
      pairs.push(equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))])
    }
    return new Parameters(pairs, code)
  }

  has(name: string): boolean {
    return this.#pairs.some(([present]) => present === name)
  }

  includes(name: string, value: string): boolean {
    return this.#pairs.some(([present, given]) => present === name && given === value)
  }

  /** Returns the single value of a parameter. @throws {InvalidInput} when the parameter occurs more than once */
  get(name: string): string | undefined {
    const first = this.#pairs.find(([present]) => present === name)
    if (first === undefined || this.#pairs.length === 1) return first?.[1]
    const count = this.#pairs.filter(([present]) => present === name).length
    if (count > 1) throw new InvalidInput(this.#code, `\`${name}\` is given ${count} times.`)
    return first[1]
  }
}

/** A name or value that stands for itself, as most do. */
const plain = /^[A-Za-z0-9_.-]*$/

/** True for a flag without a value, and for `true` (W3.0.4). */
export function isFlagSet(parameters: Parameters, name: string): boolean {
  const value = parameters.get(name)
  return value !== undefined && !['false', 'off', '0'].includes(value.toLowerCase())
}
