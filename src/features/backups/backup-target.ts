import { stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { BackupTarget } from './generations.ts'
import { StartupError, StoreUnavailable } from '../../base/errors.ts'
import { readEnvironment } from '../../config/environment.ts'
import type { BlobStore } from '../../stores/blob-store.ts'
import { FolderBlobStore } from '../../stores/folder-blob-store.ts'
import { makeFolder } from '../../stores/sync-folder.ts'
import type { BackupSettings } from './settings.ts'

export const isBucket = (place: string): boolean => place.startsWith('s3://')

/** Tells places of backups apart. */
export function placeName(settings: BackupSettings, place: string): string {
  if (!isBucket(place)) return resolve(place)
  const endpoint = settings['service.backup.s3.endpoint'] ?? readEnvironment().s3.endpoint ?? ''
  return `${place.replace(/\/+$/, '')} ${endpoint}`.trimEnd()
}

/** A folder that is missing is no error: its disk may be mounted later. @throws {StartupError} for a folder that cannot be, because a file is there */
export async function requireNoFile(place: string | undefined): Promise<void> {
  if (place === undefined || isBucket(place)) return
  const file = await findFile(resolve(place))
  if (file === undefined) return
  throw new StartupError(`service.backup.target: ${place} cannot be the folder of the backups: ${file} is a file.`)
}

/** This path, or the part of it, that is not a folder. */
async function findFile(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : path
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR' ? await findFile(dirname(path)) : undefined
  }
}

/** Opens the place of backups, a folder or `s3://bucket/prefix`. @throws {StartupError} when it is unusable */
export async function openBackupTarget(settings: BackupSettings, place: string): Promise<BackupTarget> {
  const [blobs, manifests] = await Promise.all(
    ['blobs', 'generations'].map(name =>
      openStore(settings, isBucket(place) ? `${place.replace(/\/+$/, '')}/${name}` : join(place, name)),
    ),
  )
  if (!blobs || !manifests) throw new TypeError('a target has two stores')
  const close = async (): Promise<void> => {
    await blobs.close()
    await manifests.close()
  }
  const pathOf: BackupTarget['pathOf'] = (part, key) =>
    isBucket(place) ? `${place.replace(/\/+$/, '')}/${part}/${key}` : join(resolve(place), part, key.slice(0, 2), key)
  return { blobs, manifests, place, pathOf, close }
}

async function openStore(settings: BackupSettings, place: string): Promise<BlobStore> {
  if (!isBucket(place)) {
    await makeFolder(resolve(place))
    return await FolderBlobStore.open(resolve(place))
  }
  const { S3BlobStore } = await import('../../stores/s3/s3-blob-store.ts')
  const { s3 } = readEnvironment()
  const accessKeyId = settings['service.backup.s3.access-key']
  const secretAccessKey = settings['service.backup.s3.secret-key']
  return await S3BlobStore.open(place, {
    endpoint: settings['service.backup.s3.endpoint'] ?? s3.endpoint,
    region: settings['service.backup.s3.region'] ?? s3.region,
    ...(accessKeyId === undefined || secretAccessKey === undefined
      ? {}
      : { credentials: { accessKeyId, secretAccessKey } }),
  })
}

/** For people. A bucket says only in the cause what it refused; the files of the store may be in one, too. */
export function reasonOf(error: unknown, place: string): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof StoreUnavailable) || !(error.cause instanceof Error)) return error.message
  return `${place}, or the place of the files, cannot be used: ${error.cause.message}`
}
