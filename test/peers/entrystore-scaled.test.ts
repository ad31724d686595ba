import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { S3BlobStore } from '../../src/stores/s3/s3-blob-store.ts'
import { stowage } from '../support/cli.ts'
import { describeStore, fixtures, importFolder } from '../support/entrystore.ts'
import { DCT, OldStore, text, typed } from '../support/old-store.ts'
import { cephGateway } from '../support/peers/ceph-gateway.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { useGateway } from '../support/s3.ts'
import { program, startProcess } from '../support/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { eventually } from '../support/waiting.ts'

const missing = [postgres, cephGateway].find(peer => !peer.available())
if (missing)
  test('an EntryStore installation is migrated to PostgreSQL and a bucket', t => void requirePeer(t, missing))
else {
  const gateway = useGateway(before, after)
  let places = 0
  const scaled = async (parent: string) => {
    const folder = join(parent, `scaled-${++places}`)
    await mkdir(folder, { recursive: true })
    return {
      'service.data.folder': folder,
      'service.data.store': `s3://${gateway().bucket}/entrystore-${places}`,
      'service.repository.store.url': await postgresDatabase(),
    }
  }
  const sets = (settings: Readonly<Record<string, string>>): string[] =>
    Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])

  test('a migration to PostgreSQL and a bucket gives the same store as one to a data folder (D21.1)', async t => {
    const parent = await temporaryFolder()
    const target = await scaled(parent)
    const backup = join(fixtures, 'backups/nq')
    const run = await stowage(parent, ['import', 'entrystore', backup, ...sets(target)], gateway().env)
    assert.equal(run.status, 1, run.stdout + run.stderr)
    const database = await openPostgresDatabase(target['service.repository.store.url'], { system: realSystem })
    const embedded = await importFolder(t, backup)
    const base = 'http://localhost:8181/'
    const found = await describeStore(database, base)
    await database.close()
    assert.deepEqual(found, await describeStore(embedded.database, base))
    const settings = { ...target, 'service.auth.adminpw': 'admin-Password-12' }
    const service = await startProcess(t, { folder: target['service.data.folder'], settings })
    const digest = readFileSync(join(backup, '1/report_1.sha256'), 'utf8')
    const file = await (await service.admin()).get('1/resource/report_1')
    assert.equal(file.text, 'hello world\n')
    assert.equal(file.headers['digest'], `sha-256=${digest}`)
    assert.equal((await service.visitor().signIn('donald', 'donaldDonald12')).status, 200)
    await service.stop()
    assert.match((await stowage(parent, ['fsck', ...sets(target)], gateway().env)).stdout, /; 0 findings/)
  })

  test('an import that is killed while it fills a bucket leaves no store, and the same command completes it (D21.1)', async t => {
    const parent = await temporaryFolder()
    const target = await scaled(parent)
    const old = new OldStore().context('1', 'one')
    for (let id = 1; id <= 60; id++) {
      old.entry('1', String(id)).file(`1/${id}`, 'some text')
      old.say(`1/entry/${id}`, `1/resource/${id}`, `${DCT}extent`, typed('9', 'long'))
      old.say(`1/entry/${id}`, `1/resource/${id}`, `${DCT}format`, text('text/plain'))
    }
    const backup = await old.write()
    const command = ['import', 'entrystore', backup, ...sets(target)]
    const env = { ...process.env, ...gateway().env }
    const child = spawn(process.execPath, [program, ...command], { cwd: parent, env, stdio: 'ignore' })
    const ended = once(child, 'exit')
    const blobs = await S3BlobStore.open(target['service.data.store'], { endpoint: gateway().url })
    t.after(() => blobs.close())
    await eventually('some files have arrived', async () => {
      for await (const _blob of blobs.list()) return true
      return child.exitCode !== null
    })
    child.kill('SIGKILL')
    const [status] = (await ended) as [number | null]
    if (status === null) {
      await assert.rejects(
        startProcess(t, { folder: target['service.data.folder'], settings: target }),
        /did not come to its end: run it again/,
      )
      const again = await stowage(parent, command, gateway().env)
      assert.equal(again.status, 0, again.stdout + again.stderr)
    }
    assert.match((await stowage(parent, ['fsck', ...sets(target)], gateway().env)).stdout, /60 files.*; 0 findings/)
  })
}
