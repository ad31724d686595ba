import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { loadSettings } from '../../src/config/load.ts'
import {
  addUser,
  codeOf,
  GOOD_PASSWORD,
  NEXT_PASSWORD,
  openStore,
  storedPassword,
  userPath,
} from '../support/accounts.ts'
import { ADMIN_PASSWORD, newUser, startInProcess, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A folder with a store in which the users exist. */
async function folderWith(t: { after(work: () => Promise<void>): void }, ...names: string[]): Promise<string> {
  const folder = await temporaryFolder()
  const service = await startInProcess(t, { folder })
  const admin = await service.admin()
  for (const name of names) await addUser(admin, name)
  await service.close()
  return folder
}

test('the blacklist refuses its users in every spelling of their names, and no other users (I5.8, D1.7)', async t => {
  const folder = await folderWith(t, 'straße@example.org', 'alice')
  const service = await startInProcess(t, {
    folder,
    settings: {
      'service.auth.password.blacklist.1': ' STRAßE@Example.ORG',
      'service.auth.password.blacklist.2': 'Ghost',
    },
  })
  for (const name of ['straße@example.org', 'STRAßE@EXAMPLE.ORG ']) {
    const refused = await service.visitor().signIn(name, GOOD_PASSWORD)
    assert.deepEqual([refused.status, codeOf(refused)], [401, 'wrong-credentials'])
  }
  assert.equal((await service.visitor().signIn('alice', GOOD_PASSWORD)).status, 200)
})

test('the whitelist admits its users only, admin too must stand on it (I5.8)', async t => {
  const folder = await folderWith(t, 'alice', 'bob')
  const service = await startInProcess(t, {
    folder,
    settings: { 'service.auth.password': 'whitelist', 'service.auth.password.whitelist.1': 'ALICE ' },
  })
  assert.equal((await service.visitor().signIn('Alice', GOOD_PASSWORD)).status, 200)
  assert.equal((await service.visitor().signIn('bob', GOOD_PASSWORD)).status, 401)
  assert.equal((await service.visitor().signIn('admin', ADMIN_PASSWORD)).status, 401)
})

test('a user on both lists is refused, and the whitelist applies only in its mode (I5.8)', async t => {
  const folder = await folderWith(t, 'alice', 'bob')
  const lists = { 'service.auth.password.whitelist.1': 'alice', 'service.auth.password.blacklist.1': 'alice' }
  const both = await startInProcess(t, { folder, settings: { ...lists, 'service.auth.password': 'whitelist' } })
  assert.equal((await both.visitor().signIn('alice', GOOD_PASSWORD)).status, 401)
  await both.close()
  const running = await startInProcess(t, { folder, settings: { 'service.auth.password.whitelist.1': 'alice' } })
  assert.equal((await running.visitor().signIn('bob', GOOD_PASSWORD)).status, 200)
})

test('an empty whitelist stops the start (I5.8)', () => {
  assert.throws(() => loadSettings({ overrides: ['service.auth.password=whitelist'] }), StartupError)
})

test('with passwords off every login by form is 403 password-login-off, right, wrong or unknown (D2.2)', async t => {
  const folder = await folderWith(t, 'alice')
  const service = await startInProcess(t, { folder, settings: { 'service.auth.password': 'off' } })
  const answers = []
  for (const [name, password] of [
    ['alice', GOOD_PASSWORD],
    ['alice', 'wrong'],
    ['nobody-at-all', 'wrong'],
    ['admin', ADMIN_PASSWORD],
  ] as const) {
    answers.push(await service.visitor().signIn(name, password))
  }
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403, 403, 403],
  )
  assert.deepEqual(new Set(answers.map(codeOf)), new Set(['password-login-off']))
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
})

