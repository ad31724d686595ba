import { realSystem } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { isScheduled, NoPlace, withTarget } from './backup-place.ts'
import {
  type BackupTarget,
  type Generation,
  type ListedGeneration,
  listGenerations,
  notOfFuture,
  tellAllOfFuture,
} from './generations.ts'
import { readMemory } from './memory.ts'
import { type Remarks, remarksOn } from './remarks.ts'
import type { BackupSettings } from './settings.ts'

/** The newest backup with nothing wrong, whichever store has made it. */
export const lastGood = (
  generations: readonly ListedGeneration[],
  remarks: ReadonlyMap<Generation, Remarks>,
): Generation | undefined =>
  generations.find(({ generation }) => remarks.get(generation)?.wrong.length === 0)?.generation

/** Names the last good backup, and the command that restores it. */
export function tellLastGood(
  target: Pick<BackupTarget, 'place'>,
  good: Generation | undefined,
  { generations, now }: { readonly generations: readonly ListedGeneration[]; readonly now: Milliseconds },
): string {
  const { place } = target
  const past = notOfFuture(generations, now)
  if (past.length === 0) return tellAllOfFuture(target)
  if (!good)
    return `No backup is good as far as it is known. Check them one by one: stowage backup verify ${place} --at TIME`
  const identity = good.recipients.length > 0 ? ' --identity FILE' : ''
  const ifClockIsRight = past.length < generations.length ? ', if the clock of this machine is right' : ''
  return `The last good backup is of ${good.created}${ifClockIsRight}: stowage restore ${place} --at ${good.created}${identity}`
}

/**
 * The last good backup in the place of the settings, or the newest if none is known to be good, and a sentence about it; `undefined` where
 * there are no backups. Creates nothing.
 */
export async function findLastGood(
  settings: BackupSettings,
): Promise<{ readonly best: Generation; readonly text: string } | undefined> {
  const place = settings['service.backup.target']
  if (place === undefined || !(await isScheduled(place).catch(unlessNoPlace))) return undefined
  const memory = await readMemory(settings, place)
  return await withTarget(settings, place, async target => {
    const { generations } = await listGenerations(target)
    const [newest] = generations
    if (!newest) return undefined
    const now = realSystem.now()
    const good = lastGood(generations, remarksOn(target, generations, memory, now))
    return { best: good ?? newest.generation, text: tellLastGood(target, good, { generations, now }) }
  })
}

/** The service makes the folder of its backups. */
function unlessNoPlace(error: unknown): false {
  if (error instanceof NoPlace) return false
  throw error
}
