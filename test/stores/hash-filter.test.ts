import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { HashFilter, hashOf, readPieces } from '../../src/stores/hash-filter.ts'
import { HashFilterWriter, sizeOf } from '../../src/stores/hash-filter-writer.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = await temporaryFolder()
let files = 0
const newPath = (): string => join(folder, `${++files}.filter`)

function write(hashes: readonly number[], expected = hashes.length): string {
  const path = newPath()
  const writer = new HashFilterWriter(path, expected)
  for (const hash of hashes) writer.add(hash)
  assert.equal(writer.count, hashes.length)
  assert.equal(writer.finish(), sizeOf(path))
  return path
}

const u32 = (value: number): string => value.toString(16).padStart(8, '0')
const u48 = (value: number): string => value.toString(16).padStart(12, '0')
const u64 = (value: number): string => value.toString(16).padStart(16, '0')
const crcOf = (hex: string): string => u32(crc32(Buffer.from(hex, 'hex')))
const sealed = (hex: string): string => hex + crcOf(hex)

/** A file as the format describes it. */
function fileOf(prefixBits: number, count: number, buckets: readonly string[]): string {
  const positions: number[] = [64 + (buckets.length + 1) * 6]
  for (const bucket of buckets) positions.push((positions.at(-1) ?? 0) + bucket.length / 2)
  const index = positions.map(u48).join('')
  const magic = Buffer.from('hashset1').toString('hex')
  const head = `${magic}${prefixBits.toString(16).padStart(2, '0')}${'00'.repeat(7)}${u64(count)}${u64(positions.at(-1) ?? 0)}${crcOf(index)}`
  return sealed(head.padEnd(120, '0')) + index + buckets.join('')
}

const bits = (text: string): string =>
  (text.replaceAll(' ', '').match(/.{1,8}/g) ?? [])
    .map(byte => Number.parseInt(byte.padEnd(8, '0'), 2).toString(16).padStart(2, '0'))
    .join('')

test('a file has the format that is described, so that a later version can read it (D32.2)', async () => {
  assert.equal((await readFile(write([]))).toString('hex'), fileOf(0, 0, ['']))
  // One value: no own bits, 21 bits of it, all of them low ones.
  const one = 0b1_0000_0000_0000_0000_0001 * 2 ** 31 + 5
  const oneBucket = sealed(`${u32(1)}1515${bits('0 100000000000000000001')}`)
  assert.equal((await readFile(write([one]))).toString('hex'), fileOf(0, 1, [oneBucket]))
  // Three values, two of which are alike in 23 bits: two own bits, 21 low ones.
  const scale = 2 ** 29
  const three = [3 * scale, 3 * scale + 7, 2 ** 21 * 2 * scale + 4 * scale]
  const threeBucket = sealed(`${u32(2)}1715${bits(`0 ${'11'.padStart(21, '0')} 110 ${'1'.padStart(21, '0')}`)}`)
  assert.equal((await readFile(write(three))).toString('hex'), fileOf(0, 3, [threeBucket]))
  // 1,024 expected ones: two buckets, named by the first bit.
  const half = 2 ** 51
  const inSecond = sealed(`${u32(1)}1515${bits('0 000000000000000000010')}`)
  assert.equal((await readFile(write([half + 2 * 2 ** 30], 1024))).toString('hex'), fileOf(1, 1, ['', inSecond]))
})

test('members are found, whatever number was expected, and hashes beside them are not (D32.2)', () => {
  const hashes = Array.from({ length: 100 }, (_, at) => at * 45_000_000_000_000 + (at % 7) * 1_000_003)
  for (const expected of [0, 1, 511, 3000, 100_000]) {
    const filter = HashFilter.open(write(hashes, expected))
    assert.equal(filter.count, 100)
    assert.ok(hashes.every(hash => filter.has(hash)))
    assert.equal(hashes.filter(hash => filter.has(hash + 7_000_000_000_000)).length, 0)
    assert.equal(filter.has(2 ** 52 - 1), false)
    const probability = filter.verify()
    assert.ok(probability > 0 && probability <= 2 ** -21, String(probability))
    filter.close()
  }
  const none = HashFilter.open(write([]))
  assert.deepEqual([none.has(0), none.verify(), none.count], [false, 0, 0])
  none.close()
})

