import { StartupError } from '../../base/errors.ts'
import type { System } from '../../base/system.ts'
import type { Milliseconds } from '../../base/units.ts'
import { count } from '../../core/copied.ts'
import type { Queries } from '../../stores/database.ts'
import { attempts } from './backup-runs.ts'
import { entriesIn } from './loss.ts'
import {
  type BackupTarget,
  type Generation,
  type ListedGeneration,
  listGenerations,
  lossesIn,
  type ManifestKey,
  notOfFuture,
  tellAllOfFuture,
  timeOf,
  writeManifest,
} from './generations.ts'
import { doubtAbout, findPublicKey, originOf } from './manifest-key.ts'

/** How a store recognises the generations that it has made. */
export interface OwnBackups {
  /** Its public key; `undefined` before its first backup. */
  readonly key: string | undefined
  /** Whether the store remembers an attempt at this time. A copy of the store with the same key does not remember later ones. */
  readonly remembers: (time: Milliseconds) => boolean
}

export async function ownBackups(store: Queries): Promise<OwnBackups> {
  const key = await findPublicKey(store)
  if (key === undefined) return nothingOwn
  const times = new Set(await attempts(store))
  // Attempts are forgotten in the end, and backups of them may be left.
  const oldest = Math.min(...times)
  return { key, remembers: time => times.has(time) || time < oldest }
}

/** Where there is no store. */
export const nothingOwn: OwnBackups = { key: undefined, remembers: () => false }

const isOwn = (listed: ListedGeneration, { key, remembers }: OwnBackups): boolean =>
  originOf(listed.generation, key) === 'own' && remembers(timeOf(listed))

/** The time of the last of these backups that an operator of this store has accepted; `undefined` if there is none. */
export const acceptedUntil = (generations: readonly ListedGeneration[], own: OwnBackups): string | undefined =>
  generations
    .filter(listed => isOwn(listed, own))
    .flatMap(({ generation: { accepted } }) => accepted ?? [])
    .sort()
    .at(-1)

/**
 * The generations that this store has not made, unless an operator has accepted a later one. They stay: another store has made them, or this
 * one before it was restored, so they may have what this store lacks.
 */
export function keptOfOthers(generations: readonly ListedGeneration[], own: OwnBackups): readonly ListedGeneration[] {
  const until = Date.parse(acceptedUntil(generations, own) ?? '')
  return generations.filter(listed => !isOwn(listed, own) && !(timeOf(listed) < until))
}

/**
 * Those of {@link keptOfOthers} that this store has signed, but does not remember. A restored store has another key: the data folder is an old
 * copy, or was put back from one.
 */
export const notRemembered = (generations: readonly ListedGeneration[], own: OwnBackups): readonly ListedGeneration[] =>
  keptOfOthers(generations, own).filter(({ generation }) => originOf(generation, own.key) === 'own')

/**
 * The generations of others that an operator can accept: none as long as this store has made no generation itself, and none whose manifest was
 * changed, because nobody knows who made it.
 */
export function othersToAccept(generations: readonly ListedGeneration[], own: OwnBackups): readonly ListedGeneration[] {
  if (!generations.some(listed => isOwn(listed, own))) return []
  return keptOfOthers(generations, own).filter(({ generation }) => originOf(generation, own.key) !== 'wrong')
}

/** What was accepted. */
export interface Accepted {
  /** What the newest generation has lost, for people. */
  readonly loss: string | undefined
  /** How many generations of others may be removed from now on. */
  readonly others: number
  /** A sentence about each of these that holds more than the newest generation. */
  readonly larger: readonly string[]
}

function tellLarger(other: Generation, accepted: Generation): string | undefined {
  if (other.files.count <= accepted.files.count && entriesIn(other) <= entriesIn(accepted)) return undefined
  const describe = (one: Generation): string =>
    `${count(one.files.count, 'file')} and ${count(entriesIn(one), 'entry', 'entries')}`
  return `The backup of ${other.created} has more: ${describe(other)} instead of ${describe(accepted)}.`
}

/**
 * Accepts the newest generation although it shows a loss, or others have made generations before it, so that all of these are removed again.
 * @returns `undefined` when there is nothing to accept, and then nothing is changed
 * @throws {StartupError} unless this store has made the newest generation that is not of the future
 */
export async function accept(
  target: BackupTarget,
  { system, signing, own }: { readonly system: System; readonly signing: ManifestKey; readonly own: OwnBackups },
): Promise<Accepted | undefined> {
  const all = (await listGenerations(target)).generations
  if (all.length === 0) return undefined
  const generations = notOfFuture(all, system.now())
  const [newest] = generations
  if (!newest) throw new StartupError(tellAllOfFuture(target))
  if (originOf(newest.generation, own.key) === 'wrong')
    throw new StartupError(`${doubtAbout(target, newest, own.key)} It is not accepted.`)
  if (!isOwn(newest, own)) {
    const whose =
      originOf(newest.generation, own.key) === 'own'
        ? 'one of this store that this data folder does not remember: the folder may be an old copy. Is its disk mounted? Otherwise accept'
        : 'of another store, or of this one before a restore. Accept'
    throw new StartupError(
      `The newest backup in ${target.place}, of ${newest.generation.created}, is ${whose} the next one that this store makes.`,
    )
  }
  const loss = lossesIn(generations).get(newest.generation)?.text
  const others = othersToAccept(generations, own).map(({ generation }) => generation)
  if (loss === undefined && others.length === 0) return undefined
  const signal = new AbortController().signal
  const accepted = { ...newest.generation, accepted: newest.generation.created }
  await writeManifest(target, accepted, { system, signal, signing })
  await target.manifests.delete(newest.key)
  return { loss, others: others.length, larger: others.flatMap(other => tellLarger(other, accepted) ?? []) }
}
