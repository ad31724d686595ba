import { StartupError } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import {
  type BackupTarget,
  type ListedGeneration,
  listGenerations,
  lossesIn,
  type ManifestKey,
  timeOf,
  writeManifest,
} from './generations.ts'
import { doubtAbout, originOf } from './manifest-key.ts'

/** The time of the last backup of this store that an operator has accepted; `undefined` if there is none. @param own the public key of the store */
export const acceptedUntil = (generations: readonly ListedGeneration[], own: string | undefined): string | undefined =>
  generations
    .filter(({ generation }) => originOf(generation, own) === 'own')
    .flatMap(({ generation: { accepted } }) => accepted ?? [])
    .sort()
    .at(-1)

/**
 * The generations that this store has not signed, unless an operator has accepted a later one. They stay: another store has made them, or this
 * one before it was restored, so they may have what this store lacks.
 */
export function keptOfOthers(
  generations: readonly ListedGeneration[],
  own: string | undefined,
): readonly ListedGeneration[] {
  const until = Date.parse(acceptedUntil(generations, own) ?? '')
  return generations.filter(listed => originOf(listed.generation, own) !== 'own' && !(timeOf(listed) < until))
}

/** The generations of others that an operator can accept: none as long as this store has made no generation itself. */
export const othersToAccept = (
  generations: readonly ListedGeneration[],
  own: string | undefined,
): readonly ListedGeneration[] =>
  generations.some(({ generation }) => originOf(generation, own) === 'own') ? keptOfOthers(generations, own) : []

/**
 * Accepts the newest generation although it shows a loss, or others have made generations before it, so that all of these are removed again.
 * @returns what was accepted, for people; `undefined` when there is nothing to accept, and then nothing is changed
 * @throws {StartupError} unless this store has signed the newest generation
 */
export async function accept(
  target: BackupTarget,
  { system, signing }: { readonly system: System; readonly signing: ManifestKey },
): Promise<{ readonly loss: string | undefined; readonly others: number } | undefined> {
  const { generations } = await listGenerations(target)
  const [newest] = generations
  if (!newest) return undefined
  if (generations.every(({ generation }) => originOf(generation, signing.name) === 'other'))
    throw new StartupError(`This store has made no backup in ${target.place} yet. Accept its first one.`)
  const loss = lossesIn(generations).get(newest.generation)?.text
  const others = keptOfOthers(generations, signing.name).length
  if (loss === undefined && others === 0) return undefined
  const doubt = doubtAbout(target, newest, signing.name)
  if (doubt !== undefined) throw new StartupError(`${doubt} It is not accepted.`)
  const signal = new AbortController().signal
  const accepted = { ...newest.generation, accepted: newest.generation.created }
  await writeManifest(target, accepted, { system, signal, signing })
  await target.manifests.delete(newest.key)
  return { loss, others }
}
