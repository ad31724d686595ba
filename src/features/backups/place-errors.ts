import { readdir, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { StartupError, StorageForbidden } from '../../base/errors.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import { explainAccess, isWithin, newFolder } from '../../stores/file-access.ts'

/**
 * Settles like `work`, which uses a place of backups and perhaps other folders.
 * @throws {StartupError} when the disk of the place refuses a write, or this user may not use the place
 */
export async function withPlaceErrors<T>(place: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    // The store of blobs says only in the cause which path was forbidden, and so does a folder that cannot be made.
    const isWrapped = error instanceof StorageForbidden || error instanceof StartupError
    const { code, path } = ((isWrapped ? error.cause : error) ?? {}) as NodeJS.ErrnoException
    const folder = resolve(place)
    if (path === undefined) throw error
    const isForbidden = code === 'EACCES' || code === 'EPERM'
    // Where the folders above are missing, too, the path is that of one of them.
    if (isWithin(resolve(path), folder) && (isForbidden || code === 'EROFS') && (await isAbsent(folder))) {
      const remedy = isForbidden
        ? `If the folder is new and this user runs the service, run as root: ${newFolder(folder)}`
        : (error as Error).message
      throw new StartupError(`${askForDisk(folder)} ${remedy}`, { cause: error })
    }
    if (error instanceof StartupError || !isWithin(folder, resolve(path))) throw error
    if (isForbidden)
      throw new StartupError(
        `${await askIfEmpty(folder)}The folder ${folder} cannot be used: ${await explainAccess(folder, resolve(path))}`,
        { cause: error },
      )
    return await withDiskErrorsAt(place, Promise.reject<T>(error as Error))
  }
}

const isAbsent = async (folder: string): Promise<boolean> =>
  await stat(folder).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  )

/** For people, about a folder that is not there. */
export const askForDisk = (folder: string): string => `There is no folder ${folder}. Is the disk that it is on mounted?`

/** Two sentences, and a space, about an empty folder, which may be where a disk should be mounted; otherwise nothing. */
export async function askIfEmpty(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => undefined)
  return names?.length === 0 ? `The folder ${folder} is empty. Is its disk mounted? ` : ''
}
