import { type Graph, statementsOf, type Statement } from '../graph/graph.ts'

/** How often a keyword, predicate or term is used, with the member names that existing clients expect. */
interface Usage {
  readonly title: string
  readonly totalCount: number
  /** The number of entries. */
  readonly usedInCount: number
}

/** The statistics of a context as existing clients read them; the members differ by type. */
export interface UsageStatistics {
  readonly entryCount: number
  readonly propertyUsage?: ReadonlyArray<{
    readonly property: string
    readonly statements: number
    readonly usedInCount: number
  }>
  readonly entryCountWithKeyword?: number
  readonly keywordUsage?: readonly Usage[]
  readonly entryCountWithOntologyTerm?: number
  readonly predicateUsage?: readonly Usage[]
  readonly ontologyTermUsage?: readonly Usage[]
}

/** The only relation vocabulary that these clients count. */
const ONTOLOGY = 'http://www.cc.uah.es/ie/ont/OE-Predicates#'
const MAX_TITLE = 1000

/** Counts in total and by entry. */
class UsageCounter {
  readonly #usages = new Map<string, { total: number; usedIn: number; lastEntry: number }>()
  readonly #maxNames: number
  #entriesWithAny = 0
  #lastEntry = -1

  constructor(maxNames: number) {
    this.#maxNames = maxNames
  }

  add(title: string, entry: number): void {
    if (this.#lastEntry !== entry) this.#entriesWithAny++
    this.#lastEntry = entry
    const key = title.slice(0, MAX_TITLE)
    const usage = this.#usages.get(key)
    if (!usage && this.#usages.size >= this.#maxNames) return
    if (!usage) this.#usages.set(key, { total: 1, usedIn: 1, lastEntry: entry })
    else {
      usage.total++
      if (usage.lastEntry !== entry) usage.usedIn++
      usage.lastEntry = entry
    }
  }

  get entriesWithAny(): number {
    return this.#entriesWithAny
  }

  list(): Usage[] {
    return [...this.#usages]
      .map(([title, { total, usedIn }]) => ({ title, totalCount: total, usedInCount: usedIn }))
      .sort((a, b) => b.totalCount - a.totalCount || (a.title < b.title ? -1 : 1))
  }
}

/** Counts for existing clients while the entries of a context are being read. */
export class UsageTally {
  readonly #type: 'property' | 'keyword' | 'ontology'
  readonly #isKeyword: (statement: Statement) => boolean
  readonly #names: UsageCounter
  readonly #terms: UsageCounter
  #entries = 0

  constructor(
    type: 'property' | 'keyword' | 'ontology',
    isKeyword: (statement: Statement) => boolean,
    maxNames: number,
  ) {
    this.#type = type
    this.#isKeyword = isKeyword
    this.#names = new UsageCounter(maxNames)
    this.#terms = new UsageCounter(maxNames)
  }

  add(graph: Graph): void {
    const entry = this.#entries++
    for (const statement of statementsOf(graph)) {
      const { predicate, object } = statement
      if (this.#type === 'property') this.#names.add(predicate, entry)
      else if (this.#type === 'keyword' && this.#isKeyword(statement))
        this.#names.add(object.value.toLowerCase(), entry)
      else if (this.#type === 'ontology' && predicate.startsWith(ONTOLOGY)) {
        this.#names.add(predicate.slice(ONTOLOGY.length), entry)
        this.#terms.add(object.value.slice(object.value.lastIndexOf('#') + 1), entry)
      }
    }
  }

  describe(): UsageStatistics {
    const entryCount = this.#entries
    const usages = this.#names.list()
    switch (this.#type) {
      case 'property':
        return {
          entryCount,
          propertyUsage: usages.map(({ title, totalCount, usedInCount }) => ({
            property: title,
            statements: totalCount,
            usedInCount,
          })),
        }
      case 'keyword':
        return { entryCount, entryCountWithKeyword: this.#names.entriesWithAny, keywordUsage: usages }
      case 'ontology':
        return {
          entryCount,
          entryCountWithOntologyTerm: this.#names.entriesWithAny,
          predicateUsage: usages,
          ontologyTermUsage: this.#terms.list(),
        }
    }
  }
}
