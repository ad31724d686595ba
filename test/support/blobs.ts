import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { BlobStore } from '../../src/stores/blob-store.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { openDatabaseOf } from './store.ts'

/** With `BLOBS=s3` the services of all tests keep their files in a bucket; `scripts/test.mjs` starts a server for it. */
export const bucket = process.env['BLOBS'] === 's3' ? (process.env['STOWAGE_TEST_BUCKET'] ?? '') : undefined

/** Settings of a service with this data folder; each has its own place for files. */
export const blobSettings = (folder: string): Record<string, string> =>
  bucket === undefined ? {} : { 'service.data.store': placeOf(folder) }

/** The same settings as arguments of the program. */
export const blobArgs = (folder: string): string[] =>
  Object.entries(blobSettings(folder)).flatMap(([key, value]) => ['--set', `${key}=${value}`])

const placeOf = (folder: string): string =>
  `s3://${bucket}/${basename(folder)}-${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`

/** One client for each place, because opening one takes a while. */
const opened = new Map<string, Promise<BlobStore>>()

async function openBucket(place: string): Promise<BlobStore> {
  const { S3BlobStore } = await import('../../src/stores/s3/s3-blob-store.ts')
  return await S3BlobStore.open(place, { endpoint: process.env['AWS_ENDPOINT_URL_S3'] })
}

/** Opens the blobs of a service directly. */
export async function blobStoreOf(folder: string): Promise<BlobStore> {
  if (bucket === undefined) return await FolderBlobStore.open(join(folder, 'files'))
  const place = placeOf(folder)
  const store = opened.get(place) ?? openBucket(place)
  opened.set(place, store)
  return await store
}

/** Keys of the blobs of a service: the stored ones, and those of uploads in progress. */
export async function blobsOf({
  folder,
}: {
  readonly folder: string
}): Promise<Record<'stored' | 'incoming', string[]>> {
  const names = bucket === undefined ? await readdir(join(folder, 'files'), { recursive: true }) : undefined
  if (names) {
    const blobs = names.filter(name => /[0-9a-f]{40}$/.test(name))
    const keysOf = (isIncoming: boolean): string[] =>
      blobs.filter(name => /^(incoming|pieces)/.test(name) === isIncoming).map(name => basename(name))
    return { stored: keysOf(false), incoming: keysOf(true) }
  }
  // A small upload is only in memory until it is complete.
  const blobs = await blobStoreOf(folder)
  const database = await openDatabaseOf(folder)
  try {
    const incoming = (await database.all<{ blob: string }>(sql`SELECT blob FROM uploads`)).map(({ blob }) => blob)
    const keys = new Set<string>()
    for await (const { key } of blobs.list()) keys.add(key)
    return { stored: [...keys].filter(key => !incoming.includes(key)), incoming }
  } finally {
    await database.close()
  }
}

/** Writes a blob directly, replacing the one with this key, if any. */
export async function plantBlob(folder: string, key: string, text: string): Promise<void> {
  const blobs = await blobStoreOf(folder)
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(text)
  }
  await blobs.delete(key)
  await blobs.write(key, bytes(), new AbortController().signal)
}
