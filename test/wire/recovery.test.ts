import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cp, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { type Contents, fill, holds, succeeded } from '../support/backups.ts'
import { type Run, stowage } from '../support/cli.ts'
import { BUCKET, startFakeS3 } from '../support/fake-s3.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { sqlite3 } from '../support/peers/sqlite3.ts'
import { program, repository, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const PAGE = 4096
const settings = { 'service.data.quota': 'on', 'service.data.store': 'folder', 'service.auth.token.store': 'memory' }
const page = readFileSync(join(repository, 'docs/how-to/troubleshooting.md'), 'utf8')
const guide = readFileSync(join(repository, 'docs/how-to/backup-and-upgrade.md'), 'utf8')
const [, chapter = ''] = /\n## The database is damaged\n([^]*?)\n## /.exec(page) ?? []
const blocksOf = (text: string): string[] =>
  [...text.matchAll(/^ *```sh\n([^]*?)^ *```$/gm)].map(([, block = '']) => block)

interface Place {
  /** Has the folders that the page calls `/var/lib` and `/backup`. */
  readonly root: string
  readonly folder: string
  readonly contents: Contents
}

/** Runs commands of the page as they are, but with other folders, and as this user. */
async function run(root: string, commands: string): Promise<Run> {
  const text = `stowage() { ${process.execPath} ${program} "$@"; }\n${commands}`
    .replaceAll('/var/lib/stowage', `${root}/lib/stowage`)
    .replaceAll('/backup/', `${root}/backup/`)
    .replaceAll('systemctl stop stowage', 'true')
    .replaceAll('install -d -o stowage -g stowage', 'install -d')
    .replaceAll('systemctl start stowage', 'true')
    .replaceAll('chown stowage:', 'test -f')
  const child = spawn('bash', ['-e', '-c', text], {
    cwd: root,
    env: { ...process.env, SERVICE_CONFIG: join(root, 'service.properties') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}

/** A stopped store with something of everything, with a backup of it, whose database is damaged afterwards. */
async function damagedStore(t: TestContext): Promise<Place> {
  const root = await temporaryFolder()
  const folder = join(root, 'lib/stowage')
  const all = { ...settings, 'service.data.folder': folder }
  await writeFile(
    join(root, 'service.properties'),
    Object.entries(all)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join(''),
  )
  const service = await startProcess(t, { folder: root, settings: all })
  const contents = await fill(service, await service.admin())
  await service.stop()
  succeeded(await run(root, `mkdir ${root}/backup && stowage backup /backup/stowage`))
  await damage(join(folder, 'store.sqlite'))
  assert.match((await run(root, 'stowage fsck')).stdout, /^database-damaged: /m)
  return { root, folder, contents }
}

/** Overwrites the first page of each index that users are looked up by, and of those of the search: the rows can still be read. */
async function damage(path: string): Promise<void> {
  const database = new DatabaseSync(path)
  const roots = database
    .prepare(
      `SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name IN ('principals', 'entries')
        OR name IN ('search_texts_config', 'search_ngrams_config')`,
    )
    .all() as Array<{ rootpage: number }>
  database.close()
  assert.ok(roots.length > 5)
  const file = await open(path, 'r+')
  for (const { rootpage } of roots) await file.write(Buffer.alloc(PAGE, 'damage'), 0, PAGE, (rootpage - 1) * PAGE)
  await file.close()
}

/** How a database can be damaged beside a running service, and what a request meets it by. */
const harms: ReadonlyArray<readonly [what: string, harm: (path: string) => Promise<void>, found: boolean]> = [
  ['pages', damage, true],
  [
    'the first page',
    async path => {
      const file = await open(path, 'r+')
      await file.write(Buffer.alloc(PAGE, 'damage'), 0, PAGE, 0)
      await file.close()
    },
    true,
  ],
  [
    'a text in an intact page',
    async path => {
      const database = new DatabaseSync(path, { timeout: 10_000 })
      database.exec(`UPDATE entries SET metadata = substr(metadata, 2)`)
      database.close()
    },
    false,
  ],
]

test('a running service that meets damage says so: in the response, the log, its readiness and to doctor (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const first = await startProcess(t, { settings })
  const { context, entry } = await fill(first, await first.admin())
  await first.stop()
  for (const [what, harm, isFound] of harms) {
    const folder = await temporaryFolder()
    await cp(first.folder, folder, { recursive: true })
    const service = await startProcess(t, { folder, settings })
    const admin = await service.admin()
    const ready = async (): Promise<number> => (await service.visitor().get('management/ready')).status
    assert.equal(await ready(), 200)
    await harm(join(folder, 'store.sqlite'))
    // The first is answered by a thread that opens the database now.
    const path = isFound ? 'search?type=solr&query=title:Archiv' : `${context}/metadata/${entry}?format=text/turtle`
    const { status, text } = await admin.get(path)
    assert.equal(status, 503, `${what}: ${text}`)
    assert.match(text, /"code":"store-damaged"/)
    assert.match(text, /stop the service and follow docs\/how-to\/troubleshooting\.md#the-database-is-damaged/)
    assert.equal(await ready(), 503, what)
    const advice = 'the database is damaged: stop the service and follow docs/how-to/troubleshooting.md'
    await eventually('the log names it', async () => service.output().includes(advice))
    if (isFound) {
      const { status, stdout } = await stowage('/', ['doctor', '--set', `service.data.folder=${folder}`])
      assert.equal(status, 1)
      assert.match(stdout, /^problem: store: The database is damaged.* stop the service and follow docs/im)
    }
    await service.stop()
  }
  return undefined
})

const filesIn = async (folder: string): Promise<number> =>
  (await readdir(join(folder, 'files'), { recursive: true })).filter(name => /[0-9a-f]{40}$/.test(name)).length

const start = (t: TestContext, folder: string) => startProcess(t, { folder, settings })

test('a damaged database is recovered from a backup by the words of the page (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const { root, folder, contents } = await damagedStore(t)
  const [copy] = /cp -a [^`]*/.exec(chapter) ?? assert.fail('the page names no copy')
  const whole = await readdir(folder)
  const restore = blocksOf(guide).find(block => block.includes('stowage-new')) ?? assert.fail('there is no such block')
  // An operator may run the command again.
  for (const time of [1, 2]) succeeded(await run(root, `date() { echo ${time}; }\n${copy}`))
  const copies = (await readdir(join(root, 'backup'))).filter(name => name.startsWith('damaged'))
  assert.equal(copies.length, 2)
  for (const name of copies) assert.deepEqual(await readdir(join(root, 'backup', name)), whole)
  succeeded(await run(root, restore))
  await holds(await start(t, folder), contents)
  for (const name of copies) assert.equal(await filesIn(join(root, 'backup', name)), 5)
  return undefined
})

test('the block for a mount point moves nothing unless the restore succeeds (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const { root, folder, contents } = await damagedStore(t)
  const block = blocksOf(guide).find(block => block.includes('lost+found')) ?? assert.fail('there is no such block')
  const before = await readdir(folder)
  const wrong = await run(root, block.replace('restore /backup/stowage', '$& --at 2000-01-01T00:00:00.000Z'))
  assert.notEqual(wrong.status, 0)
  assert.deepEqual(
    (await readdir(folder)).filter(name => name !== 'new'),
    before,
  )
  succeeded(await run(root, block))
  const after = await readdir(folder)
  assert.equal(after.includes('new'), false)
  const old = after.find(name => name.startsWith('old-')) ?? assert.fail('the old store is gone')
  assert.deepEqual(await readdir(join(folder, old)), before)
  await holds(await start(t, folder), contents)
  return undefined
})

test('without a backup the words of the page bring back all rows that can be read (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (!requirePeer(t, sqlite3)) return undefined
  const { root, folder, contents } = await damagedStore(t)
  const [recover = '', replace = ''] = blocksOf(chapter)
  const database = join(folder, 'store.sqlite')
  const before = await readFile(database)
  assert.match(succeeded(await run(root, recover)), /^files: 5\nentries: \d{2}\ncontexts: \d\nprincipals: \d\n$/)
  assert.deepEqual(await readFile(database), before)
  const said = succeeded(await run(root, replace))
  assert.match(said, /5 files, 100000 bytes checked; 0 findings/)
  await holds(await start(t, folder), contents)
  return undefined
})

test('where no row can be read the page stops before the database is replaced, and a repair deletes nothing (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  if (!requirePeer(t, sqlite3)) return undefined
  const { root, folder } = await damagedStore(t)
  const file = await open(join(folder, 'store.sqlite'), 'r+')
  await file.write(Buffer.alloc(PAGE, 'damage'), 0, PAGE, 0)
  await file.close()
  const [recover = '', replace = ''] = blocksOf(chapter)
  // The shell of an operator goes on after an error.
  const { status, stdout } = await run(root, `set +e\n${recover}${replace}`)
  assert.equal(status, 1)
  assert.match(stdout, /^files: \nentries: \ncontexts: \nprincipals: $/m)
  assert.match(stdout, /^database-damaged: /m)

  const repair = await run(root, ': > /var/lib/stowage/store.sqlite; stowage fsck --repair')
  assert.equal(repair.status, 1, repair.stdout)
  assert.equal(await filesIn(folder), 5)
  return undefined
})

test('the files of a folder or a bucket outlast a repair with a database that has lost its rows (D20.3)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const s3 = await startFakeS3(t)
  const env = { AWS_ENDPOINT_URL_S3: s3.url, AWS_REGION: 'test', AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' }
  for (const store of ['folder', `s3://${BUCKET}/store`]) {
    const folder = await temporaryFolder()
    const own = { ...settings, 'service.data.folder': folder, 'service.data.store': store }
    const first = await startProcess(t, { folder, settings: own, env })
    await fill(first, await first.admin())
    await first.stop()
    const stored = async (): Promise<number> => (store === 'folder' ? await filesIn(folder) : s3.objects.size)
    assert.equal(await stored(), 5)
    for (const name of ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm'])
      await rm(join(folder, name), { force: true })
    await assert.rejects(startProcess(t, { folder, settings: own, env }), /There is no store in .* belongs to one: /)
    const empty = await startProcess(t, { settings })
    await empty.stop()
    await cp(join(empty.folder, 'store.sqlite'), join(folder, 'store.sqlite'))
    const args = Object.entries(own).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const repair = await stowage(folder, ['fsck', '--repair', ...args], env)
    assert.equal(repair.status, 1, repair.stdout + repair.stderr)
    assert.match(repair.stdout, /5 findings, 5 open\.\n.*the database has probably lost rows/)
    assert.equal(await stored(), 5, store)
    succeeded(await stowage(folder, ['fsck', '--repair', '--force', ...args], env))
    assert.equal(await stored(), store === 'folder' ? 5 : 0, 'a folder keeps them aside, a bucket does not')
  }
  return undefined
})
