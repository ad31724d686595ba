import assert from 'node:assert/strict'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { backUp } from '../support/backups.ts'
import { newContext, newEntry, startProcess } from '../support/service.ts'
import { fillDisk, freeDisk, smallDisk } from '../support/small-disk.ts'
import { onPostgres } from '../support/store.ts'
import { putFile } from '../support/uploads.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MIB = 2 ** 20

test('on a full disk new data are 507, reading and deleting go on, readiness says so, and a stop is clean (D20.4)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const folder = await smallDisk(t, 64 * MIB)
  if (folder === undefined) return undefined
  // One thread: the others would notice within five seconds of each other.
  const settings = { 'service.data.store': 'folder' }
  const service = await startProcess(t, { folder, settings })
  const admin = await service.admin()
  const context = await newContext(admin)
  const [kept, deleted] = [await newEntry(admin, context), await newEntry(admin, context)]
  const bytes = 'x'.repeat(2 * MIB)
  for (const id of [kept, deleted]) assert.equal((await putFile(admin, `${context}/resource/${id}`, bytes)).status, 201)

  // Another program leaves less than the reserve, which is a twentieth of this disk.
  await fillDisk(folder, 2 * MIB)
  const ready = await service.visitor().get('management/ready')
  assert.deepEqual([ready.status, ready.json<{ checks: unknown }>().checks], [503, { database: 'up', disk: 'down' }])
  const refused = await putFile(admin, `${context}/resource/${kept}`, 'new')
  assert.deepEqual([refused.status, refused.json<{ code: string }>().code], [507, 'storage-full'])
  assert.equal((await admin.post(`${context}?graphtype=none`)).status, 507)
  assert.equal((await admin.get(`${context}/resource/${kept}`)).text, bytes)
  const metrics = (await admin.get('management/metrics')).text
  assert.match(metrics, /^stowage_disk_state\{state="full"\} 1$/m)
  assert.match(metrics, /^stowage_disk_free_bytes \d+$/m)
  assert.doesNotMatch(metrics, /^nodejs_active_\w+_total/m)
  // Signing in is possible, and so is freeing space.
  await service.admin()
  assert.equal((await admin.delete(`${context}/entry/${deleted}`)).status, 204)

  await freeDisk(folder)
  assert.equal((await service.visitor().get('management/ready')).status, 200)
  assert.equal((await putFile(admin, `${context}/resource/${kept}`, 'new')).status, 201)

  await fillDisk(folder, 0)
  const inaccessible = await backUp(await temporaryFolder(), `${folder}/backup`)
  assert.doesNotMatch(inaccessible.stderr, /^ {4}at /m)
  assert.equal(await service.stop(), 0, service.output())
  assert.doesNotMatch(service.output(), /internal-error/)
  return undefined
})

test('a service starts on a disk that another program has filled, and deletes (D20.4)', async t => {
  if (onPostgres) return t.skip('the database is a file')
  const folder = await smallDisk(t, 64 * MIB)
  if (folder === undefined) return undefined
  const settings = { 'service.data.store': 'folder' }
  const first = await startProcess(t, { folder, settings })
  await access(join(folder, 'reserve'))
  const context = await newContext(await first.admin())
  await first.stop()
  await fillDisk(folder, 0)
  const second = await startProcess(t, { folder, settings })
  const admin = await second.admin()
  assert.equal((await admin.post(`${context}?graphtype=none`)).status, 507)
  assert.equal((await admin.delete(`_contexts/entry/${context}`)).status, 204)
  return undefined
})
