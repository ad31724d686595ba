import { setImmediate } from 'node:timers/promises'
import type { Caller } from '../../accounts/caller.ts'
import { NotFound } from '../../base/errors.ts'
import { parseGraph, type Statement, statementsOf } from '../../graph/graph.ts'
import { rdf } from '../../graph/vocabulary.ts'
import type { Database } from '../../stores/database.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { findMetadata, idsAfter } from '../../content/entry-records.ts'
import { may, requireRight } from '../../model/rights.ts'

export interface Count {
  readonly name: string
  readonly lang?: string
  readonly count: number
}

interface NameCount {
  readonly name: string
  readonly lang: string | undefined
  total: number
  /** The number of entries. */
  usedIn: number
  lastEntry: number
}

const MAX_NAMES = 100_000
/** All names together: the response takes several times as much memory. */
const MAX_CHARACTERS = 4 * 2 ** 20
const MAX_NAME = 1000

/** How often names occur, in total and by entry. Names that exceed the limits are not counted. */
export class NameCounts {
  /** By language, then by name: a key of both would be another text for each. */
  readonly #byLanguage = new Map<string | undefined, Map<string, NameCount>>()
  #size = 0
  #characters = 0
  #lastEntry = 0
  entriesWithAny = 0
  isComplete = true

  /** @param entry its number, from 1; all names of an entry must be added before those of the next entry */
  add(given: string, entry: number, lang?: string): void {
    if (this.#lastEntry !== entry) this.entriesWithAny++
    this.#lastEntry = entry
    const name = given.length > MAX_NAME ? given.slice(0, MAX_NAME) : given
    const counted = this.#byLanguage.get(lang)?.get(name)
    if (!counted) {
      this.#addNew(name, entry, lang)
      return
    }
    counted.total++
    if (counted.lastEntry !== entry) counted.usedIn++
    counted.lastEntry = entry
  }

  /** In descending order of frequency; names of equal frequency in alphabetical order. */
  list(): NameCount[] {
    return [...this.#byLanguage.values()]
      .flatMap(names => [...names.values()])
      .sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  }

  counts(): Count[] {
    return this.list().map(({ name, lang, total }) =>
      lang === undefined ? { name, count: total } : { name, lang, count: total },
    )
  }

  #addNew(name: string, entry: number, lang: string | undefined): void {
    const characters = this.#characters + name.length
    if (this.#size >= MAX_NAMES || characters > MAX_CHARACTERS) {
      this.isComplete = false
      return
    }
    this.#size++
    this.#characters = characters
    const names = this.#byLanguage.get(lang) ?? new Map<string, NameCount>()
    this.#byLanguage.set(lang, names)
    const own = ownText(name)
    names.set(own, { name: own, lang, total: 1, usedIn: 1, lastEntry: entry })
  }
}

/** A part of a text keeps all of it in memory. */
const ownText = (part: string): string => JSON.parse(JSON.stringify(part)) as string

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
}

interface ContextStatistics extends UsageStatistics {
  readonly type: StatisticsType
  /** The number of entries whose metadata the caller may read; only these are counted. */
  readonly entries: number
  /** The same, as existing clients read it. */
  readonly entryCount: number
  /** False when there are more names than the limit. */
  readonly complete: boolean
  /** The most frequent first. */
  readonly counts: readonly Count[]
}

/** How often a keyword, predicate or term is used, with the member names that existing clients expect. */
interface Usage {
  readonly title: string
  readonly totalCount: number
  /** The number of entries. */
  readonly usedInCount: number
}

/** The statistics of a context as existing clients read them; the members differ by type. */
interface UsageStatistics {
  readonly entryCountValidated?: number
  readonly entryCountMandatory?: number
  readonly entryCountRecommended?: number
  readonly propertyUsage?: ReadonlyArray<Omit<Usage, 'title' | 'totalCount'> & { property: string; statements: number }>
  readonly entryCountWithKeyword?: number
  readonly keywordUsage?: readonly Usage[]
  readonly entryCountWithOntologyTerm?: number
  readonly predicateUsage?: readonly Usage[]
  readonly ontologyTermUsage?: readonly Usage[]
}

