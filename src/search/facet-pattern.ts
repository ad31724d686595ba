import { InvalidInput } from '../base/errors.ts'
import { compilePattern, type Pattern } from '../base/patterns.ts'

/** Limits of `facetMatches`. Compiling and matching together stay below about 100 ms of CPU time. */
const MAX_CHARACTERS = 256
const MAX_PROGRAM = 500
/** Instructions of the program times characters of all values that are matched. */
const MAX_WORK = 20_000_000

/** The regular expression that facet values must match as a whole. Compile one for each request, not for each field. */
export class FacetPattern {
  readonly #expression: Pattern
  readonly #programSize: number
  #work = 0

  /** @throws {InvalidInput} `invalid-query`; `query-too-costly` for an expression beyond the limits */
  constructor(text: string) {
    if (text.length > MAX_CHARACTERS) {
      throw tooCostly(`\`facetMatches\` has more than ${MAX_CHARACTERS} characters.`)
    }
    this.#expression = compile(text)
    this.#programSize = this.#expression.programSize()
    if (this.#programSize > MAX_PROGRAM) {
      throw tooCostly('`facetMatches` repeats too much: lower the numbers in braces.')
    }
  }

  /** @throws {InvalidInput} `query-too-costly` when all values together take too much work */
  matches(value: string): boolean {
    this.#work += this.#programSize * value.length
    if (this.#work > MAX_WORK) {
      throw tooCostly('Too many long values would have to be compared with `facetMatches`: narrow the query.')
    }
    return this.#expression.matches(value)
  }
}

function compile(text: string): Pattern {
  try {
    return compilePattern(text)
  } catch (error) {
    throw new InvalidInput('invalid-query', '`facetMatches` is not a regular expression.', { cause: error })
  }
}

const tooCostly = (detail: string): InvalidInput => new InvalidInput('query-too-costly', detail)
