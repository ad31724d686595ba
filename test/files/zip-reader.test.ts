import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { InvalidInput } from '../../src/base/errors.ts'
import { type RandomAccess, readZip, type ZipEntry } from '../../src/files/zip.ts'
import { archiveOf, type Member } from '../support/archives.ts'

/** An archive that counts how often it is read. */
function sourceOf(archive: Buffer): { source: RandomAccess; reads: () => number } {
  let reads = 0
  const read: RandomAccess['read'] = async ({ first, last }) => {
    reads++
    return Readable.from([archive.subarray(first, last + 1)])
  }
  return { source: { size: archive.length, read }, reads: () => reads }
}

async function partsOf(source: RandomAccess): Promise<ZipEntry[]> {
  const parts: ZipEntry[] = []
  for await (const part of readZip(source)) parts.push(part)
  return parts
}

test('each member of a large zip is read whole, in any order, and the directory in a few pieces', async () => {
  // The directory and the members are each several times as long as what is read at once.
  const members = Array.from({ length: 2500 }, (_, number): Member => {
    const bytes = randomBytes(number === 7 ? 200_000 : number % 97)
    return { name: `folder-${number % 10}/${'n'.repeat(40)}-${number}`, bytes, isDeflated: number % 2 === 0 }
  })
  const { source, reads } = sourceOf(await archiveOf(members))
  const parts = await partsOf(source)
  assert.deepEqual(
    parts.map(({ name, size }) => [name, size]),
    members.map(({ name, bytes }) => [name, bytes.length]),
  )
  assert.ok(reads() < 20, `${reads()} reads`)
  for (const number of [2499, 0, 7, 1200, 8, 1201, 2498, 7, 1]) {
    assert.deepEqual(await buffer(await (parts[number] as ZipEntry).open()), (members[number] as Member).bytes)
  }
})

test('a zip whose directory refers to bytes beyond its end is refused', async () => {
  const archive = await archiveOf([{ name: 'a', bytes: Buffer.from('text'), isDeflated: false }])
  // In the directory, the offset of the only member (APPNOTE 4.3.12).
  archive.writeUInt32LE(archive.length + 100, archive.indexOf('PK\x01\x02', 0, 'latin1') + 42)
  const [part] = await partsOf(sourceOf(archive).source)
  await assert.rejects((part as ZipEntry).open(), (error: unknown) => {
    assert.ok(error instanceof InvalidInput)
    assert.equal(error.code, 'invalid-archive')
    return true
  })
})
