import { findUser } from '../accounts/users.ts'
import type { OperatorStore } from '../assembly/operator.ts'
import { InvalidInput, NotFound, StartupError } from '../base/errors.ts'
import { UNLIMITED } from '../base/units.ts'
import { parseSize } from '../config/quantities.ts'
import { findContext } from '../content/contexts.ts'
import type { QuotaState } from '../content/quotas.ts'
import type { Limits } from '../files/quota-owners.ts'
import type { QuotaOwner } from '../files/quota-usage.ts'
import { type Answer, type Call, table } from './operator-command.ts'

/** What one owner may use and uses. */
interface Described {
  readonly kind: QuotaOwner['kind']
  readonly id: string
  readonly name: string | null
  readonly bytes: number
  readonly files: number
  /** -1 is unlimited. */
  readonly quota: number
  readonly maxFiles: number
  readonly hasDefaultQuota: boolean
  readonly contexts?: readonly string[]
}

export async function describeQuota({ database }: OperatorStore, state: QuotaState): Promise<Described> {
  const { owner, limit, used, hasDefaultQuota, contexts } = state
  const { kind, id } = owner
  const named = kind === 'user' ? await findUser(database, id) : undefined
  const name = kind === 'context' ? (await findContext(database, id))?.name : named?.name
  return {
    kind,
    id,
    name: name ?? null,
    ...used,
    quota: limit.bytes,
    maxFiles: limit.files,
    hasDefaultQuota,
    ...(contexts ? { contexts } : {}),
  }
}

export const titles = ['KIND', 'ID', 'NAME', 'BYTES', 'QUOTA', 'FILES', 'MAX-FILES']

const limitText = (limit: number): string => (limit === UNLIMITED ? 'unlimited' : String(limit))

export const columns = ({ kind, id, name, bytes, quota, files, maxFiles }: Described): readonly string[] => [
  kind,
  id || '-',
  name ?? '-',
  String(bytes),
  limitText(quota),
  String(files),
  limitText(maxFiles),
]

/** @throws {StartupError} */
export function requireQuota({ ledger }: OperatorStore): void {
  if (!ledger.enforced) throw new StartupError('Quota is switched off: set service.data.quota=on first.')
}

/**
 * Sets what the call names, the rest stays; without a limit it shows the present state. `default` goes back to the limits of the
 * settings, and ends a group of contexts. @throws {InvalidInput} @throws {NotFound} @throws {Conflict}
 */
export async function applyLimit(
  store: OperatorStore,
  owner: QuotaOwner,
  limit: string | undefined,
  { option }: Call,
): Promise<Answer> {
  requireQuota(store)
  const { quotas, caller } = store
  const maxFiles = option('max-files')
  const contexts = option('contexts')
  if (limit === 'default') {
    if (maxFiles !== undefined || contexts !== undefined)
      throw new InvalidInput('invalid-quota', '"default" removes all limits: leave the options out.')
    return await shown(store, await quotas.remove(caller, owner))
  }
  if (limit === undefined && maxFiles === undefined && contexts === undefined)
    return await shown(store, await quotas.read(caller, owner))
  const change: Partial<Limits> = {
    ...(limit === undefined ? {} : { bytes: readBytes(limit) }),
    ...(maxFiles === undefined ? {} : { files: readFiles(maxFiles) }),
  }
  const ids = contexts === undefined ? undefined : await idsOf(store, contexts)
  const present = await limitsOf(store, owner)
  return await shown(store, await quotas.set(caller, owner, { ...present, ...change, contexts: ids }))
}

async function shown(store: OperatorStore, state: QuotaState | undefined): Promise<Answer> {
  if (!state) return { json: null, lines: ['The group is deleted. Its contexts stay.'] }
  const described = await describeQuota(store, state)
  return { json: described, lines: table([titles, columns(described)]) }
}

/** The limits that administrators have set. A new group has none. */
async function limitsOf({ quotas, caller }: OperatorStore, owner: QuotaOwner): Promise<Limits> {
  try {
    const { limit, hasDefaultQuota } = await quotas.read(caller, owner)
    return { bytes: hasDefaultQuota ? null : limit.bytes, files: limit.files === UNLIMITED ? null : limit.files }
  } catch (error) {
    if (owner.kind === 'group' && error instanceof NotFound) return { bytes: null, files: null }
    throw error
  }
}

function readBytes(text: string): number {
  const bytes = text === 'unlimited' ? UNLIMITED : parseSize(text)
  if (bytes !== undefined) return bytes
  throw new InvalidInput(
    'invalid-quota',
    `The limit must be a size such as 5g, "unlimited" or "default", but is "${text}".`,
  )
}

function readFiles(text: string): number | null {
  if (text === 'unlimited') return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidInput('invalid-quota', `--max-files must be a whole number or "unlimited", but is "${text}".`)
}

async function idsOf({ entries }: OperatorStore, list: string): Promise<readonly string[]> {
  const keys = list.split(',').filter(key => key !== '')
  return [...new Set(await Promise.all(keys.map(key => entries.contextId(key))))]
}
