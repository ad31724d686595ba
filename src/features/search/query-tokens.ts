import { InvalidInput } from '../../base/errors.ts'
import { ANY, ONE, type TermToken } from '../../search/engine.ts'

const MAX_WILDCARDS = 3
const MAX_BOOST = 1000
const MAX_PATTERN = 256
const MAX_DISTANCE = 2

export interface RangeBounds {
  /** `undefined`: no limit on this side. */
  readonly from: string | undefined
  readonly to: string | undefined
  readonly includesFrom: boolean
  readonly includesTo: boolean
}

export type Token =
  | { readonly kind: '(' | ')' | '+' | '-' | 'AND' | 'OR' | 'NOT' | 'end' }
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'boost'; readonly factor: number }
  | { readonly kind: 'term'; readonly parts: readonly TermToken[]; readonly isPhrase: boolean }
  | { readonly kind: 'pattern'; readonly source: string }
  | { readonly kind: 'fuzzy'; readonly text: string; readonly distance: number }
  | ({ readonly kind: 'range' } & RangeBounds)

export const malformed = (why: string): InvalidInput => new InvalidInput('invalid-query', `The query ${why}.`)

const operators: Readonly<Record<string, 'AND' | 'OR' | 'NOT'>> = { AND: 'AND', OR: 'OR', NOT: 'NOT' }
const isBlank = (character: string): boolean => character !== '' && character.trim() === ''
const endsWord = (character: string): boolean =>
  character === '' || isBlank(character) || '()"^[]{}'.includes(character)

/** One pass from left to right. Every step moves forward, so that the time is linear. */
export function tokensOf(text: string): Token[] {
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
      if (text.charAt(next) === '~')
        throw malformed(`has a distance between words after "${value.slice(0, 40)}", which is not supported`)
      at = next
    } else if (character === '/') {
      const { source, next } = readPattern(text, at)
      push({ kind: 'pattern', source })
      at = next
    } else if (character === '[' || character === '{') {
      const { range, next } = readRange(text, at)
      push(range)
      at = next
    } else if (character === ']' || character === '}') {
      throw malformed(`has an unmatched "${character}"`)
    } else if (character === '^') {
      const next = skipNumber(text, at + 1)
      const factor = Number(text.slice(at + 1, next))
      const isAfterOperand = ['term', 'range', 'pattern', 'fuzzy', ')'].includes(tokens.at(-1)?.kind ?? '')
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

/** Up to the next slash without a backslash. */
function readPattern(text: string, slash: number): { source: string; next: number } {
  const pieces: string[] = []
  for (let at = slash + 1; at < text.length; at++) {
    const character = text.charAt(at)
    if (character === '/') {
      if (!endsWord(text.charAt(at + 1))) break
      if (pieces.length > MAX_PATTERN)
        throw malformed(`has a regular expression of more than ${MAX_PATTERN} characters`)
      return { source: pieces.join(''), next: at + 1 }
    }
    const isEscape = character === '\\'
    const next = text.charAt(at + 1)
    pieces.push(isEscape ? (next === '/' ? '/' : character + next) : character)
    if (isEscape) at++
  }
  throw malformed('has a slash that begins no regular expression /…/: write \\/ for a slash')
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
  const parts: TermToken[] = []
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
  const [, roughly, number = ''] = /^(.+)~([0-9.]{0,4})$/s.exec(literal.length > 64 ? '' : literal.join('')) ?? []
  if (isPlain && roughly !== undefined) {
    if (parts.length > 0) throw malformed(`has both a wildcard and "~" in "${word.slice(0, 40)}"`)
    return { token: roughTerm(roughly, number), next: at }
  }
  flush()
  return { token: { kind: 'term', parts, isPhrase: false }, next: at }
}

/** `roam~` allows two changes, `roam~1` one; `roam~0.8` is an older way to say how similar words must be. */
function roughTerm(text: string, number: string): Token {
  const given = number === '' ? MAX_DISTANCE : Number(number)
  if (!(given <= MAX_DISTANCE) || (given > 1 && !Number.isInteger(given)))
    throw malformed(`has "~${number}": a word may differ in at most ${MAX_DISTANCE} characters`)
  const { length } = [...text]
  const changes = given > 0 && given < 1 ? Math.min(MAX_DISTANCE, Math.floor((1 - given) * length)) : given
  const distance = Math.min(changes, length - 1)
  return distance === 0 ? { kind: 'term', parts: [text], isPhrase: false } : { kind: 'fuzzy', text, distance }
}
