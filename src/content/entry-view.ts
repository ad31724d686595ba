import { denied } from '../accounts/caller-guards.ts'
import type { Caller } from '../accounts/caller.ts'
import { findGroup } from '../accounts/groups.ts'
import { findUser, type User } from '../accounts/users.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { emptyGraph, type Graph, type GraphText, statementsOf } from '../graph/graph.ts'
import { CONTEXTS, type EntryAddress, type EntryKey, PRINCIPALS } from '../model/addresses.ts'
import { type Entry, hasExternalMetadata, isList } from '../model/entry.ts'
import { ResponseBudget } from '../model/response-budget.ts'
import { type Access, accessOf, type AccessTarget, type EntryInContext } from '../model/rights.ts'
import type { Database } from '../stores/database.ts'
import { type DependencyCache, memoryOf } from '../stores/dependency-cache.ts'
import { findCachedMetadata } from './lookup.ts'
import { findContext } from './contexts.ts'
import type { EntryLoader } from './entry-loader.ts'
import { describeInfo } from './info.ts'
import { type Paging, wholeList } from '../model/list-order.ts'
import { countListMembers } from './list-records.ts'
import { loadRelations, readableRelations, type Relations } from './relations.ts'
import type { EntryView, KindReads, MemberViewer } from './resource-kind.ts'
import type { Revisions } from './revisions.ts'

/** The data of a user or group that are stored outside its entry. */
interface Account {
  readonly name: string | undefined
  readonly homeContext: string | undefined
  readonly disabled?: boolean
}

/** How many revisions `info` lists; earlier ones are read by their number, which counts from 1. */
const MAX_REVISIONS = 100
const MAX_RELATIONS = 1000
const RELATION_BYTES = 250
/** Memory of the joined data of an entry without their texts, and of each of their relations. */
const JOINED_BYTES = 150
const MEMORY_OF_RELATION = 300

/** An entry, and what the caller may do with it. */
interface Shown {
  readonly entry: Entry
  readonly access: Access
}

interface JoinedData {
  /** The name of a context. */
  readonly name: string | undefined
  readonly info: GraphText
  readonly relations: Relations
  /** The digest of the file. */
  readonly sha256: string | undefined
  /** Whether `info` lists any, which can be long. */
  readonly hasRevisions: boolean
}

interface Dependencies {
  readonly database: Database
  readonly cache: DependencyCache
  readonly loader: EntryLoader
  readonly kinds: KindReads
  readonly ledger: Ledger
  readonly revisions: Revisions
}

interface EntryViewsOptions {
  /** Every caller may read the info of every entry, as in the predecessor of this interface (D18.11). */
  readonly publicInfo: boolean
}

/** A hit of a search, and what the caller may do with it. The rights are decided once, when the hit is found. */
export interface Hit extends EntryInContext {
  readonly access: Access
}

