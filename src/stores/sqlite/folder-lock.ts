import { isBusy } from './busy.ts'
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../../base/errors.ts'
import { requireOwnFolder, requirePlainFile } from '../own-folder.ts'

interface FolderLock {
  /** Releases the folder. Calling it again is not an error. */
  release(): Promise<void>
}

/** Keeps a reference: the garbage collector would close an unreferenced handle, and the lock would be lost. */
const held = new Set<DatabaseSync>()

/**
 * Locks `folder`, which is created when absent, for this process until `release` or the end of the process. Node has no file locks, but
 * SQLite's exclusive lock on the file `lock` is a lock of the operating system. Nothing else in this process may open that file, because
 * closing it would drop the lock (POSIX).
 * @param kind names the folder in errors
 * @throws {StartupError} when another process uses the folder, or root one of another user
 */
export async function lockFolder(folder: string, kind = 'data folder'): Promise<FolderLock> {
  const pidFile = join(folder, 'stowage.pid')
  const lockFile = join(folder, 'lock')
  requireOwnFolder(folder)
  let handle: DatabaseSync | undefined
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    requirePlainFile(lockFile)
    handle = new DatabaseSync(lockFile, { timeout: 0 })
    // Never call `prepare` on this handle: with a statement alive `close` might not release the lock.
    handle.exec('BEGIN EXCLUSIVE')
    // By its name: opening the file here would drop the lock.
    await chmod(lockFile, 0o600)
    // A link would be followed.
    await rm(pidFile, { force: true })
    await writeFile(pidFile, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    handle?.close()
    if (error instanceof StartupError) throw error
    throw isBusy(error) ? await inUse(`${kind} ${folder}`, pidFile, error) : notLockable(`${kind} ${folder}`, error)
  }
  const lock = handle
  held.add(lock)
  return {
    async release() {
      if (!held.delete(lock)) return
      // While still holding the lock; otherwise the next owner's file would be removed.
      try {
        await rm(pidFile, { force: true })
      } finally {
        lock.close()
      }
    },
  }
}

async function inUse(folder: string, pidFile: string, cause: unknown): Promise<StartupError> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim()
  const who = /^\d+$/.test(pid) ? ` (pid ${pid})` : ''
  return new StartupError(
    `The ${folder} is in use by another Stowage process${who}. Stop it first, or choose another folder.`,
    { cause },
  )
}

function notLockable(folder: string, cause: unknown): StartupError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StartupError(`The ${folder} cannot be locked: ${reason}`, { cause })
}
