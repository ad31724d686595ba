import { type Caller, denied } from '../accounts/caller.ts'
import { findGroup } from '../accounts/groups.ts'
import { findUser, type User } from '../accounts/users.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { emptyGraph, type Graph, statementsOf } from '../graph/graph.ts'
import { graphText } from '../graph/graph-text.ts'
import { CONTEXTS, PRINCIPALS, type EntryKey } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import { type EntryInContext, hasAnyRight, may, rightsOf } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { findCachedMetadata, hasExternalMetadata } from './cached-metadata.ts'
import { findContext } from './contexts.ts'
import type { EntryLoader } from './entry-loader.ts'
import { describeInfo } from './info.ts'
import { type Paging, wholeList } from './list-order.ts'
import { countListMembers } from './list-records.ts'
import { isList } from '../model/entry.ts'
import { loadRelations, readableRelations, type Relations, relationsOf } from './relations.ts'
import type { EntryView, Kinds, Presenter, ResourceView } from './resource-kind.ts'
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

interface Surroundings {
  /** The name of a context. */
  readonly name: string | undefined
  readonly info: Graph
  readonly relations: Relations
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

  #requireInfo(caller: Caller, placed: EntryInContext): void {
    if (!this.#mayReadInfo(caller, placed)) throw denied(caller, 'read this entry')
  }

