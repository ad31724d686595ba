import { realSystem } from '../../base/system.ts'
import { schemaVersion } from '../../stores/migrations.ts'
import { nothingOwn, ownBackups, type OwnBackups } from './acceptance.ts'
import { backupSteps, type KnownProblem, knownProblems, type LastMade, reportBackups } from './backup-runs.ts'
import { placeName } from './backup-target.ts'
import { readStoreIfPossible } from './manifest-key.ts'
import type { BackupSettings } from './settings.ts'

/** What a store remembers of the backups in a place. */
export interface Memory {
  readonly own: OwnBackups
  /** What is wrong with backups, by their times. */
  readonly problems: ReadonlyMap<string, KnownProblem>
  /** The last backup that was made there. */
  readonly last: LastMade | undefined
}

const nothing: Memory = { own: nothingOwn, problems: new Map(), last: undefined }

/** Nothing is remembered where there is no store, or none that can be read. */
export async function readMemory(settings: BackupSettings, place: string): Promise<Memory> {
  const memory = await readStoreIfPossible(settings, async store => {
    const own = await ownBackups(store)
    if ((await schemaVersion(store)) < (backupSteps.at(-1)?.id ?? 0)) return { ...nothing, own }
    const name = placeName(settings, place)
    return {
      own,
      problems: await knownProblems(store, name),
      last: (await reportBackups(store, name, realSystem.now())).made,
    }
  })
  return memory ?? nothing
}
