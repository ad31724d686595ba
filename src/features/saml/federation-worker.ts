import { createHash, createPublicKey } from 'node:crypto'
import { isMainThread } from 'node:worker_threads'
import type { Bytes, Milliseconds } from '../../base/units.ts'
import { serveTasks } from '../../workers/serve-tasks.ts'
import { FetchFailed, streamDocument } from '../../base/fetch.ts'
import { listedEntity } from './federation-directory.ts'
import type { FederationEntity } from './federation-entity.ts'
import type { EntityRow } from './federation-store.ts'
import { MetadataRefused } from './metadata.ts'
import { SignedMetadataReader, type SignedMetadataSummary } from './signed-metadata.ts'

export interface FederationTask {
  readonly url: string
  /** Public keys of the federation, PEM. */
  readonly keys: readonly string[]
  readonly now: Milliseconds
  readonly timeout: Milliseconds
  readonly maxBytes: Bytes
}

/** Errors lose their class on the way between threads, so refusals travel as values. */
export type FederationOutcome =
  | {
      readonly summary: SignedMetadataSummary
      /**
       * The rows of the providers in packs of several rows, as JSON lists in UTF-8: bytes are cheap to transfer, and the receiver reads one
       * pack at a time.
       */
      readonly packs: readonly Uint8Array[]
      /** Entity ids that occur more than once: nobody can say which entity is meant, so none is used. */
      readonly duplicates: readonly string[]
      /** Different entity ids. */
      readonly providers: number
    }
  | { readonly refused: string; readonly status?: number | undefined }

if (!isMainThread) serveTasks(work)

const PACK_CHARACTERS = 262_144

/** The work of a worker thread: fetches signed metadata and reads them while they arrive. */
export async function work({ url, keys, now, timeout, maxBytes }: FederationTask): Promise<FederationOutcome> {
  const packs: Uint8Array[] = []
  let texts: string[] = []
  let characters = 0
  const seen = new Set<string>()
  const duplicates = new Set<string>()
  const pack = (): void => {
    if (texts.length > 0) packs.push(new Uint8Array(Buffer.from(`[${texts.join(',')}]`)))
    texts = []
    characters = 0
  }
  const take = (entity: FederationEntity): void => {
    const { entityId } = entity
    if (seen.has(entityId)) duplicates.add(entityId)
    seen.add(entityId)
    const [listed, whole] = [JSON.stringify(listedEntity(entity)), JSON.stringify(entity)]
    const digest = createHash('sha256').update(listed).update(whole).digest('base64')
    const row: EntityRow = [entityId, digest, listed, whole]
    const text = JSON.stringify(row)
    texts.push(text)
    characters += text.length
    if (characters >= PACK_CHARACTERS) pack()
  }
  try {
    const reader = new SignedMetadataReader(
      { keys: keys.map(key => createPublicKey(key)), now, requiresEnd: true },
      take,
    )
    for await (const chunk of streamDocument({ url, timeout, maxBytes, verifyTls: true })) reader.write(chunk)
    const summary = reader.end()
    pack()
    return { summary, packs, duplicates: [...duplicates], providers: seen.size }
  } catch (error) {
    if (error instanceof FetchFailed) return { refused: error.message, status: error.status }
    if (error instanceof MetadataRefused) return { refused: error.message }
    throw error
  }
}
