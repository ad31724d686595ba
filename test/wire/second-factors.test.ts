import assert from 'node:assert/strict'
import { readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { backUp, place, restore, succeeded } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { enrol, signInWith } from '../support/second-factors.ts'
import { newUser, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a backup has the second factors and not their key; the command removes them; doctor finds a missing key (D28.1, D28.8)', async t => {
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
  assert.ok(!(await doctor()).stdout.includes(key.trim()))
  await rename(`${keyFile}.gone`, keyFile)

  const removed = succeeded(await stowage(folder, ['remove-factors', user.name, ...(await place(folder))]))
  assert.match(removed, /removed: 1/)
  assert.equal((await restored.visitor().signIn(user.name, user.password)).status, 200)
  const unknown = await stowage(folder, ['remove-factors', 'nobody', ...(await place(folder))])
  assert.deepEqual([unknown.status, unknown.stderr.includes('nobody')], [1, true])
})
