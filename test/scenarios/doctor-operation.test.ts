import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { realSystem } from '../../src/base/system.ts'
import { sql } from '../../src/stores/sql.ts'
import { type Run, stowage } from '../support/cli.ts'
import { freePort } from '../support/peers/peer-process.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { redis, startRedis } from '../support/peers/redis.ts'
import { program, startInProcess, startProcess } from '../support/service.ts'
import { fillDisk, freeDisk, smallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What `doctor` finds with these settings. */
async function examine(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const all = { 'service.data.folder': folder, ...settings }
  const sets = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  return await stowage(folder, ['doctor', ...sets], env)
}

const onlyLines = ({ stdout }: Run, start: string): string[] => stdout.split('\n').filter(line => line.includes(start))

test('a data folder that others can read is a warning of the doctor and, once, at each start, with the path and the remedy (E.7)', async t => {
  const folder = await temporaryFolder()
  assert.ok((await examine(folder)).stdout.includes(`\ndata folder: ${folder}\n`))
  await mkdir(join(folder, 'files'), { mode: 0o755 })
  await writeFile(join(folder, 'store.sqlite'), '', { mode: 0o644 })
  // A folder that others cannot enter protects what is in it.
  assert.doesNotMatch((await examine(folder)).stdout, /^warning/m)

  await chmod(folder, 0o755)
  const { stdout, status } = await examine(folder)
  assert.equal(status, 0, stdout)
  for (const path of [folder, join(folder, 'store.sqlite'), join(folder, 'files')]) {
    const warning = `warning: data folder: other users may read or change ${path}; run chmod go-rwx on it\n`
    assert.ok(stdout.includes(warning), stdout)
  }

  const used = await temporaryFolder()
  await chmod(used, 0o755)
  const service = await startProcess(t, {
    folder: used,
    settings: { 'service.data.store': 'folder' },
  })
  assert.equal(await service.stop(), 0)
  const warnings = service
    .output()
    .split('\n')
    .filter(line => line.includes('other users of this machine'))
  const paths = warnings.map(line => (JSON.parse(line) as { path: string }).path)
  assert.ok(paths.includes(used), service.output())
  assert.equal(new Set(paths).size, paths.length, service.output())
})

test('the doctor reports little free space, and a disk that is full for new data (E.7)', async t => {
  const folder = await smallDisk(t, 64 * 2 ** 20)
  if (folder === undefined) return
  const free = async (): Promise<string | undefined> => onlyLines(await examine(folder), 'disk of the data folder')[0]
  assert.match((await free()) ?? '', /^disk of the data folder: [\d.]+ MiB of 64 MiB free$/)
  // Less than a fifth, then less than a twentieth.
  await fillDisk(folder, 8 * 2 ** 20)
  assert.match(
    (await free()) ?? '',
    /^warning: disk of the data folder: only \d(?:\.\d)? MiB of 64 MiB free; make room before new data are refused$/,
  )
  await fillDisk(folder, 2 * 2 ** 20)
  const full = await examine(folder)
  assert.equal(full.status, 1)
  assert.match(
    full.stdout,
    /^problem: disk of the data folder: only \d(?:\.\d)? MiB of 64 MiB free, so new data are refused; make room$/m,
  )
  await freeDisk(folder)
})

test('the doctor warns of a low limit for open files (E.7)', async () => {
  const folder = await temporaryFolder()
  const withLimit = async (files: number): Promise<string> => {
    const child = spawn(
      'sh',
      [
        '-c',
        `ulimit -n ${files} && exec "$@"`,
        'sh',
        process.execPath,
        program,
        'doctor',
        '--set',
        `service.data.folder=${folder}`,
      ],
      { cwd: folder, env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    assert.deepEqual(await once(child, 'close'), [0, null], output)
    return output
  }
  assert.match(
    await withLimit(1024),
    /^warning: open files: at most 1,024; raise LimitNOFILE \(systemd\) or ulimit -n to 65536$/m,
  )
  assert.match(await withLimit(4096), /^open files: at most 4,096$/m)
})

test('the doctor reports a token key by its fingerprint, and one that is missing, malformed, exposed or given twice (E.7)', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'token.key')
  const settings = { 'service.auth.token.store': 'database', 'service.auth.token.key-file': file }
  const key = async (env: Readonly<Record<string, string>> = {}): Promise<string> => {
    const run = await examine(folder, settings, env)
    const [line = ''] = onlyLines(run, 'token key: ')
    assert.equal(run.status, line.startsWith('problem') ? 1 : 0, run.stdout)
    return line
  }
  assert.match(await key(), /^warning: token key: .*token\.key does not exist; the first start creates it/)
  const secret = Buffer.alloc(32, 7).toString('base64')
  await writeFile(file, `${secret}\n`, { mode: 0o600 })
  const good = await key()
  assert.match(good, /^token key: fingerprint [0-9a-f]{12}$/)
  assert.match(await key({ SERVICE_AUTH_TOKEN_KEY: secret }), /^problem: token key: /)
  await chmod(file, 0o640)
  assert.match(await key(), /^problem: token key: .*other users than its owner can access it/)
  await chmod(file, 0o600)
  await writeFile(file, 'not a key\n')
  const malformed = await key()
  assert.match(malformed, /^problem: token key: .*line 1: expected 32 random bytes/)
  assert.doesNotMatch(malformed, /not a key/)
})

test('the doctor reaches Redis, or says that it cannot, without the password (E.7)', async t => {
  if (!requirePeer(t, redis)) return
  const folder = await temporaryFolder()
  const at = async (url: string): Promise<Run> =>
    await examine(
      folder,
      { 'service.auth.token.store': 'redis', 'service.cluster.redis.url': url },
      {
        SERVICE_AUTH_TOKEN_KEY: Buffer.alloc(32, 7).toString('base64'),
      },
    )
  const { url } = await startRedis(t)
  const found = await at(url)
  assert.equal(found.status, 0, found.stdout)
  assert.ok(found.stdout.includes(`Redis: ${new URL(url).host}\n`), found.stdout)
  const gone = await at(`redis://u:Test-Password@127.0.0.1:${await freePort()}/0`)
  assert.equal(gone.status, 1, gone.stdout)
  assert.match(gone.stdout, /^problem: Redis: /m)
  assert.doesNotMatch(gone.stdout + gone.stderr, /Test-Password/)
})

test('the doctor names the other nodes and what does not fit, and compares its clock with that of the database (E.7)', async t => {
  if (!requirePeer(t, postgres)) return
  const folder = await temporaryFolder()
  const url = await postgresDatabase()
  const settings = {
    'service.repository.store.url': url,
    'service.data.store': 'folder',
    'service.data.quota': 'on',
    'service.auth.token.store': 'memory',
  }
  const none = await examine(folder, settings)
  assert.deepEqual([none.status, onlyLines(none, 'node ')], [0, []], none.stdout)
  const node = await startInProcess(t, { folder, settings })
  const fitting = await examine(folder, settings)
  assert.equal(fitting.status, 0, fitting.stdout)
  assert.match(fitting.stdout, /^node \S+: version 0\.0\.0$/m)
  assert.match(fitting.stdout, /^clock: differs by [\d,]+ ms from that of the database$/m)
  const misfit = await examine(folder, { ...settings, 'service.data.quota': 'off' })
  assert.equal(misfit.status, 1)
  assert.match(misfit.stdout, /^problem: node \S+: service\.data\.quota is off here and on there$/m)

  // A server whose clock is an hour behind: the function is found before the one of the system.
  const database = await openPostgresDatabase(url, { system: realSystem })
  t.after(() => database.close())
  await database.run(sql`CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
    AS $$SELECT pg_catalog.clock_timestamp() - interval '1 hour'$$`)
  await node.close()
  const late = await examine(folder, { ...settings, 'service.repository.store.url': withPath(url) })
  assert.equal(late.status, 1, late.stdout)
  assert.match(late.stdout, /^problem: clock: 3,[56]\d\d s ahead of that of the database; set both right$/m)
})

/** The same database, where functions of the store come before those of the system. */
function withPath(url: string): string {
  const changed = new URL(url)
  changed.searchParams.set('options', '-c search_path=public,pg_catalog')
  return changed.href
}

test('the doctor asks the content origin whether its proxy passes on the Host header (D18.15)', async t => {
  const port = await freePort()
  const content = `http://localhost:${port}/`
  const folder = await temporaryFolder()
  const asked = async (): Promise<Run> => await examine(folder, { 'service.content.base-url': content })
  const gone = await asked()
  assert.equal(gone.status, 0, gone.stdout)
  assert.match(gone.stdout, /^warning: content origin: .* cannot be checked now: .*ECONNREFUSED/m)

  const without = await startInProcess(t, { settings: { 'service.http.port': String(port) } })
  const passing = await asked()
  assert.equal(passing.status, 1, passing.stdout)
  assert.match(passing.stdout, /^problem: content origin: .* its proxy must pass on the Host header$/m)
  await without.close()

  await startInProcess(t, { settings: { 'service.http.port': String(port), 'service.content.base-url': content } })
  const good = await asked()
  assert.equal(good.status, 0, good.stdout)
  assert.ok(good.stdout.includes(`\ncontent origin: ${content}\n`), good.stdout)
})