  #mayReadInfo(caller: Caller, placed: EntryInContext): boolean {
    return this.#publicInfo || hasAnyRight(caller, placed)
  }

  /** The statements of other entries about this one, for callers who may read its info. */
  async relations(caller: Caller, key: EntryKey): Promise<Graph> {
    const placed = await this.#deps.loader.get(key)
    this.#requireInfo(caller, placed)
    return await relationsOf(this.#database, caller, placed.entry, { publicInfo: this.#publicInfo })
  }

  /** The entry that an address names, as {@link of} presents it. @throws {NotFound} */
  async read(
    caller: Caller,
    key: EntryKey,
    detailed: boolean,
    paging: Paging = wholeList,
  ): Promise<{ readonly entry: Entry; readonly view: EntryView }> {
    const placed = await this.#deps.loader.get(key)
    return { entry: placed.entry, view: await this.of(caller, placed, detailed, paging) }
  }

  /**
   * @param detailed with metadata, relations, rights and resource (`includeAll`).
   * @param paging which members of a list, in which order.
   */
  async of(caller: Caller, placed: EntryInContext, detailed: boolean, paging: Paging = wholeList): Promise<EntryView> {
    this.#requireInfo(caller, placed)
    const { entry } = placed
    const { name, info, relations } = await this.#surroundingsOf(entry)
    const brief: EntryView = {
      entryId: entry.id,
      info,
      name,
      quota:
        entry.context === CONTEXTS && this.#mayReadQuota(caller, placed)
          ? await this.#deps.ledger.quotaOf(this.#database, entry.id)
          : undefined,
    }
    if (!detailed) return brief
    const options = { publicInfo: this.#publicInfo, most: MAX_RELATIONS }
    const readable = await readableRelations(this.#database, caller, entry, relations, options)
    return {
      ...brief,
      ...(await this.#details(caller, placed, ResponseBudget.forOne(), readable)),
      resource: await this.#resourceOf(caller, placed, paging),
    }
  }

  /**
   * The parts of the view that are stored outside the entry's row and are the same for all callers; cached until one of
   * their rows changes.
   */
  async #surroundingsOf(entry: Entry): Promise<Surroundings> {
    const subject = `${entry.context}/${entry.id}`
    const load = async (): Promise<Surroundings> => ({
      name: entry.context === CONTEXTS ? (await findContext(this.#database, entry.id))?.name : undefined,
      info: await this.#infoOf(entry, await this.#accountOf(entry), ResponseBudget.forOne()),
      relations: await loadRelations(this.#database, entry),
    })
    // The cache key contains the version of the entry, because a newer version has other surroundings.
    const kept = await this.#deps.cache.get(`surroundings ${subject} ${entry.modified}`, async () => {
      const value = await load()
      const bytes = 6 * graphText(value.info).length + 2 * RELATION_BYTES * value.relations.rows.length
      return { value, subjects: [subject], bytes: bytes + 2 * RELATION_BYTES * value.relations.memberships.length }
    })
    return kept ?? (await load())
  }

  /** The info of an entry inside a list or search result: empty if the caller may not read it. */
  async #shownInfo(
    caller: Caller,
    placed: EntryInContext,
    account: Pick<Account, 'homeContext'> | undefined,
    budget: ResponseBudget,
  ): Promise<Graph> {
    return this.#mayReadInfo(caller, placed) ? await this.#infoOf(placed.entry, account, budget) : emptyGraph
  }

  async #infoOf(
    entry: Entry,
    account: Pick<Account, 'homeContext'> | undefined,
    budget: ResponseBudget,
  ): Promise<Graph> {
    const most = entry.isAbridged ? 0 : budget.rowsLeft(MAX_REVISIONS, REVISION_BYTES)
    const revisions = most === 0 ? [] : await this.#deps.revisions.list(this.#database, entry, most)
    budget.spend(revisions.length * REVISION_BYTES)
    return describeInfo(entry, { homeContext: account?.homeContext, revisions })
  }

  async #details(
    caller: Caller,
    placed: EntryInContext,
    budget: ResponseBudget,
    relations?: Graph,
  ): Promise<Partial<EntryView>> {
    const { entry } = placed
    if (entry.isAbridged) return { rights: rightsOf(caller, placed), truncated: true }
    const readsMetadata = may(caller, 'readmetadata', placed)
    const isReference = entry.entryType === 'Reference'
    const showsCached = readsMetadata && hasExternalMetadata(entry)
    return {
      relations: relations ?? (await this.#relationsOf(caller, entry, budget)),
      rights: rightsOf(caller, placed),
      metadata: readsMetadata && !isReference ? entry.metadata : undefined,
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
  async member(caller: Caller, placed: EntryInContext, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = placed
    const name = await this.#nameOf(caller, placed)
    const account = await this.#accountOf(entry)
    return {
      entryId: entry.id,
      name,
      info: await this.#shownInfo(caller, placed, account, budget),
      size:
        isList(entry) && may(caller, 'readresource', placed)
          ? await countListMembers(this.#database, entry)
          : undefined,
      ...(await this.#details(caller, placed, budget)),
    }
  }

  async #nameOf(caller: Caller, placed: EntryInContext): Promise<string | undefined> {
    const { entry } = placed
    if (entry.context === CONTEXTS) return (await findContext(this.#database, entry.id))?.name
    if (!may(caller, 'readmetadata', placed)) return undefined
    return (await this.#accountOf(entry))?.name
  }

  /** An entry in a list of search results, without its resource (W3.10.2). */
  async hit(caller: Caller, placed: EntryInContext, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = placed
    const account = await this.#accountOf(entry)
    const isContext = entry.context === CONTEXTS
    return {
      entryId: entry.id,
      info: await this.#shownInfo(caller, placed, account, budget),
      name: isContext ? (await findContext(this.#database, entry.id))?.name : account?.name,
      disabled: account?.disabled || undefined,
      ...(await this.#details(caller, placed, budget)),
    }
  }

  /** A member of a group. */
  async groupMember(caller: Caller, placed: EntryInContext, user: User, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = placed
    const readable = may(caller, 'readmetadata', placed)
    return {
      entryId: entry.id,
      name: readable ? user.name : undefined,
      disabled: user.disabled || undefined,
      info: await this.#shownInfo(caller, placed, user, budget),
      metadata: readable && !entry.isAbridged ? entry.metadata : undefined,
      relations: entry.isAbridged ? undefined : await this.#relationsOf(caller, entry, budget),
      rights: rightsOf(caller, placed),
      truncated: entry.isAbridged,
    }
  }

  #mayReadQuota(caller: Caller, placed: EntryInContext): boolean {
    return this.#deps.ledger.enforced && may(caller, 'readresource', placed)
  }

  async #accountOf(entry: Entry): Promise<Account | undefined> {
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return undefined
    return (await findUser(this.#database, entry.id)) ?? (await findGroup(this.#database, entry.id))
  }

  async #resourceOf(caller: Caller, placed: EntryInContext, paging: Paging): Promise<ResourceView | undefined> {
    const { entry } = placed
    if (entry.entryType !== 'Local' || !may(caller, 'readresource', placed)) return undefined
    return await this.#deps.kinds.of(entry).view(caller, placed, { presenter: this, paging })
  }
}
