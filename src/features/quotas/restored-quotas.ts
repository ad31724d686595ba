import type { OperatorStore } from '../../core/operator-store.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { Limits } from '../../files/quota-owners.ts'
import type { QuotaOwner } from '../../files/quota-usage.ts'
import type { Database } from '../../stores/database.ts'
import { limitsOf } from './command-limits.ts'
import { Quotas } from './quotas.ts'

interface Usages {
  readonly database: Database
  readonly ledger: Ledger
}

/**
 * Gives a context that comes back the limits and the group that it had in the backup, unless it has others now, also while quotas are off.
 * A group that is gone comes back with its limits. @returns a function that removes a group that was made for it
 */
export async function restoreQuotas(store: OperatorStore, copy: Usages, id: string): Promise<() => Promise<void>> {
  const { database, ledger, caller } = store
  const quotas = new Quotas(store)
  const owner = { kind: 'context', id } as const
  const limits = await ownLimits(copy, owner)
  if (limits && !(await ownLimits(store, owner))) await quotas.set(caller, owner, limits)
  const name = await copy.ledger.groupOf(copy.database, id)
  if (name === undefined || (await ledger.groupOf(database, id)) !== undefined) return async () => {}
  const group = { kind: 'group', id: name } as const
  if (await ledger.usage.find(database, group)) {
    const present = await quotas.read(caller, group)
    await quotas.set(caller, group, { ...limitsOf(present), contexts: [...(present.contexts ?? []), id] })
    return async () => {}
  }
  const before = await copy.ledger.usage.find(copy.database, group)
  await quotas.set(caller, group, { ...(before ? limitsOf(before) : { bytes: null, files: null }), contexts: [id] })
  return async () => void (await quotas.remove(caller, group))
}

/** The limits that administrators have set for it, if any. */
async function ownLimits({ database, ledger }: Usages, owner: QuotaOwner): Promise<Limits | undefined> {
  const usage = await ledger.usage.find(database, owner)
  const limits = usage && limitsOf(usage)
  return limits && (limits.bytes !== null || limits.files !== null) ? limits : undefined
}
