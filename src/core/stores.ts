import { requireOwnFolder, requirePlainFile } from '../stores/own-folder.ts'
import { join, resolve } from 'node:path'
import { LastingFailure, StoreDamaged, StoreUnavailable } from '../base/errors.ts'
import { requireCompleteStore } from '../backup/store-copy.ts'
import type { System } from '../base/system.ts'
import type { Bytes } from '../base/units.ts'
import type { Settings } from '../config/settings.ts'
import { type BlobStore, timedBlobs } from '../stores/blob-store.ts'
import type { Database } from '../stores/database.ts'
import { migrate, type Migration, schemaVersion, type Surround } from '../stores/migrations.ts'
import { applicationOf, requireCreate, requireNoOlderNodes, serverVersion } from '../stores/postgres/node-registry.ts'
import { placeOf, unusable } from '../stores/postgres/postgres-pool.ts'
import { lockFolder } from '../stores/sqlite/folder-lock.ts'
import { openSqliteDatabase } from '../stores/sqlite/sqlite-database.ts'
import { makeFolder } from '../stores/sync-folder.ts'
import { requireNoFiles, requireNoLostFile } from './lost-database.ts'
import type { Reload } from './reload.ts'
import { DATABASE_FILE, openBlobs, openDatabase } from './open-store.ts'

/** Of the connection of a service to a database file. */
const READ_CACHE: Bytes = 64 * 2 ** 20
/** Commands that copy or check whole tables read each page once. */
const COPY_CACHE: Bytes = 8 * 2 ** 20
export type Stores = Awaited<ReturnType<typeof openStores>>

/** @throws {StartupError} when there is no store yet */
export async function requireStore(settings: Settings, system: System): Promise<void> {
  await (await openDatabase(settings, system)).close()
}

/**
 * The version and address of the PostgreSQL server; `undefined` with a database file. @throws {StartupError}
 * when the server is unusable
 */
export async function describeServer(
  settings: Settings,
  system: System,
): Promise<{ readonly version: string; readonly place: string } | undefined> {
  const url = settings['service.repository.store.url']
  if (url === undefined) return undefined
  const { openPostgresDatabase } = await import('../stores/postgres/postgres-database.ts')
  const database = await openPostgresDatabase(url, { system })
  try {
    await requireCreate(database)
    return { version: await serverVersion(database), place: placeOf(url) }
  } finally {
    await database.close()
  }
}

const newest = (schema: readonly Migration[]): number => schema.at(-1)?.id ?? 0

interface OpenDatabase {
  readonly database: Database
  /** True when no other process has the store open. */
  readonly isExclusive: boolean
  /** The name of this process for other nodes; `undefined` when no other node can share the database. */
  readonly nodeId: string | undefined
  readonly close: () => Promise<void>
}

/** How to open the stores, in addition to the settings. */
export interface Opening {
  /** For commands that copy a whole store: leaves the tables unchanged, and caches little. */
  readonly bare?: boolean
  /** Requires that no other process has the store open, even where nodes could share it. */
  readonly isExclusive?: boolean
  /** All steps of the schema. */
  readonly schema: readonly Migration[]
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
  const { bare = false, isExclusive = false, schema } = opening
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
      ...(bare ? {} : { newestSchema: newest(schema) }),
    })
    const opened = { database, isExclusive, nodeId, close: () => database.close() }
    return await migrated(settings, opened, opening).catch((error: unknown) => {
      throw error instanceof StoreUnavailable ? unusable(url, error) : error
    })
  }
  const file = join(folder, DATABASE_FILE)
  requirePlainFile(file)
  const lock = await lockFolder(folder)
  try {
    await requireNoLostFile(settings)
    const database = await openSqliteDatabase(
      file,
      bare ? { readCache: COPY_CACHE, sortsInFiles: true } : { readCache: READ_CACHE },
    )
    const close = async (): Promise<void> => {
      await database.close()
      await lock.release()
    }
    return await migrated(settings, { database, isExclusive: true, nodeId: undefined, close }, opening)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function migrated(
  settings: Settings,
  opened: OpenDatabase,
  { bare, during, schema }: Opening,
): Promise<OpenDatabase> {
  try {
    if (opened.nodeId !== undefined && !bare) {
      await requireCreate(opened.database)
      await requireNoOlderNodes(opened.database, newest(schema))
    }
    if (!bare) {
      const isNew = async (): Promise<boolean> => (await schemaVersion(opened.database)) === 0
      if (await isNew())
        await requireNoFiles(settings).catch(async (error: unknown) => {
          // Another node may have made the store and its first file meanwhile.
          if (await isNew()) throw error
        })
      // Before the upgrade: the tables of an interrupted copy get their rows at the step of its source.
      await requireCompleteStore(opened.database)
      await migrate(opened.database, schema, during)
    }
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Opens the stores of a service. With a database file the folder is locked. @throws {StartupError} */
export async function openStores(settings: Settings, system: System, opening: Opening) {
  const folder = resolve(settings['service.data.folder'])
  requireOwnFolder(folder)
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

/** Checks a new password of PostgreSQL, which new connections then use, and prepares new credentials of S3. */
const storesReload =
  (blobs: BlobStore): Reload =>
  async ({ next, changed }) => {
    const url = next['service.repository.store.url']
    if (url !== undefined && changed.has('service.repository.store.url')) {
      await (await import('../stores/postgres/postgres-pool.ts')).requireLogin(url)
    }
    return await blobs.renew?.()
  }

/**
 * Checking takes about a second per 100 MB, so a larger database would delay the start. `fsck` checks all of
 * it.
 */
export const MAX_CHECKED_AT_START: Bytes = 64 * 2 ** 20

/** @throws {LastingFailure} when the database finds its own data structures damaged */
export async function requireIntact(database: Database): Promise<void> {
  const [damage] = await database.findDamage({ maxBytes: MAX_CHECKED_AT_START })
  if (damage === undefined) return
  throw new LastingFailure(describeDamage(damage))
}

/** For the operator. @param damage a message of the engine */
export const describeDamage = (damage: string): string =>
  `The database is damaged: ${damage}. Stop the service and follow ${StoreDamaged.page}.`
