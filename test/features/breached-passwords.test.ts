import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { dictionary } from '@zxcvbn-ts/language-common'
import {
  BreachedPasswords,
  readHashLists,
  readPasswordLists,
} from '../../src/features/breached-passwords/password-lists.ts'
import { StartupError, StoreUnavailable } from '../../src/base/errors.ts'
import { SortedHashes, SortedHashesWriter } from '../../src/features/breached-passwords/sorted-hashes.ts'
import { repository } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase()
const folder = await temporaryFolder()
let files = 0

async function* inPieces(text: string, size = 1000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** A list made from lines of the public list. */
async function filterOf(lines: readonly string[], { minCount = 1, size = 1000 } = {}) {
  const path = join(folder, `${++files}.filter`)
  const writer = new SortedHashesWriter(path)
  await readHashLists([{ name: 'list', pieces: inPieces(lines.join('\r\n'), size) }], minCount, hash =>
    writer.add(hash),
  )
  const bytes = writer.finish()
  return { path, bytes, filter: SortedHashes.open(path) }
}

const members = Array.from({ length: 60_000 }, (_, index) => `member ${index}`)
const lines = members
  .map(sha1)
  .sort()
  .map((hash, index) => `${hash}:${1 + (index % 100)}`)

test('every member is found; another password is found by mistake with a probability of at most a millionth (D32.2)', async () => {
  const { bytes, filter } = await filterOf(lines)
  const list = new BreachedPasswords(filter)
  for (const member of members) assert.ok(list.has(member), member)
  const probability = filter.verify()
  // The password is looked up as it is and in lower case.
  assert.ok(probability > 0 && 2 * probability <= 1e-6, String(probability))
  // The same ones in each run. More than one mistake would contradict the probability.
  const others = Array.from({ length: 50_000 }, (_, index) => `other ${index}`)
  assert.ok(others.filter(other => list.has(other)).length <= 1)
  assert.equal(filter.count, members.length)
  assert.ok(bytes < members.length * 8, `${bytes} bytes`)
})

test('a missing, foreign or truncated file stops the start, and one that is truncated later is never an answer (D32.2)', async () => {
  const { path, bytes, filter } = await filterOf(lines)
  const whole = await readFile(path)
  const refused = (message: RegExp): void =>
    assert.throws(
      () => SortedHashes.open(path),
      error => error instanceof StartupError && error.message.includes(path) && message.test(error.message),
    )
  for (const size of [0, 8, 23, 24, 100, bytes - 1]) {
    await writeFile(path, whole.subarray(0, size))
    refused(/it ends early|it has \d+ bytes instead of \d+/)
  }
  await writeFile(path, Buffer.concat([whole, Buffer.alloc(1)]))
  refused(/bytes instead of/)
  await writeFile(path, `${sha1('a')}:1\n`.repeat(1000))
  refused(/it is not such a file/)
  await writeFile(
    path,
    whole.map((byte, index) => (index === 9 ? byte ^ 1 : byte)),
  )
  refused(/header is damaged/)
  // Of the hashes: found by a check of the whole file.
  await writeFile(
    path,
    whole.map((byte, index) => (index === bytes - 100 ? byte ^ 1 : byte)),
  )
  assert.throws(() => SortedHashes.open(path).verify(), /Build it again/)
  await truncate(path, 1000)
  assert.throws(() => new BreachedPasswords(filter).has('x'), StoreUnavailable)
  await assert.rejects(async () => SortedHashes.open(join(folder, 'none')), /it does not exist/)
})

test('the included list is what the command makes of the common passwords, and holds each of them (D32.2)', async () => {
  const common = dictionary['passwords-common'] as readonly string[]
  const path = join(folder, 'common.filter')
  const hashes = await readPasswordLists([{ name: 'common', pieces: inPieces(common.join('\n'), 4000) }])
  const writer = new SortedHashesWriter(path)
  for (const hash of hashes) writer.add(hash)
  writer.finish()
  const included = join(repository, 'lists/common-passwords.filter')
  assert.ok((await readFile(included)).equals(await readFile(path)), 'run `node scripts/common-passwords.mjs`')
  const filter = SortedHashes.open(included)
  const list = new BreachedPasswords(filter)
  for (const password of common) assert.ok(list.has(password), password)
  assert.equal(list.has('correct horse battery staple 27'), false)
})
