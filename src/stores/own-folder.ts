import { lstatSync, statSync } from 'node:fs'
import { LastingFailure, StartupError } from '../base/errors.ts'
import { describeOwner, nameOfUser } from './file-access.ts'

/**
 * Root uses no folder of another user: that user's service could not open files that root leaves there, and root would follow links that
 * the user has put there. A folder that does not exist is no error.
 * @throws {StartupError} for root on a folder of another user
 */
export function requireOwnFolder(folder: string): void {
  if (process.geteuid?.() !== 0) return
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid ?? 0
  if (owner === 0) return
  const name = nameOfUser(owner)
  const as = name === undefined ? `sudo -u '#${owner}'` : `runuser -u ${name} --`
  throw new StartupError(
    `The folder ${folder} belongs to ${describeOwner(owner)}, and you are root. ` +
      `Run the command as that user: ${as} stowage …`,
  )
}

/**
 * SQLite follows a link in place of a database file.
 * @throws {LastingFailure} when there is something else than a file under this name
 */
export function requirePlainFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (!found || found.isFile()) return
  const what = found.isSymbolicLink() ? 'a link' : 'not a file'
  throw new LastingFailure(
    `${path} is ${what}, which Stowage does not follow. Put the file itself there, or remove it.`,
  )
}
