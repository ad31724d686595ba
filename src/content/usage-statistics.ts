import type { Statement } from '../graph/graph.ts'
import { NameCounts } from './name-counts.ts'

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

/** Counts for existing clients while the entries of a context are being read. */
export class UsageTally {
  readonly #type: 'property' | 'keyword' | 'ontology'
  readonly #isKeyword: (statement: Statement) => boolean
  readonly #names: NameCounts
  readonly #terms = new NameCounts()

  /** @param predicates how often each occurs, counted elsewhere; used for the type `property` */
  constructor(
    type: 'property' | 'keyword' | 'ontology',
    isKeyword: (statement: Statement) => boolean,
    predicates: NameCounts,
  ) {
    this.#type = type
    this.#isKeyword = isKeyword
    this.#names = type === 'property' ? predicates : new NameCounts()
  }

  /** @param entry its number, from 1 */
  add(statement: Statement, entry: number): void {
    if (this.#type === 'keyword' && this.#isKeyword(statement)) {
      this.#names.add(statement.object.value.toLowerCase(), entry)
    } else if (this.#type === 'ontology' && statement.predicate.startsWith(ONTOLOGY)) {
      const { predicate, object } = statement
      this.#names.add(predicate.slice(ONTOLOGY.length), entry)
      this.#terms.add(object.value.slice(object.value.lastIndexOf('#') + 1), entry)
    }
  }

  describe(entryCount: number): UsageStatistics {
    switch (this.#type) {
      case 'property':
        return {
          entryCount,
          propertyUsage: this.#names.list().map(({ name, total, usedIn }) => ({
            property: name,
            statements: total,
            usedInCount: usedIn,
          })),
        }
      case 'keyword':
        return { entryCount, entryCountWithKeyword: this.#names.entriesWithAny, keywordUsage: usagesOf(this.#names) }
      case 'ontology':
        return {
          entryCount,
          entryCountWithOntologyTerm: this.#names.entriesWithAny,
          predicateUsage: usagesOf(this.#names),
          ontologyTermUsage: usagesOf(this.#terms),
        }
    }
  }
}

const usagesOf = (names: NameCounts): Usage[] =>
  names.list().map(({ name, total, usedIn }) => ({ title: name, totalCount: total, usedInCount: usedIn }))
