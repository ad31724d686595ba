import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { StartupError } from '../../base/errors.ts'

interface FolderLock {
  /** Releases the folder. Calling it again is not an error. */
  release(): Promise<void>
}

/** Keeps a reference: the garbage collector would close an unreferenced handle, and the lock would be lost. */
const held = new Set<DatabaseSync>()

/**
 * Locks `folder`, which is created when absent, for this process until `release` or the end of the process. Node has no file
 * locks, but SQLite has: its exclusive lock on the file `lock` is one of the operating system's. Nothing else in this
 * process may open that file, because closing it would drop the lock (POSIX).
 * @throws {StartupError} when another process uses the folder.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const pidFile = join(folder, 'stowage.pid')
  let handle: DatabaseSync | undefined
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    handle = new DatabaseSync(join(folder, 'lock'), { timeout: 0 })
    // Never call `prepare` on this handle: with a statement alive `close` might not release the lock.
    handle.exec('BEGIN EXCLUSIVE')
    // By its name: opening the file here would drop the lock.
    await chmod(join(folder, 'lock'), 0o600)
    await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 })
  } catch (error) {
    handle?.close()
    throw isBusy(error) ? await inUse(folder, pidFile, error) : notLockable(folder, error)
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

const SQLITE_BUSY = 5

/** The low byte of SQLite's code is the kind of error, the rest refines it. */
const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === SQLITE_BUSY

async function inUse(folder: string, pidFile: string, cause: unknown): Promise<StartupError> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim()
  const who = /^\d+$/.test(pid) ? ` (pid ${pid})` : ''
  return new StartupError(
    `The data folder ${folder} is in use by another Stowage process${who}. Stop it first, or choose another folder.`,
    { cause },
  )
}

function notLockable(folder: string, cause: unknown): StartupError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new StartupError(`The data folder ${folder} cannot be locked: ${reason}`, { cause })
}