test('where their password does not sign users in they cannot change it, and nothing counts as a guess (D5.3, I5.8)', async t => {
  const folder = await temporaryFolder()
  const tokens = { 'service.auth.token.store': 'database', 'service.auth.token.key-file': join(folder, 'token.key') }
  const first = await startInProcess(t, { folder, settings: tokens })
  const bob = await newUser(first, await first.admin())
  await first.close()
  for (const settings of [{ 'service.auth.password': 'off' }, { 'service.auth.password.blacklist.1': bob.name }]) {
    const service = await startInProcess(t, { folder, settings: { ...tokens, ...settings } })
    const visitor = service.visitor()
    visitor.cookie = bob.visitor.cookie
    const given = [bob.password, bob.password, ...Array.from({ length: 6 }, () => 'wrong'), undefined]
    for (const currentPassword of given) {
      const answer = await visitor.put(userPath(bob.id), { password: NEXT_PASSWORD, currentPassword })
      assert.deepEqual([answer.status, codeOf(answer)], [403, 'password-login-off'])
      const proof = await visitor.post('auth/fresh', { password: currentPassword ?? 'x' })
      assert.deepEqual([proof.status, codeOf(proof)], [403, 'password-login-off'])
    }
    await service.close()
  }
  const last = await startInProcess(t, { folder, settings: tokens })
  assert.equal((await last.visitor().signIn(bob.name, bob.password)).status, 200, 'it is the same password')
  const admin = await last.admin()
  for (const event of ['login-failed', 'locked-out']) {
    const { events } = (await admin.get(`management/audit?event=${event}`)).json<{ events: unknown[] }>()
    assert.deepEqual(events, [], event)
  }
})

test('adminpw wins over the stored password as long as it is set, also after that was changed (D5.6)', async t => {
  const folder = await folderWith(t)
  const override = 'override'
  const service = await startInProcess(t, { folder, settings: { 'service.auth.adminpw': override } })
  const status = async (password: string): Promise<number> => (await service.visitor().signIn('admin', password)).status
  assert.deepEqual([await status(override), await status(ADMIN_PASSWORD)], [200, 401])
  const admin = service.visitor()
  await admin.signIn('admin', override)
  const wrong = await admin.put(userPath('_admin'), { password: NEXT_PASSWORD, currentPassword: ADMIN_PASSWORD })
  assert.deepEqual([wrong.status, codeOf(wrong)], [403, 'current-password-wrong'])
  const changed = await admin.put(userPath('_admin'), { password: NEXT_PASSWORD, currentPassword: override })
  assert.equal(changed.status, 204)
  assert.deepEqual([await status(override), await status(NEXT_PASSWORD)], [200, 401])
  await service.close()

  const plain = await startInProcess(t, { folder })
  assert.equal((await plain.visitor().signIn('admin', override)).status, 401, 'it is gone with the setting')
  assert.equal((await plain.visitor().signIn('admin', NEXT_PASSWORD)).status, 200)
})

test('adminpw is warned about at start and is never written: not to the store, not to the log (D5.6)', async t => {
  const override = 'adminpw-canary-4711'
  const service = await startProcess(t, { settings: { 'service.auth.adminpw': override } })
  await service.prints(/service\.auth\.adminpw/)
  assert.equal((await service.visitor().signIn('admin', override)).status, 200)
  const stored = await storedPassword(await openStore(t, service), '_admin')
  await service.stop()
  assert.ok(!service.output().includes(override))
  for (const name of await readdir(service.folder)) {
    const bytes = await readFile(join(service.folder, name)).catch(() => Buffer.alloc(0))
    assert.ok(!bytes.includes(override), name)
  }
  assert.match(stored ?? '', /^\$argon2id\$/, 'what is stored is the password of the first start')
  const plain = await startInProcess(t, { folder: service.folder })
  assert.equal((await plain.visitor().signIn('admin', override)).status, 401)
  assert.equal((await plain.visitor().signIn('admin', ADMIN_PASSWORD)).status, 200)
})

test('adminpw lets admin sign in without a stored password; without both, admin cannot sign in (I5.5)', async t => {
  const folder = await temporaryFolder()
  const none = await startProcess(t, { folder, env: { SERVICE_ADMIN_PASSWORD: undefined } })
  for (const password of ['', 'undefined', 'null', ADMIN_PASSWORD]) {
    assert.ok([400, 401].includes((await none.visitor().signIn('admin', password)).status))
  }
  await none.stop()
  const service = await startProcess(t, { folder, settings: { 'service.auth.adminpw': 'temporary' } })
  assert.equal((await service.visitor().signIn('admin', 'temporary')).status, 200)
  assert.equal(
    (await service.visitor().signIn('admin', ADMIN_PASSWORD)).status,
    401,
    'the setting wins over the password of the variable',
  )
})
