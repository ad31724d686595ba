import { BlobMissing } from '../stores/blob-store.ts'
import { isUnreadable } from '../stores/disk.ts'

/** Where bytes come from. */
export interface ReadableBlobs {
  /** @throws {BlobMissing} */
  read(key: string): Promise<AsyncIterable<Uint8Array>>
}

/** The bytes cannot be decrypted: they are damaged, or encrypted to other keys. */
export class DecryptionFailed extends Error {
  constructor(message: string, options: { readonly cause: unknown }) {
    super(message, options)
    this.name = 'DecryptionFailed'
  }
}

/** Whether these bytes of a backup are lost or damaged. While a store is unavailable that is unknown. */
export const isDamage = (error: unknown): boolean =>
  error instanceof BlobMissing || error instanceof DecryptionFailed || isUnreadable(error)

/** The bytes end where they are damaged, so that their digest differs. @throws {BlobMissing} */
export async function readUntilDamage(blobs: ReadableBlobs, key: string): Promise<AsyncIterable<Uint8Array>> {
  try {
    return untilDamage(await blobs.read(key))
  } catch (cause) {
    throw isDamage(cause) ? new BlobMissing(key, { cause }) : cause
  }
}

async function* untilDamage(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* bytes
  } catch (error) {
    if (!isDamage(error)) throw error
  }
}
