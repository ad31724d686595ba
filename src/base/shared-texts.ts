/** One copy of each text that comes again and again, such as the names of browsers; the latest of so many different ones. */
export class SharedTexts {
  readonly #most: number
  readonly #texts = new Map<string, string>()

  constructor(most: number) {
    this.#most = most
  }

  /** The same text, as it first came. */
  of(text: string): string {
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    const oldest = this.#texts.size < this.#most ? undefined : this.#texts.keys().next().value
    if (oldest !== undefined) this.#texts.delete(oldest)
    this.#texts.set(text, text)
    return text
  }
}
