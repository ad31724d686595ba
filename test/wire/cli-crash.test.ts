import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { blobsOf, bucket, plantBlob } from '../support/blobs.ts'
import { schemaVersion } from '../../src/stores/migrations.ts'
import { type Sql, sql } from '../../src/stores/sql.ts'
import { place } from '../support/backups.ts'
import { stowage } from '../support/cli.ts'
import { sendRaw } from '../support/raw-request.ts'
import { newContext, newEntry, type Process, startProcess } from '../support/service.ts'
import { onPostgres, openDatabaseOf } from '../support/store.ts'
import { putFile } from '../support/uploads.ts'
import { eventually } from '../support/waiting.ts'

const settings = { 'service.data.quota': 'on' }
const fsck = async (folder: string, ...flags: string[]) =>
  await stowage(folder, ['fsck', ...flags, ...(await place(folder))])

/** Where others may be at work, what a crash leaves stays until its lease has run out: postgres-nodes.test.ts. */
const withExclusiveLock = { skip: onPostgres && 'there are leases' }

/** A stopped store whose context 1 holds one file of 100 bytes, `1/resource/1`. */
async function stoppedStore(t: TestContext): Promise<Process> {
  const service = await startProcess(t, { settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const id = await newEntry(admin, context)
  assert.equal((await putFile(admin, `${context}/resource/${id}`, 'x'.repeat(100))).status, 201)
  assert.equal(await service.stop(), 0)
  return service
}

test(
  'bytes that a power cut left without a record are gone with the next start (D7.5)',
  bucket === undefined ? withExclusiveLock : { skip: 'a start does not look through a bucket' },
  async t => {
    const service = await startProcess(t, { settings })
    const admin = await service.admin()
    const path = `/${await newContext(admin)}/resource/${await newEntry(admin, '1')}`
    const head = [`PUT ${path} HTTP/1.1`, `Cookie: auth_token=${admin.cookie}`, 'Content-Length: 600']
    await sendRaw(admin.base, head, 'x'.repeat(300))
    await eventually('it has begun', async () => (await blobsOf(service)).incoming.length === 1)
    await service.stop('SIGKILL')
    const database = await openDatabaseOf(service.folder)
    // The record is not synchronised to the disk by itself.
    await database.run(sql`DELETE FROM uploads`)
    await database.close()
    await startProcess(t, { folder: service.folder, settings })
    assert.deepEqual((await blobsOf(service)).incoming, [])
  },
)

test(
  'after kill -9 in mid-upload the old file is there, the level is right, and nothing else is left (D7.4, D7.5)',
  withExclusiveLock,
  async t => {
    const service = await startProcess(t, { settings })
    const admin = await service.admin()
    const context = await newContext(admin)
    await admin.put(`${context}/quota`, { quota: 1000 })
    const paths = [
      `${context}/resource/${await newEntry(admin, context)}`,
      `${context}/resource/${await newEntry(admin, context)}`,
    ]
    const [replaced = '', fresh = ''] = paths
    assert.equal((await putFile(admin, replaced, 'y'.repeat(100))).status, 201)
    const before = await admin.get(replaced)
    const head = (path: string, framing: string) => [
      `PUT /${path} HTTP/1.1`,
      `Cookie: auth_token=${admin.cookie}`,
      framing,
    ]
    await sendRaw(admin.base, head(replaced, 'Content-Length: 600'), 'x'.repeat(300))
    await sendRaw(admin.base, head(fresh, 'Transfer-Encoding: chunked'), `10\r\n${'x'.repeat(16)}\r\n`)
    await eventually('both have begun', async () => (await blobsOf(service)).incoming.length === 2)
    await service.stop('SIGKILL')

    const again = await startProcess(t, { folder: service.folder, settings })
    const boss = await again.admin()
    assert.deepEqual((await boss.get(`${context}/quota`)).json(), {
      quota: 1000,
      fillLevel: 100,
      hasDefaultQuota: false,
    })
    const after = await boss.get(replaced)
    assert.equal(after.text, before.text)
    for (const name of ['etag', 'digest', 'last-modified']) assert.equal(after.headers[name], before.headers[name])
    assert.equal((await boss.get(fresh)).status, 204)
    const blobs = await blobsOf(again)
    assert.deepEqual([blobs.stored.length, blobs.incoming.length], [1, 0])
    assert.equal((await putFile(boss, fresh, 'x'.repeat(900))).status, 201, 'no reservation is left')
    assert.equal(await again.stop(), 0)
    const proof = await fsck(service.folder)
    assert.equal(proof.status, 0, proof.stdout)
    assert.match(proof.stdout, /^2 files, 1000 bytes checked; 0 findings, 0 open\.$/m)
  },
)

test(
  'fsck of a store that was killed in mid-upload finds what is left and mends it (D7.5)',
  withExclusiveLock,
  async t => {
    const service = await startProcess(t, { settings })
    const admin = await service.admin()
    const context = await newContext(admin)
    const id = await newEntry(admin, context)
    const head = [
      `PUT /${context}/resource/${id} HTTP/1.1`,
      `Cookie: auth_token=${admin.cookie}`,
      'Content-Length: 600',
    ]
    await sendRaw(admin.base, head, 'x'.repeat(300))
    await eventually('it has begun', async () => (await blobsOf(service)).incoming.length === 1)
    await service.stop('SIGKILL')
    const found = await fsck(service.folder)
    assert.equal(found.status, 1)
    assert.match(found.stdout, /^reservation: .*\(repairable\)$/m)
    // What is gathered for a bucket is in memory still.
    if (bucket === undefined) assert.match(found.stdout, /^orphan-blob: .*\(repairable\)$/m)
    assert.equal((await fsck(service.folder, '--repair')).status, 0)
    assert.match((await fsck(service.folder)).stdout, /0 findings/)
    assert.deepEqual((await blobsOf(service)).incoming, [])
  },
)

test('fsck finds a wrong fill level and an orphan, and with --repair the service is right again (D7.5)', async t => {
  const { folder } = await stoppedStore(t)
  assert.equal((await fsck(folder)).status, 0)
  const database = await openDatabaseOf(folder)
  await database.run(sql`UPDATE quota_usage SET used = 5, reserved = 7 WHERE kind = 'context' AND owner = '1'`)
  await database.close()
  await plantBlob(folder, 'ab'.repeat(20), 'orphan')
  const found = await fsck(folder)
  assert.equal(found.status, 1)
  for (const kind of ['fill-level', 'reservation', 'orphan-blob'])
    assert.match(found.stdout, new RegExp(`^${kind}: `, 'm'))
  assert.match(found.stdout, /3 findings, 3 open/)
  const repaired = await fsck(folder, '--repair')
  assert.equal(repaired.status, 0)
  assert.match(repaired.stdout, /3 findings, 0 open/)
  const again = await startProcess(t, { folder, settings })
  assert.equal((await (await again.admin()).get('1/quota')).json()['fillLevel'], 100)
})

test('fsck, unlock and backup leave the schema as it is: an empty, an older or a newer database is refused', async t => {
  const { folder } = await stoppedStore(t)
  const where = await place(folder)
  const commands = [['fsck'], ['fsck', '--repair', '--force'], ['unlock', 'admin'], ['backup', `${folder}-backup`]]
  const refused = async (expected: RegExp): Promise<void> => {
    for (const command of commands) {
      const { status, stderr } = await stowage(folder, [...command, ...where])
      assert.equal(status, 1, command.join(' '))
      assert.match(stderr, expected, command.join(' '))
    }
  }
  const run = async (statement: Sql): Promise<void> => {
    const database = await openDatabaseOf(folder)
    await database.run(statement)
    await database.close()
  }
  const newest = async (): Promise<number> => {
    const database = await openDatabaseOf(folder)
    const version = await schemaVersion(database)
    await database.close()
    return version
  }
  const before = await newest()
  await run(sql`INSERT INTO schema_migrations (id, name) VALUES (9999, 'of a later version')`)
  await refused(/A newer Stowage has used it/)
  await run(sql`DELETE FROM schema_migrations WHERE id IN (9999, ${before})`)
  const older = await newest()
  await refused(/are those of an older version of Stowage/)
  assert.equal(await newest(), older)
  await run(sql`DROP TABLE schema_migrations`)
  await refused(/The database is empty|There is no store in the database/)
  assert.deepEqual((await blobsOf({ folder })).stored.length, 1)
})

test('fsck reports a damaged file, cannot repair it, and leaves it in place (D7.5)', async t => {
  const service = await stoppedStore(t)
  const { stored } = await blobsOf(service)
  await plantBlob(service.folder, stored[0] ?? '', `${'x'.repeat(99)}y`)
  for (const flags of [[], ['--repair']]) {
    const found = await fsck(service.folder, ...flags)
    assert.equal(found.status, 1)
    assert.match(found.stdout, /^damaged-blob: file 1\/1 .*\(cannot be repaired\)$/m)
  }
  assert.deepEqual((await blobsOf(service)).stored, stored)
})
