import { isoTime } from '../../base/times.ts'
import type { Milliseconds } from '../../base/units.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import { failedProofs, MANIFEST_KEY_STEP } from './backup-runs.ts'
import { othersToAccept, type OwnBackups } from './acceptance.ts'
import { placeName } from './backup-target.ts'
import {
  type BackupTarget,
  type Generation,
  type ListedGeneration,
  type ListedGenerations,
  lossesIn,
  timeOf,
} from './generations.ts'
import { originOf, readStoreIfPossible } from './manifest-key.ts'
import type { BackupSettings } from './settings.ts'

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
  {
    own,
    proofs,
  }: {
    readonly own: OwnBackups
    /** What the last proofs found wrong with the backup itself, by its time. */
    readonly proofs: ReadonlyMap<string, string>
  },
): ReadonlyMap<Generation, Remarks> {
  const losses = lossesIn(generations)
  const others = new Set(othersToAccept(generations, own))
  return new Map(
    generations.map(listed => {
      const { key, generation } = listed
      const proof = proofs.get(generation.created)
      const loss = losses.get(generation)?.text
      const wrong = [
        doubtInShort(generation, target.pathOf('generations', key)),
        loss,
        proof === undefined ? undefined : `its last proof found something wrong: ${proof.replace(/\.$/, '')}`,
      ]
      const notes = [
        loss === undefined ? lackInShort(generation) : undefined,
        others.has(listed) ? keptUntilAccepted(target) : undefined,
      ]
      return [generation, { wrong: wrong.filter(isDefined), notes: notes.filter(isDefined) }]
    }),
  )
}

const isDefined = (remark: string | undefined): remark is string => remark !== undefined

/** Files that an operator has accepted as lost, or that the first backup lacked already. */
function lackInShort({ damaged }: Generation): string | undefined {
  return damaged.length === 0 ? undefined : `lacks ${damaged.length === 1 ? 'a file' : `${damaged.length} files`}`
}

export const tellUnreadable = ({ pathOf }: BackupTarget, key: string): string =>
  `The manifest ${pathOf('generations', key)} is damaged, or of another version.`

/** Says that the last backup is gone from the target, for people; `undefined` while it or a later one is there. @param last its time, if there was one */
export function tellGone(
  { place }: BackupTarget,
  listed: ListedGenerations,
  last: Milliseconds | undefined,
): string | undefined {
  if (last === undefined || !isGone(listed, last)) return undefined
  return `The backup of ${isoTime(last)} is no longer in ${place}. Is its disk mounted?`
}

/** Whether neither the last backup nor a later one is in the target. One that cannot be read may be the last. */
export const isGone = ({ generations, unreadable }: ListedGenerations, last: Milliseconds): boolean =>
  unreadable.length === 0 && !generations.some(listed => timeOf(listed) >= last)

/** Why a backup that this store has not made stays, and until when, for people. */
export const keptUntilAccepted = ({ place }: BackupTarget): string =>
  `another store has made it, or this one before a restore: it stays until \`stowage backup accept ${place}\`, which is for a store that has lost nothing`

/** What the manifest shows about who wrote it, for people; `undefined` with a valid signature. */
export function doubtInShort(generation: Generation, path: string): string | undefined {
  const origin = originOf(generation, undefined)
  if (origin === 'wrong') return `its manifest ${path} was changed after it was signed`
  return origin === 'none' ? `its manifest ${path} is not signed` : undefined
}

/** What the last proofs found wrong with the backup itself, by its time. Nothing is known where there is no store. */
export async function findFailedProofs(settings: BackupSettings, place: string): Promise<ReadonlyMap<string, string>> {
  const found = await readStoreIfPossible(settings, async store =>
    (await schemaVersion(store)) < MANIFEST_KEY_STEP
      ? undefined
      : await failedProofs(store, placeName(settings, place)),
  )
  return found ?? new Map()
}
