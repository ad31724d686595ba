import { setImmediate } from 'node:timers/promises'
import { type Graph, type GraphText, parseGraph, type Statement, statementsOf, type Term, withText } from './graph.ts'

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

/**
 * The graph of a stored text, read in steps of some milliseconds with other requests between: an object with 49,000 names takes 50 ms in one
 * step, because the engine looks each of them up.
 */
export async function parseGraphInSteps(text: GraphText): Promise<Graph> {
  if (text.length <= LONG) return parseGraph(text)
  const graph: Record<string, Record<string, readonly Term[]>> = {}
  const reader = new TextReader(text)
  let rested = 0
  for (let subjects = reader.opens(OBJECT); subjects; subjects = reader.continues(OBJECT)) {
    const predicates: Record<string, readonly Term[]> = {}
    graph[reader.name()] = predicates
    let more = reader.opens(OBJECT)
    let from = reader.at
    const add = (): unknown => Object.assign(predicates, JSON.parse(`{${text.slice(from, reader.at - 1)}}`))
    for (; more; more = reader.continues(OBJECT)) {
      if (reader.at - from > PIECE) {
        add()
        from = reader.at
      }
      reader.passName()
      for (let objects = reader.opens(ARRAY); objects; objects = reader.continues(ARRAY)) {
        reader.passTerm()
        if (reader.at - rested < LONG) continue
        rested = reader.at
        await setImmediate()
      }
    }
    add()
  }
  return withText(graph, text)
}

/** Characters of predicates that are parsed together: in an object of more names each of them takes longer. */
const PIECE = 8192

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
    this.passName()
    // Parsed even if nothing is escaped: a part of the text would keep all of it in memory.
    return JSON.parse(this.#text.slice(from, this.at - 1)) as string
  }

  passName(): void {
    this.#passString()
    this.#expect(COLON)
  }

  /** Inside a term are only texts. */
  passTerm(): void {
    for (let more = this.opens(OBJECT); more; more = this.continues(OBJECT)) {
      this.passName()
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
