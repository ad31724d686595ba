import { InvalidInput } from '../../base/errors.ts'
import { compilePattern, type Pattern } from '../../base/patterns.ts'

/** Limits of one expression. Compiling and matching together stay below about 100 ms of CPU time. */
const MAX_CHARACTERS = 256
const MAX_PROGRAM = 500
/** Instructions of the program times characters of all values that are matched. */
const MAX_WORK = 20_000_000

/** A regular expression of a caller (RE2), with a limit on the work for all values that it is matched with. */
export class BoundedPattern {
  readonly #expression: Pattern
  readonly #programSize: number
  readonly #what: string
  #work = 0

  /**
   * @param what names it in refusals
   * @throws {InvalidInput} `invalid-query`; `query-too-costly` for an expression beyond the limits
   */
  constructor(text: string, what: string) {
    this.#what = what
    if (text.length > MAX_CHARACTERS) throw tooCostly(`${what} has more than ${MAX_CHARACTERS} characters.`)
    this.#expression = compile(text, what)
    this.#programSize = this.#expression.programSize()
    if (this.#programSize > MAX_PROGRAM) throw tooCostly(`${what} repeats too much: lower the numbers in braces.`)
  }

  /** Whether the whole value matches. @throws {InvalidInput} `query-too-costly` when all values together take too much work */
  matches(value: string): boolean {
    this.#spend(value)
    return this.#expression.matches(value)
  }

  /** Whether a part of the value matches. @throws {InvalidInput} `query-too-costly` */
  finds(value: string): boolean {
    this.#spend(value)
    return this.#expression.test(value)
  }

  #spend(value: string): void {
    this.#work += this.#programSize * value.length
    if (this.#work > MAX_WORK)
      throw tooCostly(`Too many long values would have to be compared with ${this.#what}: narrow the query.`)
  }
}

function compile(text: string, what: string): Pattern {
  try {
    return compilePattern(text)
  } catch (error) {
    throw new InvalidInput('invalid-query', `${what} is not a regular expression.`, { cause: error })
  }
}

const tooCostly = (detail: string): InvalidInput => new InvalidInput('query-too-costly', detail)
