import { type Caller, denied } from '../accounts/caller.ts'
import { findGroup } from '../accounts/groups.ts'
import { findUser, type User } from '../accounts/users.ts'
import { andThen, type Awaitable } from '../base/concurrency.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { emptyGraph, type Graph, type GraphText, statementsOf } from '../graph/graph.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS, type EntryKey } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import { type Access, type AccessTarget, accessOf, type EntryInContext } from '../model/rights.ts'
import type { Hit } from '../search/search.ts'
import type { Database } from '../stores/database.ts'
import { type DependencyCache, memoryOf } from '../stores/dependency-cache.ts'
import { findCachedMetadata, hasExternalMetadata } from './cached-metadata.ts'
import { findContext } from './contexts.ts'
import type { EntryLoader } from './entry-loader.ts'
import { metadataText } from './entry-records.ts'
import { describeInfo } from './info.ts'
import { type Paging, wholeList } from '../model/list-order.ts'
import { countListMembers } from './list-records.ts'
import { isList } from '../model/entry.ts'
import { loadRelations, readableRelations, type Relations, relationsOf } from './relations.ts'
import type { EntryView, Kinds, Presenter } from './resource-kind.ts'
import type { Revisions } from './revisions.ts'

/** The data of a user or group that are stored outside its entry. */
interface Account {
  readonly name: string | undefined
  readonly homeContext: string | undefined
  readonly disabled?: boolean
}

/** How many revisions `info` lists; earlier ones are read by their number, which counts from 1. */
const MAX_REVISIONS = 100
const REVISION_BYTES = 400
const MAX_RELATIONS = 1000
const RELATION_BYTES = 250
/** Memory of the surroundings of an entry without their texts, and of each of their relations. */
const SURROUNDINGS_BYTES = 150
const MEMORY_OF_RELATION = 300

/** An entry, and what the caller may do with it. */
interface Shown {
  readonly entry: Entry
  readonly access: Access
}

interface Surroundings {
  /** The name of a context. */
  readonly name: string | undefined
  readonly info: GraphText
  readonly relations: Relations
  /** The digest of the file. */
  readonly sha256: string | undefined
}

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
  readonly kinds: Kinds
  readonly ledger: Ledger
  readonly revisions: Revisions
}

export interface EntryViewsOptions {
  /** Every caller may read the info of every entry, as in the predecessor of this interface (D18.11). */
  readonly publicInfo: boolean
}

/** Presents entries to callers and leaves out what they may not read. */
export class EntryViews implements Presenter {
  readonly #deps: Dependencies
  readonly #database: Database
  readonly #publicInfo: boolean

  constructor(deps: Dependencies, { publicInfo }: EntryViewsOptions) {
    this.#deps = deps
    this.#database = deps.database
    this.#publicInfo = publicInfo
  }

  #requireInfo(caller: Caller, target: EntryInContext): Access {
    const access = accessOf(caller, target)
    if (!this.#readsInfo(access)) throw denied(caller, 'read this entry')
    return access
  }

