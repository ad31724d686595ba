import { tellFailure, tellProgress } from '../../components/toast.tsx'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { forMany } from '../../lib/many.ts'
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

/** A message that names one item, or counts several. */
export const tellItems = (
  items: ReadonlyArray<{ readonly name: string }>,
  one: MessageKey,
  many: MessageKey,
): string =>
  items.length === 1 ? t(one, { name: visible(items[0]?.name ?? '') }) : t(many, { count: number(items.length) })
