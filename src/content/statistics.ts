import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../accounts/caller.ts'
import { NotFound } from '../base/errors.ts'
import { parseGraph, type Statement, statementsOf } from '../graph/graph.ts'
import { rdf } from '../graph/vocabulary.ts'
import type { Database } from '../stores/database.ts'
import type { EntryLoader } from './entry-loader.ts'
import { findMetadata, idsAfter } from './entry-records.ts'
import { type Count, NameCounts } from './name-counts.ts'
import { type UsageStatistics, UsageTally } from './usage-statistics.ts'
import { may, requireRight } from '../model/rights.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
}

interface ContextStatistics extends UsageStatistics {
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

const isKeyword = (statement: Statement): boolean =>
  keywordPredicates.has(statement.predicate) && statement.object.type === 'literal'

/** The countable kinds, and the names that a statement adds to each (W3.16). */
const kinds = {
  /** Predicates. */
  property: ({ predicate }: Statement): readonly Named[] => [[predicate]],
  /** Words that describe the subject of a resource. */
  keyword: (statement: Statement): readonly Named[] =>
    isKeyword(statement) ? [[statement.object.value, statement.object.lang]] : [],
  /** The vocabularies of predicates and types. */
  ontology: (statement: Statement): readonly Named[] => {
    const { predicate } = statement
    const type = predicate === rdf.type && statement.object.type === 'uri' ? [statement.object.value] : []
    return [predicate, ...type].map((iri): Named => [namespaceOf(iri)])
  },
} as const

type StatisticsType = keyof typeof kinds

/** An IRI up to its last number sign or, without one, slash or colon. */
const namespaceOf = (iri: string): string => /^(.*#|[^#]*\/|[^#/]*:)/.exec(iri)?.[1] ?? iri

const IDS = 500

/** Counts the elements of the metadata in a context (W3.16). */
export class Statistics {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /**
   * Requires the right to read the context's resource, and counts the entries whose metadata the caller may read.
   * Reads everything in the context, so requests come by the threads for heavy reads, which limit them.
   * @throws {NotFound} for another type
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
    return await this.#count(caller, context.entry.id, type)
  }

  async #count(caller: Caller, context: string, type: StatisticsType): Promise<ContextStatistics> {
    const { database, loader } = this.#deps
    const { entry: contextEntry } = await loader.getContextEntry(context)
    const names = new NameCounts()
    const usage = new UsageTally(type, isKeyword, names)
    const namesOf = kinds[type]
    let read = 0
    for (let last: string | undefined = ''; last !== undefined; ) {
      const ids: string[] = await idsAfter(database, { context, id: last }, IDS)
      for (const id of ids) {
        const found = await findMetadata(database, { context, id })
        await setImmediate()
        if (!found || !may(caller, 'readmetadata', { entry: found.entry, contextEntry })) continue
        read++
        for (const statement of statementsOf(parseGraph(found.metadata))) {
          for (const [name, lang] of namesOf(statement)) names.add(name, read, lang)
          usage.add(statement, read)
        }
      }
      last = ids.at(-1)
    }
    return { type, entries: read, complete: names.isComplete, counts: names.counts(), ...usage.describe(read) }
  }
}

const isType = (type: string): type is StatisticsType => Object.hasOwn(kinds, type)
