import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { link, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { BlobMissing, newBlobKey } from '../../src/stores/blob-store.ts'
import { type FileCalls, FolderBlobStore, nodeFileCalls } from '../../src/stores/folder-blob-store.ts'
import { blobStoreSuite } from '../conformance/blob-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const newKey = (): string => newBlobKey(randomBytes)
const neverAborted = new AbortController().signal
const inFolder = async (): Promise<string> => join(await temporaryFolder(), 'blobs')

blobStoreSuite('blobs in a folder', async () => FolderBlobStore.open(await inFolder()))

/** In three steps, so that there are three calls to write. */
const STEPS = [8 * 2 ** 20, 2 ** 20, 2 ** 20]
async function* threeSteps(): AsyncGenerator<Uint8Array> {
  for (const size of STEPS) yield randomBytes(size)
}

/** File calls of which the one with the number `failing`, counted from 1, is not carried out and fails. */
function failingCalls(failing: number): { readonly files: FileCalls; readonly made: string[] } {
  const made: string[] = []
  const next = (name: string): void => {
    if (made.push(name) === failing) throw Object.assign(new Error(`${name} failed`), { code: 'EIO' })
  }
  const files: FileCalls = {
    ...nodeFileCalls,
    async open(path, flags) {
      next('open')
      return await nodeFileCalls.open(path, flags)
    },
    async write(handle, chunks) {
      // What a full disk does: some bytes arrive, then the call fails.
      if (made.length + 1 === failing) await nodeFileCalls.write(handle, [randomBytes(10)])
      next('write')
      await nodeFileCalls.write(handle, chunks)
    },
    async sync(handle) {
      next('sync')
      await nodeFileCalls.sync(handle)
    },
    async close(handle) {
      // The descriptor is gone even when close reports an error.
      await nodeFileCalls.close(handle)
      next('close')
    },
    async rename(from, to) {
      next('rename')
      await nodeFileCalls.rename(from, to)
    },
    async mkdir(path) {
      next('mkdir')
      await nodeFileCalls.mkdir(path)
    },
  }
  return { files, made }
}

const filesBelow = async (folder: string): Promise<string[]> => {
  const found: string[] = []
  for (const name of await readdir(folder)) {
    for (const file of await readdir(join(folder, name))) found.push(`${name}/${file}`)
  }
  return found
}

test('whichever file call of a write fails, nothing is readable and no file is left', async () => {
  const folder = await inFolder()
  await FolderBlobStore.open(folder)
  const untouched = failingCalls(0)
  await (await FolderBlobStore.open(await inFolder(), untouched.files)).write(newKey(), threeSteps(), neverAborted)
  const opening = failingCalls(0)
  await FolderBlobStore.open(folder, opening.files)
  const inAll = untouched.made.length
  const before = opening.made.length
  assert.equal(untouched.made.filter(name => name === 'write').length, 3)
  assert.equal(untouched.made.includes('rename'), true)

  for (let failing = before + 1; failing <= inAll; failing++) {
    const { files, made } = failingCalls(failing)
    const store = await FolderBlobStore.open(folder, files)
    const key = newKey()
    await assert.rejects(
      store.write(key, threeSteps(), neverAborted),
      { code: 'store-unavailable' },
      `${made[failing - 1]} ${failing}`,
    )
    await assert.rejects(store.read(key), BlobMissing)
    assert.deepEqual(await filesBelow(folder), [], `${made[failing - 1]} ${failing}`)
    // The store goes on working, and does not trust a sub-folder whose making failed.
    await store.write(key, threeSteps(), neverAborted)
    await store.delete(key)
  }
})

test('everything is synchronised before the name it is found by', async () => {
  const { files, made } = failingCalls(0)
  const store = await FolderBlobStore.open(await inFolder(), files)
  const key = newKey()
  made.length = 0
  await store.write(key, threeSteps(), neverAborted)
  const folderSync = ['open', 'sync', 'close']
  const fill = ['open', 'write', 'write', 'write', 'sync', 'close']
  assert.deepEqual(made, [...fill, 'mkdir', ...folderSync, 'rename', ...folderSync])

  made.length = 0
  await store.write(`${key.slice(0, 2)}${newKey().slice(2)}`, threeSteps(), neverAborted)
  assert.deepEqual(made, [...fill, 'rename', ...folderSync])
})

test('a deletion is synchronised before it is reported', async () => {
  const { files, made } = failingCalls(0)
  const store = await FolderBlobStore.open(await inFolder(), files)
  const key = newKey()
  await store.write(key, threeSteps(), neverAborted)
  made.length = 0
  await store.delete(key)
  assert.deepEqual(made, ['open', 'sync', 'close'])
})

test('a deletion that ended before its folder was synchronised is synchronised by the next one', async () => {
  const folder = await inFolder()
  const key = newKey()
  const store = await FolderBlobStore.open(folder)
  await store.write(key, threeSteps(), neverAborted)
  // The calls of the opening, then the one that opens the sub-folder to synchronise it.
  const opening = failingCalls(0)
  await FolderBlobStore.open(folder, opening.files)
  const cut = await FolderBlobStore.open(folder, failingCalls(opening.made.length + 1).files)
  await assert.rejects(cut.delete(key), { code: 'store-unavailable' })
  assert.deepEqual(await readdir(join(folder, key.slice(0, 2))), [])

  const { files, made } = failingCalls(0)
  const next = await FolderBlobStore.open(folder, files)
  made.length = 0
  await next.delete(key)
  assert.deepEqual(made, ['open', 'sync', 'close'])
  made.length = 0
  await next.delete(`${key.startsWith('00') ? 'ff' : '00'}${key.slice(2)}`)
  assert.deepEqual(made, ['open'], 'there is no such sub-folder')
})

test('a file whose name is in both places after a power cut is one file: deleting it removes both names', async () => {
  const folder = await inFolder()
  const store = await FolderBlobStore.open(folder)
  const key = newKey()
  await store.write(key, threeSteps(), neverAborted)
  await link(join(folder, key.slice(0, 2), key), join(folder, 'incoming', key))
  const listed: string[] = []
  for await (const blob of store.list()) listed.push(blob.key)
  assert.deepEqual(listed, [key, key])
  await store.delete(key)
  assert.deepEqual(await filesBelow(folder), [])
})

test('what a crash has left half-written is listed and can be deleted, but not read', async () => {
  const folder = await inFolder()
  const store = await FolderBlobStore.open(folder)
  const key = newKey()
  await writeFile(join(folder, 'incoming', key), 'half')
  const listed = []
  for await (const blob of store.list()) listed.push(`${blob.key} ${blob.size}`)
  assert.deepEqual(listed, [`${key} 4`])
  await assert.rejects(store.read(key), BlobMissing)
  await store.delete(key)
  assert.deepEqual(await readdir(join(folder, 'incoming')), [])
})

test('files of others in the folder are not taken for blobs', async () => {
  const folder = await inFolder()
  const store = await FolderBlobStore.open(folder)
  await mkdir(join(folder, 'ab'))
  await mkdir(join(folder, 'lost+found'))
  await writeFile(join(folder, 'ab', '.nfs0001'), '')
  await writeFile(join(folder, 'README'), '')
  // Only the names of the sub-folders count: a copy of one, made by hand, would list its blobs twice.
  for (const name of ['ab.old', '.ab', 'AB', 'a', 'zz']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, `ab${newKey().slice(2)}`), 'copy')
  }
  for await (const blob of store.list()) assert.fail(blob.key)
})

