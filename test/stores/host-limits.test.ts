import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { maxOpenFiles, openToOthers } from '../../src/stores/host-limits.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('the number of files that may be open is that of the system', { skip: process.platform !== 'linux' }, async () => {
  const { stdout } = spawnSync('/bin/sh', ['-c', 'ulimit -n'], { encoding: 'utf8' })
  const number = Number(stdout)
  assert.equal(await maxOpenFiles(), Number.isNaN(number) ? undefined : number)
})

test('paths that others than the owner may read or write are named, and no other', async () => {
  const folder = await temporaryFolder()
  const paths = []
  for (const mode of [0o600, 0o700, 0o640, 0o620, 0o610, 0o604, 0o602, 0o601]) {
    const path = join(folder, mode.toString(8))
    await writeFile(path, '')
    await chmod(path, mode)
    paths.push(path)
  }
  const found = await openToOthers([...paths, join(folder, 'missing')])
  assert.deepEqual(found, paths.slice(2))
  assert.deepEqual(await openToOthers([]), [])
})
