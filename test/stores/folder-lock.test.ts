import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
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

test('a place that cannot be a folder is refused with the reason', async () => {
  const file = join(await temporaryFolder(), 'file')
  await writeFile(file, '')
  await assert.rejects(
    lockFolder(file),
    error => error instanceof StartupError && /cannot be locked/.test(error.message),
  )
})
