import type { Milliseconds } from '../../base/units.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import { keptOfOthers, type OwnBackups } from './acceptance.ts'
import {
  type BackupTarget,
  blobKeysOf,
  isIntact,
  listGenerations,
  lossesIn,
  notOfFuture,
  pathsOf,
  timeOf,
} from './generations.ts'
import { superfluous } from './keep.ts'
import { originOf } from './manifest-key.ts'

/** A younger object that no generation needs may belong to a backup in progress. */
const REMAINS_TTL: Milliseconds = 86_400_000

/** Why no older backup may be removed, for people: something in the target is damaged, or the newest backup has lost much. */
export async function whyKeepAll(target: BackupTarget, now: Milliseconds): Promise<string | undefined> {
  const { generations, unreadable } = await listGenerations(target)
  if (unreadable.length > 0)
    return (
      `this version cannot read ${pathsOf(target, unreadable)}. ` +
      `If no newer version of Stowage has written this, look for the cause; ${moveAway(unreadable)}`
    )
  const changed = generations
    .filter(({ generation }) => originOf(generation, undefined) === 'wrong')
    .map(({ key }) => key)
  if (changed.length > 0)
    return (
      `${pathsOf(target, changed)} ${changed.length === 1 ? 'was changed after it was' : 'were changed after they were'} signed. ` +
      `Look for the cause; ${moveAway(changed)}`
    )
  const [newest] = notOfFuture(generations, now)
  const loss = newest && lossesIn(generations).get(newest.generation)
  if (loss)
    return (
      `the newest ${loss.text}. If the store was lost, stop the service and restore the backup of ${loss.before.created}, with --at. ` +
      `If it is as it should be, run \`stowage backup accept ${target.place}\``
    )
  for (const { key, generation } of generations)
    if (!(await isIntact(target.blobs, generation.index)))
      return (
        `the index of the backup of ${generation.created} in ${target.place} is damaged, so that this backup cannot be restored. ` +
        `To let the service remove older backups again, move its manifest away: ${target.pathOf('generations', key)}`
      )
  return undefined
}

/** Without its manifest, the next run removes what only this backup needs. */
const moveAway = (keys: readonly string[]): string =>
  `to let the service remove older backups again, move ${keys.length === 1 ? 'it away, which gives up this backup' : 'them away, which gives up these backups'}`

interface Pruning {
  /** The base address of the service. */
  readonly service: string
  readonly own: OwnBackups
  readonly keep: string
  readonly now: Milliseconds
}

/**
 * Removes the generations of this store that the rule does not keep, and then the objects that no generation needs. A generation that
 * another store has made neither goes nor takes the place of another one, until an operator accepts it; nor does one of the future.
 * @returns why nothing was removed ({@link whyKeepAll})
 */
export async function prune(target: BackupTarget, { service, own, keep, now }: Pruning): Promise<string | undefined> {
  const reason = await whyKeepAll(target, now)
  if (reason !== undefined) return reason
  // Listed again: the checks take long, and a backup that was added meanwhile may need older objects.
  const { generations } = await listGenerations(target)
  const past = notOfFuture(generations, now)
  const losses = lossesIn(past)
  const others = new Set(keptOfOthers(past, own))
  const ruled = past.filter(listed => listed.generation.service === service && !others.has(listed))
  // A backup after a loss does not replace a backup before the loss.
  const old = new Set(superfluous(ruled.filter(({ generation }) => !losses.has(generation)).map(timeOf), keep))
  const oldOfAll = new Set(superfluous(ruled.map(timeOf), keep))
  const needed = new Set<string>()
  for (const one of generations) {
    const removed = losses.has(one.generation) ? oldOfAll : old
    if (ruled.includes(one) && removed.has(timeOf(one)))
      await withDiskErrorsAt(target.place, target.manifests.delete(one.key))
    else for await (const key of blobKeysOf(target, one.generation)) needed.add(key)
  }
  for await (const { key, modified } of target.blobs.list())
    if (!needed.has(key) && modified < now - REMAINS_TTL) await withDiskErrorsAt(target.place, target.blobs.delete(key))
  return undefined
}
