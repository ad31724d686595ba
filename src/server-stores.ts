import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { StartupError } from './base/errors.ts'
import { readEnvironment } from './config/environment.ts'
import type { Settings } from './config/settings.ts'
import type { BlobStore } from './stores/blob-store.ts'
import type { Database } from './stores/database.ts'
import { FolderBlobStore } from './stores/folder-blob-store.ts'
import { lockFolder } from './stores/folder-lock.ts'
import { migrate } from './stores/migrations.ts'
import { schema } from './stores/schema.ts'
import { openSqliteDatabase } from './stores/sqlite-database.ts'

const DATABASE_FILE = 'store.sqlite'

export type Stores = Awaited<ReturnType<typeof openStores>>

/** The database of a data folder that a service may have open at the same time; nothing is made that is not there. */
export async function openDatabase(settings: Settings): Promise<Database> {
  return await openSqliteDatabase(requireStore(settings))
}

/** The database file of a store that is there already. @throws {StartupError} */
export function requireStore(settings: Settings): string {
  const file = resolve(settings['service.data.folder'], DATABASE_FILE)
  if (!existsSync(file)) throw new StartupError(`There is no store in ${dirname(file)}.`)
  return file
}

/** The stores of a data folder, which nobody else may use meanwhile; `bare` ones have the tables that they had. */
export async function openStores(settings: Settings, { bare = false } = {}) {
  const folder = resolve(settings['service.data.folder'])
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = await lockFolder(folder)
  let database: Database | undefined
  try {
    database = await openSqliteDatabase(join(folder, DATABASE_FILE))
    if (!bare) await migrate(database, schema)
    const stores = { folder, database, blobs: await openBlobs(settings) }
    const close = async (): Promise<void> => {
      await stores.blobs.close()
      await stores.database.close()
      await lock.release()
    }
    return { ...stores, close }
  } catch (error) {
    await database?.close()
    await lock.release()
    throw error
  }
}

/** Where uploaded files are. @throws {StartupError} when they cannot be there. */
export async function openBlobs(settings: Settings): Promise<BlobStore> {
  const place = settings['service.data.store']
  if (place === 'folder') return await FolderBlobStore.open(resolve(settings['service.data.folder'], 'files'))
  // Only who asks for it pays for Amazon's client.
  const { S3BlobStore } = await import('./stores/s3-blob-store.ts')
  return await S3BlobStore.open(place, readEnvironment().s3)
}
