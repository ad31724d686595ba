import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, open, rm, rmdir, statfs, truncate, writeFile } from 'node:fs/promises'
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

export interface FailingDisk {
  readonly folder: string
  /** What the kernel does after an error, with the option `errors=remount-ro`: open files cannot be written either. */
  makeReadOnly(): void
  /** From now on every access is an error. */
  breakDown(): void
}

/** A file system that can fail; `undefined`, and the test is skipped, where this user cannot mount one. */
export async function failingDisk(t: TestContext): Promise<FailingDisk | undefined> {
  const place = await mkdtemp(join(tmpdir(), 'stowage-disk-'))
  const [image, folder] = [join(place, 'image'), join(place, 'disk')]
  const run = (command: string, ...args: string[]): void => void execFileSync(command, args, { stdio: 'ignore' })
  try {
    await mkdir(folder)
    await writeFile(image, '')
    await truncate(image, 2 ** 26)
    run('mkfs.ext4', '-q', '-F', image)
    run('mount', '-o', 'loop', image, folder)
  } catch {
    await rm(place, { recursive: true })
    t.skip('only root can mount a disk, with mkfs.ext4 and a loop device')
    return undefined
  }
  t.after(async () => {
    run('umount', '-l', folder)
    await rm(place, { recursive: true })
  })
  return {
    folder,
    makeReadOnly: () => run('mount', '-o', 'remount,abort', folder),
    breakDown: () => run('xfs_io', '-x', '-c', 'shutdown', folder),
  }
}
