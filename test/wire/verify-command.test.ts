import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { after } from '../support/after.ts'
import { stowage } from '../support/cli.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { ADMIN_PASSWORD, program, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const service = await startProcess({ after }, { settings: { 'service.data.quota': 'on' } })
const admin = await service.admin()
const folder = await temporaryFolder()
const asAdmin = [service.base, '--user', 'admin']
const verify = async (...args: string[]) =>
  await stowage(folder, ['verify', ...args], {}, { input: `${ADMIN_PASSWORD}\n` })

test('verify prints a line for each promise, and says so by its exit status', async () => {
  const kept = await verify(...asAdmin, '--only', 'responds,files-exact,mail')
  assert.equal(kept.status, 0, kept.stderr)
  assert.match(kept.stdout, /^ok {6}responds: The service responds at its base address\. \(200\)$/m)
  assert.match(kept.stdout, /^unknown mail: .*\n {8}Not checked: name an address with --mail/m)
  assert.match(kept.stdout, /^2 promises kept, 0 broken, 1 not checked\.$/m)
  const broken = await verify(...asAdmin, '--only', 'backup-recent')
  assert.equal(broken.status, 1)
  assert.match(
    broken.stdout,
    /^BROKEN {2}backup-recent: .*\n {8}Seen: no backup is scheduled\n {8}Set service\.backup/m,
  )
})

test('verify reports to programs in JSON and JUnit', async () => {
  const junit = join(folder, 'verify.xml')
  const { status, stdout } = await verify(
    ...asAdmin,
    '--only',
    'responds,backup-recent,mail',
    '--json',
    '--junit',
    junit,
  )
  assert.equal(status, 1)
  const { promises } = JSON.parse(stdout) as { promises: ReadonlyArray<{ id: string; state: string }> }
  assert.deepEqual(
    promises.map(({ id, state }) => [id, state]),
    [
      ['responds', 'kept'],
      ['backup-recent', 'broken'],
      ['mail', 'unchecked'],
    ],
  )
  assert.match(await readFile(junit, 'utf8'), /<testsuite name="stowage verify" tests="3" failures="1" skipped="1">/)
})

test('verify lists its promises, and refuses what it does not know', async () => {
  const { stdout } = await verify('--list')
  assert.ok(stdout.trim().split('\n').length >= 60, stdout)
  for (const [args, says] of [
    [[...asAdmin, '--only', 'nothing'], /There is no promise "nothing"/],
    [['content.example', '--user', 'admin'], /must begin with http:\/\/ or https:\/\/ .*"content\.example"/],
    [[service.base], /either --user or --token-file/],
    [[...asAdmin, '--from', 'here'], /--from must be an IP address, but is "here"/],
  ] as const) {
    const { status, stderr } = await verify(...args)
    assert.equal(status, 2, stderr)
    assert.match(stderr, says)
  }
})

test('verify ends with 2 where nothing can be checked', async () => {
  const nobody = await verify(`http://127.0.0.1:${await freePort()}/`, '--user', 'admin')
  assert.equal(nobody.status, 2)
  assert.match(nobody.stderr, /does not answer/)
  const stranger = await verify(service.base, '--user', 'nobody')
  assert.equal(stranger.status, 2)
  assert.match(stranger.stderr, /nobody cannot sign in: 401 wrong-credentials/)
})

test('with an access token, promises about passwords are not counted as kept', async () => {
  const expires = new Date(Date.now() + 86_400_000).toISOString()
  const made = await admin.post('auth/access-tokens', { name: 'verify', expires, scopes: ['admin'] })
  const file = join(folder, 'token')
  await writeFile(file, `${made.json<{ token: string }>().token}\n`)
  const { status, stdout } = await verify(service.base, '--token-file', file, '--only', 'files-exact,lockout')
  assert.equal(status, 0, stdout)
  assert.match(stdout, /^1 promises kept, 0 broken, 1 not checked\.$/m)
})

test('Ctrl-C removes every trace, and --clean what a crash has left', async t => {
  const traces = async (): Promise<boolean> =>
    /"verify-/.test((await admin.get('management/contexts?query=verify-')).text)
  for (const [signal, status] of [
    ['SIGINT', 130],
    ['SIGKILL', null],
  ] as const) {
    const child = spawn(process.execPath, [program, 'verify', ...asAdmin, '--only', 'slow-upload,files-exact'])
    t.after(() => child.kill('SIGKILL'))
    child.stdin.end(`${ADMIN_PASSWORD}\n`)
    await eventually('the checks have begun', traces)
    child.kill(signal)
    assert.equal((await once(child, 'exit'))[0], status)
    assert.equal(await traces(), signal === 'SIGKILL')
  }
  const { stdout } = await verify(...asAdmin, '--clean')
  assert.match(stdout, /^Removed: verify-/)
  assert.equal(await traces(), false)
})
