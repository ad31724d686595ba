import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { NoStore, StartupError } from '../base/errors.ts'
import { realSystem, type System } from '../base/system.ts'
import { readEnvironment } from '../config/environment.ts'
import type { Settings } from '../config/settings.ts'
import type { BlobStore } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { FolderBlobStore } from '../stores/folder-blob-store.ts'
import { ownName } from '../stores/file-access.ts'
import { requireOwnFolder, requirePlainFile } from '../stores/own-folder.ts'
import type { PostgresOptions } from '../stores/postgres/postgres-database.ts'
import { holdsStore } from '../stores/postgres/node-registry.ts'
import { openSqliteDatabase, openSqliteReader } from '../stores/sqlite/sqlite-database.ts'
import { adviceOnLoss } from './lost-store.ts'

/** Below the data folder. */
export const DATABASE_FILE = 'store.sqlite'

interface OpenOptions {
  readonly readOnly?: boolean
  /** On PostgreSQL; by default those of `openPostgresDatabase`. */
  readonly limits?: Pick<PostgresOptions, 'connections' | 'statementTimeout' | 'timeout'>
}

/**
 * Opens the database of an existing store, which services may have open at the same time.
 * @throws {NoStore} none is made @throws {StartupError}
 */
export async function openDatabase(
  settings: Settings,
  system: System,
  { readOnly = false, limits }: OpenOptions = {},
): Promise<Database> {
  const url = settings['service.repository.store.url']
  if (url === undefined) {
    const file = requireFile(settings)
    return readOnly ? await openSqliteReader(file) : await openSqliteDatabase(file)
  }
  const { openPostgresDatabase } = await import('../stores/postgres/postgres-database.ts')
  const database = await openPostgresDatabase(url, { system, ...limits })
  try {
    if (await holdsStore(database)) return database
    throw new NoStore(`There is no store in the database.${adviceOnLoss(settings)}`)
  } catch (error) {
    await database.close()
    throw error
  }
}

/**
 * Settles like `read`, which gets the database of an existing store.
 * @throws {NoStore} none is made @throws {StartupError}
 */
export async function readStore<T>(settings: Settings, read: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(settings, realSystem, { readOnly: true })
  try {
    return await read(database)
  } finally {
    await database.close()
  }
}

/** Opens the store of uploaded files. @throws {StartupError} when it is unusable */
export async function openBlobs(settings: Settings): Promise<BlobStore> {
  const place = settings['service.data.store']
  if (place === 'folder') {
    const folder = resolve(settings['service.data.folder'])
    requireOwnFolder(folder)
    return await FolderBlobStore.open(join(folder, 'files'))
  }
  // Amazon's client is loaded only where it is used.
  const { S3BlobStore } = await import('../stores/s3/s3-blob-store.ts')
  return await S3BlobStore.open(place, readEnvironment().s3)
}

function requireFile(settings: Settings): string {
  const file = resolve(settings['service.data.folder'], DATABASE_FILE)
  requireOwnFolder(dirname(file))
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT')
      throw new NoStore(`There is no store in ${dirname(file)}.${adviceOnLoss(settings)}`, { cause })
    if (code === 'ENOTDIR') {
      const reason = 'it, or a folder above it, is a file'
      throw new StartupError(`The data folder ${dirname(file)} cannot be used: ${reason}.`, { cause })
    }
    const reason = code === 'EROFS' ? 'the file system is read-only' : `this user may not read and write it (${code})`
    const user = ownName()
    const advice =
      code === 'EROFS'
        ? ''
        : ` Run the command as the user that the service runs as. If that is ${user}, run as root: chown -R ${user}: ${dirname(file)}`
    throw new StartupError(`The store in ${dirname(file)} cannot be opened: ${reason}.${advice}`, { cause })
  }
  requirePlainFile(file)
  // SQLite would make an empty database of it.
  if (statSync(file).size === 0) throw new NoStore(`There is no store in ${dirname(file)}.${adviceOnLoss(settings)}`)
  return file
}
