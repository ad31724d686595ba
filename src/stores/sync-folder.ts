import { access, constants, mkdir, open, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { StartupError } from '../base/errors.ts'
import { IS_READ_ONLY } from './disk.ts'
import { requireOwnFolder } from './own-folder.ts'

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

/** @throws {StartupError} unless this user can write to the folder, or make it; for root also if it is of another user */
export async function requireFolder(path: string): Promise<void> {
  const folder = resolve(path)
  requireOwnFolder(folder)
  const [present, isUsable] = await nearest(folder)
  const refuse = (reason: string, cause?: unknown): never => {
    throw new StartupError(`The data folder ${folder} cannot be used: ${reason}`, { cause })
  }
  if (!isUsable) refuse(`${present} is a file, not a folder.`)
  await access(present, constants.W_OK | constants.X_OK).catch((cause: unknown) =>
    codeOf(cause) === 'EROFS'
      ? refuse(`${present} ${IS_READ_ONLY}.`, cause)
      : refuse(
          `this user may not write to ${present}. As root, give it the folder: install -d -o USER -m 0700 ${folder}`,
          cause,
        ),
  )
}

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
