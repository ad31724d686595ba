/** Prepared statements by their text, the most recently used ones; what falls out is left to the garbage collector. */
export class StatementCache<Statement> {
  readonly #prepare: (text: string) => Statement
  readonly #most: number
  readonly #statements = new Map<string, Statement>()

  constructor(prepare: (text: string) => Statement, most: number) {
    this.#prepare = prepare
    this.#most = most
  }

  get size(): number {
    return this.#statements.size
  }

  /** The statement of this text, prepared at most once while it stays in use. */
  get(text: string): Statement {
    const known = this.#statements.get(text)
    const statement = known ?? this.#prepare(text)
    // A Map keeps the order of insertion: the first is the one unused for longest.
    if (known) this.#statements.delete(text)
    this.#statements.set(text, statement)
    if (this.#statements.size > this.#most) this.#dropOldest()
    return statement
  }

  clear(): void {
    this.#statements.clear()
  }

  #dropOldest(): void {
    for (const text of this.#statements.keys()) {
      this.#statements.delete(text)
      return
    }
  }
}
