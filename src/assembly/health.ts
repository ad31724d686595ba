import { StartupError } from '../base/errors.ts'
import type { Database } from '../stores/database.ts'
import type { DiskSpace } from '../stores/disk.ts'

/** @throws {Error} while the disk accepts no new data */
export async function requireHealthy(disk: DiskSpace): Promise<void> {
  const state = await disk.check()
  if (state === 'full' || state === 'read-only') throw new Error(`the disk of the data folder is ${state}`)
}

/**
 * Checking takes about a second per 100 MB, so a larger database would delay the start. `fsck` checks all of
 * it.
 */
const MAX_CHECKED_AT_START = 64 * 2 ** 20

/** @throws {StartupError} when the engine finds its own data structures damaged */
export async function requireSound(database: Database): Promise<void> {
  const [damage] = await database.findDamage({ maxBytes: MAX_CHECKED_AT_START })
  if (damage === undefined) return
  throw new StartupError(
    `The database is damaged: ${damage}. Run \`stowage fsck\`; docs/how-to/troubleshooting.md says how to recover.`,
  )
}