  #readsInfo({ rights }: Access): boolean {
    return this.#publicInfo || rights.length > 0
  }

  /** The statements of other entries about this one, for callers who may read its info. */
  async relations(caller: Caller, key: EntryKey): Promise<Graph> {
    const target = await this.#deps.loader.get(key)
    this.#requireInfo(caller, target)
    return await relationsOf(this.#database, caller, target.entry, { publicInfo: this.#publicInfo })
  }

  /** The entry that an address names, as {@link of} presents it. @throws {NotFound} */
  async read(
    caller: Caller,
    key: EntryKey,
    detailed: boolean,
    paging: Paging = wholeList,
  ): Promise<{ readonly entry: Entry; readonly view: EntryView }> {
    const target = await this.#deps.loader.get(key)
    return { entry: target.entry, view: await this.of(caller, target, detailed, paging) }
  }

  /**
   * @param detailed with metadata, relations, rights and resource (`includeAll`).
   * @param paging which members of a list, in which order.
   */
  async of(caller: Caller, target: EntryInContext, detailed: boolean, paging: Paging = wholeList): Promise<EntryView> {
    const access = this.#requireInfo(caller, target)
    const { entry } = target
    const { name, info, relations, sha256 } = await this.#surroundingsOf(entry)
    const brief: EntryView = {
      entryId: entry.id,
      info,
      name,
      quota:
        entry.context === CONTEXTS && this.#deps.ledger.enforced && access.readsResource
          ? await this.#deps.ledger.quotaOf(this.#database, entry.id)
          : undefined,
    }
    if (!detailed) return brief
    const options = { publicInfo: this.#publicInfo, most: MAX_RELATIONS }
    const find = (address: EntryAddress): Promise<AccessTarget | undefined> => this.#deps.loader.target(address)
    const isAlone = relations.rows.length === 0 && relations.memberships.length === 0
    const readable = isAlone ? emptyGraph : await readableRelations(find, caller, entry, relations, options)
    return {
      ...brief,
      ...(await this.#details(caller, { entry, access }, ResponseBudget.forOne(), readable)),
      resource:
        entry.entryType === 'Local' && access.readsResource
          ? await this.#deps.kinds.of(entry).view(caller, target, { presenter: this, paging, sha256 })
          : undefined,
    }
  }

  /**
   * The parts of the view that are stored outside the entry's row and are the same for all callers; cached until one of
   * their rows changes.
   */
  #surroundingsOf(entry: Entry): Awaitable<Surroundings> {
    const subject = `${entry.context}/${entry.id}`
    const load = async (): Promise<Surroundings> => {
      const attached = await this.#deps.loader.attached(entry)
      const budget = ResponseBudget.forOne()
      return {
        name: await this.#contextName(entry),
        info: JSON.stringify(await this.#infoOf(entry, await this.#accountOf(entry), budget, attached.hasRevisions)),
        relations: await loadRelations(this.#database, entry, attached),
        sha256: attached.sha256,
      }
    }
    // The cache key contains the version of the entry, because a newer version has other surroundings.
    const kept = this.#deps.cache.get(`surroundings ${subject} ${entry.modified}`, async () => {
      const value = await load()
      const { rows, memberships } = value.relations
      const bytes = SURROUNDINGS_BYTES + memoryOf(value.info) + MEMORY_OF_RELATION * (rows.length + memberships.length)
      return { value, subjects: [subject], bytes }
    })
    return andThen(kept, surroundings => surroundings ?? load())
  }

  /** The info of an entry inside a list or search result: empty if the caller may not read it. */
  async #shownInfo(
    { entry, access }: Shown,
    account: Pick<Account, 'homeContext'> | undefined,
    budget: ResponseBudget,
  ): Promise<Graph> {
    return this.#readsInfo(access) ? await this.#infoOf(entry, account, budget) : emptyGraph
  }

  async #infoOf(
    entry: Entry,
    account: Pick<Account, 'homeContext'> | undefined,
    budget: ResponseBudget,
    hasRevisions = true,
  ): Promise<Graph> {
    const most = entry.isAbridged || !hasRevisions ? 0 : budget.rowsLeft(MAX_REVISIONS, REVISION_BYTES)
    const revisions = most === 0 ? [] : await this.#deps.revisions.list(this.#database, entry, most)
    budget.spend(revisions.length * REVISION_BYTES)
    return describeInfo(entry, { homeContext: account?.homeContext, revisions })
  }

  async #details(
    caller: Caller,
    { entry, access }: Shown,
    budget: ResponseBudget,
    relations?: Graph,
  ): Promise<Partial<EntryView>> {
    const { rights, readsMetadata } = access
    if (entry.isAbridged) return { rights, truncated: true }
    const showsCached = readsMetadata && hasExternalMetadata(entry)
    return {
      relations: relations ?? (await this.#relationsOf(caller, entry, budget)),
      rights,
      metadata: readsMetadata && entry.entryType !== 'Reference' ? metadataText(entry) : undefined,
      cachedExternalMetadata: showsCached
        ? (await findCachedMetadata(this.#database, caller, entry, budget))?.graph
        : undefined,
    }
  }

  async #relationsOf(caller: Caller, entry: Entry, budget: ResponseBudget): Promise<Graph> {
    const relations = await relationsOf(this.#database, caller, entry, {
      publicInfo: this.#publicInfo,
      most: budget.rowsLeft(MAX_RELATIONS, RELATION_BYTES),
    })
    for (const _ of statementsOf(relations)) budget.spend(RELATION_BYTES)
    return relations
  }

  /** A member of a list, without its own resource: a response has one level of children. */
  async member(caller: Caller, target: EntryInContext, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = target
    const access = accessOf(caller, target)
    const account = await this.#accountOf(entry)
    const showsSize = isList(entry) && access.readsResource
    return {
      entryId: entry.id,
      name: (await this.#contextName(entry)) ?? (access.readsMetadata ? account?.name : undefined),
      info: await this.#shownInfo({ entry, access }, account, budget),
      size: showsSize ? await countListMembers(this.#database, entry) : undefined,
      ...(await this.#details(caller, { entry, access }, budget)),
    }
  }

  async #contextName(entry: Entry): Promise<string | undefined> {
    return entry.context === CONTEXTS ? (await findContext(this.#database, entry.id))?.name : undefined
  }

  /** An entry in a list of search results, without its resource (W3.10.2). */
  async hit(caller: Caller, hit: Hit, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = hit
    const account = await this.#accountOf(entry)
    return {
      entryId: entry.id,
      info: await this.#shownInfo(hit, account, budget),
      name: (await this.#contextName(entry)) ?? account?.name,
      disabled: account?.disabled || undefined,
      ...(await this.#details(caller, hit, budget)),
    }
  }

  /** A member of a group. */
  async groupMember(caller: Caller, target: EntryInContext, user: User, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = target
    const access = accessOf(caller, target)
    return {
      entryId: entry.id,
      name: access.readsMetadata ? user.name : undefined,
      disabled: user.disabled || undefined,
      info: await this.#shownInfo({ entry, access }, user, budget),
      metadata: access.readsMetadata && !entry.isAbridged ? metadataText(entry) : undefined,
      relations: entry.isAbridged ? undefined : await this.#relationsOf(caller, entry, budget),
      rights: access.rights,
      truncated: entry.isAbridged,
    }
  }

  async #accountOf(entry: Entry): Promise<Account | undefined> {
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return undefined
    return (await findUser(this.#database, entry.id)) ?? (await findGroup(this.#database, entry.id))
  }
}
