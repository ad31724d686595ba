import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { schema } from '../../src/assembly/schema.ts'
import { Overloaded } from '../../src/base/errors.ts'
import { ContextExport, type ReadPage } from '../../src/content/archive/export.ts'
import { readPage } from '../../src/content/archive/export-page.ts'
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

const TITLE = 'http://purl.org/dc/terms/title'
const base = new BaseAddress('http://example.org/')
const superUser = { user: { id: '_admin' }, groups: ['_admins'], client: { address: '' } } as never

/** A context with entries and files, whose blobs are texts that are their keys. */
async function fullContext(count: number) {
  const database = await openSqliteDatabase(':memory:')
  after(() => database.close())
  await migrate(database, schema)
  await database.run(sql`INSERT INTO contexts (id) VALUES ('3'), ('_contexts')`)
  const place = (context: string, id: string, text: string) =>
    newEntry({ context, id, by: undefined, now: 1, metadata: { 'x:r': { [TITLE]: [literal(text)] } } })
  await database.transaction(async tx => {
    await insertEntry(tx, place('_contexts', '3', ''))
    for (let n = 1; n <= count; n++) await insertEntry(tx, place('3', `e${n}`, 'x'.repeat(100_000)))
  })
  const store = (id: string, blob: string) =>
    database.transaction(tx => putFile(tx, { context: '3', id }, { blob, size: blob.length, sha256: blob }))
  const files = {
    read: async (key: { context: string; id: string }, choose: (file: FileRecord) => unknown) => {
      const file = await findFile(database, key)
      return file && { file, bytes: choose(file) === undefined ? undefined : Readable.from([Buffer.from(file.blob)]) }
    },
  }
  const exportWith = async (readPage: ReadPage, signal: AbortSignal) => {
    const deps = { database, files, readPage, system: new FakeSystem('export'), audit: { record: async () => {} } }
    const exports = new ContextExport(deps as unknown as ConstructorParameters<typeof ContextExport>[0])
    return (await exports.export(superUser, '3', { metadataOnly: false, base: base.href, signal })).open()
  }
  return { database, store, exportWith }
}

const never = new AbortController().signal

test('an archive is read in pages, which wait while the readers are overloaded (D35.1)', async () => {
  const { database, exportWith } = await fullContext(10)
  let pages = 0
  let largest = 0
  const archive = await exportWith(async task => {
    pages++
    if (pages % 2 === 0) throw new Overloaded('Too many at once.', 0)
    const page = await readPage(database, task, base)
    largest = Math.max(largest, page.bytes.length)
    return page
  }, never)
  const members = await membersOf(await buffer(archive))
  const lines = members
    .filter(({ name }) => name.startsWith('entries/'))
    .flatMap(({ bytes }) => bytes.toString().trim().split('\n'))
  const ids = lines.map(line => (JSON.parse(line) as { entry: { id: string } }).entry.id)
  assert.deepEqual(ids, Array.from({ length: 10 }, (_, n) => `e${n + 1}`).sort())
  assert.deepEqual(JSON.parse(members.at(-1)?.bytes.toString() ?? ''), {
    entries: 10,
    revisions: 0,
    files: 0,
    bytes: 0,
  })
  assert.ok(pages > 6 && largest < 400_000, `${pages} pages, of at most ${largest} bytes`)
})

test('a file that is replaced after its page has been read is exported with its entry as it is then (D35.1)', async () => {
  const { database, store, exportWith } = await fullContext(3)
  for (const id of ['e1', 'e2', 'e3']) await store(id, `first of ${id}`)
  let isReplaced = false
  const archive = await exportWith(async task => {
    const page = await readPage(database, task, base)
    if (!isReplaced) await store('e2', 'second of e2')
    isReplaced = true
    return page
  }, never)
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

test('an export whose client has left reads no further page (D35.1)', async () => {
  const { database, exportWith } = await fullContext(10)
  const leaving = new AbortController()
  let pages = 0
  const archive = await exportWith(async (task, _caller, signal) => {
    signal.throwIfAborted()
    pages++
    if (pages === 2) leaving.abort(new Error('the client has left'))
    return await readPage(database, task, base)
  }, leaving.signal)
  await assert.rejects(buffer(archive), /the client has left/)
  assert.equal(pages, 2)
})
