import assert from 'node:assert/strict'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { backUp, place, restore, succeeded } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { enrol, signInWith } from '../support/second-factors.ts'
import { newUser, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('the key that the service has made in its data folder is in a backup, unless left out, and in a migrated store', async t => {
  const service = await startProcess(t, {})
  const user = await newUser(service, await service.admin())
  const app = await enrol(user.visitor, realSystem)
  assert.equal((await user.visitor.post(`auth/factors/${app.id}/confirm`, { code: app.code() })).status, 200)
  const key = await readFile(join(service.folder, 'second-factors.key'), 'utf8')
  const parent = await temporaryFolder()
  succeeded(await backUp(service.folder, join(parent, 'backup')))
  await service.stop()

  const folder = await temporaryFolder()
  succeeded(await restore(join(parent, 'backup'), folder))
  const restored = await startProcess(t, { folder })
  // The code of the next step is right in this step and in the next one.
  assert.equal((await signInWith(restored.visitor(), user, app.code(1))).status, 200)
  assert.equal((await stat(join(folder, 'second-factors.key'))).mode & 0o777, 0o600)

  const bare = join(parent, 'bare')
  const without = await stowage(parent, ['backup', bare, '--without-keys', ...(await place(service.folder))])
  assert.match(succeeded(without), /^Not in the backup: the keys .*second-factors\.key\)\.$/m)
  assert.ok(!(await readdir(bare, { recursive: true })).some(name => name.endsWith('.key')))

  // A store that has a key already keeps it.
  const target = await temporaryFolder()
  const own = `${Buffer.alloc(32, 7).toString('base64')}\n`
  await writeFile(join(target, 'second-factors.key'), own, { mode: 0o600 })
  const settings = (at: string[], of: string): string[] =>
    at.filter(text => text !== '--set').flatMap(setting => [`--${of}-set`, setting])
  const moved = [...settings(await place(service.folder), 'from'), ...settings(await place(target), 'to')]
  succeeded(await stowage(parent, ['migrate-store', ...moved]))
  assert.equal(await readFile(join(target, 'second-factors.key'), 'utf8'), own + key)
})

test('a backup has the second factors and not a key that the settings name; the command removes them; doctor finds a missing key (D28.1, D28.8)', async t => {
  const keyFile = join(await temporaryFolder(), 'factors.key')
  const settings = { 'service.auth.second-factor.key-file': keyFile }
  const service = await startProcess(t, { settings })
  const user = await newUser(service, await service.admin())
  const app = await enrol(user.visitor, realSystem)
  const first = app.code()
  const confirmed = await user.visitor.post(`auth/factors/${app.id}/confirm`, { code: first })
  assert.equal(confirmed.status, 200, confirmed.text)
  const { recoveryCodes } = confirmed.json<{ recoveryCodes: string[] }>()
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600)
  assert.ok(!service.output().includes(first), 'no code in the log')
  for (const code of recoveryCodes) assert.ok(!service.output().includes(code))

  const backup = join(await temporaryFolder(), 'backup')
  succeeded(await backUp(service.folder, backup))
  const folder = await temporaryFolder()
  succeeded(await restore(backup, folder))
  const restored = await startProcess(t, { folder, settings })
  // The code of the next step is right in this step and in the next one.
  assert.equal((await signInWith(restored.visitor(), user, app.code(1))).status, 200)
  assert.equal((await signInWith(restored.visitor(), user, first)).status, 403, 'a used code stays used')
  assert.equal((await signInWith(restored.visitor(), user, recoveryCodes[0] ?? '')).status, 200)

  const doctor = async () =>
    await stowage(folder, [
      'doctor',
      ...(await place(folder)),
      '--set',
      `service.auth.second-factor.key-file=${keyFile}`,
    ])
  assert.match((await doctor()).stdout, /second factors: 1 authenticator app/)
  const key = await readFile(keyFile, 'utf8')
  await rename(keyFile, `${keyFile}.gone`)
  assert.match((await doctor()).stdout, /problem: second factors: the key file .*factors\.key is missing/)
  await service.stop()
  const without = await startProcess(t, { folder: service.folder, settings })
  await without.prints(/"level":"error".*the key file .*factors\.key is missing/)
  await without.stop()
  assert.ok(!(await doctor()).stdout.includes(key.trim()))
  await rename(`${keyFile}.gone`, keyFile)

  const removed = await stowage(folder, ['remove-factors', user.name, ...(await place(folder))])
  assert.deepEqual(removed, { status: 0, stdout: `Second factors of ${user.name} removed: 1.\n`, stderr: '' })
  assert.equal((await restored.visitor().signIn(user.name, user.password)).status, 200)
  const unknown = await stowage(folder, ['remove-factors', 'nobody', ...(await place(folder))])
  assert.deepEqual([unknown.status, unknown.stderr.includes('nobody')], [1, true])
})
