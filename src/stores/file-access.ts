import { readFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

/** The name of a user of this machine; `undefined` for a user whom only a directory server knows. */
export function nameOfUser(uid: number): string | undefined {
  const row = readUsers()
    .split('\n')
    .map(line => line.split(':'))
    .find(([, , number]) => number === String(uid))
  return row?.[0]
}

function readUsers(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    // An image without users.
    return ''
  }
}

/** Describes the owner of a file in messages. */
export function describeOwner(uid: number): string {
  if (uid === 0) return 'root'
  const name = nameOfUser(uid)
  return name === undefined ? `the user with the number ${uid}` : `the user ${name}`
}

/** The user that this process runs as, for the commands in messages. */
export function ownName(): string {
  try {
    return userInfo().username
  } catch {
    // The user has no name in this system.
    return String(process.getuid?.())
  }
}

export const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`)

/** Why this user may not use `path`, which is `folder` or in it, and the command of root that changes this. Both paths are absolute. */
export async function explainAccess(folder: string, path: string): Promise<string> {
  const found = await nearest(path)
  const mode = (found.mode & 0o7777).toString(8).padStart(4, '0')
  const reason = `${found.path} belongs to ${describeOwner(found.uid)} (mode ${mode}), and this user has no permission`
  return `${reason}. If this user runs the service, run as root: ${await remedyFor(folder, found.path, found.uid)}`
}

/** The path itself, or the nearest one above it that can be looked at. */
async function nearest(path: string): Promise<{ readonly path: string; readonly uid: number; readonly mode: number }> {
  const found = await stat(path).catch(() => undefined)
  return found ? { path, uid: found.uid, mode: found.mode } : await nearest(dirname(path))
}

/** The command that gives this user the folder. */
async function remedyFor(folder: string, blocked: string, owner: number): Promise<string> {
  if (isWithin(folder, blocked))
    return owner === process.geteuid?.() ? `chmod -R u+rwX ${folder}` : `chown -R ${ownName()}: ${folder}`
  const isThere = await stat(folder).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  )
  return isThere ? `chmod a+x ${blocked}` : newFolder(folder)
}

/** The command of root that makes a folder for this user. */
export const newFolder = (folder: string): string => `install -d -o ${ownName()} -m 0700 ${folder}`
