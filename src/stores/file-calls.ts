import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises'

/** What the blob store asks of the file system, as values, so that a test can make any single call fail. */
export interface FileCalls {
  open(path: string, flags: 'r' | 'wx'): Promise<FileHandle>
  /** Writes all of `chunks` at the handle's position. */
  write(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void>
  sync(handle: FileHandle): Promise<void>
  close(handle: FileHandle): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  /** An existing folder is no error. */
  mkdir(path: string): Promise<void>
  readdir(path: string): Promise<string[]>
  stat(path: string): Promise<{ readonly size: number; readonly mtimeMs: number }>
}

/** Files and folders are made for this user only. */
export const nodeFileCalls: FileCalls = {
  open: (path, flags) => open(path, flags, 0o600),
  write: writeAll,
  sync: handle => handle.sync(),
  close: handle => handle.close(),
  rename,
  unlink,
  async mkdir(path) {
    await mkdir(path, { recursive: true, mode: 0o700 })
  },
  readdir,
  stat: path => stat(path),
}

/** `writev` may write less than it is given, for instance when the disk is nearly full or a signal comes in. */
async function writeAll(handle: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  let rest = chunks
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest)
    rest = after(rest, bytesWritten)
  }
}

function after(chunks: readonly Uint8Array[], count: number): readonly Uint8Array[] {
  let skip = count
  for (const [index, chunk] of chunks.entries()) {
    if (skip < chunk.byteLength) return [chunk.subarray(skip), ...chunks.slice(index + 1)]
    skip -= chunk.byteLength
  }
  return []
}
