import { type Caller, mayManageQuota, requireAdmin, requireQuotaManager } from '../../accounts/caller.ts'
import { forgetHomeContext } from '../../accounts/groups.ts'
import { findPrincipalNamed, requireName } from '../../accounts/users.ts'
import { InvalidInput, NotSupported } from '../../base/errors.ts'
import { type Bytes, UNLIMITED } from '../../base/units.ts'
import { removeFilesOf } from '../../files/file-records.ts'
import type { Ledger } from '../../files/quota-ledger.ts'
import type { Database, Queries } from '../../stores/database.ts'
import { CONTEXTS, type EntryAddress, PRINCIPALS } from '../../model/addresses.ts'
import {
  deleteContextRow,
  findContext,
  findContextNamed,
  insertContext,
  renameContext,
  requireContextName,
} from '../contexts.ts'
import { listEntryIds } from '../entry-records.ts'
import { forgetListsOf } from '../list-records.ts'
import type { Changes, EntryWriter } from '../changes.ts'
import type { EntryLoader } from '../entry-loader.ts'
import { requireLimit } from '../quotas.ts'
import type { Entry } from '../../model/entry.ts'
import { type AccessCheck, type EntryInContext, requireRight, requires } from '../../model/rights.ts'
import {
  type ContextDescription,
  type CreateResourceInput,
  type Naming,
  type ResourceBody,
  type ResourceContent,
  type ResourceKind,
  type ResourceView,
  setName,
  type Written,
} from '../resource-kind.ts'
import { isObject, jsonTypeOf } from '../../base/json.ts'
import { type Read, requireText } from '../values.ts'

export interface ContextDependencies {
  readonly database: Database
  readonly loader: EntryLoader
  readonly ledger: Ledger
  readonly changes: Changes
}

