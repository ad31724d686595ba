import { mkdir, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { StartupError } from '../base/errors.ts'
import { IS_READ_ONLY } from './disk.ts'

/** Makes the names in the folder survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Makes a folder if it is missing. Its name survives a power failure, and so do the names of folders above it that are made with it. Each level is made by itself: in
 * `/proc`, where nothing can be made, the recursive call of Node.js does not return.
 * @throws {StartupError} where nothing can be made
 */
export async function makeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  if (await isFolder(folder)) return
  const above = dirname(folder)
  if (above !== folder) await makeFolder(above)
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isFolder(folder))) return
    if (codeOf(error) === 'EEXIST')
      throw new StartupError(`The folder ${path} cannot be made: ${folder} is a file, not a folder.`, { cause: error })
    const reason = unmakable.get(codeOf(error))
    if (reason === undefined) throw error
    throw new StartupError(`The folder ${folder} cannot be made: ${above} ${reason}.`, { cause: error })
  }
  await syncFolder(above)
}

/** The folder above exists, or an earlier call would have failed. */
const unmakable: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'takes no folders'],
  ['EROFS', IS_READ_ONLY],
])

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    found => found.isDirectory(),
    () => false,
  )

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException).code)
