import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { lineOf } from '../../src/core/check-result.ts'
import { runChecks } from '../../src/assembly/doctor.ts'
import { loadSettings } from '../../src/config/load.ts'
import { after } from '../support/after.ts'
import { addPasskey, passkeySettings } from '../support/passkeys.ts'
import { addApp } from '../support/second-factors.ts'
import { newUser, repository, startInProcess } from '../support/service.ts'
import { storeSettings } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const keyFile = join(await temporaryFolder(), 'factors.key')
const base = await passkeySettings()
const sealed = { 'service.auth.second-factor.key-file': keyFile }
const service = await startInProcess({ after }, { settings: { ...base, ...sealed } })
const empty = await temporaryFolder()

/** What the doctor says about this subject, for the data folder of the service or an empty one. */
async function examine(
  subject: string,
  changed: Readonly<Record<string, string>>,
  folder = empty,
): Promise<readonly string[]> {
  const settings = { 'service.data.folder': folder, ...(await storeSettings(folder)), ...changed }
  const loaded = loadSettings({ overrides: Object.entries(settings).map(([key, value]) => `${key}=${value}`) })
  const found = await runChecks({ ...loaded, file: undefined, tokenKey: undefined, version: '0.0.0' })
  return found.map(lineOf).filter(line => new RegExp(`^(?:\\w+: )?${subject}: `).test(line))
}

test('the doctor says who must have a second factor (D28.9)', async () => {
  const cases: ReadonlyArray<readonly [Readonly<Record<string, string>>, string]> = [
    [{}, 'optional'],
    [{ 'service.auth.second-factor': 'off' }, 'off: none can be added'],
    [{ 'service.auth.second-factor': 'all' }, 'required of all users'],
    [{ 'service.auth.second-factor': 'admins' }, 'required of administrators'],
    [
      { 'service.auth.second-factor': 'admins', 'service.auth.second-factor.groups.1': 'Curators' },
      'required of administrators and members of "Curators"',
    ],
  ]
  for (const [settings, said] of cases) {
    assert.deepEqual(await examine('second factors', settings), [`second factors: ${said}`])
  }
})

test('the doctor finds a required group that does not exist, a missing key file and a wrong key (D28.1, D28.9)', async () => {
  const user = await newUser(service, await service.admin())
  await addApp(user.visitor, service.system)
  const grouped = { ...sealed, 'service.auth.second-factor.groups.1': 'Curators' }
  assert.deepEqual(await examine('second factors', grouped, service.folder), [
    'second factors: required of members of "Curators"',
    'warning: second factors: there is no group "Curators" (service.auth.second-factor.groups.<n>)',
    'second factors: 1 authenticator app',
  ])
  const key = await readFile(keyFile, 'utf8')
  await rename(keyFile, `${keyFile}.gone`)
  const [, missing] = await examine('second factors', sealed, service.folder)
  assert.match(missing ?? '', /^problem: second factors: the key file .*factors\.key is missing/)
  await writeFile(keyFile, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600 })
  const [, wrong] = await examine('second factors', sealed, service.folder)
  assert.match(
    wrong ?? '',
    /^problem: second factors: 1 authenticator app is sealed with a key that is missing, of 1 in all; restore the key/,
  )
  await writeFile(keyFile, 'no key')
  const [, malformed] = await examine('second factors', sealed, service.folder)
  assert.match(malformed ?? '', /^problem: second factors: .*factors\.key, line 1: expected 32 random bytes/)
  assert.ok(!String(malformed).includes(key.trim()))
  await rename(`${keyFile}.gone`, keyFile)
})

test('the doctor says which host passkeys are bound to, and why they are not offered (D29.7)', async () => {
  const at = (base: string, use = 'sign-in') =>
    examine('passkeys', { 'service.baseurl.folder': base, 'service.auth.passkeys': use })
  assert.deepEqual(await at('https://store.example:8443/path/'), [
    'passkeys: bound to the host store.example, also instead of the password',
  ])
  assert.deepEqual(await at('http://localhost:8181/', 'factor'), [
    'passkeys: bound to the host localhost, as second factor',
  ])
  assert.deepEqual(await at('https://store.example/', 'off'), ['passkeys: off'])
  for (const unfit of ['http://store.example/', 'https://192.0.2.7/']) {
    const [line] = await at(unfit)
    assert.match(line ?? '', /^passkeys: not offered, because browsers need a base address with a host name and https/)
  }
})

test('the doctor finds passkeys that were added at another base address, or that nobody can use (D29.7)', async () => {
  const user = await newUser(service, await service.admin())
  await addPasskey(user.visitor)
  const about = async (settings: Readonly<Record<string, string>>) =>
    (await examine('second factors', { ...sealed, ...settings }, service.folder)).filter(line => /passkey/.test(line))
  assert.deepEqual(await about(base), ['second factors: 1 passkey'])
  const [moved] = await about({ 'service.baseurl.folder': 'https://store.example/' })
  assert.match(moved ?? '', /^warning: second factors: 1 passkey was added at another base address than https:/)
  for (const unused of [
    { 'service.baseurl.folder': 'http://127.0.0.1:1/' },
    { ...base, 'service.auth.passkeys': 'off' },
  ]) {
    assert.deepEqual(await about(unused), [
      'warning: second factors: 1 passkey cannot be used, because passkeys are not offered',
    ])
  }
})

test('the doctor reads the list of leaked passwords, and finds one that is missing or damaged (D32.2)', async () => {
  const about = (list: string) => examine('breached passwords', { 'service.auth.password.rule.breached': list })
  assert.deepEqual(await about('off'), [])
  assert.match((await about('included')).join(), /^breached passwords: [\d,]+ in the included list$/)
  const included = await readFile(join(repository, 'lists/common-passwords.filter'))
  const copy = join(empty, 'copy.filter')
  await writeFile(copy, included)
  assert.match(
    (await about(copy)).join(),
    /^warning: breached passwords: only [\d,]+ in .*copy\.filter, which lacks most of them$/,
    'it is small',
  )
  await writeFile(copy, included.subarray(0, included.length - 100))
  assert.match((await about(copy)).join(), /^problem: breached passwords: .*copy\.filter/)
  assert.match((await about(join(empty, 'none.filter'))).join(), /^problem: breached passwords: .*none\.filter/)
})

test('the doctor reports an address of clamd that it cannot use at the start, with what is expected (D32.1)', () => {
  for (const place of ['clamd', '127.0.0.1', '127.0.0.1:99999', 'http://127.0.0.1:3310']) {
    assert.throws(() => loadSettings({ overrides: [`service.data.virus-scan=${place}`] }), /service\.data\.virus-scan/)
  }
})
