import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { repository } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }
  const folder = await temporaryFolder()
  for (const word of ['version', '--version'])
    assert.deepEqual(await stowage(folder, [word]), { status: 0, stdout: `${version}\n`, stderr: '' })
})

test('help, and no word at all, list the commands', async () => {
  const folder = await temporaryFolder()
  for (const args of [['help'], ['--help'], ['-h'], []]) {
    const { status, stdout } = await stowage(folder, args)
    assert.equal(status, 0)
    for (const command of ['serve', 'config', 'fsck', 'version', 'help'])
      assert.match(stdout, new RegExp(`^  ${command}`, 'm'))
  }
})

test('an unknown command or option exits with 2, with a message and the usage of that command', async () => {
  const folder = await temporaryFolder()
  for (const [args, says] of [
    [['frobnicate'], /^stowage: there is no command "frobnicate"\. `stowage help` lists all commands\.\n$/],
    [['srve'], /^stowage: there is no command "srve"\. Did you mean "serve"\?/],
    [['serve', '--port', '1'], /--port[^]*usage: stowage serve/],
    [['fsck', 'extra'], /usage: stowage fsck/],
    [
      ['fsck', '--set', 'service.smtp.password:hush'],
      /--set takes KEY=VALUE, but "service.smtp.password" has no value\.\nusage/,
    ],
    [['migrate-store', '--from-set', 'a', '--to-set', 'b=c'], /--from-set takes KEY=VALUE, but "a" has no value\./],
    [
      ['config'],
      /must be one of check, show, but is missing\.\nusage: stowage config check .*\n {7}stowage config show/,
    ],
    [['user', 'add'], /^stowage user: NAME is missing\.\nusage: stowage user add NAME .*\n$/],
    [['config', 'paint'], /usage:/],
  ] as const) {
    const { status, stdout, stderr } = await stowage(folder, args)
    assert.deepEqual([status, stdout], [2, ''], args.join(' '))
    assert.match(stderr, says)
  }
})

test('config check: good is 0, wrong is 1 naming key and value, unknown keys warn, and are 1 with --strict (D10.3)', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'a.properties')
  const check = async (text: string, ...flags: string[]) => {
    await writeFile(file, text)
    return await stowage(folder, ['config', 'check', ...flags, '--config', file])
  }
  assert.equal((await check('service.data.quota=on\nservice.data.quota.default=5g\n', '--strict')).status, 0)
  const wrong = await check('service.data.quota.default=5GB\nservice.data.max-file-size=1.5k\n')
  assert.equal(wrong.status, 1)
  assert.match(wrong.stderr, /service\.data\.quota\.default[^]*5GB/)
  assert.match(wrong.stderr, /service\.data\.max-file-size[^]*1\.5k/)
  const unknown = await check('service.data.quotas=on\n')
  assert.equal(unknown.status, 0)
  assert.match(unknown.stderr, /service\.data\.quotas[^]*service\.data\.quota/)
  assert.equal((await check('service.data.quotas=on\n', '--strict')).status, 1)
  assert.equal((await stowage(folder, ['config', 'check', '--config', join(folder, 'none')])).status, 1)
})

test('settings come from --set, then the environment, then --config, then SERVICE_CONFIG, then ./service.properties (D10.1)', async () => {
  const folder = await temporaryFolder()
  const files = { local: 'service.properties', env: 'env.properties', given: 'given.properties' }
  for (const [name, file] of Object.entries(files))
    await writeFile(join(folder, file), `service.http.port=${{ local: 1, env: 2, given: 3 }[name]}\n`)
  const port = async (args: readonly string[], env = {}): Promise<string | undefined> =>
    /service\.http\.port=(\d+)/.exec((await stowage(folder, ['config', 'show', ...args], env)).stdout)?.[1]
  const env = { SERVICE_CONFIG: 'env.properties' }
  assert.equal(await port([]), '1')
  assert.equal(await port([], env), '2')
  assert.equal(await port(['--config', 'given.properties'], env), '3')
  const variables = { ...env, SERVICE_HTTP_PORT: '4' }
  assert.equal(await port(['--config', 'given.properties'], variables), '4')
  assert.equal(await port(['--config', 'given.properties', '--set', 'service.http.port=5'], variables), '5')
})

test('config show prints value and origin, and never a secret (D10.2)', async () => {
  const folder = await temporaryFolder()
  const secret = 'Hush-Hush-99'
  const sets = ['--set', `service.auth.adminpw=${secret}`, '--set', 'service.http.port=0']
  const brief = await stowage(folder, ['config', 'show', ...sets])
  assert.equal(brief.status, 0)
  assert.match(brief.stdout, /^service\.http\.port=0 {3}# /m)
  assert.match(brief.stdout, /^service\.auth\.adminpw=\*+/m)
  assert.doesNotMatch(brief.stdout, /service\.http\.host/)
  const all = await stowage(folder, ['config', 'show', '--all', ...sets])
  assert.match(all.stdout, /^service\.http\.host=127\.0\.0\.1 {3}# default$/m)
  for (const { stdout, stderr } of [brief, all]) assert.ok(!(stdout + stderr).includes(secret))
})

test('config show says which values come from variables and from files of secrets', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'token'), 'Hush-Hush-99\n')
  const env = { SERVICE_METRICS_TOKEN_FILE: join(folder, 'token'), SERVICE_DATA_QUOTA: 'on' }
  const { stdout } = await stowage(folder, ['config', 'show'], env)
  assert.match(stdout, /^service\.data\.quota=on {3}# environment$/m)
  assert.match(stdout, /^service\.metrics\.token=\*+ {3}# secret file$/m)
})

test('a start with wrong settings is refused with 78 before anything is made (D10.3, D10.5)', async () => {
  const folder = await temporaryFolder()
  const { status, stderr } = await stowage(folder, [
    'serve',
    '--set',
    'service.http.port=x',
    '--set',
    'service.data.folder=made',
  ])
  assert.equal(status, 78)
  assert.match(stderr, /service\.http\.port[^]*"x"/)
})

test('a SERVICE_ADMIN_PASSWORD of seven characters stops the start (D5.5)', async () => {
  const folder = await temporaryFolder()
  const args = ['serve', '--set', 'service.http.port=0', '--set', `service.data.folder=${join(folder, 'data')}`]
  const { status, stdout, stderr } = await stowage(folder, args, { SERVICE_ADMIN_PASSWORD: 'sevench' })
  assert.deepEqual([status, stdout], [78, ''])
  assert.match(stderr, /SERVICE_ADMIN_PASSWORD[^]*8/)
  assert.ok(!stderr.includes('sevench'))
})
