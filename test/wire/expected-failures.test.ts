import assert from 'node:assert/strict'
import { chmod, chown, open, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { backUp, succeeded } from '../support/backups.ts'
import { type Run, stowage } from '../support/cli.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

/** One line about an expected failure: it says what is wrong, without a stack. */
function failsWith(run: Run, message: RegExp): void {
  const said = run.stdout + run.stderr
  assert.equal(run.status, 1, said)
  assert.match(said, message)
  assert.doesNotMatch(said, /^ {4}at /m)
}

test('a damaged database: fsck, backup and serve say so in a line, and verify proves the backup made before (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const service = await startProcess(t)
  const admin = await service.admin()
  const context = await newContext(admin)
  await putFile(admin, `${context}/resource/${await newEntry(admin, context)}`, 'content')
  await service.stop()
  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(service.folder, backup))
  const verify = (): Promise<Run> => stowage(service.folder, ['backup', 'verify', backup])
  assert.match(succeeded(await verify()), /1 file with 7 bytes checked, 0 damaged/)

  const path = join(service.folder, 'store.sqlite')
  const middle = Math.floor((await stat(path)).size / 4096 / 2) * 4096
  const file = await open(path, 'r+')
  await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, middle)
  await file.close()
  const args = ['--set', `service.data.folder=${service.folder}`]
  failsWith(await stowage(service.folder, ['fsck', ...args]), /^database-damaged: [^]*cannot be repaired/m)
  failsWith(await stowage(service.folder, ['backup', backup, ...args]), /The database is damaged/)
  failsWith(await stowage(service.folder, ['serve', ...args]), /The database is damaged/)
  assert.equal((await verify()).status, 0)
  return undefined
})

test('every command that opens a store of another user reports it, with what to do (D20.6)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (process.getuid?.() !== 0) return t.skip('only root can give files to another user')
  const service = await startProcess(t)
  await service.stop()
  await chown(service.folder, 65534, 65534)
  await chmod(service.folder, 0o755)
  const other = { uid: 65534, gid: 65534 }
  for (const command of ['fsck', 'unlock']) {
    const args = [command, ...(command === 'unlock' ? ['admin'] : []), '--set', `service.data.folder=${service.folder}`]
    failsWith(await stowage('/', args, {}, other), /may not read and write it.*Run the command as the user/)
  }
  return undefined
})

test('a backup into a place that cannot be written, and a folder that is a file, fail with one line (D20.6)', async t => {
  const service = await startProcess(t)
  await service.stop()
  const file = join(await temporaryFolder(), 'notes.txt')
  await writeFile(file, 'not a folder')
  failsWith(await backUp(service.folder, join(file, 'backup')), /is a file, not a folder/)
  const serve = ['serve', '--set', `service.data.folder=${join(file, 'data')}`]
  failsWith(await stowage(service.folder, serve), /no such file|not a folder|cannot be/)
})