test('two writes of one key at the same time: one is refused, the other is whole', async () => {
  const store = await FolderBlobStore.open(await inFolder())
  const key = newKey()
  const results = await Promise.allSettled([1, 2].map(() => store.write(key, threeSteps(), neverAborted)))
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  let size = 0
  for await (const chunk of await store.read(key)) size += (chunk as Buffer).length
  assert.equal(size, 10 * 2 ** 20)
})

test('only the owner may look at files and folders', async () => {
  const folder = await inFolder()
  const store = await FolderBlobStore.open(folder)
  const key = newKey()
  await store.write(key, threeSteps(), neverAborted)
  const modeOf = async (...path: string[]): Promise<number> => (await stat(join(folder, ...path))).mode & 0o777
  assert.equal(await modeOf(), 0o700)
  assert.equal(await modeOf('incoming'), 0o700)
  assert.equal(await modeOf(key.slice(0, 2)), 0o700)
  assert.equal(await modeOf(key.slice(0, 2), key), 0o600)
})

test('no descriptor stays open after writes, failures, reads and readers that left early', {
  skip: process.platform !== 'linux',
}, async () => {
  const open = async (): Promise<number> => (await readdir('/proc/self/fd')).length
  const store = await FolderBlobStore.open(await inFolder())
  await store.write(newKey(), threeSteps(), neverAborted)
  const before = await open()
  for (let round = 0; round < 20; round++) {
    const key = newKey()
    await store.write(key, threeSteps(), neverAborted)
    for await (const chunk of await store.read(key)) assert.ok(chunk)
    for await (const chunk of await store.read(key)) if (chunk) break
    const unread = await store.read(key)
    await new Promise(resolve => unread.destroy().on('close', resolve))
    await assert.rejects(store.read(key, { first: 5, last: 2 }), RangeError)
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield* threeSteps()
      throw new Error('lost')
    }
    await assert.rejects(store.write(newKey(), failing(), neverAborted), { message: 'lost' })
  }
  assert.equal(await open(), before)
})

