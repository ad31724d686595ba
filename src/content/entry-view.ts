import { type Caller, denied } from '../accounts/caller.ts'
import { findGroup, type Group, membersOf } from '../accounts/groups.ts'
import { countedUser, type Lockout } from '../accounts/lockout.ts'
import { USERS } from '../accounts/principals.ts'
import { findUser, listUserIds } from '../accounts/users.ts'
import { findFile } from '../files/file-records.ts'
import type { Ledger, Quota } from '../files/quota-ledger.ts'
import { emptyGraph, type Graph, statementsOf } from '../graph/graph.ts'
import type { Database } from '../stores/database.ts'
import type { DependencyCache } from '../stores/dependency-cache.ts'
import { graphText } from '../graph/graph-text.ts'
import { CONTEXTS, PRINCIPALS } from '../model/addresses.ts'
import { findCachedMetadata, hasExternalMetadata } from './cached-metadata.ts'
import { findContext } from './contexts.ts'
import type { Entry, EntryHead } from '../model/entry.ts'
import { findEntryToShow } from './entry-records.ts'
import { describeInfo } from './info.ts'
import { type Paging, wholeList } from './list-order.ts'
import { countListMembers, isList } from './list-records.ts'
import { type ListPage, listPage } from './list-view.ts'
import { loadRelations, readableRelations, type Relations, relationsOf } from './relations.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import type { Revisions } from './revisions.ts'
import { hasAnyRight, may, type EntryInContext, type Right, rightsOf } from '../model/rights.ts'
import { describeUser } from './user-resource.ts'

/** An entry as one caller may see it; graphs have relative IRIs (W2.2). */
export interface EntryView {
  readonly entryId: string
  readonly name?: string | undefined
  readonly quota?: Quota | undefined
  readonly disabled?: boolean | undefined
  readonly info: Graph
  readonly metadata?: Graph | undefined
  readonly cachedExternalMetadata?: Graph | undefined
  readonly relations?: Graph | undefined
  readonly rights?: readonly Right[] | undefined
  readonly resource?: ResourceView | undefined
  /** The number of members, for a member that is itself a list. */
  readonly size?: number | undefined
  /** True if graphs are left out because they are too large for this response; the entry itself has them. */
  readonly truncated?: true | undefined
}

/** The resource of a Local entry inside the entry's JSON (W2.6). */
export type ResourceView =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'graph'; readonly graph: Graph }
  | { readonly kind: 'list'; readonly page: ListPage<EntryView> }
  | { readonly kind: 'group'; readonly name: string | undefined; readonly members: readonly EntryView[] }

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
  readonly ledger: Ledger
  readonly lockout: Lockout
  readonly revisions: Revisions
}

export interface EntryViewsOptions {
  /** Every caller may read the info of every entry, as in the predecessor of this interface (D18.11). */
  readonly publicInfo: boolean
}

/** Presents entries to callers and leaves out what they may not read. */
export class EntryViews {
  readonly #database: Database
  readonly #cache: DependencyCache
  readonly #ledger: Ledger
  readonly #lockout: Lockout
  readonly #revisions: Revisions
  readonly #publicInfo: boolean

  constructor({ database, cache, ledger, lockout, revisions }: Dependencies, { publicInfo }: EntryViewsOptions) {
    this.#database = database
    this.#cache = cache
    this.#ledger = ledger
    this.#lockout = lockout
    this.#revisions = revisions
    this.#publicInfo = publicInfo
  }

  /** @throws {Unauthenticated | Forbidden} unless the caller may read the info of the entry */
  requireInfo(caller: Caller, placed: EntryInContext): void {
    if (!this.#mayReadInfo(caller, placed)) throw denied(caller, 'read this entry')
  }

  #mayReadInfo(caller: Caller, placed: EntryInContext): boolean {
    return this.#publicInfo || hasAnyRight(caller, placed)
  }

