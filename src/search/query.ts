import { InvalidInput } from '../base/errors.ts'

/** `*` matches any number of characters, `?` matches one; everything else is literal. */
export type TermPart = string | typeof ANY | typeof ONE
export const ANY = Symbol('*')
export const ONE = Symbol('?')

export interface Term {
  readonly kind: 'term'
  readonly field: string
  readonly parts: readonly TermPart[]
  /** In quotes: its words follow one another. */
  readonly isPhrase: boolean
  readonly boost: number
}

export interface Range {
  readonly kind: 'range'
  readonly field: string
  /** `undefined`: no limit on this side. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly includesFrom: boolean
  readonly includesTo: boolean
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

export type Query = Term | Range | Clauses

const DEFAULT_FIELD = 'all'

const MAX_CHARACTERS = 16_384
const MAX_DEPTH = 32
const MAX_TERMS = 256
const MAX_WILDCARDS = 3
const MAX_BOOST = 1000

type Token =
  | { readonly kind: '(' | ')' | '+' | '-' | 'AND' | 'OR' | 'NOT' | 'end' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'boost'; readonly factor: number }
  | { readonly kind: 'term'; readonly parts: readonly TermPart[]; readonly isPhrase: boolean }
  | ({ readonly kind: 'range' } & Omit<Range, 'kind' | 'field' | 'boost'>)

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

/** The text of a term without wildcards, else `undefined`. */
export const plainText = ({ parts }: Term): string | undefined => {
  if (parts.length === 0) return ''
  const [only] = parts
  return parts.length === 1 && typeof only === 'string' ? only : undefined
}

export const malformed = (why: string): InvalidInput => new InvalidInput('invalid-query', `The query ${why}.`)

const operators: Readonly<Record<string, 'AND' | 'OR' | 'NOT'>> = { AND: 'AND', OR: 'OR', NOT: 'NOT' }
const isBlank = (character: string): boolean => character !== '' && character.trim() === ''
const endsWord = (character: string): boolean =>
  character === '' || isBlank(character) || '()"^[]{}'.includes(character)

/** One pass from left to right. Every step moves forward, so that the time is linear. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  let inValue = false
  const push = (token: Token): void => {
    tokens.push(token)
    inValue = token.kind === 'field'
  }
  while (at < text.length) {
    const character = text.charAt(at)
    const two = text.slice(at, at + 2)
    if (isBlank(character)) {
      at++
    } else if (character === '(' || character === ')') {
      push({ kind: character })
      at++
    } else if (two === '&&' || two === '||') {
      push({ kind: two === '&&' ? 'AND' : 'OR' })
      at += 2
    } else if (!inValue && isSign(text, at)) {
      push({ kind: character === '+' ? '+' : character === '-' ? '-' : 'NOT' })
      at++
    } else if (character === '"') {
      const { value, next } = readQuoted(text, at)
      push({ kind: 'term', parts: value === '' ? [] : [value], isPhrase: true })
      // A distance between words (`"a b"~3`) is ignored.
      at = text.charAt(next) === '~' ? skipNumber(text, next + 1) : next
    } else if (character === '[' || character === '{') {
      const { range, next } = readRange(text, at)
      push(range)
      at = next
    } else if (character === ']' || character === '}') {
      throw malformed(`has an unmatched "${character}"`)
    } else if (character === '^') {
      const next = skipNumber(text, at + 1)
      const factor = Number(text.slice(at + 1, next))
      const isAfterOperand = ['term', 'range', ')'].includes(tokens.at(-1)?.kind ?? '')
      if (next === at + 1 || !(factor >= 0 && factor <= MAX_BOOST) || !isAfterOperand) {
        throw malformed(`has a "^" without a term before it and a number up to ${MAX_BOOST} after it`)
      }
      push({ kind: 'boost', factor })
      at = next
    } else {
      const { token, next } = readWord(text, at, inValue)
      push(token)
      at = next
    }
  }
  return [...tokens, { kind: 'end' }]
}

/** A sign precedes an operand and follows none: in `a-b` it is part of the word. */
function isSign(text: string, at: number): boolean {
  const before = text.charAt(at - 1)
  const after = text.charAt(at + 1)
  const begins = before === '' || isBlank(before) || '(+-!'.includes(before)
  return begins && '+-!'.includes(text.charAt(at)) && after !== '' && !isBlank(after)
}

function skipNumber(text: string, from: number): number {
  let at = from
  while (at < text.length && '0123456789.'.includes(text.charAt(at))) at++
  return at
}

function readQuoted(text: string, quote: number): { value: string; next: number } {
  const pieces: string[] = []
  for (let at = quote + 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '"') return { value: pieces.join(''), next: at + 1 }
    if (character === '\\') at++
    pieces.push(text.charAt(at))
  }
  throw malformed('has an unclosed quotation mark')
}

