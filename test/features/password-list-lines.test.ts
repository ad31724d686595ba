import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { readHashLists, readPasswordLists } from '../../src/features/breached-passwords/password-lists.ts'
import { StartupError } from '../../src/base/errors.ts'

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase()

async function* inPieces(text: string, size = 1000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

test('lines are read alike wherever a piece ends, whatever ends a line, and with or without an end of the last one (D32.2)', async () => {
  const own = ['one', 'two', 'three'].map(text => `${sha1(text)}:7`).sort()
  const read = async (text: string, size: number): Promise<number[]> => {
    const hashes: number[] = []
    await readHashLists([{ name: 'list', pieces: inPieces(text, size) }], 1, hash => hashes.push(hash))
    return hashes
  }
  const whole = own.map(line => Number.parseInt(line.slice(0, 13), 16))
  for (const end of ['\n', '\r\n', '\n\n', '\r\n\r\n']) {
    for (const text of [own.join(end), `${own.join(end)}${end}`, `${end}${own.join(end).toLowerCase()}`]) {
      for (const size of [1, 2, 41, 42, 43, 44, 1000]) assert.deepEqual(await read(text, size), whole)
    }
  }
  const passwords = ['ä b', ' x', 'y\r\r', 'z\t']
  for (const size of [1, 3, 1000]) {
    const [plain, single] = [inPieces(`${passwords.join('\r\n')}\r\n`, size), inPieces('ä b\n x\ny\r\r\r\nz\t', size)]
    const [a, b] = [
      await readPasswordLists([{ name: 'a', pieces: plain }]),
      await readPasswordLists([{ name: 'b', pieces: single }]),
    ]
    assert.deepEqual(a, b)
    const expected = passwords.map(text => Number.parseInt(sha1(text).slice(0, 13), 16))
    assert.deepEqual(
      [...a],
      expected.sort((x, y) => x - y),
    )
  }
})

test('a line may have 4096 bytes; a count of leaks has up to 15 digits, and none means one (D32.2)', async () => {
  const hashed = async (text: string, size: number) =>
    (await readPasswordLists([{ name: 'list', pieces: inPieces(text, size) }])).length
  for (const size of [100, 4096, 4097, 10_000]) {
    assert.equal(await hashed('x'.repeat(4096), size), 1)
    assert.equal(await hashed(`${'x'.repeat(4096)}\n`, size), 1)
    assert.equal(await hashed(`short\n${'x'.repeat(4096)}\n${'x'.repeat(4096)}`, size), 3)
    const beyond = hashed(`short\n${'x'.repeat(4097)}\n`, size)
    await assert.rejects(beyond, { constructor: StartupError, message: 'list, line 2: the line is too long.' })
  }
  const counted = async (rest: string, minCount: number): Promise<number> => {
    let count = 0
    const pieces = inPieces(`${sha1('a')}${rest}`)
    await readHashLists([{ name: 'list', pieces }], minCount, () => count++)
    return count
  }
  assert.deepEqual([await counted('', 1), await counted('', 2)], [1, 0])
  assert.deepEqual([await counted(':7', 7), await counted(':7', 8)], [1, 0])
  assert.equal(await counted(':999999999999999', 1), 1)
  for (const rest of [':1000000000000000', ':', ':-1', ':1 ', ':1.5']) {
    await assert.rejects(counted(rest, 1), /the number behind the colon is not a number/)
  }
})

test('a line that is too long is refused as soon as that is known, however much of it is still to come', async () => {
  let read = 0
  async function* endless(): AsyncGenerator<Buffer> {
    for (; read < 100; read++) yield Buffer.alloc(1000, 'x')
  }
  await assert.rejects(readPasswordLists([{ name: 'list', pieces: endless() }]), /the line is too long/)
  assert.equal(read, 4, 'the fifth piece is the last one')
})

test('digits of a hash are 0 to 9 and a to f in any case, and lists follow each other in order (D32.2)', async () => {
  const hash = (digit: string): string => digit.repeat(40)
  const read = async (...lists: string[]): Promise<number[]> => {
    const hashes: number[] = []
    const named = lists.map((text, index) => ({ name: `list ${index + 1}`, pieces: inPieces(text) }))
    await readHashLists(named, 1, found => hashes.push(found))
    return hashes
  }
  for (const digit of '0189abcdefABCDEF') {
    assert.deepEqual(await read(hash(digit)), [Number.parseInt(digit.repeat(13), 16)])
  }
  for (const digit of ['/', ';', '@', 'G', '`', 'g', 'J', '\u0010', '!']) {
    await assert.rejects(read(hash(digit)), /expected a SHA-1 hash/, digit)
  }
  assert.equal((await read(hash('1'), hash('2'))).length, 2)
  assert.equal((await read(`${hash('1')}\n${hash('1')}`)).length, 2, 'the same one twice is in order')
  await assert.rejects(
    read(hash('2'), hash('1')),
    /^StartupError: list 2, line 1: the hashes are not in ascending order/,
  )
  // The last of the 13 digits that count.
  assert.equal((await read(`${'1'.repeat(12)}2${'0'.repeat(27)}`))[0], 0x1111111111112)
})
