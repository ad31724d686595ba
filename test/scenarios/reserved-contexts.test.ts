import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { stowage } from '../support/cli.ts'
import { newEntry, startProcess } from '../support/service.ts'
import { onPostgres } from '../support/store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { putFile } from '../support/uploads.ts'

/** Gives a context an id that only earlier versions accepted. */
function renameContext(folder: string, from: string, to: string): void {
  const database = new DatabaseSync(join(folder, 'store.sqlite'), { enableForeignKeyConstraints: false })
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[]
  for (const { name } of tables) {
    const columns = database.prepare(`SELECT name FROM pragma_table_info('${name}')`).all() as { name: string }[]
    for (const column of columns.filter(({ name }) => /^(?:\w+_)?context$/.test(name)))
      database.prepare(`UPDATE ${name} SET ${column.name} = ? WHERE ${column.name} = ?`).run(to, from)
  }
  database.prepare('UPDATE contexts SET id = ? WHERE id = ?').run(to, from)
  database.prepare("UPDATE entries SET id = ? WHERE context = '_contexts' AND id = ?").run(to, from)
  database.close()
}

const ofFile = { skip: onPostgres && 'the test changes a database file' }

test(
  'a context of an earlier version whose id is an address now keeps its entries, and doctor names it',
  ofFile,
  async t => {
    const folder = await temporaryFolder()
    const first = await startProcess(t, { folder })
    const admin = await first.admin()
    const created = await admin.post('_contexts?graphtype=context&id=pictures', {})
    assert.equal(created.status, 201, created.text)
    const entry = await newEntry(admin, 'pictures')
    assert.equal((await putFile(admin, `pictures/resource/${entry}`, Buffer.from('bytes'))).status, 201)
    assert.equal(await first.stop(), 0)
    renameContext(folder, 'pictures', 'quota')

    const sets = ['--set', `service.data.folder=${folder}`]
    const doctor = await stowage(folder, ['doctor', ...sets])
    assert.match(
      doctor.stdout,
      /^warning: context quota: \/quota is an address of the service now; move its content by export and import$/m,
    )
    const second = await startProcess(t, { folder })
    const again = await second.admin()
    // Only the address of the context itself belongs to the service.
    assert.equal((await again.get(`quota/resource/${entry}`)).text, 'bytes')
    assert.equal((await again.get(`quota/entry/${entry}`)).status, 200)
    assert.equal((await again.get('_contexts/entry/quota')).status, 200)
    assert.equal((await again.get('quota/export')).status, 200)
    assert.notEqual((await again.post('quota', {})).status, 201)
  },
)

test('the doctor reports a store of a newer version as a problem (E.7)', ofFile, async t => {
  const folder = await temporaryFolder()
  const service = await startProcess(t, { folder })
  assert.equal(await service.stop(), 0)
  const database = new DatabaseSync(join(folder, 'store.sqlite'))
  database.exec("INSERT INTO schema_migrations (id, name) VALUES (9999, 'of a later version')")
  database.close()
  const { status, stdout } = await stowage(folder, ['doctor', '--set', `service.data.folder=${folder}`])
  assert.equal(status, 1)
  assert.match(stdout, /^problem: store: The store is at schema version 9999, /m)
})