test('a bucket may hold more hashes than were expected (D32.2)', () => {
  const hashes = Array.from({ length: 1025 }, (_, at) => at * 4_000_000_000_000)
  for (const length of [1024, 1025]) {
    const filter = HashFilter.open(write(hashes.slice(0, length), 1))
    assert.deepEqual(
      [0, 1, 1023, 1024].map(at => filter.has(hashes[at] ?? -1)),
      [true, true, true, length === 1025],
    )
    assert.equal(filter.verify(), length / 2 ** (Math.ceil(Math.log2(length)) + 21))
    filter.close()
  }
})

test('the first 52 bits of a digest are its hash', () => {
  const digest = Buffer.from('fedcba9876543210ffffffffffffffffffffffff', 'hex')
  assert.equal(hashOf(digest).toString(16), 'fedcba9876543')
  assert.equal(hashOf(Buffer.alloc(20)), 0)
  assert.equal(hashOf(Buffer.alloc(20, 0xff)), 2 ** 52 - 1)
})

test('a file that is missing, damaged or incomplete is refused with the reason (D32.2)', async () => {
  const path = write([2 ** 40, 2 ** 50])
  const bytes = await readFile(path)
  const refused = (wrong: string, reason: string): void =>
    assert.throws(
      () => HashFilter.open(wrong),
      (error: unknown) => {
        assert.ok(error instanceof StartupError)
        assert.equal(
          error.message,
          `The list of breached passwords ${wrong} cannot be used: ${reason}. Build it again.`,
        )
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
  refused(await changed(copy => copy.subarray(0, 63)), 'it ends early')
  refused(await flip(0), 'it is not such a file')
  refused(await flip(7), 'it is not such a file')
  refused(await flip(17), 'its header is damaged')
  refused(await flip(63), 'its header is damaged')
  refused(await changed(copy => copy.subarray(0, -1)), `it has ${bytes.length - 1} bytes instead of ${bytes.length}`)
  refused(
    await changed(copy => Buffer.concat([copy, copy])),
    `it has ${bytes.length * 2} bytes instead of ${bytes.length}`,
  )
  refused(await flip(64), 'its index is damaged')
  refused(
    await changed(copy => {
      copy.writeUInt8(25, 8)
      copy.writeUInt32BE(crc32(copy.subarray(0, 60)), 60)
      return undefined
    }),
    'its header is damaged',
  )
  const damaged = HashFilter.open(await flip(bytes.length - 1))
  assert.throws(() => damaged.has(2 ** 40), StoreUnavailable)
  assert.throws(() => damaged.verify(), {
    name: 'StartupError',
    message: /cannot be used: the checksum of bucket 0 is wrong\. Build it again\.$/,
  })
  damaged.close()
  assert.throws(() => damaged.has(2 ** 40), StoreUnavailable)
})

test('a file appears when it is complete, and what is abandoned leaves nothing', async () => {
  const path = newPath()
  const own = `${files}.filter`
  const names = async () => (await readdir(folder)).filter(name => name.startsWith(own))
  const writer = new HashFilterWriter(path, 1)
  writer.add(1)
  assert.deepEqual(await names(), [`${files}.filter.part`])
  writer.abandon()
  assert.deepEqual(await names(), [])
  write([1, 2, 3])
  assert.deepEqual(
    (await readdir(folder)).filter(name => name.endsWith('.part')),
    [],
  )
})

test('a file is read in pieces', async () => {
  const path = newPath()
  await writeFile(path, 'x'.repeat(2 ** 20 + 5))
  const sizes: number[] = []
  for await (const piece of readPieces(path)) sizes.push(piece.length)
  assert.deepEqual(sizes, [2 ** 20, 5])
})
