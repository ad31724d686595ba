import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { count } from '../../core/copied.ts'
import { notRemembered, othersToAccept, type OwnBackups } from './acceptance.ts'
import type { LastMade } from './backup-runs.ts'
import {
  type BackupTarget,
  copiesIn,
  type Generation,
  type ListedGeneration,
  type ListedGenerations,
  lossesIn,
  notOfFuture,
  ofFuture,
  timeOf,
} from './generations.ts'
import { originOf } from './manifest-key.ts'
import type { Memory } from './memory.ts'

/** What is to be said about one backup, for people. */
export interface Remarks {
  /** Why it is not known to be good. Empty: it is, as far as its manifest and the proofs show. */
  readonly wrong: readonly string[]
  /** What else an operator should know: a good backup can lack files, and can be one of another store. */
  readonly notes: readonly string[]
}

export function remarksOn(
  target: BackupTarget,
  generations: readonly ListedGeneration[],
  { own, problems }: Pick<Memory, 'own' | 'problems'>,
  now: Milliseconds,
): ReadonlyMap<Generation, Remarks> {
  const losses = lossesIn(generations)
  const others = new Set(othersToAccept(notOfFuture(generations, now), own))
  const future = new Set(ofFuture(generations, now))
  const copies = new Set(copiesIn(generations))
  return new Map(
    generations.map(listed => {
      const { key, generation } = listed
      const loss = losses.get(generation)?.text
      const wrong = [
        doubtInShort(generation, target.pathOf('generations', key)),
        future.has(listed) ? futureInShort(target, listed) : undefined,
        loss,
        problemInShort(target, generation, problems),
      ]
      const notes = [
        loss === undefined ? lackInShort(generation) : undefined,
        others.has(listed) ? keptUntilAccepted(target, generation, own) : undefined,
        copies.has(listed) ? `its manifest ${target.pathOf('generations', key)} has a copy` : undefined,
      ]
      return [generation, { wrong: wrong.filter(isDefined), notes: notes.filter(isDefined) }]
    }),
  )
}

/** What a proof or a later backup has found wrong. */
function problemInShort(
  target: BackupTarget,
  generation: Generation,
  problems: Memory['problems'],
): string | undefined {
  const problem = problems.get(generation.created)
  if (problem?.proof !== undefined) return `its last proof found something wrong: ${problem.proof.replace(/\.$/, '')}`
  return damageInShort(target, generation, problems)
}

/** Says that a later backup has found files of this one damaged, for people. */
export const damageInShort = (
  { place }: BackupTarget,
  { created }: Generation,
  problems: Memory['problems'],
): string | undefined =>
  problems.get(created)?.isDamaged === true
    ? `files in it are damaged, which \`stowage backup verify ${place} --at ${created}\` names`
    : undefined

const isDefined = (remark: string | undefined): remark is string => remark !== undefined

/** Files that an operator has accepted as lost, or that the first backup lacked already. */
function lackInShort({ damaged }: Generation): string | undefined {
  return damaged.length === 0 ? undefined : `lacks ${damaged.length === 1 ? 'a file' : `${damaged.length} files`}`
}

export const tellUnreadable = ({ pathOf }: BackupTarget, key: string): string =>
  `The manifest ${pathOf('generations', key)} is damaged, or of another version.`

/** Says that the backup that the target should have is gone, for people; `undefined` if it is not. */
export function tellGone(
  { place }: BackupTarget,
  listed: ListedGenerations,
  { last, own }: Pick<Memory, 'last' | 'own'>,
): string | undefined {
  if (!last || !isGone(listed, last, own)) return undefined
  const gone = `The backup of ${isoTime(expectedBy(last))} is no longer in ${place}. Is its disk mounted?`
  return listed.generations.length === 0
    ? gone
    : `${gone} If it is lost for good, run \`stowage backup accept ${place}\`.`
}

/** Says that the data folder may be an old copy, for people; `undefined` if nothing shows it. */
export function tellNotRemembered(
  { place }: BackupTarget,
  generations: readonly ListedGeneration[],
  own: OwnBackups,
): string | undefined {
  const [newest] = notRemembered(generations, own)
  if (!newest) return undefined
  const { created, files } = newest.generation
  return (
    `A later backup of this store, of ${created} with ${count(files.count, 'file')}, is in ${place}, and this data folder does not remember it: ` +
    `the folder may be an old copy. Is its disk mounted? If the store has lost nothing, run \`stowage backup accept ${place}\`.`
  )
}

/** The backup that the target should have. @param last the last one that the store has made there */
export const expectedBy = ({ started, gone }: LastMade): Milliseconds => gone ?? started

/** Whether neither the backup that the target should have nor a later one that may have taken its place is there. */
export function isGone({ generations, unreadable }: ListedGenerations, last: LastMade, own: OwnBackups): boolean {
  // One that cannot be read may be the last.
  if (unreadable.length > 0 && last.gone === null) return false
  const expected = expectedBy(last)
  return !generations.some(listed => {
    const time = timeOf(listed)
    if (time <= expected) return time === expected
    // While one is known to be gone, the store makes later ones itself. Those that it does not remember are of a copy of it.
    return originOf(listed.generation, own.key) === 'own' && (last.gone === null || !own.remembers(time))
  })
}

/** Why a backup that this store has not made stays, and until when, for people. */
export const keptUntilAccepted = ({ place }: BackupTarget, generation: Generation, { key }: OwnBackups): string =>
  `${originOf(generation, key) === 'own' ? 'this store has made it, and this data folder does not remember it' : 'another store has made it, or this one before a restore'}: it stays until \`stowage backup accept ${place}\`, which is for a store that has lost nothing`

/** Says why the time of a backup can be in the future, for people. */
export const futureInShort = ({ pathOf }: BackupTarget, { key }: ListedGeneration): string =>
  `its time is in the future: the clock of this machine is wrong, or was wrong when the backup was made; in the latter case, move its manifest ${pathOf('generations', key)} away, which gives up this backup`

/** What the manifest shows about who wrote it, for people; `undefined` with a valid signature. */
export function doubtInShort(generation: Generation, path: string): string | undefined {
  const origin = originOf(generation, undefined)
  if (origin === 'wrong') return `its manifest ${path} was changed after it was signed`
  return origin === 'none' ? `its manifest ${path} is not signed` : undefined
}