test('uploads that are under way or were left behind are named, and what is complete is not', async () => {
  const folder = await inFolder()
  const store = await FolderBlobStore.open(folder)
  const [complete, left] = [newKey(), newKey()]
  await store.write(complete, threeSteps(), neverAborted)
  assert.deepEqual(await store.unfinished(), [])
  await writeFile(join(folder, 'incoming', left), 'half')
  await writeFile(join(folder, 'incoming', 'README'), '')
  assert.deepEqual(await store.unfinished(), [left])
  let during: readonly string[] = []
  const key = newKey()
  async function* looking(): AsyncGenerator<Uint8Array> {
    yield randomBytes(10)
    during = await store.unfinished()
  }
  await store.write(key, looking(), neverAborted)
  assert.deepEqual([...during].sort(), [left, key].sort())
})

test('a write that fails leaves a blob of the same key as it was', async () => {
  const store = await FolderBlobStore.open(await inFolder())
  const key = newKey()
  await store.write(key, threeSteps(), neverAborted)
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield randomBytes(10)
    throw new Error('lost')
  }
  await assert.rejects(store.write(key, failing(), neverAborted), { message: 'lost' })
  let size = 0
  for await (const chunk of await store.read(key)) size += (chunk as Buffer).length
  assert.equal(size, 10 * 2 ** 20)
})

test('files of any size are read to their end, whole and in part', async () => {
  const store = await FolderBlobStore.open(await inFolder())
  for (const size of [0, 1, 65_535, 65_536, 65_537, 65_536 + 262_144, 65_536 + 524_288, 2_000_000]) {
    const [key, content] = [newKey(), randomBytes(size)]
    async function* whole(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(content)
    }
    await store.write(key, whole(), neverAborted)
    assert.deepEqual(await buffer(await store.read(key)), content)
    const [first, last] = [Math.floor(size / 3), size - 1]
    if (size > 0) assert.deepEqual(await buffer(await store.read(key, { first, last })), content.subarray(first))
    if (size > 1) assert.deepEqual(await buffer(await store.read(key, { first: 0, last: 0 })), content.subarray(0, 1))
  }
})

test('a blob that is deleted while it is listed is left out; any other failure ends the listing', async () => {
  const folder = await inFolder()
  let code = 'ENOENT'
  const files: FileCalls = {
    ...nodeFileCalls,
    stat: () => Promise.reject(Object.assign(new Error('no'), { code })),
  }
  const store = await FolderBlobStore.open(folder, files)
  await store.write(newKey(), threeSteps(), neverAborted)
  const list = async () => {
    for await (const { key } of store.list()) assert.fail(key)
  }
  await list()
  code = 'EIO'
  await assert.rejects(list(), { code: 'EIO' })
})

test('a store that is only read creates nothing', async () => {
  const folder = await inFolder()
  const store = await FolderBlobStore.open(folder)
  const key = newKey()
  await store.write(key, threeSteps(), neverAborted)
  const reader = FolderBlobStore.at(folder)
  let size = 0
  for await (const chunk of await reader.read(key)) size += (chunk as Buffer).length
  assert.equal(size, 10 * 2 ** 20)
  const none = FolderBlobStore.at(join(folder, 'none'))
  await assert.rejects(none.read(key), BlobMissing)
  await assert.rejects(stat(join(folder, 'none')), { code: 'ENOENT' })
})
