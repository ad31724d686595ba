import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { lockFolder } from '../../src/stores/sqlite/folder-lock.ts'
import { type Child, sourceUrl, startChild } from '../support/child-process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const lockElsewhere = (folder: string): Promise<Child> =>
  startChild(`
    import { lockFolder } from '${sourceUrl('stores/sqlite/folder-lock.ts')}'
    await lockFolder('${folder}')
    globalThis.gc?.()
    console.log('ready')
    setInterval(() => {}, 1000)
  `)

test('a folder that another process has locked is refused at once, naming folder and process', async t => {
  const folder = join(await temporaryFolder(), 'data')
  const child = await lockElsewhere(folder)
  t.after(() => child.kill())
  await assert.rejects(lockFolder(folder), error => {
    assert.ok(error instanceof StartupError)
    assert.ok(error.message.startsWith(`The data folder ${folder} is in use`), error.message)
    assert.ok(error.message.includes(`(pid ${child.pid})`), error.message)
    return true
  })
})

test('the lock ends with its process, also when that is killed', async () => {
  const folder = await temporaryFolder()
  const child = await lockElsewhere(folder)
  await child.kill()
  const lock = await lockFolder(folder)
  assert.equal(await readFile(join(folder, 'stowage.pid'), 'utf8'), `${process.pid}\n`)
  await lock.release()
})

test('a folder is locked once in a process, and again after its release', async () => {
  const folder = await temporaryFolder()
  const first = await lockFolder(folder)
  await assert.rejects(lockFolder(folder), StartupError)
  await assert.rejects(lockFolder(folder), StartupError)
  await first.release()
  await first.release()
  const second = await lockFolder(folder)
  await first.release()
  await assert.rejects(lockFolder(folder), StartupError)
  await second.release()
})

test('the folder and its files are for the owner only, and the number of the process goes with the lock', async () => {
  const folder = join(await temporaryFolder(), 'new', 'data')
  const lock = await lockFolder(folder)
  const modeOf = async (...path: string[]): Promise<number> => (await stat(join(folder, ...path))).mode & 0o777
  assert.deepEqual(
    [await modeOf(), await modeOf('..'), await modeOf('lock'), await modeOf('stowage.pid')],
    [0o700, 0o700, 0o600, 0o600],
  )
  assert.equal(await readFile(join(folder, 'stowage.pid'), 'utf8'), `${process.pid}\n`)
  await lock.release()
  assert.ok(!(await readdir(folder)).includes('stowage.pid'))
})

test('a process is named only by its number', async () => {
  const folder = await temporaryFolder()
  const lock = await lockFolder(folder)
  for (const [text, named] of [
    ['12', ' (pid 12)'],
    [' 34\n', ' (pid 34)'],
    ['', ''],
    ['x12', ''],
    ['12x', ''],
    ['-1', ''],
  ] as const) {
    await writeFile(join(folder, 'stowage.pid'), text)
    await assert.rejects(lockFolder(folder), (error: unknown) => {
      assert.ok(error instanceof StartupError && error.cause instanceof Error)
      assert.equal(
        error.message,
        `The data folder ${folder} is in use by another Stowage process${named}. Stop it first, or choose another folder.`,
      )
      return true
    })
  }
  await lock.release()
})

test('a lock that is no database is no lock of another process', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'lock'), 'no database at all, and longer than a header of one: '.repeat(10))
  await assert.rejects(lockFolder(folder), (error: unknown) => {
    assert.ok(error instanceof StartupError && error.cause instanceof Error)
    assert.equal(error.message, `The data folder ${folder} cannot be locked: ${error.cause.message}`)
    return true
  })
})

test('a place that cannot be a folder is refused with the reason', async () => {
  const file = join(await temporaryFolder(), 'file')
  await writeFile(file, '')
  await assert.rejects(
    lockFolder(file),
    error => error instanceof StartupError && /cannot be locked/.test(error.message),
  )
})
