import type { TermToken } from '../../search/engine.ts'
import { malformed, type RangeBounds, type Token, tokensOf } from './query-tokens.ts'

export interface Term {
  readonly kind: 'term'
  readonly field: string
  readonly parts: readonly TermToken[]
  /** In quotes: its words follow one another. */
  readonly isPhrase: boolean
  readonly boost: number
}

export interface Range extends RangeBounds {
  readonly kind: 'range'
  readonly field: string
  readonly boost: number
}

/** What a hit must match, should match and must not match. Without `must`, at least one `should` has to match. */
export interface Clauses {
  readonly kind: 'clauses'
  readonly must: readonly Query[]
  readonly should: readonly Query[]
  readonly mustNot: readonly Query[]
  readonly boost: number
}

/** A regular expression in the syntax RE2. */
export interface Pattern {
  readonly kind: 'pattern'
  readonly field: string
  readonly source: string
  readonly boost: number
}

/** A word, or one that differs from it in a few characters. */
export interface Fuzzy {
  readonly kind: 'fuzzy'
  readonly field: string
  readonly text: string
  readonly distance: number
  readonly boost: number
}

export type Query = Term | Range | Clauses | Pattern | Fuzzy

const DEFAULT_FIELD = 'all'

const MAX_CHARACTERS = 16_384
const MAX_DEPTH = 32
const MAX_TERMS = 256

/** Parses the query language of clients (W3.10.3). @throws {InvalidInput} `invalid-query`, and nothing else */
export function parseQuery(text: string): Query {
  if (text.length > MAX_CHARACTERS) throw malformed(`is longer than ${MAX_CHARACTERS} characters`)
  if (text.includes('\0') || !text.isWellFormed()) throw malformed('contains invalid characters')
  return new Parser(tokensOf(text)).query()
}

/** Parses queries separated by commas. Commas inside quotes or brackets, or after a backslash, do not separate. */
export function parseFilters(text: string): Query[] {
  const pieces: string[] = []
  let begin = 0
  let depth = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (isQuoted) continue
    else if ('([{'.includes(character)) depth++
    else if (')]}'.includes(character)) depth--
    else if (character === ',' && depth === 0) {
      pieces.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  pieces.push(text.slice(begin))
  const filters = pieces.map(piece => piece.trim()).filter(piece => piece !== '')
  if (filters.length > MAX_DEPTH) throw malformed(`has more than ${MAX_DEPTH} filters`)
  return filters.map(parseQuery)
}

export const subqueriesOf = ({ must, should, mustNot }: Clauses): Query[] => [...must, ...should, ...mustNot]

/** The text of a term without wildcards, else `undefined`. */
export const plainText = ({ parts }: Term): string | undefined => {
  if (parts.length === 0) return ''
  const [only] = parts
  return parts.length === 1 && typeof only === 'string' ? only : undefined
}

/** AND binds closer than OR; NOT and the signs bind closest. Operands without an operator between them are joined with OR. */
class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #depth = 0
  #terms = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  query(): Query {
    const query = this.#alternatives(DEFAULT_FIELD)
    if (this.#peek().kind === ')') throw malformed('has an unmatched ")"')
    return query
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end' }
  }

  #take(): Token {
    const token = this.#peek()
    this.#at++
    return token
  }

  #alternatives(field: string): Query {
    const clauses = { must: [] as Query[], should: [] as Query[], mustNot: [] as Query[] }
    for (;;) {
      const { sign, query } = this.#conjunction(field)
      clauses[sign].push(query)
      const { kind } = this.#peek()
      if (kind === 'end' || kind === ')') return simplest({ kind: 'clauses', ...clauses, boost: 1 })
      if (kind === 'OR') this.#at++
    }
  }

  #conjunction(field: string): { sign: 'must' | 'should' | 'mustNot'; query: Query } {
    const first = this.#signed(field)
    if (this.#peek().kind !== 'AND') return first
    const clauses = { must: [] as Query[], should: [] as Query[], mustNot: [] as Query[] }
    const add = ({ sign, query }: typeof first): unknown => clauses[sign === 'mustNot' ? 'mustNot' : 'must'].push(query)
    add(first)
    while (this.#peek().kind === 'AND') {
      this.#at++
      add(this.#signed(field))
    }
    return { sign: 'should', query: simplest({ kind: 'clauses', ...clauses, boost: 1 }) }
  }

  #signed(field: string): { sign: 'must' | 'should' | 'mustNot'; query: Query } {
    let isNegated = false
    let isRequired = false
    for (; ; this.#at++) {
      const { kind } = this.#peek()
      if (kind === 'NOT' || kind === '-') isNegated = !isNegated
      else if (kind === '+') isRequired = true
      else break
    }
    const query = this.#boosted(this.#operand(field))
    return { sign: isNegated ? 'mustNot' : isRequired ? 'must' : 'should', query }
  }

  #boosted(query: Query): Query {
    const token = this.#peek()
    if (token.kind !== 'boost') return query
    this.#at++
    return { ...query, boost: query.boost * token.factor }
  }

  #operand(field: string): Query {
    const token = this.#take()
    if (token.kind === 'field') return this.#operandOf(token.name)
    if (isOperand(token)) {
      if (++this.#terms > MAX_TERMS) throw malformed(`has more than ${MAX_TERMS} terms`)
      if (token.kind !== 'term') return { ...token, field, boost: 1 }
      // Written out, because most queries are words: V8 takes microseconds to add members to a copy.
      return { kind: 'term', field, parts: token.parts, isPhrase: token.isPhrase, boost: 1 }
    }
    if (token.kind === '(') {
      if (++this.#depth > MAX_DEPTH) throw malformed(`is nested more than ${MAX_DEPTH} deep`)
      const query = this.#alternatives(field)
      if (this.#take().kind !== ')') throw malformed('has an unclosed "("')
      this.#depth--
      return query
    }
    throw malformed(token.kind === 'end' ? 'ends where a term is expected' : `has no term before "${token.kind}"`)
  }

  #operandOf(field: string): Query {
    const next = this.#peek()
    if (next.kind === '(' || isOperand(next)) return this.#operand(field)
    throw malformed(`has a field "${field.slice(0, 40)}" without a value`)
  }
}

const isOperand = (token: Token): token is Token & { kind: 'term' | 'range' | 'pattern' | 'fuzzy' } =>
  token.kind === 'term' || token.kind === 'range' || token.kind === 'pattern' || token.kind === 'fuzzy'

/** A single clause needs no boolean query around it. */
function simplest(clauses: Clauses): Query {
  const { must, should, mustNot } = clauses
  const only = must[0] ?? should[0]
  return only && must.length + should.length === 1 && mustNot.length === 0 ? only : clauses
}