  /** The statements of other entries about this one. @throws {Unauthenticated | Forbidden} like {@link requireInfo} */
  async relations(caller: Caller, placed: EntryInContext): Promise<Graph> {
    this.requireInfo(caller, placed)
    return await relationsOf(this.#database, caller, placed.entry, { publicInfo: this.#publicInfo })
  }

  /**
   * @param detailed with metadata, relations, rights and resource (`includeAll`).
   * @param paging which members of a list, in which order.
   */
  async of(caller: Caller, placed: EntryInContext, detailed: boolean, paging: Paging = wholeList): Promise<EntryView> {
    this.requireInfo(caller, placed)
    const { entry } = placed
    const { name, info, relations } = await this.#surroundingsOf(entry)
    const brief: EntryView = {
      entryId: entry.id,
      info,
      name,
      quota:
        entry.context === CONTEXTS && this.#mayReadQuota(caller, placed)
          ? await this.#ledger.quotaOf(this.#database, entry.id)
          : undefined,
    }
    if (!detailed) return brief
    const options = { publicInfo: this.#publicInfo, most: MAX_RELATIONS }
    const readable = await readableRelations(this.#database, caller, entry, relations, options)
    return {
      ...brief,
      ...(await this.#details(caller, placed, ResponseBudget.forOne(), readable)),
      resource: may(caller, 'readresource', placed) ? await this.#resourceOf(caller, placed, paging) : undefined,
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
    const kept = await this.#cache.get(`surroundings ${subject} ${entry.modified}`, async () => {
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
    const revisions = most === 0 ? [] : await this.#revisions.list(this.#database, entry, most)
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
  async #child(caller: Caller, placed: EntryInContext, budget: ResponseBudget): Promise<EntryView> {
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

  /** The group resource, with the data of those members that the caller may read. */
  async group(caller: Caller, group: Group, contextEntry: EntryHead): Promise<ResourceView> {
    const ids = group.id === USERS ? await listUserIds(this.#database) : await membersOf(this.#database, group.id)
    const members: EntryView[] = []
    const budget = ResponseBudget.forMany()
    for (const id of ids) {
      const entry = await findEntryToShow(this.#database, { context: PRINCIPALS, id }, budget)
      const user = await findUser(this.#database, id)
      if (!entry || !user) continue
      const placed = { entry, contextEntry }
      const readable = may(caller, 'readmetadata', placed)
      members.push({
        entryId: id,
        name: readable ? user.name : undefined,
        disabled: user.disabled || undefined,
        info: await this.#shownInfo(caller, placed, user, budget),
        metadata: readable && !entry.isAbridged ? entry.metadata : undefined,
        relations: entry.isAbridged ? undefined : await this.#relationsOf(caller, entry, budget),
        rights: rightsOf(caller, placed),
        truncated: entry.isAbridged,
      })
    }
    return { kind: 'group', name: group.name, members }
  }

  #mayReadQuota(caller: Caller, placed: EntryInContext): boolean {
    return this.#ledger.enforced && may(caller, 'readresource', placed)
  }

  async #accountOf(entry: Entry): Promise<Account | undefined> {
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return undefined
    return (await findUser(this.#database, entry.id)) ?? (await findGroup(this.#database, entry.id))
  }

  async #resourceOf(caller: Caller, placed: EntryInContext, paging: Paging): Promise<ResourceView | undefined> {
    const { entry, contextEntry } = placed
    if (entry.entryType !== 'Local') return undefined
    switch (entry.graphType) {
      case 'None': {
        const file = await findFile(this.#database, entry)
        return { kind: 'value', value: file ? { sha256: file.sha256 } : {} }
      }
      case 'String':
        return { kind: 'value', value: entry.content ?? '' }
      case 'Graph':
      case 'Pipeline':
        return { kind: 'graph', graph: JSON.parse(entry.content ?? '{}') as Graph }
      case 'User': {
        const user = await findUser(this.#database, entry.id)
        const lockedUntil = user && (await this.#lockout.lockedUntil(countedUser(user)))
        return { kind: 'value', value: user ? describeUser(user, lockedUntil) : {} }
      }
      case 'Group': {
        const group = await findGroup(this.#database, entry.id)
        return group ? await this.group(caller, group, contextEntry) : undefined
      }
      case 'List': {
        const budget = ResponseBudget.forMany()
        const page = await listPage(this.#database, caller, placed, paging, budget)
        const children: EntryView[] = []
        for (const child of page.children) {
          children.push(await this.#child(caller, { entry: child, contextEntry }, budget))
        }
        return { kind: 'list', page: { ...page, children } }
      }
      case 'Context':
      case 'SystemContext':
      case 'ResultList':
      case 'PipelineResult':
        return { kind: 'value', value: {} }
    }
  }
}
