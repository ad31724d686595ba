import { execFileSync } from 'node:child_process'
import { mkdtemp, open, rm, rmdir, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A file system of `size` bytes; `undefined`, and the test is skipped, where this user cannot mount one. */
export async function smallDisk(t: TestContext, size: number): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    await rmdir(folder)
    t.skip('only root can mount a small disk')
    return undefined
  }
  t.after(async () => {
    execFileSync('umount', ['-l', folder])
    await rmdir(folder)
  })
  return folder
}

/** Fills the disk with a file of another program until `left` bytes are free. */
export async function fillDisk(folder: string, left: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const file = await open(join(folder, 'filler'), 'a')
  try {
    for (let size = bavail * bsize - left; size > 0; size -= 2 ** 16)
      await file.write(Buffer.alloc(Math.min(size, 2 ** 16)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  } finally {
    await file.close()
  }
}

export const freeDisk = (folder: string): Promise<void> => rm(join(folder, 'filler'))
