import { StartupError } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import {
  type BackupTarget,
  isIntact,
  listGenerations,
  type ManifestKey,
  lossesIn,
  pathsOf,
  blobKeysOf,
  timeOf,
  writeManifest,
} from './generations.ts'
import { superfluous } from './keep.ts'
import { doubtAbout } from './manifest-key.ts'

/** A younger object that no generation needs may belong to a backup in progress. */
const REMAINS_TTL: Milliseconds = 86_400_000

/** Why no older backup may be removed, for people: something in the target is damaged, or the newest backup has lost much. */
export async function whyKeepAll(target: BackupTarget): Promise<string | undefined> {
  const { generations, unreadable } = await listGenerations(target)
  if (unreadable.length > 0) return `this version cannot read ${pathsOf(target, unreadable)}`
  const loss = generations[0] && lossesIn(generations).get(generations[0].generation)
  if (loss)
    return (
      `it ${loss.text}. If the store was lost, stop the service and restore that one. ` +
      `If it is as it should be, run \`stowage backup accept ${target.place}\``
    )
  for (const { generation } of generations)
    if (!(await isIntact(target.blobs, generation.index)))
      return `the index of the backup of ${generation.created} in ${target.place} is damaged`
  return undefined
}

/**
 * Removes the generations of this service that the rule does not keep, and then the objects that no generation needs.
 * @returns why nothing was removed ({@link whyKeepAll})
 */
export async function prune(
  target: BackupTarget,
  { service, keep, now }: { readonly service: string; readonly keep: string; readonly now: Milliseconds },
): Promise<string | undefined> {
  const reason = await whyKeepAll(target)
  if (reason !== undefined) return reason
  const { generations } = await listGenerations(target)
  const losses = lossesIn(generations)
  const own = generations.filter(({ generation }) => generation.service === service)
  // A backup after a loss does not replace a backup before the loss.
  const old = new Set(superfluous(own.filter(({ generation }) => !losses.has(generation)).map(timeOf), keep))
  const oldOfAll = new Set(superfluous(own.map(timeOf), keep))
  const needed = new Set<string>()
  for (const one of generations) {
    const removed = losses.has(one.generation) ? oldOfAll : old
    if (own.includes(one) && removed.has(timeOf(one)))
      await withDiskErrorsAt(target.place, target.manifests.delete(one.key))
    else for await (const key of blobKeysOf(target, one.generation)) needed.add(key)
  }
  for await (const { key, modified } of target.blobs.list())
    if (!needed.has(key) && modified < now - REMAINS_TTL) await withDiskErrorsAt(target.place, target.blobs.delete(key))
  return undefined
}

/**
 * Accepts the newest generation although it shows a loss, so that older generations are removed again.
 * @returns the loss; `undefined` when there is none, and then nothing is changed
 * @throws {StartupError} unless this store has signed the newest generation
 */
export async function acceptLoss(
  target: BackupTarget,
  { system, signing }: { readonly system: System; readonly signing: ManifestKey },
): Promise<string | undefined> {
  const [newest, ...older] = (await listGenerations(target)).generations
  if (!newest) return undefined
  const loss = lossesIn([newest, ...older]).get(newest.generation)
  if (!loss) return undefined
  const doubt = doubtAbout(target, newest, signing.name)
  if (doubt !== undefined) throw new StartupError(`${doubt} It is not accepted.`)
  const signal = new AbortController().signal
  await writeManifest(target, { ...newest.generation, accepted: true }, { system, signal, signing })
  await target.manifests.delete(newest.key)
  return loss.text
}
