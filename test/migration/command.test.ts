import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { place } from '../support/backups.ts'
import { signedIn } from '../support/client.ts'
import { stowage } from '../support/cli.ts'
import { fixtures } from '../support/entrystore.ts'
import { DCT, OldStore, text, typed } from '../support/old-store.ts'
import { program, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const NQ = join(fixtures, 'backups/nq')
/** Cheap hashes: their strength is not what is tested. */
const cheap = ['--set', 'service.auth.password.argon2.memory=19456']

const passwords = [
  ['donald', 'donaldDonald12', 200],
  ['daisy', 'daisyDaisy34', 200],
  ['mickey', 'mickeyMickey56', 403],
] as const

const basic = (name: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
})

for (const wrapping of [[], ['--wrap-hashes']]) {
  test(`the passwords of the old store sign in by form and by Basic, and become argon2id${wrapping.join(' with ')} (D21.9)`, async t => {
    const folder = await temporaryFolder()
    const run = await stowage(folder, ['import', 'entrystore', NQ, ...wrapping, ...cheap, ...(await place(folder))])
    assert.equal(run.status, 1, run.stdout + run.stderr)
    const settings = { 'service.auth.http-basic': 'on', 'service.auth.adminpw': 'admin-Password-12' }
    const service = await startProcess(t, { folder, settings })
    for (const [name, password, status] of passwords) {
      // By Basic first: mickey is disabled, and a wrong password must not be told apart from an unknown one.
      const byBasic = await fetch(`${service.base}auth/basic`, { headers: basic(name, password) })
      assert.equal(byBasic.status, status === 200 ? 200 : 403, name)
      assert.equal((await fetch(`${service.base}auth/basic`, { headers: basic(name, `${password}x`) })).status, 401)
      assert.equal((await service.visitor().signIn(name, password)).status, status, name)
      assert.equal((await service.visitor().signIn(name, `${password}x`)).status, 401)
    }
    await service.stop()
    const backup = await temporaryFolder()
    assert.equal((await stowage(folder, ['backup', join(backup, 'b'), ...(await place(folder))])).status, 0)
    const rowsFolder = readdirSync(join(backup, 'b')).find(name => name.startsWith('rows-')) ?? ''
    const rows = readFileSync(join(backup, 'b', rowsFolder, 'principals.ndjson'), 'utf8')
      .trim()
      .split('\n')
    const stored = new Map(
      rows
        .map(row => JSON.parse(row) as { name: string; password: string | null })
        .map(({ name, password }) => [name, password]),
    )
    for (const name of ['donald', 'daisy']) assert.match(stored.get(name) ?? '', /^\$argon2id\$v=19\$/)
    assert.match(stored.get('mickey') ?? '', wrapping.length > 0 ? /^\$argon2id-of-pbkdf2-sha1\$/ : /^[^$]+\$[^$]+$/)
  })
}

