import { backupSteps } from '../backup/backup-runs.ts'
import { factorSteps } from '../accounts/factors/schema-steps.ts'
import { accountSteps } from '../accounts/schema-steps.ts'
import { ssoSteps } from '../sso/schema-steps.ts'
import { searchSteps } from '../search/tables.ts'
import { changeLogSteps } from '../stores/change-log.ts'
import { commonSteps } from '../stores/schema.ts'
import { migrate, type Migration, type Surround } from '../stores/migrations.ts'
import { accessSync, constants } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { StartupError } from '../base/errors.ts'
import type { System } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import { readEnvironment } from '../config/environment.ts'
import type { Settings } from '../config/settings.ts'
import { type BlobStore, timedBlobs } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { FolderBlobStore } from '../stores/folder-blob-store.ts'
import { lockFolder } from '../stores/sqlite/folder-lock.ts'
import { applicationOf, holdsStore, requireNoOlderNodes, serverVersion } from '../stores/postgres/node-registry.ts'
import { placeOf } from '../stores/postgres/postgres-pool.ts'
import type { LivePart } from './live-settings.ts'
import { openSqliteDatabase, openSqliteReader } from '../stores/sqlite/sqlite-database.ts'
import { makeFolder } from '../stores/sync-folder.ts'
import type { DiskSpace } from '../stores/disk.ts'
import { linkSteps } from '../content/links/link-rows.ts'

/**
 * All steps of the schema, in the order in which a store takes them. Each module with tables exports its own
 * steps.
 */
export const schema: readonly Migration[] = [
  ...commonSteps,
  ...accountSteps,
  ...factorSteps,
  ...linkSteps,
  ...ssoSteps,
  ...searchSteps,
  ...changeLogSteps,
  ...backupSteps,
].sort((a, b) => a.id - b.id)

export const newestSchema = schema.at(-1)?.id ?? 0

const DATABASE_FILE = 'store.sqlite'
const READ_CACHE: Bytes = 64 * 2 ** 20
/** Commands that copy or check whole tables read each page once. */
const COPY_CACHE: Bytes = 8 * 2 ** 20
/** A reader thread does one thing at a time. */
const READER_CONNECTIONS = 1

export type Stores = Awaited<ReturnType<typeof openStores>>

/**
 * Opens the database of an existing store, which services may have open at the same time.
 * @throws {StartupError} when there is no store; none is made
 */
export async function openDatabase(
  settings: Settings,
  system: System,
  { readOnly = false }: { readonly readOnly?: boolean } = {},
): Promise<Database> {
  const url = settings['service.repository.store.url']
  if (url === undefined) {
    const file = requireFile(settings)
    return readOnly ? await openSqliteReader(file) : await openSqliteDatabase(file)
  }
  const { openPostgresDatabase } = await import('../stores/postgres/postgres-database.ts')
  const database = await openPostgresDatabase(url, { system, ...(readOnly ? { connections: READER_CONNECTIONS } : {}) })
  try {
    if (await holdsStore(database)) return database
    throw new StartupError('There is no store in the database.')
  } catch (error) {
    await database.close()
    throw error
  }
}

/** @throws {StartupError} when there is no store yet */
export async function requireStore(settings: Settings, system: System): Promise<void> {
  await (await openDatabase(settings, system)).close()
}

/**
 * The version and address of the database server; `undefined` with a database file. @throws {StartupError}
 * when the server is unusable
 */
export async function describeServer(settings: Settings, system: System): Promise<string | undefined> {
  const url = settings['service.repository.store.url']
  if (url === undefined) return undefined
  const { openPostgresDatabase } = await import('../stores/postgres/postgres-database.ts')
  const database = await openPostgresDatabase(url, { system })
  try {
    return `PostgreSQL ${await serverVersion(database)} at ${placeOf(url)}`
  } finally {
    await database.close()
  }
}

function requireFile(settings: Settings): string {
  const file = resolve(settings['service.data.folder'], DATABASE_FILE)
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
    return file
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT') throw new StartupError(`There is no store in ${dirname(file)}.`, { cause })
    const reason = code === 'EROFS' ? 'the file system is read-only' : `this user may not read and write it (${code})`
    const advice = code === 'EROFS' ? '' : ' Run the command as the user that the service runs as.'
    throw new StartupError(`The store in ${dirname(file)} cannot be opened: ${reason}.${advice}`, { cause })
  }
}

interface OpenDatabase {
  readonly database: Database
  /** True when no other process has the store open. */
  readonly isExclusive: boolean
  /** The name of this process for other nodes; `undefined` when no other node can share the database. */
  readonly nodeId: string | undefined
  readonly close: () => Promise<void>
}

