import assert from 'node:assert/strict'
import { access, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { StorageFull, StorageReadOnly } from '../../src/base/errors.ts'
import { DiskSpace, measureDisk, releaseReserve } from '../../src/stores/disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SIZE = 100_000_000

async function openSpace(t: TestContext) {
  const folder = await temporaryFolder()
  const disk = { identity: 'one', size: SIZE, free: SIZE, isWritable: true }
  const measure = async () => ({ ...disk })
  const space = await DiskSpace.open({
    folder,
    alarm: 10_000_000,
    reserve: 4_000_000,
    log: createLog('silent'),
    measure,
  })
  t.after(() => space.close())
  return { folder, disk, space }
}

test('the state of a disk follows its free space, and what would use up the reserve is refused (D20.4)', async t => {
  const { disk, space } = await openSpace(t)
  assert.equal(space.state, 'ok')
  space.requireSpace(SIZE - 4_000_000)
  assert.throws(() => space.requireSpace(SIZE - 3_999_999), StorageFull)
  for (const [free, state] of [
    [9_999_999, 'low'],
    [3_999_999, 'full'],
    [0, 'full'],
    [4_000_000, 'low'],
    [SIZE, 'ok'],
  ] as const) {
    disk.free = free
    assert.equal(await space.check(), state)
  }
  disk.free = 1
  await space.check()
  assert.throws(() => space.requireSpace(), StorageFull)
  disk.isWritable = false
  assert.equal(await space.check(), 'read-only')
  assert.throws(() => space.requireSpace(), StorageReadOnly)
})

test('the reserve is written while there is space, and released once others have filled the disk (D20.4)', async t => {
  const { folder, disk, space } = await openSpace(t)
  await access(join(folder, 'reserve'))
  disk.free = 100
  await space.check()
  assert.deepEqual(await readdir(folder), [])
  disk.free = 4_900_000
  await space.check()
  assert.deepEqual(await readdir(folder), [], 'not if the disk were full again')
  disk.free = 5_000_000
  assert.equal(await space.check(), 'low')
  assert.deepEqual(await readdir(folder), ['reserve'], 'as soon as there is space')
})

test('a start on a full disk releases the reserve that it left behind, and only there (D20.4)', async () => {
  const folder = await temporaryFolder()
  assert.equal(await releaseReserve(folder, 0), 0)
  await writeFile(join(folder, 'reserve'), Buffer.alloc(1000))
  assert.equal(await releaseReserve(folder), 0)
  assert.equal(await releaseReserve(folder, 500), 0)
  assert.equal(await releaseReserve(folder, 499), 1000)
  assert.deepEqual(await readdir(folder), [])
})

test('a folder is measured by the file system that holds it', async () => {
  const { size, free, isWritable } = await measureDisk(await temporaryFolder())
  assert.ok(size >= free && free > 0)
  assert.equal(isWritable, true)
})
