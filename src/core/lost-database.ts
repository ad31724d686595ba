import { readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { LastingFailure } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Settings } from '../config/settings.ts'
import { hasFiles } from '../files/file-records.ts'
import { isBlobKey } from '../stores/blob-store.ts'
import type { Queries } from '../stores/database.ts'
import { foldersOfBlobs } from '../stores/folder-blob-store.ts'
import { placeOf } from '../stores/postgres/postgres-pool.ts'
import { tellWhatToRestore } from './lost-store.ts'
import { DATABASE_FILE, openBlobs } from './open-store.ts'

export const LOST_FOLDER = 'docs/how-to/troubleshooting.md#the-data-folder-is-lost'

/**
 * Refuses to make a database in place of a lost one, before SQLite makes the file and deletes the log of the lost one.
 * @throws {LastingFailure}
 */
export async function requireNoLostFile(settings: Settings): Promise<void> {
  const file = join(resolve(settings['service.data.folder']), DATABASE_FILE)
  if ((await sizeOf(file)) > 0) return
  const log = `${file}-wal`
  if ((await sizeOf(log)) > 0) throw await storeLost(settings, log)
  if (settings['service.data.store'] === 'folder') await requireNoFiles(settings)
}

/** Refuses files that no database knows. @throws {LastingFailure} */
export async function requireNoFiles(settings: Settings): Promise<void> {
  const place = settings['service.data.store']
  const folder = join(resolve(settings['service.data.folder']), 'files')
  if (place === 'folder') {
    if (await isBlobIn(folder)) throw await storeLost(settings, folder)
    return
  }
  const blobs = await openBlobs(settings)
  try {
    for await (const _blob of blobs.list()) throw await storeLost(settings, place)
  } finally {
    await blobs.close()
  }
}

/** The folder of the files, if it has none although the database lists files, as when its disk is not mounted. */
export async function findEmptyFolder(settings: Settings, database: Queries): Promise<string | undefined> {
  if (settings['service.data.store'] !== 'folder') return undefined
  // Asked first, because a store without files has no folder that ends the search.
  if (!(await hasFiles(database))) return undefined
  const folder = join(resolve(settings['service.data.folder']), 'files')
  // A folder that this user cannot read is another finding.
  return (await isBlobIn(folder).catch(() => true)) ? undefined : folder
}

/** Logs that the files are missing. The service starts, because everything else is there. */
export async function warnOfMissingFiles(settings: Settings, database: Queries, log: Log): Promise<void> {
  const folder = await findEmptyFolder(settings, database)
  if (folder === undefined) return
  log.error(
    { folder },
    `the database lists files, but there are none in this folder. Is its disk mounted? Stop the service and follow ${LOST_FOLDER}`,
  )
}

async function storeLost(settings: Settings, remains: string): Promise<LastingFailure> {
  const url = settings['service.repository.store.url']
  const database = url === undefined ? resolve(settings['service.data.folder']) : `PostgreSQL at ${placeOf(url)}`
  return new LastingFailure(
    `There is no store in ${database}, but ${remains} belongs to one: its database was lost, or its disk is not mounted. ` +
      `Follow ${LOST_FOLDER}. To make a new store, move this away first.` +
      (await tellWhatToRestore(settings)),
  )
}

const sizeOf = async (path: string): Promise<number> =>
  await stat(path).then(
    ({ size }) => size,
    (error: unknown) => {
      if (isAbsent(error)) return 0
      throw error
    },
  )

async function isBlobIn(files: string): Promise<boolean> {
  for (const folder of foldersOfBlobs(files)) {
    const names = await readdir(folder).catch((error: unknown) => {
      if (isAbsent(error)) return []
      throw error
    })
    if (names.some(isBlobKey)) return true
  }
  return false
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code))