/** How to open the stores, in addition to the settings. */
interface Opening {
  /** For commands that copy a whole store: leaves the tables unchanged, and caches little. */
  readonly bare?: boolean
  /** Requires that no other process has the store open, even where nodes could share it. */
  readonly isExclusive?: boolean
  /** Told of each step of an upgrade. */
  readonly during?: Surround
}

/**
 * Opens and prepares the database: makes it if necessary, at the newest step of the schema; on PostgreSQL
 * together with other nodes.
 */
async function openPrepared(
  settings: Settings,
  system: System,
  folder: string,
  opening: Opening,
): Promise<OpenDatabase> {
  const { bare = false, isExclusive = false } = opening
  const url = settings['service.repository.store.url']
  if (url !== undefined) {
    const { openPostgresDatabase } = await import('../stores/postgres/postgres-database.ts')
    const nodeId = Buffer.from(system.randomBytes(8)).toString('hex')
    // The settings of a running service have the values in force.
    const currentUrl = (): string => settings['service.repository.store.url'] ?? url
    const application = applicationOf(nodeId)
    const database = await openPostgresDatabase(url, {
      system,
      isExclusive,
      application,
      currentUrl,
      // A newer node may change the tables while this one has no connection.
      ...(bare ? {} : { newestSchema }),
    })
    const opened = { database, isExclusive, nodeId, close: () => database.close() }
    return await migrated(opened, opening)
  }
  const file = join(folder, DATABASE_FILE)
  const lock = await lockFolder(folder)
  try {
    const database = await openSqliteDatabase(file, { readCache: bare ? COPY_CACHE : READ_CACHE })
    const close = async (): Promise<void> => {
      await database.close()
      await lock.release()
    }
    return await migrated({ database, isExclusive: true, nodeId: undefined, close }, opening)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function migrated(opened: OpenDatabase, { bare, during }: Opening): Promise<OpenDatabase> {
  try {
    if (opened.nodeId !== undefined && !bare) await requireNoOlderNodes(opened.database, newestSchema)
    if (!bare) await migrate(opened.database, schema, during)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Opens the stores of a service. With a database file the folder is locked. @throws {StartupError} */
export async function openStores(settings: Settings, system: System, opening: Opening = {}) {
  const folder = resolve(settings['service.data.folder'])
  await makeFolder(folder)
  const { database, isExclusive, nodeId, close: closeDatabase } = await openPrepared(settings, system, folder, opening)
  try {
    const blobs = timedBlobs(await openBlobs(settings))
    const close = async (): Promise<void> => {
      await blobs.close()
      await closeDatabase()
    }
    return { folder, database, blobs, isExclusive, nodeId, close, reload: storesReload(blobs) }
  } catch (error) {
    await closeDatabase()
    throw error
  }
}

/** Checks another password of PostgreSQL, which new connections use, and puts other credentials of S3 in force. */
const storesReload =
  (blobs: BlobStore): LivePart =>
  async ({ next, changed }) => {
    const url = next['service.repository.store.url']
    if (url !== undefined && changed.has('service.repository.store.url')) {
      await (await import('../stores/postgres/postgres-pool.ts')).requireLogin(url)
    }
    return await blobs.renew?.()
  }

/** Opens the store of uploaded files. @throws {StartupError} when it is unusable */
export async function openBlobs(settings: Settings): Promise<BlobStore> {
  const place = settings['service.data.store']
  if (place === 'folder') return await FolderBlobStore.open(resolve(settings['service.data.folder'], 'files'))
  // Amazon's client is loaded only where it is used.
  const { S3BlobStore } = await import('../stores/s3/s3-blob-store.ts')
  return await S3BlobStore.open(place, readEnvironment().s3)
}

/** @throws {Error} while the disk accepts no new data */
export async function requireHealthy(disk: DiskSpace): Promise<void> {
  const state = await disk.check()
  if (state === 'full' || state === 'read-only') throw new Error(`the disk of the data folder is ${state}`)
}

/**
 * Checking takes about a second per 100 MB, so a larger database would delay the start. `fsck` checks all of
 * it.
 */
const MAX_CHECKED_AT_START = 64 * 2 ** 20

/** @throws {StartupError} when the database finds its own data structures damaged */
export async function requireIntact(database: Database): Promise<void> {
  const [damage] = await database.findDamage({ maxBytes: MAX_CHECKED_AT_START })
  if (damage === undefined) return
  throw new StartupError(
    `The database is damaged: ${damage}. Run \`stowage fsck\`; docs/how-to/troubleshooting.md says how to recover.`,
  )
}
