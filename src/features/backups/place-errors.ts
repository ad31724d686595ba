import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { StartupError, StorageForbidden } from '../../base/errors.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'
import { explainAccess, isWithin } from '../../stores/file-access.ts'

/**
 * Settles like `work`, which uses a place of backups and perhaps other folders.
 * @throws {StartupError} when the disk of the place refuses a write, or this user may not use the place
 */
export async function withPlaceErrors<T>(place: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    // The store of blobs says only in the cause which path was forbidden.
    const { code, path } = (error instanceof StorageForbidden ? error.cause : error) as NodeJS.ErrnoException
    const folder = resolve(place)
    if (path === undefined || !isWithin(folder, resolve(path))) throw error
    if (code === 'EACCES' || code === 'EPERM')
      throw new StartupError(
        `${await askIfEmpty(folder)}The folder ${folder} cannot be used: ${await explainAccess(folder, resolve(path))}`,
        { cause: error },
      )
    return await withDiskErrorsAt(place, Promise.reject<T>(error as Error))
  }
}

/** Two sentences, and a space, about an empty folder, which may be where a disk should be mounted; otherwise nothing. */
export async function askIfEmpty(folder: string): Promise<string> {
  const names = await readdir(folder).catch(() => undefined)
  return names?.length === 0 ? `The folder ${folder} is empty. Is its disk mounted? ` : ''
}
