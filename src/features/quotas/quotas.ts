import { mayManageQuota, requireQuotaManager, requireSignedIn } from '../../accounts/caller-guards.ts'
import { type Caller, isGuest } from '../../accounts/caller.ts'
import { findUser } from '../../accounts/users.ts'
import { InvalidInput } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import { UNLIMITED } from '../../base/units.ts'
import type { Files } from '../../files/files.ts'
import { type UsageChange, WITHOUT_LIMIT } from '../../files/quota-thresholds.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import { type Limits, QuotaOwners } from '../../files/quota-owners.ts'
import { type QuotaOwner, STORE, type Usage } from '../../files/quota-usage.ts'
import { type ReservingUpload, uploadsReserving } from '../uploads/upload-shares.ts'
import { CONTEXTS } from '../../model/addresses.ts'
import { may, requireRight } from '../../model/rights.ts'
import type { Database, Queries } from '../../stores/database.ts'
import type { Changes, EntryWriter } from '../../content/changes.ts'
import { maySeeQuota } from '../../content/quota-refusals.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'

/** An upload in progress that counts against a quota. */
export interface QuotaUpload extends ReservingUpload {
  readonly uploaderName: string | undefined
}

/** The information about the quota of somebody else that a caller may have. */
export interface OthersQuota {
  readonly owner: Pick<QuotaOwner, 'kind'>
  /** True if not a byte or not a file more fits, with what uploads in progress have reserved. */
  readonly isFull: boolean
}

interface Dependencies {
  readonly database: Database
  readonly ledger: Ledger
  readonly changes: Changes
  readonly loader: EntryLoader
  readonly files: Pick<Files, 'reportThresholds'>
  readonly system: System
}