test('the published client reads every imported entry, with every access list and file as it was', async t => {
  const folder = await temporaryFolder()
  const run = await stowage(folder, ['import', 'entrystore', NQ, '--json', ...(await place(folder))])
  const report = JSON.parse(run.stdout) as { counts: Record<string, number> }
  const settings = { 'service.auth.adminpw': 'admin-Password-12', 'service.repository.provenance': 'on' }
  const service = await startProcess(t, { folder, settings })
  const store = await signedIn(service, 'admin', 'admin-Password-12')
  const expected = JSON.parse(readFileSync(join(fixtures, 'expected.json'), 'utf8')) as {
    entries: ReadonlyArray<{
      context: string
      id: string
      resource: string
      acl: Record<string, string[]>
      revisions: number
    }>
  }
  for (const { context, id, resource, acl } of expected.entries) {
    const entry = await store.getEntry(store.getEntryURI(context, id))
    assert.equal(entry.getId(), id)
    assert.equal(entry.getResourceURI(), resource.replace(/^\.\//, service.base))
    const found = entry.getEntryInfo().getACL(false)
    const listed = Object.fromEntries(
      Object.entries(found)
        .filter(
          ([slot, principals]) => Array.isArray(principals) && principals.length > 0 && slot !== 'contextOverride',
        )
        .map(([slot, principals]) => [
          slot,
          (principals as string[])
            .map(principal => `./_principals/resource/${principal.split('/').at(-1) ?? ''}`)
            .sort(),
        ]),
    )
    assert.deepEqual(listed, acl, `${context}/${id}`)
  }
  assert.equal(report.counts['entries'], expected.entries.length)
  const admin = await service.admin()
  assert.equal((await admin.get('1/resource/report_1')).text, 'hello world\n')
  assert.match((await admin.get('1/metadata/report_1?rev=2')).text, /second rev/)
  assert.match((await admin.get('search?type=solr&query=title:*')).text, /results/)
  assert.equal((await service.visitor().get('1/resource/report_1')).status, 200)
  assert.equal((await service.visitor().get('1/metadata/report_1')).status, 401)
})

test('the first search after an import finds every entry, and relations are there (D35.3)', async t => {
  const old = new OldStore().context('1', 'one')
  for (let id = 1; id <= 700; id++) old.entry('1', String(id)).title('1', String(id), 'quokka')
  old.say('1/metadata/1', '1/resource/1', `${DCT}relation`, '1/resource/2')
  const folder = await temporaryFolder()
  const run = await stowage(folder, ['import', 'entrystore', await old.write(), ...(await place(folder))])
  assert.equal(run.status, 0, run.stdout + run.stderr)
  const service = await startProcess(t, { folder, settings: { 'service.auth.adminpw': 'admin-Password-12' } })
  assert.doesNotMatch(service.output(), /index is being completed/)
  const admin = await service.admin()
  const found = await admin.get('search?type=solr&query=title:quokka&limit=1')
  assert.equal(found.headers['search-index'], undefined)
  assert.equal(found.json<{ results: number }>().results, 700)
  assert.match((await admin.get('1/relations/2')).text, /terms\/relation/)
})

test('a file of a pipeline result is served like any other', async t => {
  const old = new OldStore()
    .context('1', 'one')
    .entry('1', '1', { graphType: 'PipelineResult' })
    .file('1/1', 'the result')
  const folder = await temporaryFolder()
  await stowage(folder, ['import', 'entrystore', await old.write(), ...(await place(folder))])
  const service = await startProcess(t, { folder, settings: { 'service.auth.adminpw': 'admin-Password-12' } })
  assert.equal((await (await service.admin()).get('1/resource/1')).text, 'the result')
})

test('--check reports and writes nothing; a clean store ends with 0, findings with 1, no backup with 2', async () => {
  const folder = await temporaryFolder()
  const target = join(folder, 'data')
  const at = ['--set', `service.data.folder=${target}`]
  const clean = await new OldStore().user('1', 'anna').context('1', 'one').entry('1', '1').title('1', '1', 'A').write()
  const run = await stowage(folder, ['import', 'entrystore', clean, '--check', ...at])
  assert.equal(run.status, 0, run.stdout + run.stderr)
  assert.match(run.stdout, /No findings/)
  assert.equal((await stowage(folder, ['import', 'entrystore', NQ, '--check', ...at])).status, 1)
  const none = await stowage(folder, ['import', 'entrystore', folder, '--check', ...at])
  assert.equal(none.status, 2)
  assert.match(none.stderr, /no-backup/)
  assert.equal(existsSync(target), false)
  assert.equal((await stowage(folder, ['import', 'entrystore', clean, '--zone', 'Mars/Olympus', '--check'])).status, 2)
})

test('an import into a store that is not empty is refused before anything is read', async () => {
  const folder = await temporaryFolder()
  const to = await place(folder)
  assert.equal((await stowage(folder, ['import', 'entrystore', NQ, ...to])).status, 1)
  const again = await stowage(folder, ['import', 'entrystore', NQ, ...to])
  assert.equal(again.status, 2)
  assert.match(again.stderr, /Only an empty one can be filled/)
})

test('killed at any point, an import leaves a store that is empty or complete, and the same command goes on (D21.1)', async t => {
  const store = new OldStore().context('1', 'one')
  for (let id = 1; id <= 400; id++) {
    store.entry('1', String(id)).title('1', String(id), `Entry ${id}`)
    if (id % 4 === 0) {
      store.say(`1/entry/${id}`, `1/resource/${id}`, `${DCT}extent`, typed('9', 'long'))
      store.say(`1/entry/${id}`, `1/resource/${id}`, `${DCT}format`, text('text/plain')).file(`1/${id}`, 'some text')
    }
  }
  const backup = await store.write()
  const folder = await temporaryFolder()
  const to = await place(folder)
  const blobs = (): number =>
    existsSync(join(folder, 'files'))
      ? readdirSync(join(folder, 'files'), { recursive: true }).filter(name => /[0-9a-f]{40}$/.test(String(name)))
          .length
      : 0
  // The import removes folders meanwhile, and listing one of those fails.
  const scratchFiles = (): string[] => {
    try {
      return readdirSync(join(folder, 'import'), { recursive: true }).map(String)
    } catch {
      return []
    }
  }
  const stages: ReadonlyArray<readonly [name: string, isReached: () => boolean]> = [
    ['the scratch is there', () => scratchFiles().length > 0],
    ['rows are being written', () => scratchFiles().some(name => name.endsWith('entries.ndjson'))],
    ['the first file is copied', () => blobs() > 0],
    ['half of the files are copied', () => blobs() > 50],
    ['all files are copied', () => blobs() >= 100],
  ]
  for (const [stage, isReached] of stages) {
    const child = spawn(process.execPath, [program, 'import', 'entrystore', backup, ...to], {
      cwd: folder,
      stdio: 'ignore',
    })
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>
    while (child.exitCode === null && !isReached()) await nextIteration()
    child.kill('SIGKILL')
    const [status] = await ended
    if (status !== null) continue
    // Empty, or begun, which a service does not take for its store.
    const copy = join(folder, `copy when ${stage}`)
    const start = await stowage(folder, ['backup', copy, ...to])
    assert.equal(existsSync(join(copy, 'manifest.json')), start.status === 0, stage)
  }
  const last = await stowage(folder, ['import', 'entrystore', backup, ...to])
  assert.ok(last.status === 0 || /Only an empty one can be filled/.test(last.stderr), last.stderr)
  assert.equal(existsSync(join(folder, 'import')), false)
  const settings = { 'service.auth.adminpw': 'admin-Password-12' }
  const service = await startProcess(t, { folder, settings })
  const admin = await service.admin()
  assert.equal((await admin.get('1')).json<unknown[]>().length, 400)
  assert.equal((await admin.get('1/resource/400')).text, 'some text')
  await service.stop()
  assert.match((await stowage(folder, ['fsck', ...to])).stdout, /100 files.*; 0 findings/)
})
