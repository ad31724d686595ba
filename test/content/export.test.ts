import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { schema } from '../../src/assembly/stores.ts'
import { ContextExport } from '../../src/features/archives/export.ts'
import { type FileRecord, findFile, putFile } from '../../src/files/file-records.ts'
import { literal } from '../../src/graph/graph.ts'
import { BaseAddress } from '../../src/http/base-address.ts'
import { newEntry } from '../../src/model/entry.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { openSqliteDatabase } from '../../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../../src/stores/sql.ts'
import { after } from '../support/after.ts'
import { membersOf } from '../support/archives.ts'
import { insertEntry } from '../support/entries.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { eventually, turns } from '../support/waiting.ts'

const TITLE = 'http://purl.org/dc/terms/title'
const base = new BaseAddress('http://example.org/')
const superUser = {
  user: { id: '_admin', epoch: 1, hasSecondFactor: false },
  groups: new Set(['_admins']),
  client: { address: '' },
} as never

/** A context with entries and files, whose blobs are texts that are their keys. */
async function fullContext(count: number) {
  const database = await openSqliteDatabase(':memory:')
  after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts')`)
  await database.run(sql`INSERT INTO principals (id, kind) VALUES ('_admin', 'user'), ('_admins', 'group')`)
  await database.run(sql`INSERT INTO group_members (group_id, user_id, position) VALUES ('_admins', '_admin', 0)`)
  const place = (context: string, id: string, text: string) =>
    newEntry({ context, id, by: undefined, now: 1, metadata: { 'x:r': { [TITLE]: [literal(text)] } } })
  await database.transaction(async tx => {
    await insertEntry(tx, place('_contexts', '3', ''))
    for (let n = 1; n <= count; n++) await insertEntry(tx, place('3', `e${n}`, 'x'.repeat(100_000)))
  })
  const store = (id: string, blob: string) =>
    database.transaction(tx => putFile(tx, { context: '3', id, user: null }, { blob, size: blob.length, sha256: blob }))
  /** @param bytesOf is called when a file is opened */
  const exportWith = async (bytesOf = async (blob: string) => Readable.from([Buffer.from(blob)])) => {
    const files = {
      read: async (key: { context: string; id: string }, choose: (file: FileRecord) => unknown) => {
        const before = await findFile(database, key)
        const bytes = before && (await bytesOf(before.blob))
        const file = await findFile(database, key)
        return file && { file, bytes: choose(file) === undefined ? undefined : bytes }
      },
    }
    const deps = { database, files, system: new FakeSystem('export'), audit: { record: async () => {} } }
    const exports = new ContextExport(deps as unknown as ConstructorParameters<typeof ContextExport>[0])
    return (await exports.export(superUser, '3', { metadataOnly: false, form: base })).open()
  }
  return { database, store, exportWith }
}

test('the entries of an archive are in batches of limited size', async () => {
  const { exportWith } = await fullContext(10)
  const members = await membersOf(await buffer(await exportWith()))
  const batches = members.filter(({ name }) => name.startsWith('entries/')).map(({ bytes }) => bytes.toString())
  const lines = batches.flatMap(batch => batch.trim().split('\n'))
  const ids = lines.map(line => (JSON.parse(line) as { entry: { id: string } }).entry.id)
  assert.deepEqual(ids, Array.from({ length: 10 }, (_, n) => `e${n + 1}`).sort())
  assert.deepEqual(JSON.parse(members.at(-1)?.bytes.toString() ?? ''), {
    entries: 10,
    revisions: 0,
    files: 0,
    bytes: 0,
  })
  assert.ok(batches.every(batch => batch.length < 400_000))
})

test('a file that is replaced when it is opened is exported with its entry as it is then (D35.1)', async () => {
  const { store, exportWith } = await fullContext(3)
  for (const id of ['e1', 'e2', 'e3']) await store(id, `first of ${id}`)
  const archive = await exportWith(async blob => {
    if (blob === 'first of e2') await store('e2', 'second of e2')
    return Readable.from([Buffer.from(blob)])
  })
  const members = await membersOf(await buffer(archive))
  const text = (name: string) => members.find(member => member.name === name)?.bytes.toString()
  assert.deepEqual(
    ['e1', 'e2', 'e3'].map(id => text(`files/${id}`)),
    ['first of e1', 'second of e2', 'first of e3'],
  )
  const described = members.flatMap(({ name, bytes }) =>
    name.startsWith('entries/')
      ? [...bytes.toString().matchAll(/"sha256":"([^"]*)"/g)].map(([, digest]) => digest)
      : [],
  )
  assert.deepEqual(described, ['first of e1', 'second of e2', 'first of e3'])
})

test('an export whose client has left closes its file and opens no further one (D35.1)', async () => {
  const { store, exportWith } = await fullContext(3)
  for (const id of ['e1', 'e2', 'e3']) await store(id, `file of ${id}`)
  const opened: Readable[] = []
  const archive = await exportWith(async () => {
    const endless = new Readable({ read: () => {} })
    opened.push(endless)
    return endless
  })
  archive.resume()
  await eventually('the first file is open', () => opened.length > 0)
  const [file] = opened
  const closed = file && once(file, 'close')
  archive.destroy()
  await closed
  await turns(1)
  assert.equal(opened.length, 1)
})
