import { setImmediate } from 'node:timers/promises'
import type { Bytes } from '../../base/units.ts'

/** Escaping this much takes well below a millisecond. */
const PIECE: Bytes = 65_536

/** The references that replace `"`, `&`, `'`, `<` and `>`, by the byte that they replace. */
const references: ReadonlyArray<Uint8Array | undefined> = Array.from({ length: 256 }, (_, byte) =>
  `"&'<>`.includes(String.fromCodePoint(byte)) ? Buffer.from(`&#${byte};`) : undefined,
)

/**
 * The bytes as UTF-8 text that is escaped for HTML. Bytes that are not UTF-8 are replaced. Other requests are
 * served between two pieces: ten megabytes of angle brackets become fifty.
 */
export async function* escapedText(chunks: Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder()
  for (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += PIECE) {
      yield escaped(decoder.decode(chunk.subarray(from, from + PIECE), { stream: true }))
      await setImmediate()
    }
  }
  yield escaped(decoder.decode())
}

function escaped(text: string): Buffer {
  const bytes = Buffer.from(text)
  let size = 0
  for (const byte of bytes) size += references[byte]?.length ?? 1
  if (size === bytes.length) return bytes
  const result = Buffer.allocUnsafe(size)
  let at = 0
  for (const byte of bytes) {
    const reference = references[byte]
    if (reference === undefined) result[at++] = byte
    else for (const letter of reference) result[at++] = letter
  }
  return result
}
