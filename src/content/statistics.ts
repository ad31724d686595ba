import type { Caller } from '../accounts/caller.ts'
import { NotFound } from '../base/errors.ts'
import { Limiter, Turns } from '../base/concurrency.ts'
import { type Graph, statementsOf, type Statement } from '../graph/graph.ts'
import { rdf } from '../graph/vocabulary.ts'
import type { Database } from '../stores/database.ts'
import type { EntryLoader } from './entry-loader.ts'
import { findEntry, idsAfter, storedSizeOf } from './entry-records.ts'
import { type UsageStatistics, UsageTally } from './usage-statistics.ts'
import { may, requireRight } from '../model/rights.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
}

export interface Count {
  readonly name: string
  readonly lang?: string
  readonly count: number
}

export interface ContextStatistics extends UsageStatistics {
  readonly type: StatisticsType
  /** The number of entries whose metadata the caller may read; only these are counted. */
  readonly entries: number
  /** False when there are more names than the limit. */
  readonly complete: boolean
  /** The most frequent first. */
  readonly counts: readonly Count[]
}

/** A counted name and, for words, its language. */
type Named = readonly [name: string, lang?: string | undefined]

/** Names of the types that existing clients know. */
const synonyms: Readonly<Record<string, string>> = { properties: 'property', keywords: 'keyword' }

const keywordPredicates = new Set([
  'http://purl.org/dc/terms/subject',
  'http://purl.org/dc/elements/1.1/subject',
  'http://www.w3.org/ns/dcat#keyword',
])

const isKeyword = ({ predicate, object }: Pick<Statement, 'predicate' | 'object'>): boolean =>
  keywordPredicates.has(predicate) && object.type === 'literal'

/** W3.16 */
const kinds = {
  /** Predicates. */
  property: ({ predicate }: Statement): readonly Named[] => [[predicate]],
  /** Words that describe the subject of a resource. */
  keyword: ({ predicate, object }: Statement): readonly Named[] =>
    isKeyword({ predicate, object }) ? [object.lang === undefined ? [object.value] : [object.value, object.lang]] : [],
  /** The vocabularies of predicates and types. */
  ontology: ({ predicate, object }: Statement): readonly Named[] => {
    const type = predicate === rdf.type && object.type === 'uri' ? [object.value] : []
    return [predicate, ...type].map((iri): Named => [namespaceOf(iri)])
  },
} as const

type StatisticsType = keyof typeof kinds

/** An IRI up to its last number sign or, without one, slash or colon. */
const namespaceOf = (iri: string): string => /^(.*#|[^#]*\/|[^#/]*:)/.exec(iri)?.[1] ?? iri

const MAX_NAMES = 100_000
const LONGEST_NAME = 1000
const IDS = 500

/** Counts the elements of the metadata in a context (W3.16). */
export class Statistics {
  readonly #deps: Dependencies
  // Limited, because each request reads everything in the context.
  readonly #limiter = new Limiter({ concurrency: 1, queue: 20, what: 'statistics' })

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Requires the right to read the context's resource, and counts the entries whose metadata the caller may read.
   * @throws {NotFound} for another type @throws {Overloaded}
   */
  async of(caller: Caller, contextKey: string, requested: string): Promise<ContextStatistics> {
    const type = Object.hasOwn(synonyms, requested) ? (synonyms[requested] ?? '') : requested
    const context = await this.#deps.loader.getContextEntry(contextKey)
    requireRight(caller, 'readresource', context, 'read the statistics of this context')
    if (!isType(type)) {
      throw new NotFound(
        'not-found',
        `Statistics are of ${Object.keys(kinds).join(', ')}, not "${requested.slice(0, 40)}".`,
      )
    }
    return await this.#limiter.run(() => this.#count(caller, context.entry.id, type))
  }

  async #count(caller: Caller, context: string, type: StatisticsType): Promise<ContextStatistics> {
    const { database, loader } = this.#deps
    const { entry: contextEntry } = await loader.getContextEntry(context)
    const tally = new Tally()
    const usage = new UsageTally(type, isKeyword, MAX_NAMES)
    const turns = new Turns()
    let read = 0
    for (let last: string | undefined = ''; last !== undefined; ) {
      const ids: string[] = await idsAfter(database, { context, id: last }, IDS)
      for (const id of ids) {
        const entry = await findEntry(database, { context, id })
        // A parsed graph stays in memory until the turn of the event loop ends.
        await turns.after(entry ? storedSizeOf(entry) : 0)
        if (!entry || !may(caller, 'readmetadata', { entry, contextEntry })) continue
        read++
        tally.add(entry.metadata, kinds[type])
        usage.add(entry.metadata)
      }
      last = ids.at(-1)
    }
    return { type, entries: read, complete: tally.isComplete, counts: tally.counts(), ...usage.describe() }
  }
}

const isType = (type: string): type is StatisticsType => Object.hasOwn(kinds, type)

class Tally {
  readonly #counts = new Map<string, { readonly named: Named; count: number }>()
  isComplete = true

  add(graph: Graph, namesOf: (statement: Statement) => readonly Named[]): void {
    for (const statement of statementsOf(graph)) {
      for (const [name, lang] of namesOf(statement)) this.#one(name.slice(0, LONGEST_NAME), lang)
    }
  }

  #one(name: string, lang: string | undefined): void {
    const key = `${lang ?? ''} ${name}`
    const known = this.#counts.get(key)
    if (known) known.count++
    else if (this.#counts.size < MAX_NAMES) this.#counts.set(key, { named: [name, lang], count: 1 })
    else this.isComplete = false
  }

  counts(): Count[] {
    return [...this.#counts.values()]
      .map(({ named: [name, lang], count }) => (lang === undefined ? { name, count } : { name, lang, count }))
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }
}
