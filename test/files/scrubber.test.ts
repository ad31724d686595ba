import assert from 'node:assert/strict'
import { rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { FileUnreadable } from '../../src/base/errors.ts'
import { createLog } from '../../src/base/log.ts'
import { Files } from '../../src/files/files.ts'
import { Garbage } from '../../src/files/garbage.ts'
import { Ledger } from '../../src/files/quota-ledger.ts'
import { Scrubber } from '../../src/features/scrub/scrubber.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { newDatabase, transactionOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { quotas } from '../support/quota.ts'

const HOUR = 3_600_000

async function openStore(t: TestContext) {
  const folder = join(await temporaryFolder(), 'files')
  const database = await newDatabase(t)
  const blobs = await FolderBlobStore.open(folder)
  const machine = { system: new FakeSystem(), log: createLog('silent') }
  const ledger = new Ledger(database, machine.system, quotas(-1, { enforced: false }))
  const garbage = new Garbage(database, blobs, ledger, machine.system)
  const options = { maxFileSize: -1, verifyOnRead: true }
  const files = new Files({ database, blobs }, { ledger, garbage }, machine, options)
  const scrubber = new Scrubber({ database, blobs, ...machine }, { interval: HOUR })
  await ledger.open(database, '3')
  const put = async (id: string, content: Buffer): Promise<string> => {
    async function* bytes(): AsyncGenerator<Uint8Array> {
      for (let from = 0; from < content.length; from += 300_000) yield content.subarray(from, from + 300_000)
    }
    const incoming = { declaredSize: content.length, open: bytes, signal: new AbortController().signal }
    const blob = await files.put({ context: '3', id, user: null }, incoming, {
      transaction: transactionOf(database),
      makeVisible: async (_writer, file) => file.blob,
    })
    return join(folder, blob.slice(0, 2), blob)
  }
  const read = async (id: string): Promise<Buffer | undefined> => {
    const found = await files.read({ context: '3', id }, () => 'all')
    return found?.bytes && (await buffer(found.bytes))
  }
  return { database, files, system: machine.system, scrubber, put, read }
}

const none = { unverified: 0, missing: 0, damaged: 0 }

test('the scrubber finds missing and damaged bytes within its interval, and that they are back (D20.5)', async t => {
  const { system, scrubber, put } = await openStore(t)
  const [whole, gone, short] = [
    await put('1', Buffer.from('one')),
    await put('2', Buffer.from('two')),
    await put('3', Buffer.from('three')),
  ]
  assert.ok(whole)
  assert.deepEqual(await scrubber.report(), { ...none, unverified: 3 })
  await rm(gone)
  await truncate(short, 2)
  // A third of the interval: a third of the files.
  assert.equal(await scrubber.run(HOUR / 3), 1)
  assert.equal(await scrubber.run(HOUR), 2)
  assert.deepEqual(await scrubber.report(), { unverified: 0, missing: 1, damaged: 1 })
  assert.equal(await scrubber.run(HOUR), 0, 'none is due yet')
  await put('3', Buffer.from('three'))
  system.pass(HOUR)
  assert.equal(await scrubber.run(HOUR), 3)
  assert.deepEqual(await scrubber.report(), { ...none, missing: 1 })
})

test('a file that the disk cannot read is damaged, and the next ones are verified', {
  skip: process.platform !== 'linux',
}, async t => {
  const { system, scrubber, put } = await openStore(t)
  const [unreadable] = [await put('1', Buffer.from('one')), await put('2', Buffer.from('two'))]
  await rm(unreadable)
  // Reading the beginning of its memory gives every process EIO.
  await symlink('/proc/self/mem', unreadable)
  assert.equal(await scrubber.run(HOUR), 2)
  assert.deepEqual(await scrubber.report(), { ...none, damaged: 1 })
  await rm(unreadable)
  await writeFile(unreadable, 'one')
  system.pass(HOUR)
  assert.equal(await scrubber.run(HOUR), 2)
  assert.deepEqual(await scrubber.report(), none)
})

test('while the disk can read no file, none is called damaged', { skip: process.platform !== 'linux' }, async t => {
  const { system, scrubber, put } = await openStore(t)
  const paths = [await put('1', Buffer.from('one')), await put('2', Buffer.from('two'))]
  for (const path of paths) {
    await rm(path)
    await symlink('/proc/self/mem', path)
  }
  await assert.rejects(scrubber.run(HOUR), { code: 'EIO' })
  assert.deepEqual(await scrubber.report(), { ...none, unverified: 2 })
  for (const [at, path] of paths.entries()) {
    await rm(path)
    await writeFile(path, ['one', 'two'][at] ?? '')
  }
  system.pass(HOUR)
  assert.equal(await scrubber.run(HOUR), 2)
  assert.deepEqual(await scrubber.report(), none)
})

test('a disk that can read only what was read lately, which is still in memory, has failed', {
  skip: process.platform !== 'linux',
}, async t => {
  const { system, scrubber, put } = await openStore(t)
  const paths: string[] = []
  for (let id = 1; id <= 11; id++) paths.push(await put(String(id), Buffer.from('old')))
  assert.equal(await scrubber.run(HOUR), 11)
  system.pass(HOUR / 2)
  await put('12', Buffer.from('new'))
  assert.equal(await scrubber.run(HOUR), 1)
  system.pass(HOUR / 2)
  for (const path of paths) {
    await rm(path)
    await symlink('/proc/self/mem', path)
  }
  await assert.rejects(scrubber.run(HOUR), { code: 'EIO' })
  assert.deepEqual(await scrubber.report(), none)
})

test('switched off, the scrubber reads nothing (D20.5)', async t => {
  const { database } = await openStore(t)
  const blobs = { read: () => assert.fail('it was read') }
  const off = new Scrubber({ database, blobs, system: new FakeSystem(), log: createLog('silent') }, { interval: 0 })
  await database.run(sql`INSERT INTO files (context, entry, blob, size, sha256) VALUES ('3', '1', 'b', 1, 'c')`)
  assert.equal(await off.run(HOUR), 0)
})

for (const size of [1000, 3_000_000]) {
  test(`with verification a damaged file of ${size} bytes is never served whole, and one that is gone has a code (D20.5)`, async t => {
    const { put, read } = await openStore(t)
    const content = Buffer.alloc(size, 'a')
    const path = await put('1', content)
    assert.ok((await read('1'))?.equals(content))
    await truncate(path, size - 1)
    await truncate(path, size)
    await assert.rejects(
      read('1'),
      (error: unknown) => error instanceof FileUnreadable && error.code === 'file-damaged',
    )
    await rm(path)
    await assert.rejects(
      read('1'),
      (error: unknown) => error instanceof FileUnreadable && error.code === 'file-missing',
    )
  })
}

test('a read that needs no bytes opens no file', async t => {
  const { files, put } = await openStore(t)
  await rm(await put('1', Buffer.from('one')))
  const found = await files.read({ context: '3', id: '1' }, () => undefined)
  assert.equal(found?.file.size, 3)
  assert.equal(found.bytes, undefined)
})
