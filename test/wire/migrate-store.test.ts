import assert from 'node:assert/strict'
import { mkdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { layout } from '../../src/assembly/stores.ts'
import { name, sql } from '../../src/stores/sql.ts'
import { fill, filledStore, fsckIsClean, holds, migrateStore, place, succeeded } from '../support/backups.ts'
import { blobsOf, bucket } from '../support/blobs.ts'
import { stowage } from '../support/cli.ts'
import { startProcess } from '../support/service.ts'
import { onPostgres, openDatabaseOf } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const settings = { 'service.data.quota': 'on' }
/** All that the store of a stopped service holds. */
async function rowsOf(folder: string): Promise<unknown> {
  if (!onPostgres) return await readFile(join(folder, 'store.sqlite'))
  const database = await openDatabaseOf(folder)
  const rows = await Promise.all(layout.tables.map(table => database.all(sql`SELECT * FROM ${name(table.name)}`)))
  await database.close()
  return rows
}

const at = async (folder: string): Promise<string[]> => (await place(folder)).filter(word => word !== '--set')

test('a stopped store is copied to another place; the original stays, and neither may be in use (D7.5)', async t => {
  const service = await startProcess(t, { settings })
  const contents = await fill(service, await service.admin())
  const target = join(await temporaryFolder(), 'copy')
  const busy = await migrateStore(await at(service.folder), await at(target), service.folder)
  assert.equal(busy.status, 1)
  assert.match(busy.stderr, /in use by another Stowage process/)
  await service.stop()

  const before = await rowsOf(service.folder)
  assert.match(
    succeeded(await migrateStore(await at(service.folder), await at(target), service.folder)),
    /5 files with 100000 bytes/,
  )
  assert.deepEqual(await rowsOf(service.folder), before, 'the original is untouched')
  await fsckIsClean(target)
  await fsckIsClean(service.folder)
  const copy = await startProcess(t, { folder: target, settings })
  await holds(copy, contents)
  const other = await startProcess(t, { settings })
  await other.stop()
  for (const taken of [target, other.folder]) {
    const { status, stderr } = await migrateStore(await at(service.folder), await at(taken), service.folder)
    assert.equal(status, 1)
    assert.match(stderr, /in use by another|already contains a store/)
  }
  const itself = await migrateStore(await at(service.folder), await at(service.folder), service.folder)
  assert.equal(itself.status, 1)
})

test('each side can also be given by a configuration file', async t => {
  const { folder: original, contents } = await filledStore(t)
  const folder = await temporaryFolder()
  const target = join(folder, 'copy')
  for (const [name, data] of [
    ['a', original],
    ['b', target],
  ] as const) {
    await writeFile(join(folder, `${name}.properties`), `${(await at(data)).join('\n')}\n`)
  }
  succeeded(await stowage(folder, ['migrate-store', '--from', 'a.properties', '--to', 'b.properties']))
  await holds(await startProcess(t, { folder: target, settings }), contents)
})

test('a store whose filling was cut off does not start, and the same command goes on with it', async t => {
  if (bucket !== undefined) return t.skip('what stands in the way here is a folder')
  const { folder, contents } = await filledStore(t)
  const target = join(await temporaryFolder(), 'copy')
  const [blob = ''] = (await blobsOf({ folder })).stored
  const file = join(folder, 'files', blob.slice(0, 2), blob)
  await rename(file, `${file}.aside`)
  await mkdir(file)
  assert.notEqual((await migrateStore(await at(folder), await at(target), folder)).status, 0)
  await assert.rejects(startProcess(t, { folder: target, settings }), /did not come to its end: run it again/)
  const doctor = await stowage(target, ['doctor', '--set', `service.data.folder=${target}`])
  assert.equal(doctor.status, 1)
  assert.match(
    doctor.stdout,
    /^problem: store: This store was being filled by .*did not come to its end: run it again\.$/m,
  )

  await rmdir(file)
  await rename(`${file}.aside`, file)
  const said = succeeded(await migrateStore(await at(folder), await at(target), folder))
  assert.match(said, /5 files with 100000 bytes, [0-4] of them copied now/)
  await fsckIsClean(target)
  await holds(await startProcess(t, { folder: target, settings }), contents)
})
