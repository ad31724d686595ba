import type { Database } from '../../../src/stores/database.ts'
import { countBells, deleteBells, insertBell } from './bell-rows.ts'

export class Bells {
  readonly #database: Database
  readonly #strokes: number

  constructor(database: Database, strokes: number) {
    this.#database = database
    this.#strokes = strokes
  }

  /** Resolves to the number of strokes. */
  async ring(name: string): Promise<number> {
    await this.#database.transaction(tx => insertBell(tx, name, this.#strokes))
    return this.#strokes
  }

  async count(): Promise<number> {
    return await countBells(this.#database)
  }

  async silence(): Promise<void> {
    await this.#database.transaction(deleteBells)
  }
}