function readRange(text: string, bracket: number): { range: Token & { kind: 'range' }; next: number } {
  let at = bracket + 1
  const words: Array<{ readonly value: string; readonly isBare: boolean }> = []
  while (at < text.length) {
    const character = text.charAt(at)
    if (isBlank(character)) {
      at++
    } else if (character === ']' || character === '}') {
      const [from, to, end] = words
      const isWhole = words.length === 3 && to?.value === 'TO' && to.isBare && from && end
      if (!isWhole) throw malformed('has a range that is not of the form [x TO y]')
      const bound = ({ value, isBare }: typeof from): string | undefined =>
        value === '*' && isBare ? undefined : value
      const [includesFrom, includesTo] = [text.charAt(bracket) === '[', character === ']']
      return {
        range: { kind: 'range', from: bound(from), to: bound(end), includesFrom, includesTo },
        next: at + 1,
      }
    } else if (character === '"') {
      const { value, next } = readQuoted(text, at)
      words.push({ value, isBare: false })
      at = next
    } else {
      const pieces: string[] = []
      let isBare = true
      for (; at < text.length && !isBlank(text.charAt(at)) && !']}'.includes(text.charAt(at)); at++) {
        if (text.charAt(at) === '\\') {
          at++
          isBare = false
        }
        pieces.push(text.charAt(at))
      }
      words.push({ value: pieces.join(''), isBare })
    }
    if (words.length > 3) throw malformed('has a range that is not of the form [x TO y]')
  }
  throw malformed('has an unclosed range')
}

/** A field name, an operator or a term; a colon in a value needs no backslash. */
function readWord(text: string, from: number, inValue: boolean): { token: Token; next: number } {
  const parts: TermPart[] = []
  let literal: string[] = []
  let isPlain = true
  let wildcards = 0
  const flush = (): void => {
    if (literal.length > 0) parts.push(literal.join(''))
    literal = []
  }
  let at = from
  for (; !endsWord(text.charAt(at)); at++) {
    const character = text.charAt(at)
    if (character === '\\') {
      at++
      if (at === text.length) throw malformed('ends in a backslash')
      isPlain = false
      literal.push(text.charAt(at))
    } else if (character === ':' && !inValue && isPlain) {
      const name = text.slice(from, at)
      if (name === '') throw malformed('has a colon without a field before it')
      return { token: { kind: 'field', name }, next: at + 1 }
    } else if (character === '*' || character === '?') {
      flush()
      if (++wildcards > MAX_WILDCARDS) throw malformed(`has a term with more than ${MAX_WILDCARDS} wildcards`)
      parts.push(character === '*' ? ANY : ONE)
    } else {
      literal.push(character)
    }
  }
  const word = text.slice(from, at)
  const operator = inValue ? undefined : operators[word]
  if (operator !== undefined) return { token: { kind: operator }, next: at }
  // A fuzziness (`roam~0.8`) is ignored.
  const fuzzy = /^(.+)~[0-9.]{0,4}$/s.exec(literal.length > 64 ? '' : literal.join(''))
  if (isPlain && fuzzy?.[1] !== undefined) literal = [fuzzy[1]]
  flush()
  return { token: { kind: 'term', parts, isPhrase: false }, next: at }
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
    if (token.kind === 'term' || token.kind === 'range') {
      if (++this.#terms > MAX_TERMS) throw malformed(`has more than ${MAX_TERMS} terms`)
      if (token.kind === 'range') return { ...token, field, boost: 1 }
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
    const { kind } = this.#peek()
    if (kind === '(' || kind === 'term' || kind === 'range') return this.#operand(field)
    throw malformed(`has a field "${field.slice(0, 40)}" without a value`)
  }
}

/** A single clause needs no boolean query around it. */
function simplest(clauses: Clauses): Query {
  const { must, should, mustNot } = clauses
  const only = must[0] ?? should[0]
  return only && must.length + should.length === 1 && mustNot.length === 0 ? only : clauses
}
