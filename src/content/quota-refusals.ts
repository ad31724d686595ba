import type { Caller } from '../accounts/caller.ts'
import { mayManageQuota } from '../accounts/caller-guards.ts'
import type { TooLarge } from '../base/errors.ts'
import type { QuotaExceeded, QuotaOwner } from '../files/quota-usage.ts'
import { CONTEXTS } from '../model/addresses.ts'
import { may } from '../model/rights.ts'
import type { EntryLoader } from './entry-loader.ts'

/** Refusals of what does not fit into a quota, without the numbers that the caller may not know. */
export class QuotaRefusals {
  readonly #loader: EntryLoader

  constructor(loader: EntryLoader) {
    this.#loader = loader
  }

  /** With the numbers of what the caller may read, else only whose quota is full. */
  async for(caller: Caller, refusal: QuotaExceeded): Promise<TooLarge> {
    const { kind, id } = refusal.owner
    const maySee = kind === 'context' ? await this.#mayReadContext(caller, id) : maySeeQuota(caller, refusal.owner)
    return maySee ? refusal : refusal.withoutNumbers()
  }

  /** False also for a context that is gone. */
  async #mayReadContext(caller: Caller, id: string): Promise<boolean> {
    if (mayManageQuota(caller, id)) return true
    const context = await this.#loader.target({ context: CONTEXTS, id })
    return context !== undefined && may(caller, 'readresource', context)
  }
}

/** Whether the caller may know the numbers of the quota of a user, a group or the store. */
export const maySeeQuota = (caller: Caller, { kind, id }: QuotaOwner): boolean =>
  (kind === 'user' && id === caller.user.id) || mayManageQuota(caller, CONTEXTS)
