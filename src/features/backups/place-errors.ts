import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { userInfo } from 'node:os'
import { StartupError } from '../../base/errors.ts'
import { withDiskErrorsAt } from '../../stores/disk.ts'

/**
 * Settles like `work`, which uses a place of backups and perhaps other folders.
 * @throws {StartupError} when the disk of the place refuses a write, or this user may not use the place
 */
export async function withPlaceErrors<T>(place: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    const folder = resolve(place)
    if (path === undefined || !isWithin(folder, resolve(path))) throw error
    if (code === 'EACCES' || code === 'EPERM') throw await explainAccess(folder, resolve(path), error)
    return await withDiskErrorsAt(place, Promise.reject<T>(error as Error))
  }
}

const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`)

async function explainAccess(folder: string, path: string, cause: unknown): Promise<StartupError> {
  const found = await nearest(path)
  const owner = found.uid === 0 ? 'root' : `the user with the number ${found.uid}`
  const mode = (found.mode & 0o7777).toString(8).padStart(4, '0')
  const reason = `${found.path} belongs to ${owner} (mode ${mode}), and this user has no permission`
  const remedy = `If this user runs the service, run as root: ${await remedyFor(folder, found.path, found.uid)}`
  return new StartupError(`The folder ${folder} cannot be used: ${reason}. ${remedy}`, { cause })
}

/** The path itself, or the nearest one above it that can be looked at. */
async function nearest(path: string): Promise<{ readonly path: string; readonly uid: number; readonly mode: number }> {
  const found = await stat(path).catch(() => undefined)
  return found ? { path, uid: found.uid, mode: found.mode } : await nearest(dirname(path))
}

/** The command that gives this user the folder. */
async function remedyFor(folder: string, blocked: string, owner: number): Promise<string> {
  const user = nameOfUser()
  if (isWithin(folder, blocked))
    return owner === process.geteuid?.() ? `chmod -R u+rwX ${folder}` : `chown -R ${user}: ${folder}`
  const isThere = await stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
  return isThere ? `chmod a+x ${blocked}` : `install -d -o ${user} -m 0700 ${folder}`
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    // The user has no name in this system.
    return String(process.getuid?.())
  }
}
