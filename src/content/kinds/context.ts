import { requireQuotaManager } from '../../accounts/caller-guards.ts'
import type { Caller } from '../../accounts/caller.ts'
import { forgetHomeContext } from '../../accounts/groups.ts'
import { InvalidInput, NotSupported } from '../../base/errors.ts'
import { removeFilesOf } from '../../files/file-records.ts'
import type { Files } from '../../files/files.ts'
import type { UsageChange } from '../../files/quota-thresholds.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { Queries } from '../../stores/database.ts'
import { CONTEXTS, type EntryAddress } from '../../model/addresses.ts'
import { deleteContextRow, findContext, insertContext, renameContext, requireContextName } from '../contexts.ts'
import { forgetListsOf } from '../list-records.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import { type ContextReadDependencies, ContextReads } from './context-reads.ts'
import { type ContextQuota, type ContextQuotaSlot, QUOTA_READ_ONLY, requireOnly } from '../context-quota.ts'
import type { Entry } from '../../model/entry.ts'
import { type AccessCheck, type EntryInContext, requires } from '../../model/rights.ts'
import {
  type ContextDescription,
  type CreateResourceInput,
  type Naming,
  type ResourceBody,
  type ResourceKind,
  setName,
  type Written,
} from '../resource-kind.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { type Read, requireText } from '../values.ts'

export interface ContextDependencies extends ContextReadDependencies {
  readonly ledger: Ledger
  readonly contextQuota: ContextQuotaSlot
  readonly changes: Changes
  readonly files: Pick<Files, 'reportThresholds'>
}

/** A context: its entries, its name, its quota (I2.6, I5.10; D7.1, D7.2). */
export class ContextKind extends ContextReads implements ResourceKind {
  readonly isCreatable: boolean
  readonly home = CONTEXTS
  readonly naming: Naming = {
    isPublic: true,
    check: requires('administer', 'change this name'),
    find: async (queries, id) => (await findContext(queries, id))?.name,
    set: async (writer, id, name) => {
      const present = (await findContext(writer.tx, id))?.name
      const next = name.trim() === '' ? undefined : requireContextName(name)
      await renameContext(writer.tx, id, next)
      if (next === present) return
      writer.record({ event: 'context-renamed', detail: { context: id, name: present ?? '', newName: next ?? '' } })
    },
  }
  readonly #deps: ContextDependencies

  /** @param options.isCreatable false for the system contexts, which every store has */
  constructor(deps: ContextDependencies, { isCreatable = true } = {}) {
    super(deps)
    this.#deps = deps
    this.isCreatable = isCreatable
  }

  async create(writer: EntryWriter, { maker, entry, body }: CreateResourceInput): Promise<Entry> {
    const { tx } = writer
    const resource = isObject(body.resource) ? body.resource : {}
    const name = resource['name'] ?? resource['alias']
    const setsQuota = resource['quota'] !== undefined
    if (setsQuota) requireQuotaManager(maker, entry.id)
    const quotas = setsQuota ? this.#requireQuota() : undefined
    const quota = quotas?.read(resource['quota'])
    const contextName = name === undefined ? undefined : requireContextName(requireText(name, 'name'))
    await this.open(tx, entry.id, contextName)
    writer.record({ event: 'context-created', detail: detailOf(entry.id, contextName) })
    if (quota !== undefined) await this.#deps.ledger.setQuota(tx, entry.id, quota)
    return entry
  }

  /** Makes the rows of a new context beside its entry. */
  async open(tx: Queries, id: string, name: string | undefined): Promise<void> {
    await insertContext(tx, id, name)
    await this.#deps.ledger.open(tx, id)
  }

  /** Sets name and quota, both or neither (D7.2). */
  async write(caller: Caller, { entry }: EntryInContext, body: ResourceBody): Promise<Written> {
    const context = await this.put(caller, entry.id, () => body.json())
    return { entry: context.entry, context }
  }

  /** Deletes the context with all its entries and their files. */
  async remove(writer: EntryWriter, { id }: EntryAddress): Promise<void> {
    const { tx } = writer
    const name = (await findContext(tx, id))?.name
    await this.#deps.ledger.releaseFilesOf(tx, id)
    await removeFilesOf(tx, id)
    await forgetListsOf(tx, id)
    await writer.deleteAllOf(id)
    await forgetHomeContext(tx, id)
    await this.#deps.ledger.close(tx, id)
    await deleteContextRow(tx, id)
    writer.record({ event: 'context-deleted', detail: detailOf(id, name) })
  }

  /** Sets name and quota, both or neither (D7.2). */
  async put(caller: Caller, contextKey: string, read: Read<unknown>): Promise<ContextDescription> {
    const target = await this.#deps.loader.getContextEntry(contextKey)
    const mayChange = requires('administer', 'change this context')
    mayChange(caller, target)
    const body = await read()
    if (!isObject(body))
      throw new InvalidInput('invalid-value', `The body must be a JSON object, but is ${jsonTypeOf(body)}.`)
    // A client may send back the members of a response to PUT and of the entry.
    requireOnly(body, ['alias', 'name', 'quota', 'contextId', ...QUOTA_READ_ONLY])
    const name = body['alias'] === undefined ? body['name'] : body['alias']
    const newName = name === undefined ? undefined : requireText(name ?? '', 'alias')
    const setsQuota = body['quota'] !== undefined
    const check: AccessCheck = (caller, target) => {
      mayChange(caller, target)
      if (setsQuota) requireQuotaManager(caller, target.entry.id)
    }
    check(caller, target)
    const quotas = setsQuota ? this.#requireQuota() : undefined
    const quota = quotas?.read(body['quota'])
    let usage: readonly UsageChange[] = []
    const entry = await this.#deps.changes.change(caller, target, { check }, async (present, writer) => {
      if (newName !== undefined) await setName(this.naming, writer, present, newName)
      if (quotas) usage = [await quotas.set(writer, present.id, quota)]
      return present
    })
    await this.#deps.files.reportThresholds(usage)
    return await this.#describe(entry)
  }

  async #describe(entry: Entry): Promise<ContextDescription> {
    const { database, ledger } = this.#deps
    const quota = ledger.enforced ? await ledger.quotaOf(database, entry.id) : undefined
    return { entry, name: await this.naming.find(database, entry.id), quota }
  }

  /** @throws {NotSupported} while quota is off */
  #requireQuota(): ContextQuota {
    const { filled } = this.#deps.contextQuota
    if (!filled) throw new NotSupported('quota-not-supported', 'Quota is switched off on this service.')
    return filled
  }
}

/** As the audit log names a context. */
const detailOf = (context: string, name: string | undefined): Readonly<Record<string, string>> =>
  name === undefined ? { context } : { context, name }
