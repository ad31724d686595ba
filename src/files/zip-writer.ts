import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import yazl from 'yazl'

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
