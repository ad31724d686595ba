import { findUser } from '../../accounts/users.ts'
import type { OperatorStore } from '../../core/operator-store.ts'
import { NotFound, StartupError } from '../../base/errors.ts'
import { UNLIMITED } from '../../base/units.ts'
import { parseSize } from '../../config/quantities.ts'
import { findContext } from '../../content/contexts.ts'
import type { Limits } from '../../files/quota-owners.ts'
import type { QuotaOwner, Usage } from '../../files/quota-usage.ts'
import { UsageError } from '../../core/command.ts'
import { Quotas } from './quotas.ts'
import { type Answer, type Call, table } from '../../core/operator-command.ts'

/** What one owner may use and uses, as JSON and as a row of a table with {@link titles}. */
export async function describeQuota({ database }: Pick<OperatorStore, 'database'>, usage: Usage) {
  const { owner, limit, used, hasDefaultQuota, contexts } = usage
  const { kind, id } = owner
  const named = kind === 'user' ? await findUser(database, id) : undefined
  const name = kind === 'context' ? (await findContext(database, id))?.name : named?.name
  const limits = { quota: limit.bytes, maxFiles: limit.files, hasDefaultQuota }
  return {
    json: { kind, id, name: name ?? null, ...used, ...limits, ...(contexts ? { contexts } : {}) },
    row: [kind, id || '-', name ?? '-', used.bytes, limitText(limit.bytes), used.files, limitText(limit.files)].map(
      String,
    ),
  }
}

export const titles = ['KIND', 'ID', 'NAME', 'BYTES', 'QUOTA', 'FILES', 'MAX-FILES']

const limitText = (limit: number): string => (limit === UNLIMITED ? 'unlimited' : String(limit))

/** Several of them, as the answer of a command. */
export async function describeQuotas(
  store: Pick<OperatorStore, 'database'>,
  usages: readonly Usage[],
): Promise<Answer> {
  const described = await Promise.all(usages.map(usage => describeQuota(store, usage)))
  return { json: described.map(({ json }) => json), lines: table([titles, ...described.map(({ row }) => row)]) }
}

/** @throws {StartupError} */
export function requireQuota({ ledger }: Pick<OperatorStore, 'ledger'>): void {
  if (!ledger.enforced) throw new StartupError('Quota is switched off: set service.data.quota=on first.')
}

/**
 * Sets the limits that the call names; the others stay. Without a limit, shows the present limits and usage. `default` goes back to the
 * limits of the settings, and deletes a group of contexts. @throws {UsageError} @throws {NotFound} @throws {Conflict}
 */
export async function applyLimit(
  store: OperatorStore,
  owner: QuotaOwner,
  limit: string | undefined,
  { option }: Call,
): Promise<Answer> {
  requireQuota(store)
  const { caller } = store
  const quotas = new Quotas(store)
  const maxFiles = option('max-files')
  const contexts = option('contexts')
  if (limit === 'default') {
    if (maxFiles !== undefined || contexts !== undefined)
      throw new UsageError('"default" removes all limits: leave the options out.')
    return await shown(store, await quotas.remove(caller, owner))
  }
  if (limit === undefined && maxFiles === undefined && contexts === undefined)
    return await shown(store, await quotas.read(caller, owner))
  const change: Partial<Limits> = {
    ...(limit === undefined ? {} : { bytes: readBytes(limit) }),
    ...(maxFiles === undefined ? {} : { files: readFiles(maxFiles) }),
  }
  const ids = contexts === undefined ? undefined : await idsOf(store, contexts)
  const present = await presentLimits(store, owner)
  return await shown(store, await quotas.set(caller, owner, { ...present, ...change, contexts: ids }))
}

async function shown(store: OperatorStore, state: Usage | undefined): Promise<Answer> {
  if (!state) return { json: null, lines: ['The group is deleted. Its contexts stay.'] }
  const described = await describeQuota(store, state)
  return { json: described.json, lines: table([titles, described.row]) }
}

/** The limits that administrators have set. */
export const limitsOf = ({ limit, hasDefaultQuota }: Usage): Limits => ({
  bytes: hasDefaultQuota ? null : limit.bytes,
  files: limit.files === UNLIMITED ? null : limit.files,
})

/** A new group has none. */
async function presentLimits(store: OperatorStore, owner: QuotaOwner): Promise<Limits> {
  try {
    return limitsOf(await new Quotas(store).read(store.caller, owner))
  } catch (error) {
    if (owner.kind === 'group' && error instanceof NotFound) return { bytes: null, files: null }
    throw error
  }
}

function readBytes(text: string): number {
  const bytes = text === 'unlimited' ? UNLIMITED : parseSize(text)
  if (bytes !== undefined) return bytes
  throw new UsageError(`The limit must be a size such as 5g, "unlimited" or "default", but is "${text}".`)
}

function readFiles(text: string): number | null {
  if (text === 'unlimited') return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError(`--max-files must be a whole number or "unlimited", but is "${text}".`)
}

async function idsOf({ entries }: OperatorStore, list: string): Promise<readonly string[]> {
  const keys = list.split(',').filter(key => key !== '')
  return [...new Set(await Promise.all(keys.map(key => entries.contextId(key))))]
}