/** A context: its entries, its name, its quota (I2.6, I5.10; D7.1, D7.2). */
export class ContextKind implements ResourceKind {
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
    this.#deps = deps
    this.isCreatable = isCreatable
  }

  async create(writer: EntryWriter, { maker, entry, body }: CreateResourceInput): Promise<Entry> {
    const { tx } = writer
    const resource = isObject(body.resource) ? body.resource : {}
    const name = resource['name'] ?? resource['alias']
    const quota = resource['quota'] === undefined ? undefined : readQuotaMember(resource['quota'])
    if (quota !== undefined) {
      requireQuotaManager(maker, entry.id)
      this.#requireQuota()
    }
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

  async view(): Promise<ResourceView> {
    return { form: 'value', value: {} }
  }

  async content(caller: Caller, { entry }: EntryInContext): Promise<ResourceContent> {
    return { form: 'ids', isVersioned: false, read: () => this.list(caller, entry.id) }
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

  /** Ids of all entries, for administrators. */
  async list(caller: Caller, contextKey: string): Promise<string[]> {
    const { entry } = await this.#deps.loader.getContextEntry(contextKey)
    requireAdmin(caller, 'list the entries of a context')
    return await listEntryIds(this.#deps.database, entry.id)
  }

  /** The id of the context or principal with this name, in an array that may be empty; for administrators. */
  async named(caller: Caller, contextKey: string, name: string): Promise<string[]> {
    const { entry } = await this.#deps.loader.getContextEntry(contextKey)
    requireAdmin(caller, 'look for a name')
    if (entry.id !== CONTEXTS && entry.id !== PRINCIPALS) return []
    const id =
      entry.id === CONTEXTS
        ? await findContextNamed(this.#deps.database, name)
        : await findPrincipalNamed(this.#deps.database, requireName(name))
    return id === undefined ? [] : [id]
  }

  /** For callers who may read the context's resource. */
  async quota(caller: Caller, contextKey: string): Promise<ContextDescription> {
    this.#requireQuota()
    const target = await this.#deps.loader.getContextEntry(contextKey)
    if (!mayManageQuota(caller, target.entry.id))
      requireRight(caller, 'readresource', target, 'read the quota of this context')
    return await this.#describe(target.entry)
  }

  /** @param read returns a quota object; if absent, the manual quota is removed. */
  async setQuota(caller: Caller, contextKey: string, read: Read<unknown> | undefined): Promise<ContextDescription> {
    this.#requireQuota()
    const target = await this.#deps.loader.getContextEntry(contextKey)
    const check: AccessCheck = (caller, { entry }) => requireQuotaManager(caller, entry.id)
    check(caller, target)
    const quota = read && readQuotaObject(await read())
    const entry = await this.#deps.changes.change(caller, target, { check }, async (present, writer) => {
      await this.#setQuota(writer, present.id, quota)
      return present
    })
    return await this.#describe(entry)
  }

  /** Sets name and quota, both or neither (D7.2). */
  async put(caller: Caller, contextKey: string, read: Read<unknown>): Promise<ContextDescription> {
    const target = await this.#deps.loader.getContextEntry(contextKey)
    const mayChange = requires('administer', 'change this context')
    mayChange(caller, target)
    const body = await read()
    if (!isObject(body))
      throw new InvalidInput('invalid-value', `The body must be a JSON object, but is ${jsonTypeOf(body)}.`)
    // What PUT returned, or the entry shows, can be sent back.
    requireOnly(body, ['alias', 'name', 'quota', 'contextId', ...READ_ONLY])
    const name = body['alias'] ?? body['name']
    const newName = name === undefined ? undefined : requireText(name, 'alias')
    const setsQuota = body['quota'] !== undefined
    const check: AccessCheck = (caller, target) => {
      mayChange(caller, target)
      if (setsQuota) requireQuotaManager(caller, target.entry.id)
    }
    check(caller, target)
    if (setsQuota) this.#requireQuota()
    const quota = setsQuota ? readQuotaMember(body['quota']) : undefined
    const entry = await this.#deps.changes.change(caller, target, { check }, async (present, writer) => {
      if (newName !== undefined) await setName(this.naming, writer, present, newName)
      if (setsQuota) await this.#setQuota(writer, present.id, quota)
      return present
    })
    return await this.#describe(entry)
  }

  async #setQuota(writer: EntryWriter, context: string, quota: Bytes | undefined): Promise<void> {
    const { ledger } = this.#deps
    await ledger.setQuota(writer.tx, context, quota)
    const now = ledger.enforced ? await ledger.quotaOf(writer.tx, context) : undefined
    writer.record({ event: 'quota-changed', detail: { context, quota: now?.quota ?? UNLIMITED } })
  }

  async #describe(entry: Entry): Promise<ContextDescription> {
    const { database, ledger } = this.#deps
    const quota = ledger.enforced ? await ledger.quotaOf(database, entry.id) : undefined
    return { entry, name: await this.naming.find(database, entry.id), quota }
  }

  #requireQuota(): void {
    if (!this.#deps.ledger.enforced)
      throw new NotSupported('quota-not-supported', 'Quota is switched off on this service.')
  }
}

/** As the audit log names a context. */
const detailOf = (context: string, name: string | undefined): Readonly<Record<string, string>> =>
  name === undefined ? { context } : { context, name }

/** Members of a quota object that clients cannot set. Sent back, they are ignored, whatever their value (I2.6). */
const READ_ONLY = ['fillLevel', 'hasDefaultQuota'] as const

/** The quota in a quota object, as GET returns it (D7.1). @throws {InvalidInput} `invalid-quota` */
function readQuotaObject(json: unknown): Bytes {
  if (!isObject(json))
    throw new InvalidInput(
      'invalid-quota',
      `The body must be a JSON object with \`quota\`, but is ${jsonTypeOf(json)}.`,
    )
  requireOnly(json, ['quota', ...READ_ONLY])
  return requireLimit(json['quota'], 'quota')
}

/** The member `quota` of a context: a number, or the whole quota object. @throws {InvalidInput} `invalid-quota` */
const readQuotaMember = (value: unknown): Bytes =>
  isObject(value) ? readQuotaObject(value) : requireLimit(value, 'quota')

/** Checks that the object contains known members only; any other member is an error (D7.1). */
function requireOnly(body: Readonly<Record<string, unknown>>, members: readonly string[]): void {
  const others = Object.keys(body).filter(member => !members.includes(member))
  if (others.length > 0) throw new InvalidInput('invalid-quota', `These members cannot be set: ${others.join(', ')}.`)
}
