import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  BreachedPasswords,
  readHashLists,
  readPasswordLists,
} from '../../src/features/breached-passwords/password-lists.ts'
import { StartupError } from '../../src/base/errors.ts'
import { hashOf, SortedHashes, SortedHashesWriter } from '../../src/features/breached-passwords/sorted-hashes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

// Few passwords, in contrast to `breached-passwords.test.ts`, so that this file takes no time.

const digest = (text: string): Buffer => createHash('sha1').update(text).digest()
const sha1 = (text: string): string => digest(text).toString('hex').toUpperCase()
const lines = Array.from({ length: 20 }, (_, index) => sha1(`member ${index}`))
  .sort()
  .map((hash, index) => `${hash}:${1 + index}`)
const folder = await temporaryFolder()
let files = 0

async function* inPieces(text: string, size = 1000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** A list made from lines of the public list. */
async function filterOf(given: readonly string[], { minCount = 1 } = {}) {
  const path = join(folder, `${++files}.filter`)
  const writer = new SortedHashesWriter(path)
  const add = (hash: number): void => writer.add(hash)
  await readHashLists([{ name: 'list', pieces: inPieces(given.join('\r\n')) }], minCount, add)
  writer.finish()
  return { filter: SortedHashes.open(path) }
}

test('the list has the passwords with at least the given number of leaks, also in lower case (D32.2)', async () => {
  const counts = Object.entries({ password: 9, Secret: 10, rare: 1 })
  const own = counts.map(([text, count]) => `${sha1(text)}:${count}`).sort()
  const { filter } = await filterOf(own, { minCount: 9 })
  const list = new BreachedPasswords(filter)
  const found = ['password', 'PassWord', 'Secret', 'secret', 'SECRET', 'rare', ''].filter(text => list.has(text))
  assert.deepEqual(found, ['password', 'PassWord', 'Secret'])
  const { filter: empty } = await filterOf([])
  assert.equal(new BreachedPasswords(empty).has('password'), false)
})

test('a password is looked up as it is, and in lower case if that is another text', () => {
  const asked: number[] = []
  const lookUp = (password: string, known: readonly string[] = []): boolean => {
    asked.length = 0
    const hashes = known.map(text => hashOf(digest(text)))
    return new BreachedPasswords({ has: hash => asked.push(hash) > 0 && hashes.includes(hash) }).has(password)
  }
  const hashes = (...texts: readonly string[]) => texts.map(text => hashOf(digest(text)))
  assert.equal(lookUp('pässword'), false)
  assert.deepEqual(asked, hashes('pässword'))
  assert.equal(lookUp('PÄSSWORD'), false)
  assert.deepEqual(asked, hashes('PÄSSWORD', 'pässword'))
  assert.deepEqual(
    [lookUp('A', ['a']), lookUp('a', ['A']), lookUp('A', ['A']), lookUp('a', ['a'])],
    [true, false, true, true],
  )
})

test('passwords in plain text are hashed in ascending order, more of them than the first piece of memory holds', async () => {
  const list = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `password ${from + index}`)
  const given = [list(0, 1024), list(1024, 3000)]
  const read = await readPasswordLists(
    given.map((some, index) => ({ name: String(index), pieces: inPieces(some.join('\n')) })),
  )
  const expected = given.flat().map(text => hashOf(digest(text)))
  assert.deepEqual(
    [...read],
    expected.sort((a, b) => a - b),
  )
  assert.equal((await readPasswordLists([])).length, 0)
})

test('what is not the list of SHA-1 hashes in order is refused, with file, line and remedy (D32.2)', async () => {
  const [a = '', b = ''] = lines
  const wrong: ReadonlyArray<readonly [lines: readonly string[], message: RegExp]> = [
    [
      [a, 'B4B9B02E6F09A9BD760F388B67351E2B:7'],
      /^list, line 2: this is an NTLM hash; download the list of SHA-1 hashes\.$/,
    ],
    [[a.slice(5)], /^list, line 1: the first five digits of the hash are missing/],
    [[b, a], /^list, line 2: the hashes are not in ascending order/],
    [['password'], /line 1: expected a SHA-1 hash/],
    [[`${a.slice(0, 40)} 7`], /expected a SHA-1 hash/],
    [[`${a.slice(0, 40)}0:7`], /expected a SHA-1 hash/],
    [[`${a.slice(0, 40)}:x`], /the number behind the colon/],
    [['x'.repeat(5000)], /the line is too long/],
    [['x'.repeat(50_000)], /the line is too long/],
  ]
  for (const [given, message] of wrong) {
    await assert.rejects(filterOf(given), error => error instanceof StartupError && message.test(error.message))
  }
})
