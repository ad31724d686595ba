import { lstatSync, statSync } from 'node:fs'
import { StartupError } from '../base/errors.ts'

/**
 * Root uses no folder of another user: that user's service could not open files that root leaves there, and root would follow links that
 * the user has put there. A folder that does not exist is no error.
 * @throws {StartupError} for root on a folder of another user
 */
export function requireOwnFolder(folder: string): void {
  if (process.geteuid?.() !== 0) return
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? 0
  if (owner === 0) return
  throw new StartupError(
    `The folder ${folder} belongs to the user with the number ${owner}, and you are root. ` +
      `Run the command as that user: sudo -u '#${owner}' stowage …`,
  )
}

/**
 * SQLite follows a link in place of a database file.
 * @throws {StartupError} when there is something else than a file under this name
 */
export function requirePlainFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isFile()) return
  const what = found.isSymbolicLink() ? 'a link' : 'not a file'
  throw new StartupError(`${path} is ${what}, which Stowage does not follow. Put the file itself there, or remove it.`)
}
