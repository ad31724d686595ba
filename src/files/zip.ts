import { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import yauzl from 'yauzl'
import { InvalidInput } from '../base/errors.ts'
import type { Bytes } from '../base/units.ts'
import type { ByteRange } from '../stores/blob-store.ts'
import { finished } from 'node:stream/promises'
import yazl from 'yazl'

/** A source of bytes that allows reading any range. */
export interface RandomAccess {
  readonly size: Bytes
  read(range: ByteRange): Promise<Readable>
}

/** One file of a zip as listed in the directory at its end; `open` checks the listed size. */
export interface ZipEntry {
  readonly name: string
  readonly size: Bytes
  readonly isDeflated: boolean
  readonly crc32: number
  readonly open: () => Promise<Readable>
}

/**
 * Yields the members of a zip in the order of its directory, which is read piece by piece. Names are returned unchanged and
 * never used as paths; encrypted members are rejected.
 * @throws {InvalidInput} `invalid-archive` for anything that is not a zip, also from `open` and the streams it returns
 */
export async function* readZip(source: RandomAccess): AsyncGenerator<ZipEntry> {
  try {
    const reader = new BlobReader(source)
    const zip = await yauzl.fromRandomAccessReaderPromise(reader, source.size, {
      strictFileNames: true,
      // Members can be opened after the last one has been listed, and there is no file to close.
      autoClose: false,
    })
    // Without a listener an error event would end the process.
    zip.on('error', () => {})
    for await (const entry of zip.eachEntry()) {
      if (entry.isEncrypted()) throw new InvalidInput('invalid-archive', `"${entry.fileName}" is encrypted.`)
      yield {
        name: entry.fileName,
        size: entry.uncompressedSize,
        isDeflated: entry.compressionMethod !== 0,
        crc32: entry.crc32,
        open: () => zip.openReadStreamPromise(entry).catch((error: unknown) => Promise.reject(asRefusal(error))),
      }
    }
  } catch (error) {
    throw asRefusal(error)
  }
}

/** Errors of the parser and of decompression concern the archive; all other errors are passed on unchanged. */
export function asRefusal(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'Error') return error
  const code = 'code' in error ? String(error.code) : undefined
  if (code !== undefined && !code.startsWith('Z_')) return error
  return new InvalidInput('invalid-archive', `The archive is damaged or not a zip file: ${error.message}.`, {
    cause: error,
  })
}

/** Read-ahead: the library reads the directory and the headers of members in pieces of about 40 bytes. */
const WINDOW: Bytes = 65_536
const WINDOWS = 4

class BlobReader extends yauzl.RandomAccessReader {
  readonly #source: RandomAccess
  readonly #windows: Array<{ readonly from: Bytes; readonly bytes: Buffer }> = []

  constructor(source: RandomAccess) {
    super()
    this.#source = source
  }

  /** @param end the first byte after the range */
  override _readStreamForRange(start: Bytes, end: Bytes): Readable {
    return Readable.from(this.#stream(start, end), { objectMode: false })
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: Bytes,
    position: Bytes,
    callback: (error: Error | null) => void,
  ): void {
    callbackify(() => this.#bytes(position, length))((error, bytes) => {
      if (!error) bytes.copy(buffer, offset)
      callback(error)
    })
  }

  async *#stream(start: Bytes, end: Bytes): AsyncGenerator<Buffer> {
    if (start >= end) return
    yield* (await this.#source.read({ first: start, last: end - 1 })) as AsyncIterable<Buffer>
  }

  async #bytes(position: Bytes, length: Bytes): Promise<Buffer> {
    const known = this.#windows.find(({ from, bytes }) => from <= position && position + length <= from + bytes.length)
    if (known) return known.bytes.subarray(position - known.from, position - known.from + length)
    const { size } = this.#source
    if (position < 0 || position + length > size) throw new Error('it refers to bytes beyond its end')
    const chunks: Buffer[] = []
    for await (const chunk of this.#stream(position, Math.min(size, position + Math.max(length, WINDOW)))) {
      chunks.push(chunk)
    }
    const bytes = Buffer.concat(chunks)
    this.#windows.unshift({ from: position, bytes })
    this.#windows.length = Math.min(this.#windows.length, WINDOWS)
    return bytes.subarray(0, length)
  }
}

/** One file of a zip. */
export interface ZipMember {
  readonly name: string
  /** True to compress the member. An uncompressed one can be read without extracting it. */
  readonly isDeflated: boolean
  /** When the file was last changed; absent for the time of the zip. */
  readonly modified?: Date
  readonly bytes: Readable
}

/** A folder, which may have nothing in it. */
export interface ZipFolder {
  /** The path with a slash at its end. */
  readonly folder: string
}

/**
 * Returns a zip of these members as a stream: the next member is requested when the previous one has been written.
 * Destroying the stream stops it. If a member fails, the stream fails, and its output is not a valid zip.
 */
export function writeZip(members: AsyncIterable<ZipMember | ZipFolder>, time: Date): Readable {
  const zip = new yazl.ZipFile()
  const output = zip.outputStream as Readable
  const fail = (error: unknown): void => {
    output.destroy(error instanceof Error ? error : new Error(String(error)))
  }
  // The first member may fail before the stream has a reader, who then gets the error. Without a listener it would end the process (D35.34).
  output.on('error', () => {})
  zip.on('error', fail)
  fill(zip, output, members, time).catch(fail)
  return output
}

async function fill(
  zip: yazl.ZipFile,
  output: Readable,
  members: AsyncIterable<ZipMember | ZipFolder>,
  mtime: Date,
): Promise<void> {
  const left = new AbortController()
  output.once('close', () => left.abort())
  for await (const member of members) {
    if ('folder' in member) {
      zip.addEmptyDirectory(member.folder, { mtime })
      continue
    }
    const { name, isDeflated, modified = mtime, bytes } = member
    try {
      // The list of members lives as long as the zip is written, so it must not keep references to their streams.
      let source: Readable | undefined = bytes
      zip.addReadStreamLazy(name, { compress: isDeflated, mtime: modified }, pass => {
        const taken = source
        source = undefined
        if (taken) pass(undefined, taken)
      })
      await finished(bytes, { signal: left.signal, writable: false })
    } finally {
      bytes.destroy()
    }
  }
  zip.end()
}
