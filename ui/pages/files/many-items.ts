import { tellFailure, tellProgress } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { forMany } from '../../lib/many.ts'
import {
  beginOperation,
  byContext,
  type Chosen,
  MANY,
  type NewOperation,
  type Operation,
} from '../../lib/operations.ts'
import { visible } from '../../lib/text.ts'
import type { MessageKey } from '../../messages/en.ts'

/** This number of items is over before anybody has read how far they are. */
const FEW = 20
/** In how many steps progress is told: screen readers read each. */
const STEPS = 20

/**
 * Works through items and tells how far it is, with a way to stop; a failure is told and does not stop it.
 * @returns those for which it succeeded
 */
export async function workThrough<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  atOnce?: number,
): Promise<readonly T[]> {
  const controller = new AbortController()
  const progress = tellProgress({ text: t('stop'), work: () => controller.abort() })
  let told = 0
  const onProgress = (count: number): void => {
    const step = Math.floor((count * STEPS) / items.length)
    if (items.length <= FEW || step === told) return
    told = step
    progress.tell(t('workingOn', { count: number(count), total: number(items.length) }))
  }
  const { done, problem } = await forMany(items, work, onProgress, controller.signal, atOnce)
  progress.end()
  if (problem !== undefined) tellFailure(problem)
  return done
}

/** Items that a query finds, with their number. */
export type ChosenItems = Chosen & { readonly count: number }

/** What an action is for. */
export interface Picked {
  readonly items: readonly Item[]
  /** There are more items than those: the service finds them. */
  readonly chosen?: ChosenItems | undefined
}

export const countOf = ({ items, chosen }: Picked): number => chosen?.count ?? items.length

/** Whether there are {@link MANY} items or more, which the service works through by itself. */
export const areMany = (items: readonly unknown[]): boolean => items.length >= MANY

/** Lets the service work through items. Resolves to whether it has begun; a refusal is told. */
export async function begin(operation: NewOperation): Promise<boolean> {
  try {
    await beginOperation(operation)
    return true
  } catch (error) {
    tellFailure(error)
    return false
  }
}

/** Lets the service work through items, with one operation for each space. Resolves to whether it has begun; a refusal is told. */
export async function beginFor(
  { items, chosen }: Picked,
  work: Omit<NewOperation, 'context' | 'chosen' | 'names'>,
): Promise<boolean> {
  let hasBegun = false
  for (const [context, some] of byContext(items)) {
    const { count: _count, ...found } = chosen ?? { count: 0, entries: some.map(({ entryId }) => entryId) }
    if (await begin({ ...work, context, chosen: found, names: namesOf(some) })) hasBegun = true
  }
  return hasBegun
}

/** Names of items by their ids. */
export const namesOf = (
  items: ReadonlyArray<{ readonly entryId: string; readonly name: string }>,
): ReadonlyMap<string, string> => new Map(items.map(({ entryId, name }) => [entryId, name]))

/** Those that an operation has changed, as far as it says. */
export function changedBy<T extends { readonly entryId: string }>(
  { failures }: Operation,
  items: readonly T[],
): readonly T[] {
  const failed = new Set(failures.map(({ entry }) => entry))
  return items.filter(({ entryId }) => !failed.has(entryId))
}

/** A message that names one item, or counts several. */
export const tellItems = (
  items: ReadonlyArray<{ readonly name: string }>,
  one: MessageKey,
  many: MessageKey,
): string =>
  items.length === 1 ? t(one, { name: visible(items[0]?.name ?? '') }) : t(many, { count: number(items.length) })
