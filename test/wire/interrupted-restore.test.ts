import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fsckIsClean, place, restore, succeeded } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { repository } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const INCOMPLETE = /This store was being filled by .* which did not come to its end: run it again\./

test('after an interrupted restore each command says so, a start changes nothing, and the same restore goes on (D24.7)', async () => {
  // A backup of an earlier version, whose tables a start would upgrade.
  const backup = await temporaryFolder()
  execFileSync('tar', ['-xzf', join(repository, 'test/upgrades/fixtures/dd28d21a-backup.tar.gz'), '-C', backup])
  const folder = await temporaryFolder()
  const [blob = ''] = (await readdir(join(backup, 'files'), { recursive: true })).filter(name =>
    /[0-9a-f]{40}$/.test(name),
  )
  const file = join(backup, 'files', blob)
  await rename(file, `${file}.aside`)
  await mkdir(file)
  assert.equal((await restore(backup, folder)).status, 1)

  const where = await place(folder)
  const elsewhere = join(await temporaryFolder(), 'backup')
  for (const command of [
    ['fsck'],
    ['fsck', '--repair'],
    ['unlock', 'admin'],
    ['user', 'list'],
    ['backup', elsewhere],
  ]) {
    const { status, stdout, stderr } = await stowage('/', [...command, ...where])
    assert.deepEqual([status, stdout], [1, ''], command.join(' '))
    assert.match(stderr, INCOMPLETE, command.join(' '))
  }
  assert.match(
    (await stowage('/', ['doctor', ...where])).stdout,
    new RegExp(`^problem: store: ${INCOMPLETE.source}$`, 'm'),
  )
  const scheduled = ['--set', 'service.backup.schedule=@daily', '--set', `service.backup.target=${elsewhere}`]
  const { stdout } = await stowage('/', ['doctor', ...where, ...scheduled])
  assert.match(stdout, new RegExp(`^warning: backups: not checked\\. ${INCOMPLETE.source}$`, 'm'))
  const serve = await stowage('/', ['serve', '--set', 'service.http.port=0', ...where])
  assert.equal(serve.status, 78, 'systemd does not start it again')
  assert.match(serve.stderr, INCOMPLETE)

  await rmdir(file)
  await rename(`${file}.aside`, file)
  succeeded(await restore(backup, folder))
  assert.match(succeeded(await stowage('/', ['context', 'list', ...where])), /photos/)
  await fsckIsClean(folder)
})