const usagesOf = (names: NameCounts): Usage[] =>
  names.list().map(({ name, total, usedIn }) => ({ title: name, totalCount: total, usedInCount: usedIn }))

interface Counts {
  readonly names: NameCounts
  /** What existing clients count beside them. */
  readonly used: NameCounts
  readonly terms: NameCounts
}

interface Kind {
  /** @param entry its number, from 1 */
  readonly count: (statement: Statement, counts: Counts, entry: number) => void
  readonly describe: (counts: Counts) => UsageStatistics
}

/** Names of the types that existing clients know. */
const synonyms: Readonly<Record<string, string>> = { properties: 'property', keywords: 'keyword' }

const keywordPredicates = new Set([
  'http://purl.org/dc/terms/subject',
  'http://purl.org/dc/elements/1.1/subject',
  'http://www.w3.org/ns/dcat#keyword',
])

/** The only relation vocabulary that existing clients count. */
const ONTOLOGY = 'http://www.cc.uah.es/ie/ont/OE-Predicates#'

/** Clients read how many entries a profile of properties accepts. This service has no such profiles. */
const withoutProfiles = { entryCountValidated: 0, entryCountMandatory: 0, entryCountRecommended: 0 }

/** The countable kinds, and the names that a statement adds to each (W3.16). */
const kinds = {
  /** Predicates. */
  property: {
    count: ({ predicate }, { names }, entry) => names.add(predicate, entry),
    describe: ({ names }) => ({
      ...withoutProfiles,
      propertyUsage: names
        .list()
        .map(({ name, total, usedIn }) => ({ property: name, statements: total, usedInCount: usedIn })),
    }),
  },
  /** Words that describe the subject of a resource. */
  keyword: {
    count({ predicate, object }, { names, used }, entry) {
      if (!keywordPredicates.has(predicate) || object.type !== 'literal') return
      names.add(object.value, entry, object.lang)
      used.add(object.value.toLowerCase(), entry)
    },
    describe: ({ used }) => ({ entryCountWithKeyword: used.entriesWithAny, keywordUsage: usagesOf(used) }),
  },
  /** The vocabularies of predicates and types. */
  ontology: {
    count({ predicate, object }, { names, used, terms }, entry) {
      names.add(namespaceOf(predicate), entry)
      if (predicate === rdf.type && object.type === 'uri') names.add(namespaceOf(object.value), entry)
      if (!predicate.startsWith(ONTOLOGY)) return
      used.add(predicate.slice(ONTOLOGY.length), entry)
      terms.add(object.value.slice(object.value.lastIndexOf('#') + 1), entry)
    },
    describe: ({ used, terms }) => ({
      entryCountWithOntologyTerm: used.entriesWithAny,
      predicateUsage: usagesOf(used),
      ontologyTermUsage: usagesOf(terms),
    }),
  },
} as const satisfies Readonly<Record<string, Kind>>

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
        `The kind of statistics must be one of ${Object.keys(kinds).join(', ')}, but is "${requested.slice(0, 40)}".`,
      )
    }
    return await this.#count(caller, context.entry.id, type)
  }

  async #count(caller: Caller, context: string, type: StatisticsType): Promise<ContextStatistics> {
    const { database, loader } = this.#deps
    const { entry: contextEntry } = await loader.getContextEntry(context)
    const names = new NameCounts()
    const counts = { names, used: new NameCounts(), terms: new NameCounts() }
    const kind: Kind = kinds[type]
    let read = 0
    for (let last: string | undefined = ''; last !== undefined; ) {
      const ids: string[] = await idsAfter(database, { context, id: last }, IDS)
      for (const id of ids) {
        const found = await findMetadata(database, { context, id })
        await setImmediate()
        if (!found || !may(caller, 'readmetadata', { entry: found.entry, contextEntry })) continue
        read++
        for (const statement of statementsOf(parseGraph(found.metadata))) kind.count(statement, counts, read)
      }
      last = ids.at(-1)
    }
    const own = { type, entries: read, complete: names.isComplete, counts: names.counts() }
    return { ...own, entryCount: read, ...kind.describe(counts) }
  }
}

const isType = (type: string): type is StatisticsType => Object.hasOwn(kinds, type)