/** Presents entries to callers and leaves out what they may not read. */
export class EntryViews implements MemberViewer {
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
  async relations(caller: Caller, key: EntryKey): Promise<{ readonly entry: Entry; readonly graph: Graph }> {
    const target = await this.#deps.loader.get(key)
    this.#requireInfo(caller, target)
    const { entry } = target
    const { relations } = await this.#joinedDataOf(entry)
    return { entry, graph: await this.#readable(caller, entry, relations, ResponseBudget.forOne()) }
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
    const { name, info, relations, sha256 } = await this.#joinedDataOf(entry)
    const showsQuota = entry.context === CONTEXTS && this.#deps.ledger.enforced && access.readsResource
    const quota = showsQuota ? await this.#deps.ledger.quotaOf(this.#database, entry.id) : undefined
    if (!detailed) return { contextId: entry.context, entryId: entry.id, info, name, quota }
    const details = await this.#details(caller, { entry, access }, relations, ResponseBudget.forOne())
    const isShown = entry.entryType === 'Local' && access.readsResource
    const kind = isShown ? this.#deps.kinds.of(entry) : undefined
    const resource = await kind?.view(caller, target, { presenter: this, paging, sha256 })
    return { contextId: entry.context, entryId: entry.id, info, name, quota, ...details, resource }
  }

  /**
   * The parts of the view that are stored outside the entry's row and are the same for all callers; cached until one of
   * their rows changes.
   */
  async #joinedDataOf(entry: Entry): Promise<JoinedData> {
    const subject = `${entry.context}/${entry.id}`
    // The cache key contains the version of the entry, because a newer version has other joined data.
    const cached = await this.#deps.cache.get(`joined ${subject} ${entry.modified}`, async () => {
      const value = await this.#loadJoinedData(entry)
      const { rows, memberships } = value.relations
      const bytes = JOINED_BYTES + memoryOf(value.info) + MEMORY_OF_RELATION * (rows.length + memberships.length)
      return { value, subjects: [subject], bytes }
    })
    return cached ?? (await this.#loadJoinedData(entry))
  }

  async #loadJoinedData(entry: Entry): Promise<JoinedData> {
    const { revisions, loader } = this.#deps
    const attached = await loader.attached(entry)
    const { sha256, hasRevisions } = attached
    const homeContext = (await this.#accountOf(entry))?.homeContext
    const latest = hasRevisions ? await revisions.list(this.#database, entry, MAX_REVISIONS) : []
    return {
      name: await this.#contextName(entry),
      info: JSON.stringify(describeInfo(entry, { homeContext, revisions: latest })),
      relations: await loadRelations(this.#database, entry, attached),
      sha256,
      hasRevisions,
    }
  }

  /** An entry in a list, group or search result. Its info is empty if the caller may not read it. */
  async #asMember(
    caller: Caller,
    shown: Shown,
    account: Pick<Account, 'homeContext'> | undefined,
    budget: ResponseBudget,
  ): Promise<EntryView> {
    const { entry, access } = shown
    if (entry.isAbridged) {
      const name = await this.#contextName(entry)
      const info = this.#readsInfo(access) ? describeInfo(entry, { homeContext: account?.homeContext }) : emptyGraph
      return { contextId: entry.context, entryId: entry.id, name, info, rights: access.rights, truncated: true }
    }
    const { name, info, relations, hasRevisions } = await this.#joinedDataOf(entry)
    if (hasRevisions) budget.spend(info.length)
    const details = await this.#details(caller, shown, relations, budget)
    return {
      contextId: entry.context,
      entryId: entry.id,
      name,
      info: this.#readsInfo(access) ? info : emptyGraph,
      ...details,
    }
  }

  async #details(
    caller: Caller,
    { entry, access }: Shown,
    relations: Relations,
    budget: ResponseBudget,
  ): Promise<Partial<EntryView>> {
    const { rights, readsMetadata } = access
    const readable = await this.#readable(caller, entry, relations, budget)
    const showsCached = readsMetadata && hasExternalMetadata(entry)
    const cached = showsCached ? await findCachedMetadata(this.#database, caller, entry, budget) : undefined
    return {
      relations: readable,
      rights,
      metadata: readsMetadata && entry.entryType !== 'Reference' ? entry.metadata : undefined,
      cachedExternalMetadata: cached?.graph,
    }
  }

  /** The relations that the caller may read and that fit. */
  async #readable(caller: Caller, entry: Entry, relations: Relations, budget: ResponseBudget): Promise<Graph> {
    if (relations.rows.length === 0 && relations.memberships.length === 0) return emptyGraph
    const find = (address: EntryAddress): Promise<AccessTarget | undefined> => this.#deps.loader.target(address)
    const readable = await readableRelations(find, caller, entry, relations, {
      publicInfo: this.#publicInfo,
      most: budget.rowsLeft(MAX_RELATIONS, RELATION_BYTES),
    })
    for (const _ of statementsOf(readable)) budget.spend(RELATION_BYTES)
    return readable
  }

  /** A member of a list, without its own resource: a response has one level of children. */
  async member(caller: Caller, target: EntryInContext, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = target
    const access = accessOf(caller, target)
    const account = await this.#accountOf(entry)
    const showsSize = isList(entry) && access.readsResource
    const member = await this.#asMember(caller, { entry, access }, account, budget)
    return {
      ...member,
      name: member.name ?? (access.readsMetadata ? account?.name : undefined),
      size: showsSize ? await countListMembers(this.#database, entry) : undefined,
    }
  }

  async #contextName(entry: Entry): Promise<string | undefined> {
    return entry.context === CONTEXTS ? (await findContext(this.#database, entry.id))?.name : undefined
  }

  /** An entry in a list of search results, without its resource (W3.10.2). */
  async hit(caller: Caller, hit: Hit, budget: ResponseBudget): Promise<EntryView> {
    const account = await this.#accountOf(hit.entry)
    const member = await this.#asMember(caller, hit, account, budget)
    return account ? { ...member, name: member.name ?? account.name, disabled: account.disabled || undefined } : member
  }

  /** A member of a group. */
  async groupMember(caller: Caller, target: EntryInContext, user: User, budget: ResponseBudget): Promise<EntryView> {
    const { entry } = target
    const access = accessOf(caller, target)
    return {
      ...(await this.#asMember(caller, { entry, access }, user, budget)),
      name: access.readsMetadata ? user.name : undefined,
      disabled: user.disabled || undefined,
    }
  }

  async #accountOf(entry: Entry): Promise<Account | undefined> {
    if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return undefined
    return (await findUser(this.#database, entry.id)) ?? (await findGroup(this.#database, entry.id))
  }
}
