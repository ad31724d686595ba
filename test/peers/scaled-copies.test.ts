import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { realSystem } from '../../src/base/system.ts'
import { openPostgresDatabase } from '../../src/stores/postgres/postgres-database.ts'
import { S3BlobStore } from '../../src/stores/s3/s3-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { type Contents, fill, holds, migrateStore, succeeded } from '../support/backups.ts'
import { type Run, stowage } from '../support/cli.ts'
import { cephGateway } from '../support/peers/ceph-gateway.ts'
import { requirePeer } from '../support/peers/peer.ts'
import { postgres, postgresDatabase } from '../support/peers/postgres.ts'
import { useGateway } from '../support/s3.ts'
import { newContext, newEntry, type Process, program, startProcess } from '../support/service.ts'
import { survey } from '../support/survey.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

type Settings = Readonly<Record<string, string>>

const quota = { 'service.data.quota': 'on' }
const written = (settings: Settings): string[] => Object.entries(settings).map(([key, value]) => `${key}=${value}`)
const sets = (settings: Settings): string[] => written(settings).flatMap(setting => ['--set', setting])

const missing = [postgres, cephGateway].find(peer => !peer.available())
if (missing) test('copies of a store in PostgreSQL and a bucket', t => void requirePeer(t, missing))
else {
  const gateway = useGateway(before, after)
  let places = 0
  const embedded = (parent: string): Settings => ({
    'service.data.folder': join(parent, `embedded-${++places}`),
    'service.data.store': 'folder',
  })
  const scaled = async (parent: string): Promise<Settings> => ({
    'service.data.folder': join(parent, `scaled-${++places}`),
    'service.data.store': `s3://${gateway().bucket}/place-${places}`,
    'service.repository.store.url': await postgresDatabase(),
  })
  const start = async (t: Parameters<typeof startProcess>[0], settings: Settings): Promise<Process> => {
    const folder = settings['service.data.folder'] ?? ''
    await mkdir(folder, { recursive: true })
    return await startProcess(t, { folder, settings: { ...settings, ...quota } })
  }
  const migrate = (from: Settings, to: Settings, cwd: string): Promise<Run> =>
    migrateStore(written(from), written(to), cwd, gateway().env)
  const refused = ({ status, stderr }: Run, reason: RegExp): void => {
    assert.equal(status, 1)
    assert.match(stderr, reason)
  }

  test('a store moved from SQLite and a folder to PostgreSQL and a bucket, through a backup, and back is unchanged (D7.5)', async t => {
    const parent = await temporaryFolder()
    const run = async (...args: string[]): Promise<Run> => await stowage(parent, args, gateway().env)
    const [origin, cluster, restored, home] = [
      embedded(parent),
      await scaled(parent),
      await scaled(parent),
      embedded(parent),
    ]
    const first = await start(t, origin)
    const contents = await fill(first, await first.admin())
    const original = await survey(await first.admin())
    const isWhole = async (service: Process, of: Contents): Promise<void> => {
      assert.deepEqual(await survey(await service.admin()), original)
      await holds(service, of)
    }
    await first.stop()

    assert.match(succeeded(await migrate(origin, cluster, parent)), /5 files with 100000 bytes, 5 of them copied now/)
    const nodes = [await start(t, cluster), await start(t, cluster)]
    for (const node of nodes) await isWhole(node, contents)

    assert.match(succeeded(await run('backup', 'backup', ...sets(cluster))), /5 files/)
    const inUse = /in use by another Stowage process/
    refused(await run('restore', 'backup', ...sets(cluster)), inUse)
    refused(await migrate(cluster, home, parent), inUse)
    refused(await migrate(origin, cluster, parent), inUse)
    for (const node of nodes) await isWhole(node, contents)
    for (const node of nodes) assert.equal(await node.stop(), 0)
    refused(await run('restore', 'backup', ...sets(cluster)), /The target already contains a store/)

    assert.match(succeeded(await run('restore', 'backup', ...sets(restored))), /5 files/)
    const third = await start(t, restored)
    await isWhole(third, contents)
    await third.stop()

    succeeded(await migrate(restored, home, parent))
    for (const place of [cluster, restored, home]) {
      assert.match(succeeded(await run('fsck', ...sets(place))), /^5 files, 100000 bytes checked; 0 findings/)
    }
    await isWhole(await start(t, home), contents)
  })

  test('a move to PostgreSQL and a bucket that was killed leaves no store, and the same command continues it', async t => {
    const parent = await temporaryFolder()
    const [origin, cluster] = [embedded(parent), await scaled(parent)]
    const first = await start(t, origin)
    const admin = await first.admin()
    const contents = await fill(first, admin)
    const context = await newContext(admin)
    // So large that the others are there long before it is.
    const large = `${context}/resource/${await newEntry(admin, context)}`
    assert.equal((await putFile(admin, large, Buffer.alloc(2 ** 26, 'x'))).status, 201)
    const { digest } = (await admin.get(large)).headers
    await first.stop()

    const sides = [
      ...written(origin).flatMap(set => ['--from-set', set]),
      ...written(cluster).flatMap(set => ['--to-set', set]),
    ]
    const move = spawn(process.execPath, [program, 'migrate-store', ...sides], { cwd: parent, stdio: 'ignore' })
    const ended = once(move, 'exit')
    const blobs = await S3BlobStore.open(cluster['service.data.store'] ?? '', { endpoint: gateway().url })
    t.after(() => blobs.close())
    await eventually('some files have arrived', async () => {
      let count = 0
      for await (const { size } of blobs.list()) if (size < 2 ** 26) count++
      return count > 2
    })
    move.kill('SIGKILL')
    assert.deepEqual(await ended, [null, 'SIGKILL'])
    await assert.rejects(start(t, cluster), /did not come to its end: run it again/)
    const database = await openPostgresDatabase(cluster['service.repository.store.url'] ?? '', { system: realSystem })
    assert.deepEqual(await database.all(sql`SELECT id FROM contexts`), [])
    await database.close()

    const [, copied = ''] =
      /6 files with \d+ bytes, (\d) of them copied now/.exec(succeeded(await migrate(origin, cluster, parent))) ?? []
    assert.ok(Number(copied) >= 1 && Number(copied) <= 4, copied)
    const second = await start(t, cluster)
    await holds(second, contents)
    assert.equal((await (await second.admin()).get(large)).headers['digest'], digest)
    await second.stop()
    assert.match(succeeded(await stowage(parent, ['fsck', ...sets(cluster)], gateway().env)), /; 0 findings/)
  })
}
