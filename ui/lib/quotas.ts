import { ask } from './api.ts'
import { part } from './base.ts'
import type { Quota } from './contexts.ts'
import { t } from './language.ts'

/** The quota and the usage of an owner; -1 means unlimited. */
export interface OwnerQuota extends Quota {
  readonly owner: { readonly kind: 'context' | 'user' | 'group' | 'store'; readonly id: string }
  readonly maxFiles: number
  readonly files: number
  /** Bytes that uploads in progress hold. */
  readonly reserved: number
  /** Ids of the contexts of a group. */
  readonly contexts?: readonly string[]
}

/** A quota that other people use too: only whether it is full is known. */
export interface OthersQuota {
  readonly owner: { readonly kind: 'group' | 'store' }
  readonly full: boolean
}

/** Whether the service limits storage, from an attribute of the page. */
export const hasQuotas: boolean = document.documentElement.dataset['quotas'] !== undefined

/** What has a quota, as the person to whom it applies calls it. */
export const ownerTitle = ({ owner: { kind, id } }: Pick<OwnerQuota, 'owner'>): string =>
  t(`quotaOf.${kind}`, { name: id })

/** The same for a quota of which no more is known. */
export function othersTitle(kind: OwnerQuota['owner']['kind']): string {
  if (kind === 'user') return t('quotaOf.creator')
  return kind === 'group' ? t('quotaOf.itsGroup') : ownerTitle({ owner: { kind, id: '' } })
}

/** The quotas that apply to the user, with a context those for files in it. @throws {Problem} */
export async function loadMyQuotas(
  context: string | undefined,
  signal: AbortSignal,
): Promise<ReadonlyArray<OwnerQuota | OthersQuota>> {
  const query = context === undefined ? '' : `?context=${part(context)}`
  return (await ask<{ readonly items: ReadonlyArray<OwnerQuota | OthersQuota> }>(`quota${query}`, { signal })).items
}

/** Sets the contexts of a group, whose limits stay. @throws {Problem} */
export async function changeContexts(
  group: string,
  change: (contexts: readonly string[]) => readonly string[],
): Promise<void> {
  const path = `quota/groups/${part(group)}`
  const { quota, hasDefaultQuota, maxFiles, contexts = [] } = await ask<OwnerQuota>(path)
  const json = { quota: hasDefaultQuota ? null : quota, maxFiles, contexts: change(contexts) }
  await ask(path, { method: 'PUT', json })
}
