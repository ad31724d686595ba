import { access, constants, readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { StartupError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import type { Settings } from '../config/settings.ts'
import { DiskSpace, IS_READ_ONLY, releaseReserve } from '../stores/disk.ts'
import { adviceOnLoss } from './lost-store.ts'
import { explainAccess } from '../stores/file-access.ts'
import { foldersOfBlobs } from '../stores/folder-blob-store.ts'
import { openToOthers } from '../stores/host-limits.ts'
import { requireOwnFolder } from '../stores/own-folder.ts'
import { placeOf } from '../stores/postgres/postgres-pool.ts'

/** True when this node keeps data in its data folder. */
export const usesFolder = (settings: Settings): boolean =>
  settings['service.repository.store.url'] === undefined || settings['service.data.store'] === 'folder'

/** Describes where rows and files are kept, for people; without passwords. */
export function dataPlace(settings: Settings, folder: string): string {
  const url = settings['service.repository.store.url']
  const files = settings['service.data.store']
  const rows = url === undefined ? folder : `PostgreSQL at ${placeOf(url)}`
  if (files === 'folder') return url === undefined ? folder : `${rows}, its files in ${folder}`
  return `${rows}, its files in ${files}`
}

/**
 * Watches the disk of the data folder, and logs a warning when other users can read the folder. Returns `undefined` when the folder is not used.
 */
export async function openDisk(settings: Settings, log: Log): Promise<DiskSpace | undefined> {
  if (!usesFolder(settings)) return undefined
  const folder = resolve(settings['service.data.folder'])
  for (const path of await exposedPaths(folder)) {
    log.warn({ path }, 'other users of this machine can read or change the data: run chmod go-rwx on this path')
  }
  return await DiskSpace.open({ folder, log })
}

/** Makes room on a full disk before the stores are opened. */
export async function makeRoomForStart(settings: Settings, log: Log): Promise<void> {
  if (!usesFolder(settings)) return
  const freed = await releaseReserve(resolve(settings['service.data.folder']))
  if (freed > 0) log.warn({ freed }, 'the disk is full: the reserve was released for the start')
}

/** A folder that other users cannot enter protects everything in it. */
export async function exposedPaths(folder: string): Promise<readonly string[]> {
  const isOpen = (await openToOthers([folder])).length > 0
  return isOpen ? [folder, ...(await openToOthers([join(folder, 'store.sqlite'), join(folder, 'files')]))] : []
}

/**
 * Checks that this user can write to the data folder and to what is in it, or can make the folder.
 * @throws {StartupError} otherwise; for root also if the folder is of another user
 */
export async function requireDataFolder(settings: Settings): Promise<void> {
  const folder = resolve(settings['service.data.folder'])
  requireOwnFolder(folder)
  const [present, isFolder] = await nearest(folder)
  const refuse = async (reason: string, cause?: unknown): Promise<never> => {
    const advice = (await holdsNothing(folder)) ? `There is no store in ${folder}.${adviceOnLoss(settings)} ` : ''
    throw new StartupError(`${advice}The data folder ${folder} cannot be used: ${reason}`, { cause })
  }
  if (!isFolder) await refuse(`${present} is a file, not a folder.`)
  const paths = [{ path: present, mode: WRITE_IN }, ...(present === folder ? contentsOf(settings, folder) : [])]
  for (const { path, mode } of paths) {
    try {
      await access(path, mode)
    } catch (error) {
      if (codeOf(error) === 'EROFS') await refuse(`${path} ${IS_READ_ONLY}.`, error)
      if (codeOf(error) !== 'ENOENT') await refuse(await explainAccess(folder, path), error)
    }
  }
}

const READ = constants.R_OK
const WRITE = READ | constants.W_OK
const WRITE_IN = WRITE | constants.X_OK

/** What this node has in its data folder once it needs it. */
const contentsOf = (settings: Settings, folder: string) => [
  ...['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm', 'lock', 'reserve'].map(name => at(folder, name, WRITE)),
  at(folder, 'second-factors.key', READ),
  ...['backup-rows', 'backup-proof'].map(name => at(folder, name, WRITE_IN)),
  ...(settings['service.data.store'] === 'folder'
    ? foldersOfBlobs(join(folder, 'files')).map(path => ({ path, mode: WRITE_IN }))
    : []),
]

const at = (folder: string, name: string, mode: number) => ({ path: join(folder, name), mode })

/** Whether the folder is missing, or is the mount point of a disk that is not mounted. */
const holdsNothing = async (folder: string): Promise<boolean> =>
  await readdir(folder).then(
    names => names.length === 0,
    (error: unknown) => codeOf(error) === 'ENOENT',
  )

/** The nearest path that exists or cannot be read, beginning with the folder itself, and whether it is a folder. */
async function nearest(folder: string): Promise<readonly [path: string, isFolder: boolean]> {
  try {
    return [folder, (await stat(folder)).isDirectory()]
  } catch (error) {
    const above = dirname(folder)
    if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(codeOf(error)) || above === folder) throw error
    return await nearest(above)
  }
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
