import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { isMissing, keyFingerprint, parseKeys, readKeyFile } from '../../src/stores/key-file.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const pathFor = async (): Promise<string> => join(await temporaryFolder(), 'token.key')

test('a missing key file is made, for its owner alone, and read again as it is', async () => {
  const path = await pathFor()
  const [key, ...others] = await readKeyFile(path, new FakeSystem('one'))
  assert.deepEqual([key?.length, others.length], [32, 0])
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  assert.deepEqual(await readKeyFile(path, new FakeSystem('two')), [key])
  assert.deepEqual(await readdir(join(path, '..')), ['token.key'])
})

test('nodes that start at once on one missing file all get the same key', async () => {
  const path = await pathFor()
  const all = await Promise.all(Array.from({ length: 20 }, (_, index) => readKeyFile(path, new FakeSystem(`${index}`))))
  assert.equal(new Set(all.map(keys => JSON.stringify(keys))).size, 1)
  assert.deepEqual(await readdir(join(path, '..')), ['token.key'])
})

for (const mode of [0o640, 0o604, 0o620, 0o602, 0o666, 0o610]) {
  test(`a key file of mode ${mode.toString(8)} is refused`, async () => {
    const path = await pathFor()
    await writeFile(path, KEY)
    await chmod(path, mode)
    await assert.rejects(readKeyFile(path, new FakeSystem()), (error: unknown) => {
      assert.ok(error instanceof StartupError)
      assert.match(error.message, /token\.key .*chmod 600/)
      return true
    })
  })
}

test('several keys keep their order; blank lines and comments do not count; base64 of either kind is read', () => {
  const url = Buffer.alloc(32, 255).toString('base64url')
  assert.deepEqual(
    parseKeys(`# new since May\n${url}\n\n  ${KEY}  \r\n`, 'x').map(key => key[0]),
    [255, 7],
  )
})

test('up to five keys are read', () => {
  assert.equal(parseKeys(Array(5).fill(KEY).join('\n'), 'x').length, 5)
})

const bad = ['', '# none', 'secret', KEY.slice(1), `${KEY}x`, `${KEY} ${KEY}`, Array(6).fill(KEY).join('\n')]
for (const text of bad) {
  test(`a key file with ${JSON.stringify(text.slice(0, 60))} stops the start and is not quoted`, async () => {
    const path = await pathFor()
    await writeFile(path, text, { mode: 0o600 })
    await assert.rejects(readKeyFile(path, new FakeSystem()), (error: unknown) => {
      assert.ok(error instanceof StartupError)
      assert.ok(error.message.startsWith(path))
      assert.equal(error.message.includes('secret') || error.message.includes(KEY.slice(1, 20)), false)
      return true
    })
  })
}

test('a path that cannot be a file stops the start with its name', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'sub'), { mode: 0o700 })
  for (const path of [join(folder, 'sub'), join(folder, 'no/such/token.key')]) {
    await assert.rejects(readKeyFile(path, new FakeSystem()), (error: unknown) => {
      assert.ok(error instanceof StartupError)
      assert.ok(error.message.includes(path))
      return true
    })
  }
  assert.equal((await readFile(join(folder, 'sub'), 'utf8').catch(() => 'a folder')).length, 8)
})

test('what stops the start is said: the line, the number of keys, or the reason of the system', async () => {
  const refusal = (message: string) => new StartupError(message)
  assert.throws(() => parseKeys(`${KEY}\n\nwrong`, 'x'), refusal('x, line 3: expected 32 random bytes in base64.'))
  assert.throws(() => parseKeys('', 'x'), refusal('x must contain 1 to 5 keys, but contains 0.'))
  assert.throws(
    () => parseKeys(Array(6).fill(KEY).join('\n'), 'x'),
    refusal('x must contain 1 to 5 keys, but contains 6.'),
  )
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'file'), KEY, { mode: 0o600 })
  for (const [path, reason] of [
    [join(folder, 'file', 'token.key'), 'ENOTDIR'],
    [join(folder, 'no', 'token.key'), 'ENOENT'],
  ] as const)
    await assert.rejects(readKeyFile(path, new FakeSystem()), (error: unknown) => {
      assert.ok(error instanceof StartupError)
      assert.ok(error.message.startsWith(`The key file ${path} cannot be used: ${reason}`), error.message)
      assert.ok(error.message.endsWith('.'))
      return true
    })
})

test('a key is shown by 12 digits of a digest that is made for nothing else', () => {
  const key = Buffer.from(KEY, 'base64')
  const digest = createHash('sha256').update('stowage token key').update(key).digest('hex')
  assert.equal(keyFingerprint(key), digest.slice(0, 12))
})

test('only a file that is not there is missing', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'file'), '')
  const found = [join(folder, 'file'), folder, join(folder, 'none'), join(folder, 'file', 'below')].map(isMissing)
  assert.deepEqual(await Promise.all(found), [false, false, true, false])
})

test('no key file stays open', { skip: process.platform !== 'linux' }, async () => {
  const open = async (): Promise<number> => (await readdir('/proc/self/fd')).length
  const path = await pathFor()
  const before = await open()
  for (let round = 0; round < 5; round++) await readKeyFile(path, new FakeSystem())
  await chmod(path, 0o644)
  for (let round = 0; round < 5; round++) await assert.rejects(readKeyFile(path, new FakeSystem()))
  assert.equal(await open(), before)
})
