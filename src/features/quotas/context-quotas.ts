import { mayManageQuota, requireQuotaManager } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import type { Bytes } from '../../base/units.ts'
import type { Changes, EntryWriter } from '../../content/changes.ts'
import type { ContextQuota } from '../../content/context-quota.ts'
import type { EntryLoader } from '../../content/entry-loader.ts'
import type { Read } from '../../content/values.ts'
import type { Files } from '../../files/files.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import type { Usage } from '../../files/quota-usage.ts'
import type { Entry } from '../../model/entry.ts'
import { type AccessCheck, requireRight } from '../../model/rights.ts'
import type { Database } from '../../stores/database.ts'
import { readQuotaMember, readQuotaObject } from './quota-json.ts'

interface Dependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly ledger: Ledger
  readonly changes: Changes
  readonly files: Pick<Files, 'reportThresholds'>
}

interface QuotaOfContext {
  readonly entry: Entry
  readonly quota: Usage
}

/** The quota of a context at its own address and as a member of the context (I2.6; D7.1, D7.2). */
export class ContextQuotas implements ContextQuota {
  readonly read = readQuotaMember
  readonly #deps: Dependencies

  constructor(deps: Dependencies) {
    this.#deps = deps
  }

  /** For callers who may read the context's resource. */
  async find(caller: Caller, contextKey: string): Promise<QuotaOfContext> {
    const target = await this.#deps.loader.getContextEntry(contextKey)
    if (!mayManageQuota(caller, target.entry.id))
      requireRight(caller, 'readresource', target, 'read the quota of this context')
    return await this.#describe(target.entry)
  }

  /** @param read returns a quota object; if absent, the manual quota is removed */
  async change(caller: Caller, contextKey: string, read: Read<unknown> | undefined): Promise<QuotaOfContext> {
    const target = await this.#deps.loader.getContextEntry(contextKey)
    const check: AccessCheck = (caller, { entry }) => requireQuotaManager(caller, entry.id)
    check(caller, target)
    const quota = read && readQuotaObject(await read())
    let usage: readonly UsageChange[] = []
    const entry = await this.#deps.changes.change(caller, target, { check }, async (present, writer) => {
      usage = [await this.set(writer, present.id, quota)]
      return present
    })
    await this.#deps.files.reportThresholds(usage)
    return await this.#describe(entry)
  }

  async set(writer: EntryWriter, context: string, quota: Bytes | undefined): Promise<UsageChange> {
    const change = await this.#deps.ledger.setQuota(writer.tx, context, quota)
    writer.record({ event: 'quota-changed', detail: { context, quota: change.after.limit.bytes } })
    return change
  }

  async #describe(entry: Entry): Promise<QuotaOfContext> {
    return { entry, quota: await this.#deps.ledger.quotaOf(this.#deps.database, entry.id) }
  }
}
