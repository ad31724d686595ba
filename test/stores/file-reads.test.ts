import assert from 'node:assert/strict'
import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { test } from 'node:test'
import { FileReads } from '../../src/stores/file-reads.ts'

const WHOLE = { first: 0, last: Number.POSITIVE_INFINITY }
const MIB = 2 ** 20
/** Reads of 4 KiB, of which most are at once. */
const MAX_AT_ONCE = 32

/** Open files of 2 MiB whose reads end when `answer` is called for them, the oldest first. */
class SlowDisk {
  readonly #waiting: { readonly name: string; readonly answer: () => void }[] = []
  closed = 0

  open(name: string): FileHandle {
    const handle: Pick<FileHandle, 'close'> & { readonly read: unknown } = {
      read: (bytes: Buffer, _offset: number, length: number, position: number) =>
        new Promise(resolve => {
          const bytesRead = Math.min(length, 2 * MIB - position)
          this.#waiting.push({ name, answer: () => resolve({ bytesRead, buffer: bytes.fill(1) }) })
        }),
      close: async () => void this.closed++,
    }
    return handle as FileHandle
  }

  /** Whose reads are under way. */
  get underWay(): readonly string[] {
    return this.#waiting.map(({ name }) => name)
  }

  async answer(): Promise<void> {
    this.#waiting.shift()?.answer()
    await setImmediate()
  }

  async answerAll(): Promise<void> {
    while (this.#waiting.length > 0) await this.answer()
  }
}

const start = (stream: Readable): Readable => stream.resume()

test('of many files few are read at once, and callers take turns (D40.16)', async () => {
  const disk = new SlowDisk()
  const reads = new FileReads()
  for (let n = 0; n < 200; n++) start(reads.stream(disk.open('one'), WHOLE, 'one'))
  const other = buffer(reads.stream(disk.open('other'), WHOLE, 'other'))
  await setImmediate()
  let [ofOne, ofOther] = [0, 0]
  const state = { isOver: false }
  void other.then(() => (state.isOver = true))
  while (!state.isOver) {
    assert.ok(disk.underWay.length <= MAX_AT_ONCE, `${disk.underWay.length} reads`)
    if (disk.underWay[0] === 'other') ofOther++
    else ofOne++
    await disk.answer()
  }
  assert.equal((await other).length, 2 * MIB)
  assert.ok(ofOne <= (ofOther + 1) * MAX_AT_ONCE, `${ofOne} reads before ${ofOther}`)
})

test('those who take nothing hold up nobody, and little of their files is in memory (D40.16)', async () => {
  const disk = new SlowDisk()
  const reads = new FileReads()
  const paused = Array.from({ length: 1000 }, () => reads.stream(disk.open('paused'), WHOLE, 'one'))
  // As a pipe to a client: it takes a piece, and then waits.
  let taken = 0
  const take = (stream: Readable): void => {
    stream.on('data', (piece: Buffer) => {
      taken += piece.length
      stream.pause()
    })
  }
  for (const stream of paused) take(stream)
  await setImmediate()
  await disk.answerAll()
  for (const stream of paused) stream.resume()
  await setImmediate()
  taken = 0
  await disk.answerAll()
  assert.ok(taken <= 32 * MIB, `${taken} bytes`)
  assert.deepEqual(disk.underWay, [])
  const further = buffer(reads.stream(disk.open('further'), WHOLE, 'one'))
  await setImmediate()
  await disk.answerAll()
  assert.equal((await further).length, 2 * MIB)
})

test('a file whose reader leaves before its turn is closed and not read (D40.16)', async () => {
  const disk = new SlowDisk()
  const reads = new FileReads()
  const first = Array.from({ length: 50 }, () => start(reads.stream(disk.open('first'), WHOLE, 'one')))
  const left = start(reads.stream(disk.open('left'), WHOLE, 'one'))
  await setImmediate()
  left.destroy()
  for (const stream of first) stream.destroy()
  await setImmediate()
  assert.equal(disk.closed, 51)
  await disk.answerAll()
  assert.deepEqual(disk.underWay, [])
  const next = buffer(reads.stream(disk.open('next'), WHOLE, 'one'))
  await setImmediate()
  assert.deepEqual(disk.underWay, ['next'])
  await disk.answerAll()
  assert.equal((await next).length, 2 * MIB)
})

test('a read that fails fails its stream only, and its turn ends (D40.16)', async () => {
  const reads = new FileReads()
  const failing = { read: () => Promise.reject(new Error('EIO')), close: async () => {} } as unknown as FileHandle
  for (let n = 0; n < 100; n++) await assert.rejects(buffer(reads.stream(failing, WHOLE, 'one')), /EIO/)
  const disk = new SlowDisk()
  const next = buffer(reads.stream(disk.open('next'), { first: 0, last: 9 }, 'one'))
  await setImmediate()
  await disk.answerAll()
  assert.equal((await next).length, 10)
})