/** Quotas of users, groups of contexts and the store, and numbers of files of contexts. Administrators set them. */
export class Quotas {
  readonly #deps: Dependencies
  readonly #owners: QuotaOwners

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#owners = new QuotaOwners(deps.ledger.usage)
  }

  /** The quotas that apply to the files of the caller: their own, and that of the store if it has one. */
  async ofCaller(caller: Caller): Promise<ReadonlyArray<Usage | OthersQuota>> {
    requireSignedIn(caller, 'read your quota')
    return await this.#everywhere(caller)
  }

  /** The quotas that apply to files that the caller creates in a context, including those of the context and its group. */
  async inContext(caller: Caller, contextKey: string): Promise<ReadonlyArray<Usage | OthersQuota>> {
    const { database, ledger, loader } = this.#deps
    const target = await loader.getContextEntry(contextKey)
    const { id } = target.entry
    if (!mayManageQuota(caller, id)) requireRight(caller, 'readresource', target, 'read the quota of this context')
    const group = await ledger.groupOf(database, id)
    return [
      await this.#owners.read(database, { kind: 'context', id }),
      ...(group === undefined ? [] : [shown(caller, await this.#owners.read(database, { kind: 'group', id: group }))]),
      ...(await this.#everywhere(caller)),
    ]
  }

  async #everywhere(caller: Caller): Promise<ReadonlyArray<Usage | OthersQuota>> {
    const { database, ledger } = this.#deps
    const store = await ledger.usage.find(database, STORE)
    return [
      ...(isGuest(caller) ? [] : [await this.#owners.read(database, { kind: 'user', id: caller.user.id })]),
      ...(store ? [shown(caller, store)] : []),
    ]
  }

  /** For administrators, and users who read their own. @throws {NotFound} */
  async read(caller: Caller, owner: QuotaOwner): Promise<Usage> {
    if (owner.kind !== 'user' || owner.id !== caller.user.id) requireQuotaManager(caller, CONTEXTS)
    return await this.#state(this.#deps.database, owner)
  }

  /**
   * Uploads in several requests that count against a quota, in descending order of the reserved bytes. For administrators, for users about
   * their own quota, and for owners of a context. @throws {NotFound}
   */
  async uploads(
    caller: Caller,
    owner: QuotaOwner,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly uploads: readonly QuotaUpload[]; readonly results: number }> {
    const { database, system } = this.#deps
    if (owner.kind !== 'context' || !(await this.#ownsContext(caller, owner.id))) await this.read(caller, owner)
    const { uploads, results } = await uploadsReserving(database, system, owner, page)
    const named: QuotaUpload[] = []
    for (const upload of uploads)
      named.push({ ...upload, uploaderName: (await findUser(database, upload.uploader))?.name })
    return { uploads: named, results }
  }

  async #ownsContext(caller: Caller, id: string): Promise<boolean> {
    const context = await this.#deps.loader.target({ context: CONTEXTS, id })
    return context !== undefined && may(caller, 'administer', context)
  }

  /** Owners of one kind, those that use most bytes first; with `reached` only those at this percentage. For administrators. */
  async list(
    caller: Caller,
    kind: QuotaOwner['kind'],
    portion: { readonly limit: number; readonly offset: number; readonly reached?: number },
  ): Promise<{ readonly total: number; readonly usages: readonly Usage[] }> {
    requireQuotaManager(caller, CONTEXTS)
    return await this.#owners.list(this.#deps.database, kind, portion)
  }

  /** Limits below the present usage only prevent growth. @throws {NotFound} @throws {Conflict} @throws {TooLarge} `quota-exceeded` */
  async set(caller: Caller, owner: QuotaOwner, limits: Limits): Promise<Usage> {
    if (owner.kind === 'group') requireGroupName(owner.id)
    return await this.#change(caller, owner, tx => this.#setLimits(tx, owner, limits))
  }

  /** The same as part of a transaction. Reports no thresholds: uploads report those that they reach. */
  async setIn(writer: EntryWriter, owner: QuotaOwner, limits: Limits): Promise<void> {
    await this.#changeIn(writer, owner, tx => this.#setLimits(tx, owner, limits))
  }

  async #setLimits(tx: Queries, owner: QuotaOwner, { contexts, ...limits }: Limits): Promise<void> {
    await this.#owners.setLimits(tx, owner, limits)
    if (contexts) await this.#owners.setContexts(tx, owner.id, contexts)
  }

  /** Goes back to the limits of the settings; a group ceases to exist, which resolves to `undefined`. @throws {NotFound} */
  async remove(caller: Caller, owner: QuotaOwner): Promise<Usage | undefined> {
    if (owner.kind !== 'group') return await this.#change(caller, owner, tx => this.#owners.removeLimits(tx, owner))
    requireQuotaManager(caller, CONTEXTS)
    await this.#deps.changes.run(caller, async writer => {
      requireQuotaManager(writer.caller, CONTEXTS)
      await this.#owners.removeLimits(writer.tx, owner)
      writer.record({ event: 'quota-changed', detail: { group: owner.id, quota: -1 } })
    })
    return undefined
  }

  async #change(caller: Caller, owner: QuotaOwner, change: (tx: Queries) => Promise<void>): Promise<Usage> {
    requireQuotaManager(caller, CONTEXTS)
    const changed = await this.#deps.changes.run(caller, writer => this.#changeIn(writer, owner, change))
    await this.#deps.files.reportThresholds([changed])
    return changed.after
  }

  async #changeIn(
    writer: EntryWriter,
    owner: QuotaOwner,
    change: (tx: Queries) => Promise<void>,
  ): Promise<UsageChange> {
    requireQuotaManager(writer.caller, CONTEXTS)
    const before = await this.#deps.ledger.usage.find(writer.tx, owner)
    await change(writer.tx)
    const after = await this.#state(writer.tx, owner)
    const { limit, contexts } = after
    const detail = {
      [owner.kind]: owner.id,
      quota: limit.bytes,
      maxFiles: limit.files,
      ...(contexts && { contexts: contexts.join(' ') }),
    }
    writer.record({ event: 'quota-changed', detail })
    return { before: before ?? WITHOUT_LIMIT, after }
  }

  async #state(queries: Queries, owner: QuotaOwner): Promise<Usage> {
    const usage = await this.#owners.read(queries, owner)
    return owner.kind === 'group' ? { ...usage, contexts: await this.#owners.contextsOf(queries, owner.id) } : usage
  }
}

const shown = (caller: Caller, usage: Usage): Usage | OthersQuota =>
  maySeeQuota(caller, usage.owner) ? usage : { owner: { kind: usage.owner.kind }, isFull: isFull(usage) }

const isFull = ({ limit, held }: Usage): boolean =>
  (['bytes', 'files'] as const).some(unit => limit[unit] !== UNLIMITED && held[unit] >= limit[unit])

const MAX_NAME = 128

function requireGroupName(name: string): void {
  if (/^[\w-]+$/.test(name) && name.length <= MAX_NAME) return
  throw new InvalidInput(
    'invalid-name',
    `The name of a group of contexts must be 1 to ${MAX_NAME} of A-Z, a-z, 0-9, _ and -, but is ${JSON.stringify(name.slice(0, 40))}.`,
  )
}
