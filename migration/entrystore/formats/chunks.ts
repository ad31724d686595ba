import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { truncated, Unusable } from './quads.ts'

/**
 * The uncompressed bytes of a gzip stream. @throws {Unusable} `truncated` without its trailer, `damaged-file`
 * for a wrong checksum
 */
export async function* gunzipped(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip()
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

/** Decodes UTF-8, also where chunks split a character. Invalid bytes become U+FFFD. */
export async function* decodedText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8')
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}

/** The first bytes of a stream, fewer if it is shorter, and the whole stream. */
export async function peek(
  chunks: AsyncIterable<Uint8Array>,
  length: number,
): Promise<{ head: Uint8Array; all: AsyncIterable<Uint8Array> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  const begun: Uint8Array[] = []
  let size = 0
  while (size < length) {
    const { done, value } = await iterator.next()
    if (done === true) break
    begun.push(value)
    size += value.length
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    try {
      yield* begun
      for (;;) {
        const { done, value } = await iterator.next()
        if (done === true) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: Buffer.concat(begun).subarray(0, length), all: all() }
}
