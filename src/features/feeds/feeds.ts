import type { Caller } from '../../accounts/caller.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import { findContext } from '../../content/contexts.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import { metadataIn } from '../../content/lookup.ts'
import { CONTEXTS, type EntryKey, entryUri, resourceUri } from '../../model/addresses.ts'
import { type Entry, isList } from '../../model/entry.ts'
import { ResponseBudget } from '../../model/response-budget.ts'
import { type EntryInContext, requireRight } from '../../model/rights.ts'
import type { Order } from '../search/request.ts'
import type { Query } from '../search/query.ts'
import type { Search } from '../search/search.ts'
import type { Database } from '../../stores/database.ts'
import type { Feed, FeedItem } from './formats.ts'
import { textsOf } from './texts.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly system: System
  readonly search: Search
  /** Most items of a feed. */
  readonly maxLimit: number
  readonly settings: {
    readonly 'service.syndication.url-template.<name>': ReadonlyMap<string, string>
  }
}

/** Absolute and relative forms of addresses of this service. */
interface Base {
  readonly href: string
  toAbsolute(iri: string): string
  toRelative(iri: string): string
}

export interface FeedRequest {
  /** Of the texts, as a language tag. */
  readonly language: string
  /** Instead of the title that the feed would have. */
  readonly title: string | undefined
  /** The name of a template in the settings. */
  readonly template: string | undefined
  /** How many items, at most `service.solr.max-limit`. */
  readonly size: number
}

interface Hits {
  readonly query: Query
  readonly filters: readonly Query[]
  readonly order: readonly Order[]
}

const latestFirst: readonly Order[] = [{ field: 'modified', descends: true }]
const noFacets = { fields: [], minCount: 1, limit: 0, missing: false, matches: undefined } as const

/** Feeds of entries: what a caller may read of them, when it was changed, and where it is. */
export class Feeds {
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** @param link the address of the search @throws {InvalidInput} `invalid-query` */
  async ofSearch(
    caller: Caller,
    base: Base,
    hits: Hits,
    request: FeedRequest & { readonly link: string },
  ): Promise<Feed> {
    const items = await this.#items(caller, base, hits, request)
    return feedOf(base, request, {
      title: 'Search',
      description: `The first ${request.size} entries that the search finds.`,
      link: request.link,
      items,
    })
  }

  /** @param key of a list, or of a context in `_contexts` @throws {InvalidInput} for another entry */
  async ofEntry(caller: Caller, base: Base, key: EntryKey, request: FeedRequest): Promise<Feed> {
    return await this.#of(caller, base, await this.#deps.loader.get(key), request)
  }

  async ofContext(caller: Caller, base: Base, key: string, request: FeedRequest): Promise<Feed> {
    const { entry } = await this.#deps.loader.getContext(key)
    return await this.ofEntry(caller, base, { context: CONTEXTS, entry: entry.id }, request)
  }

  async #of(caller: Caller, base: Base, target: EntryInContext, request: FeedRequest): Promise<Feed> {
    requireRight(caller, 'readresource', target, 'read the resource of this entry')
    const { entry } = target
    const isContext = entry.context === CONTEXTS
    if (!isContext && !isList(entry)) {
      throw new InvalidInput(
        'invalid-type',
        'Only searches, lists and contexts have feeds: `syndication` asks for one.',
      )
    }
    const { database } = this.#deps
    const about = resourceUri(entry)
    const field = isContext ? 'context' : 'lists'
    const query: Query = { kind: 'term', field, parts: [base.toAbsolute(about)], isPhrase: false, boost: 1 }
    const name = isContext ? (await findContext(database, entry.id))?.name : undefined
    const { title, description } = textsOf(
      entry,
      (await metadataIn(database, caller, entry, 'all')) ?? {},
      request.language,
    )
    return feedOf(base, request, {
      title: name ?? title,
      description: description ?? `The ${request.size} entries that changed last.`,
      link: base.toAbsolute(about),
      items: await this.#items(caller, base, { query, filters: [], order: latestFirst }, request),
    })
  }

  async #items(caller: Caller, base: Base, { query, filters, order }: Hits, request: FeedRequest): Promise<FeedItem[]> {
    const { database, search, maxLimit, system } = this.#deps
    const linkOf = this.#links(base, request.template)
    const budget = ResponseBudget.forMany()
    const found = await search.find(
      caller,
      {
        query,
        filters,
        order,
        limit: Math.min(request.size, maxLimit),
        offset: 0,
        facets: noFacets,
        toRelative: iri => base.toRelative(iri),
        toAbsolute: iri => base.toAbsolute(iri),
        now: system.now(),
      },
      budget,
    )
    const items: FeedItem[] = []
    for (const { entry } of found.hits) {
      const metadata = entry.isAbridged ? {} : ((await metadataIn(database, caller, entry, 'all')) ?? {})
      items.push({
        ...textsOf(entry, metadata, request.language),
        id: base.toAbsolute(entryUri(entry)),
        link: linkOf(entry),
        created: new Date(entry.created),
        modified: new Date(entry.modified),
      })
    }
    return items
  }

  /** @throws {InvalidInput} when the settings have no template of this name */
  #links(base: Base, name: string | undefined): (entry: Entry) => string {
    const templates = this.#deps.settings['service.syndication.url-template.<name>']
    const template = templates.get(name ?? 'default')
    if (template === undefined && name !== undefined) {
      const known = [...templates.keys()].join(', ') || 'none'
      throw new InvalidInput(
        'invalid-query',
        `\`urltemplate\` must name a template of the settings (${known}), but is "${name.slice(0, 40)}".`,
      )
    }
    if (template === undefined) return entry => placeOf(base, entry)
    return entry => {
      const values: Readonly<Record<string, string>> = {
        contextid: entry.context,
        entryid: entry.id,
        entryuri: base.toAbsolute(entryUri(entry)),
        resourceuri: resourceOf(base, entry),
      }
      return template.replaceAll(/\{(\w+)\}/g, (all, key: string) => encodeURIComponent(values[key] ?? all))
    }
  }
}

const resourceOf = (base: Base, entry: Entry): string =>
  entry.entryType === 'Local' ? base.toAbsolute(resourceUri(entry)) : (entry.externalResource ?? '')

/** Users open this link from their feed reader, so it is an address that a browser can open. */
function placeOf(base: Base, entry: Entry): string {
  const resource = resourceOf(base, entry)
  return /^https?:\/\//i.test(resource) ? resource : base.toAbsolute(entryUri(entry))
}

const feedOf = (base: Base, { title }: FeedRequest, feed: Omit<Feed, 'author'>): Feed => ({
  ...feed,
  title: title ?? feed.title,
  author: new URL(base.href).host,
})
