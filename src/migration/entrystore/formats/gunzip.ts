import { Readable } from 'node:stream'
import { createGunzip, type Gunzip } from 'node:zlib'
import { truncated, Unusable } from './quads.ts'

/**
 * The uncompressed bytes of a gzip stream. @throws {Unusable} `truncated` without its trailer, `damaged-file`
 * for a wrong checksum
 */
export async function* gunzipped(
  chunks: AsyncIterable<Uint8Array>,
  gunzip: Gunzip = createGunzip(),
): AsyncGenerator<Uint8Array> {
  const source = Readable.from(chunks, { objectMode: false })
  source.on('error', error => gunzip.destroy(error))
  try {
    for await (const chunk of source.pipe(gunzip)) yield chunk as Buffer
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'Z_BUF_ERROR') throw truncated('its gzip has no proper end')
    if (code.startsWith('Z_')) throw new Unusable('damaged-file', 'its gzip is damaged', { cause: error })
    throw error
  } finally {
    source.destroy()
  }
}
