import { type Graph, type GraphText, type Statement, statementsOf, type Term } from './graph.ts'

/** The statements of a longer text are read one after the other: the graph of 7 MB of text takes 20 MB and more. */
const LONG = 65_536

/**
 * The statements of a stored graph. Those of a long text are made one at a time, and their objects only when they are asked for. What they
 * hold is no part of the text, so that it does not stay in memory with them.
 */
export function* statementsIn(text: GraphText): Generator<Statement> {
  if (text.length <= LONG) {
    yield* statementsOf(JSON.parse(text) as Graph)
    return
  }
  const reader = new TextReader(text)
  for (let subjects = reader.opens(OBJECT); subjects; subjects = reader.continues(OBJECT)) {
    const subject = reader.name()
    for (let predicates = reader.opens(OBJECT); predicates; predicates = reader.continues(OBJECT)) {
      const predicate = reader.name()
      for (let objects = reader.opens(ARRAY); objects; objects = reader.continues(ARRAY)) {
        const from = reader.at
        reader.passTerm()
        yield new StatementInText(subject, predicate, text, from, reader.at)
      }
    }
  }
}

class StatementInText implements Statement {
  readonly subject: string
  readonly predicate: string
  readonly #text: GraphText
  readonly #from: number
  readonly #to: number

  constructor(subject: string, predicate: string, text: GraphText, from: number, to: number) {
    this.subject = subject
    this.predicate = predicate
    this.#text = text
    this.#from = from
    this.#to = to
  }

  get object(): Term {
    return JSON.parse(this.#text.slice(this.#from, this.#to)) as Term
  }
}

const code = (character: string): number => character.charCodeAt(0)
const [QUOTE, BACKSLASH, COMMA, COLON] = [code('"'), code('\\'), code(','), code(':')]
const OBJECT = { begin: code('{'), end: code('}') }
const ARRAY = { begin: code('['), end: code(']') }
const isSpace = (character: number): boolean => character <= 32

/** Walks through the JSON text of a graph. */
class TextReader {
  readonly #text: GraphText
  at = 0

  constructor(text: GraphText) {
    this.#text = text
  }

  /** Begins an object or array. False if it is empty, and has been passed. */
  opens({ begin, end }: typeof OBJECT): boolean {
    this.#expect(begin)
    return !this.#takes(end)
  }

  /** True before the next member, false behind the last one. */
  continues({ end }: typeof OBJECT): boolean {
    if (this.#takes(COMMA)) return true
    this.#expect(end)
    return false
  }

  /** The name of a member; passes its colon. */
  name(): string {
    const from = this.at
    this.#passString()
    // Parsed even if nothing is escaped: a part of the text would keep all of it in memory.
    const name = JSON.parse(this.#text.slice(from, this.at)) as string
    this.#expect(COLON)
    return name
  }

  /** Inside a term are only texts. */
  passTerm(): void {
    for (let more = this.opens(OBJECT); more; more = this.continues(OBJECT)) {
      this.#passString()
      this.#expect(COLON)
      this.#passString()
    }
  }

  #passString(): void {
    this.#expect(QUOTE)
    for (;;) {
      const end = this.#text.indexOf('"', this.at)
      if (end < 0) throw this.#unreadable()
      let before = end - 1
      while (this.#text.charCodeAt(before) === BACKSLASH) before--
      this.at = end + 1
      if ((end - before) % 2 === 1) return
    }
  }

  #takes(character: number): boolean {
    while (isSpace(this.#text.charCodeAt(this.at))) this.at++
    if (this.#text.charCodeAt(this.at) !== character) return false
    this.at++
    return true
  }

  #expect(character: number): void {
    if (!this.#takes(character)) throw this.#unreadable()
  }

  #unreadable(): Error {
    return new Error(`a stored graph cannot be read at character ${this.at}`)
  }
}
