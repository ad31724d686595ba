import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { StartupError } from '../../src/base/errors.ts'
import { readEnvironment } from '../../src/config/environment.ts'
import { readConfigFile } from '../../src/config/file.ts'

const nothing = readEnvironment({})

/** Makes a folder of its own the working directory until the test ends. */
function inFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'stowage-config-'))
  const before = process.cwd()
  process.chdir(folder)
  t.after(() => {
    process.chdir(before)
    rmSync(folder, { recursive: true })
  })
  return folder
}

test('--config wins over SERVICE_CONFIG, that over ./service.properties, and without all there is no file (D10.1)', t => {
  inFolder(t)
  assert.equal(readConfigFile(undefined, nothing), undefined)
  writeFileSync('service.properties', 'a=1')
  writeFileSync('named', 'a=2')
  writeFileSync('environment', 'a=3')
  const environment = readEnvironment({ SERVICE_CONFIG: 'environment' })
  assert.deepEqual(readConfigFile(undefined, nothing), { path: 'service.properties', text: 'a=1' })
  assert.deepEqual(readConfigFile(undefined, environment), { path: 'environment', text: 'a=3' })
  assert.deepEqual(readConfigFile('named', environment), { path: 'named', text: 'a=2' })
})

test('a named file that cannot be read stops the start with path and reason', t => {
  const folder = inFolder(t)
  const refused = (path: string, reason: RegExp): void =>
    assert.throws(
      () => readConfigFile(path, nothing),
      (error: unknown) => error instanceof StartupError && error.message.includes(path) && reason.test(error.message),
    )
  refused(join(folder, 'absent'), /no such file/)
  refused(folder, /it is a folder/)
  writeFileSync('latin1', Buffer.from([0x61, 0x3d, 0xe4]))
  refused('latin1', /not UTF-8/)
  assert.throws(
    () => readConfigFile('absent', nothing),
    { message: new RegExp(join(folder, 'absent')) },
    'the whole path',
  )
})

test('./service.properties that exists but cannot be read stops the start', t => {
  inFolder(t)
  writeFileSync('service.properties', Buffer.from([0xff]))
  assert.throws(() => readConfigFile(undefined, nothing), StartupError)
})

test('an empty variable counts as absent', () => {
  const empty = { SERVICE_CONFIG: '', SERVICE_ADMIN_PASSWORD: '', SERVICE_ADMIN_PASSWORD_FILE: '' }
  assert.deepEqual(readEnvironment(empty), { ...nothing, settings: empty })
  assert.equal(readEnvironment({ SERVICE_ADMIN_PASSWORD: 'secret' }).adminPassword, 'secret')
})

test('the first password of admin may be in a file', t => {
  const path = join(inFolder(t), 'password')
  writeFileSync(path, 'from-a-file\n')
  assert.equal(readEnvironment({ SERVICE_ADMIN_PASSWORD_FILE: path }).adminPassword, 'from-a-file')
  assert.throws(() => readEnvironment({ SERVICE_ADMIN_PASSWORD_FILE: `${path}s` }), /that file cannot be read/)
})
