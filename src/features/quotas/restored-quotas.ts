import type { EntryWriter } from '../../content/changes.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import { QuotaOwners } from '../../files/quota-owners.ts'
import type { Database } from '../../stores/database.ts'
import { limitsOf } from './command-limits.ts'
import { Quotas } from './quotas.ts'

interface Usages {
  readonly database: Database
  readonly ledger: Ledger
}

/**
 * Gives a context that comes back the limits and the group that it had in the backup, also while quotas are off. A group that is gone comes
 * back with its limits. Part of the transaction that makes the context again. @throws {TooLarge} `quota-exceeded`
 */
export async function restoreQuotas(
  store: OperatorStore,
  writer: EntryWriter,
  copy: Usages,
  context: string,
): Promise<void> {
  const quotas = new Quotas(store)
  const owner = { kind: 'context', id: context } as const
  const usage = await copy.ledger.usage.find(copy.database, owner)
  const limits = usage && limitsOf(usage)
  if (limits && (limits.bytes !== null || limits.files !== null)) await quotas.setIn(writer, owner, limits)
  const name = await copy.ledger.groupOf(copy.database, context)
  if (name === undefined) return
  const group = { kind: 'group', id: name } as const
  const { usage: usages } = store.ledger
  const known = (await usages.find(writer.tx, group)) ?? (await copy.ledger.usage.find(copy.database, group))
  const contexts = [...(await new QuotaOwners(usages).contextsOf(writer.tx, name)), context]
  await quotas.setIn(writer, group, { ...(known ? limitsOf(known) : { bytes: null, files: null }), contexts })
}
