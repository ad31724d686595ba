import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { FileUnreadable } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { FileRecord } from './file-records.ts'

/** A file up to this size is verified before its first byte is sent. */
const MAX_BUFFERED: Bytes = 2 ** 20

/**
 * The bytes of a whole file, compared with its record. A small file is rejected before it is sent. Of a larger one the last
 * chunk is held back until the digest is known: the stream of a damaged file fails, and the client receives less than
 * `Content-Length` announced.
 * @throws {FileUnreadable} `file-damaged`
 */
export async function verified(bytes: Readable, file: FileRecord): Promise<Readable> {
  if (file.size > MAX_BUFFERED) return Readable.from(checked(bytes, file), { objectMode: false })
  const content = await buffer(bytes)
  requireDigest(file, createHash('sha256').update(content).digest('hex'), content.length)
  return Readable.from(content.length === 0 ? [] : [content], { objectMode: false })
}

async function* checked(bytes: AsyncIterable<Uint8Array>, file: FileRecord): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  let size = 0
  let held: Uint8Array | undefined
  for await (const chunk of bytes) {
    hash.update(chunk)
    size += chunk.length
    if (held) yield held
    held = chunk
  }
  requireDigest(file, hash.digest('hex'), size)
  if (held) yield held
}

function requireDigest(file: FileRecord, sha256: string, size: Bytes): void {
  if (sha256 === file.sha256 && size === file.size) return
  const cause = new Error(
    `blob ${file.blob}: ${size} bytes with SHA-256 ${sha256}, recorded are ${file.size} with ${file.sha256}`,
  )
  throw new FileUnreadable('file-damaged', { cause })
}
