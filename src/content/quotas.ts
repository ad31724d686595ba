import { type Caller, mayManageQuota, requireQuotaManager, requireSignedIn } from '../accounts/caller.ts'
import { InvalidInput } from '../base/errors.ts'
import { jsonTypeOf } from '../base/json.ts'
import { UNLIMITED } from '../base/units.ts'
import type { Ledger } from '../files/quota-ledger.ts'
import { type Limits, QuotaOwners } from '../files/quota-owners.ts'
import { type QuotaOwner, STORE, type Usage } from '../files/quota-usage.ts'
import { CONTEXTS } from '../model/addresses.ts'
import { requireRight } from '../model/rights.ts'
import type { Database, Queries } from '../stores/database.ts'
import type { Changes } from './changes.ts'
import type { EntryLoader } from './entry-loader.ts'

/** Usage, and for a group the ids of its contexts. */
export interface QuotaState extends Usage {
  readonly contexts?: readonly string[]
}

/** New limits; `contexts` only for a group, whose contexts stay as they are without it. */
export interface QuotaChange extends Limits {
  readonly contexts?: readonly string[] | undefined
}

interface Dependencies {
  readonly database: Database
  readonly ledger: Ledger
  readonly changes: Changes
  readonly loader: EntryLoader
}

/** Quotas of users, groups of contexts and the store, and numbers of files of contexts. Administrators set them. */
export class Quotas {
  readonly #deps: Dependencies
  readonly #owners: QuotaOwners

  constructor(deps: Dependencies) {
    this.#deps = deps
    this.#owners = new QuotaOwners(deps.ledger.usage)
  }

  /** What applies to the files of the caller: their own quota, and that of the store where it has one. */
  async ofCaller(caller: Caller): Promise<QuotaState[]> {
    requireSignedIn(caller, 'read your quota')
    const { database, ledger } = this.#deps
    const own = await this.#owners.read(database, { kind: 'user', id: caller.user.id })
    const store = await ledger.usage.find(database, STORE)
    return store ? [own, store] : [own]
  }

  /** What applies to files that the caller creates in a context: also its own quota and that of its group. */
  async inContext(caller: Caller, contextKey: string): Promise<QuotaState[]> {
    const { database, ledger, loader } = this.#deps
    const target = await loader.getContextEntry(contextKey)
    const { id } = target.entry
    if (!mayManageQuota(caller, id)) requireRight(caller, 'readresource', target, 'read the quota of this context')
    const group = await ledger.groupOf(database, id)
    const shared: readonly QuotaOwner[] = [
      { kind: 'context', id },
      ...(group === undefined ? [] : [{ kind: 'group' as const, id: group }]),
    ]
    const usages = await Promise.all(shared.map(owner => this.#owners.read(database, owner)))
    return [...usages, ...(await this.ofCaller(caller))]
  }

  /** For administrators, and users who read their own. @throws {NotFound} */
  async read(caller: Caller, owner: QuotaOwner): Promise<QuotaState> {
    if (owner.kind !== 'user' || owner.id !== caller.user.id) requireQuotaManager(caller, CONTEXTS)
    return await this.#state(this.#deps.database, owner)
  }

  /** Owners of one kind, those that use most bytes first; with `reached` only those at this percentage. For administrators. */
  async list(
    caller: Caller,
    kind: QuotaOwner['kind'],
    portion: { readonly limit: number; readonly offset: number; readonly reached?: number },
  ): Promise<{ readonly total: number; readonly usages: readonly QuotaState[] }> {
    requireQuotaManager(caller, CONTEXTS)
    return await this.#owners.list(this.#deps.database, kind, portion)
  }

  /** Limits below the present usage only prevent growth. @throws {NotFound} @throws {Conflict} */
  async set(caller: Caller, owner: QuotaOwner, { contexts, ...limits }: QuotaChange): Promise<QuotaState> {
    if (owner.kind === 'group') requireGroupName(owner.id)
    return await this.#change(caller, owner, async tx => {
      await this.#owners.setLimits(tx, owner, limits)
      if (contexts) await this.#owners.setContexts(tx, owner.id, contexts)
    })
  }

  /** Goes back to the limits of the settings; a group ceases to exist, which resolves to `undefined`. @throws {NotFound} */
  async remove(caller: Caller, owner: QuotaOwner): Promise<QuotaState | undefined> {
    if (owner.kind !== 'group') return await this.#change(caller, owner, tx => this.#owners.removeLimits(tx, owner))
    requireQuotaManager(caller, CONTEXTS)
    await this.#deps.changes.run(caller, async writer => {
      requireQuotaManager(writer.caller, CONTEXTS)
      await this.#owners.removeLimits(writer.tx, owner)
      writer.record({ event: 'quota-changed', detail: { group: owner.id, quota: -1 } })
    })
    return undefined
  }

  async #change(caller: Caller, owner: QuotaOwner, change: (tx: Queries) => Promise<void>): Promise<QuotaState> {
    requireQuotaManager(caller, CONTEXTS)
    return await this.#deps.changes.run(caller, async writer => {
      requireQuotaManager(writer.caller, CONTEXTS)
      await change(writer.tx)
      const state = await this.#state(writer.tx, owner)
      const { limit, contexts } = state
      const detail = {
        [owner.kind]: owner.id,
        quota: limit.bytes,
        maxFiles: limit.files,
        ...(contexts && { contexts: contexts.join(' ') }),
      }
      writer.record({ event: 'quota-changed', detail })
      return state
    })
  }

  async #state(queries: Queries, owner: QuotaOwner): Promise<QuotaState> {
    const usage = await this.#owners.read(queries, owner)
    return owner.kind === 'group' ? { ...usage, contexts: await this.#owners.contextsOf(queries, owner.id) } : usage
  }
}

/** A limit as clients send it: bytes or a number of files, -1 for none. @throws {InvalidInput} `invalid-quota` */
export function requireLimit(value: unknown, member: 'quota' | 'maxFiles'): number {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && !Object.is(value, -0)
  if (isWhole && value >= UNLIMITED) return value
  const unit = member === 'quota' ? 'bytes' : 'files'
  throw new InvalidInput(
    'invalid-quota',
    `\`${member}\` must be -1 (unlimited) or a whole number of ${unit} from 0 to 2^53-1, but is ${jsonTypeOf(value)}.`,
  )
}

const MAX_NAME = 128

function requireGroupName(name: string): void {
  if (/^[\w-]+$/.test(name) && name.length <= MAX_NAME) return
  throw new InvalidInput(
    'invalid-name',
    `The name of a group of contexts must be 1 to ${MAX_NAME} of A-Z, a-z, 0-9, _ and -, but is ${JSON.stringify(name.slice(0, 40))}.`,
  )
}
