import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import {
  hashOf,
  readPieces,
  SortedHashes,
  SortedHashesWriter,
} from '../../src/features/breached-passwords/sorted-hashes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder()
let files = 0
const newPath = (): string => join(folder, `${++files}.hashes`)

async function write(hashes: readonly number[]): Promise<string> {
  const path = newPath()
  const writer = new SortedHashesWriter(path)
  for (const hash of hashes) writer.add(hash)
  assert.equal(writer.count, new Set(hashes).size)
  assert.equal(writer.finish(), (await stat(path)).size)
  return path
}

test('a file has the format that is described, so that a later version can read it (D32.2)', async () => {
  const hashes = Buffer.from('00000000000005fedcba98076543', 'hex')
  const header = Buffer.alloc(24)
  header.write('hashset2')
  header.writeBigUInt64BE(2n, 8)
  header.writeUInt32BE(crc32(hashes), 16)
  header.writeUInt32BE(crc32(header.subarray(0, 20)), 20)
  assert.deepEqual(await readFile(await write([5, 0xfedcba9876543])), Buffer.concat([header, hashes]))
})

test('members are found, however many there are, and hashes beside them are not (D32.2)', async () => {
  for (const count of [0, 1, 2, 3, 100, 2 ** 16 + 1]) {
    const hashes = Array.from({ length: count }, (_, at) => at * 45_000_000_000 + (at % 7) * 1_000_003)
    const list = SortedHashes.open(await write(hashes))
    assert.equal(list.count, count)
    const some = hashes.filter((_, at) => at < 100 || at > count - 100)
    assert.ok(some.every(hash => list.has(hash)))
    assert.ok(!some.some(hash => list.has(hash + 1)))
    assert.deepEqual([list.has(2 ** 52 - 1), list.verify()], [false, count / 2 ** 52])
    list.close()
  }
})

test('a hash that comes twice is there once', async () => {
  const list = SortedHashes.open(await write([1, 7, 7, 9]))
  assert.deepEqual([list.count, list.has(7)], [3, true])
  list.close()
})

test('the first 52 bits of a digest are its hash', () => {
  const digest = Buffer.from('fedcba9876543210ffffffffffffffffffffffff', 'hex')
  assert.equal(hashOf(digest).toString(16), 'fedcba9876543')
  assert.equal(hashOf(Buffer.alloc(20)), 0)
  assert.equal(hashOf(Buffer.alloc(20, 0xff)), 2 ** 52 - 1)
})

test('a file that is missing, damaged or incomplete is refused with the reason (D32.2)', async () => {
  const bytes = await readFile(await write([2 ** 40, 2 ** 50]))
  const refused = (wrong: string, reason: string): void =>
    assert.throws(
      () => SortedHashes.open(wrong),
      (error: unknown) => {
        assert.ok(error instanceof StartupError)
        const expected = `The list of breached passwords ${wrong} cannot be used: ${reason}. Build it again.`
        assert.equal(error.message, expected)
        return true
      },
    )
  const changed = async (change: (copy: Buffer) => Buffer | undefined): Promise<string> => {
    const copy = Buffer.from(bytes)
    const wrong = newPath()
    await writeFile(wrong, change(copy) ?? copy)
    return wrong
  }
  const flip = (at: number) => changed(copy => void (copy[at] = (copy[at] ?? 0) ^ 1))
  refused(join(folder, 'missing'), 'it does not exist')
  refused(await changed(copy => copy.subarray(0, 23)), 'it ends early')
  refused(await flip(0), 'it is not such a file')
  refused(await flip(9), 'its header is damaged')
  refused(await flip(20), 'its header is damaged')
  refused(await changed(copy => copy.subarray(0, -1)), `it has ${bytes.length - 1} bytes instead of ${bytes.length}`)
  refused(
    await changed(copy => Buffer.concat([copy, copy])),
    `it has ${bytes.length * 2} bytes instead of ${bytes.length}`,
  )
  const damaged = SortedHashes.open(await flip(bytes.length - 1))
  assert.throws(() => damaged.verify(), {
    name: 'StartupError',
    message: /cannot be used: its checksum is wrong\. Build it again\.$/,
  })
  damaged.close()
  assert.throws(() => damaged.has(2 ** 40), StoreUnavailable)
})

test('a file appears when it is complete, and what is abandoned leaves nothing', async () => {
  const path = newPath()
  const own = `${files}.hashes`
  const names = async () => (await readdir(folder)).filter(name => name.startsWith(own))
  const writer = new SortedHashesWriter(path)
  writer.add(1)
  assert.deepEqual(await names(), [`${own}.part`])
  writer.abandon()
  assert.deepEqual(await names(), [])
})

test('a file is read in pieces', async () => {
  const path = newPath()
  await writeFile(path, 'x'.repeat(2 ** 20 + 5))
  const sizes: number[] = []
  for await (const piece of readPieces(path)) sizes.push(piece.length)
  assert.deepEqual(sizes, [2 ** 20, 5])
})
