import { LRUCache } from 'lru-cache'
import type { Bytes } from '../base/units.ts'
import type { Database } from '../stores/database.ts'
import type { DocBitmap } from './doc-bitmap.ts'
import { DocRows } from './doc-rows.ts'
import type { Finder, Hits, Reader, SearchRequest } from './engine.ts'
import { facetOf } from './facets.ts'
import { fieldName } from './fields.ts'
import { pageOf, type Scores } from './order.ts'
import { Conditions, type Fields, fieldNames, findRelative, readable, type Weight } from './query-to-sql.ts'
import { ConditionSets } from './condition-sets.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { findFields, findFieldsUnder } from './sqlite-fields.ts'
import { latestGeneration } from './sqlite-index.ts'

/** How often a search is repeated when the index changes meanwhile. */
const MAX_ATTEMPTS = 3

interface SqliteFinderOptions {
  readonly maxBytes: Bytes
  readonly scanThreshold: number
  /** The revision at the beginning of a search, or `undefined`. */
  readonly revision: () => number | undefined
}

/** Which changes the index had. */
interface IndexState {
  /** The revision of the database, where it is known. */
  readonly revision: number | undefined
  readonly generation: number
}

/** Answers with sets of entries in memory, which SQLite fills. */
export class SqliteFinder implements Finder {
  readonly #database: Database
  readonly #sets: ConditionSets
  readonly #rows: DocRows
  readonly #scanThreshold: number
  readonly #revision: () => number | undefined
  #known: IndexState | undefined
  /** The number of a field never changes. Bounded in characters: a name can contain an IRI. */
  readonly #knownFields = new LRUCache<string, number>({
    maxSize: 262_144,
    sizeCalculation: (_number, name) => name.length + 50,
  })

  constructor(database: Database, { maxBytes, scanThreshold, revision }: SqliteFinderOptions) {
    this.#database = database
    this.#revision = revision
    this.#scanThreshold = scanThreshold
    this.#sets = new ConditionSets(database, { maxBytes, scanThreshold })
    this.#rows = new DocRows(database)
  }

  async answer(reader: Reader, request: SearchRequest): Promise<Hits> {
    let state = await this.#stateAt(this.#revision())
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#answer(reader, request, state.generation)
      if (attempt === MAX_ATTEMPTS) return answer
      const present = await this.#stateAt(state.revision === undefined ? undefined : this.#database.revision)
      if (present.generation === state.generation) return answer
      state = present
    }
  }

  /** The generation of the index at this revision or later; while nothing is committed, it stays the same. */
  async #stateAt(revision: number | undefined): Promise<IndexState> {
    if (revision !== undefined && this.#known?.revision === revision) return this.#known
    const state = { revision, generation: await latestGeneration(this.#database) }
    this.#known = state
    return state
  }

  async #answer(reader: Reader, request: SearchRequest, generation: number): Promise<Hits> {
    const { query, filters, facets, limit, offset } = request
    const named = ['modified', ...facets.fields, ...request.order.map(({ field }) => field)]
    const names = [...fieldNames([query, ...filters]), ...named.map(fieldName)]
    const fields = await this.#fields(names, request.toAbsolute)
    const conditions = new Conditions(fields, request.toRelative, sqliteDialect)
    const parts = [readable(reader, sqliteDialect), ...[query, ...filters].map(part => conditions.of(part))]
    const found = await this.#sets.fulfilling(parts, generation)
    const scanThreshold = this.#scanThreshold
    const source = { queries: this.#database, sets: this.#sets, rows: this.#rows, fields, scanThreshold, generation }
    const order = request.order.length === 0 ? [{ field: 'score', descends: true }] : request.order
    const isScored = limit > 0 && order.some(({ field }) => field === 'score')
    const scores = await this.#scores(found, isScored ? conditions.weights(query) : [], generation)
    return {
      total: found.size,
      page: await pageOf(source, found, { order, scores, fields, page: { limit, offset } }),
      facets: await Promise.all(facets.fields.map(field => facetOf(found, field, facets, source))),
    }
  }

  async #scores(found: DocBitmap, weights: readonly Weight[], generation: number): Promise<Scores> {
    const scores: Scores[number][] = []
    for (const { condition, weight } of weights) {
      scores.push({ set: await this.#sets.narrow(found, condition, generation), weight })
    }
    return scores
  }

  async #fields(names: readonly string[], toAbsolute: (iri: string) => string): Promise<Fields> {
    const wanted = [...new Set(names)]
    const numbers = await this.#numbersOf(wanted)
    for (const name of wanted.filter(name => !numbers.has(name))) {
      const meant = await findRelative(name, start => findFieldsUnder(this.#database, start), toAbsolute)
      const number = meant === undefined ? undefined : (await this.#numbersOf([meant])).get(meant)
      if (number !== undefined) numbers.set(name, number)
    }
    return { keyOf: field => numbers.get(fieldName(field)) }
  }

  async #numbersOf(names: readonly string[]): Promise<Map<string, number>> {
    const numbers = new Map<string, number>()
    const unknown: string[] = []
    for (const name of names) {
      const number = this.#knownFields.get(name)
      if (number === undefined) unknown.push(name)
      else numbers.set(name, number)
    }
    if (unknown.length === 0) return numbers
    for (const [name, number] of await findFields(this.#database, unknown)) {
      this.#knownFields.set(name, number)
      numbers.set(name, number)
    }
    return numbers
  }
}
