import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { fsck } from '../../src/files/fsck.ts'
import { newBlobKey } from '../../src/stores/blob-store.ts'
import { FolderBlobStore } from '../../src/stores/folder-blob-store.ts'
import { sql } from '../../src/stores/sql.ts'
import { FakeSystem } from '../support/fake-system.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { newDatabase } from '../support/store.ts'

/** A store with one context that holds two files of 5 and 7 bytes. */
async function openStore(t: TestContext) {
  const folder = await temporaryFolder()
  const database = await newDatabase(t)
  const blobs = await FolderBlobStore.open(join(folder, 'files'))
  const system = new FakeSystem()
  const write = async (text: string): Promise<string> => {
    const key = newBlobKey(count => system.randomBytes(count))
    await blobs.write(key, bytesOf(text), new AbortController().signal)
    return key
  }
  const add = async (entry: string, text: string): Promise<string> => {
    const blob = await write(text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    await database.run(sql`INSERT INTO files (context, entry, blob, size, sha256)
      VALUES ('3', ${entry}, ${blob}, ${text.length}, ${sha256})`)
    return blob
  }
  await database.run(sql`INSERT INTO spaces (context, used) VALUES ('3', 12), ('4', 0)`)
  const first = await add('1', 'first')
  await add('2', 'another')
  const pathOf = (key: string): string => join(folder, 'files', key.slice(0, 2), key)
  const find = async (repair = false): Promise<string[]> =>
    (await fsck({ database, blobs, isExclusive: true }, repair)).findings.map(finding => finding.kind)
  return { folder, database, blobs, first, write, pathOf, find }
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

test('a sound store has no findings, and every byte of it is counted (D7.5)', async t => {
  const { database, blobs } = await openStore(t)
  assert.deepEqual(await fsck({ database, blobs, isExclusive: true }, false), { files: 2, bytes: 12, findings: [] })
})

test('a wrong fill level is found, left alone without --repair, and mended with it (D7.5)', async t => {
  const { database, find } = await openStore(t)
  await database.run(sql`UPDATE spaces SET used = used + 88`)
  assert.deepEqual(await find(), ['fill-level', 'fill-level'])
  assert.deepEqual(await find(true), ['fill-level', 'fill-level'])
  assert.deepEqual(await find(), [])
  const rows = await database.all<{ used: number }>(sql`SELECT used FROM spaces ORDER BY context`)
  assert.deepEqual(
    rows.map(row => row.used),
    [12, 0],
  )
})

test('reservations without an upload are found and released (D7.5)', async t => {
  const { database, find } = await openStore(t)
  await database.run(sql`UPDATE spaces SET reserved = 5 WHERE context = '3'`)
  await database.run(sql`INSERT INTO uploads (blob, context, reserved, expires) VALUES ('b', '4', 7, 0)`)
  assert.deepEqual(await find(true), ['reservation', 'reservation'])
  assert.deepEqual(await find(), [])
  assert.equal((await database.all(sql`SELECT * FROM uploads`)).length, 0)
})

test('bytes that belong to no file are found and deleted, half-written ones too (D7.5)', async t => {
  const { folder, database, blobs, write, find } = await openStore(t)
  await write('orphan')
  const discarded = await write('discarded')
  await database.run(sql`INSERT INTO discarded_blobs (blob) VALUES (${discarded})`)
  await writeFile(join(folder, 'files/incoming', 'ab'.repeat(20)), 'half')
  assert.deepEqual((await find()).sort(), ['discarded-blob', 'orphan-blob', 'orphan-blob'])
  await find(true)
  assert.deepEqual(await find(), [])
  const keys: string[] = []
  for await (const { key } of blobs.list()) keys.push(key)
  assert.equal(keys.length, 2)
  assert.equal((await database.all(sql`SELECT * FROM discarded_blobs`)).length, 0)
})

test('a damaged file is found by its digest though its size is right, and is never repaired away (D7.5)', async t => {
  const { database, blobs, first, pathOf } = await openStore(t)
  await writeFile(pathOf(first), 'First')
  for (const repair of [false, true]) {
    const { findings } = await fsck({ database, blobs, isExclusive: true }, repair)
    assert.deepEqual(
      findings.map(({ kind, repairable }) => ({ kind, repairable })),
      [{ kind: 'damaged-blob', repairable: false }],
    )
    assert.match(findings[0]?.message ?? '', /3\/1/)
  }
})

test('a file that is cut short is damaged, one whose bytes are gone is missing (D7.5)', async t => {
  const { blobs, first, pathOf, find } = await openStore(t)
  await writeFile(pathOf(first), 'fir')
  assert.deepEqual(await find(), ['damaged-blob'])
  await blobs.delete(first)
  assert.deepEqual(await find(true), ['missing-blob'])
  assert.deepEqual(await find(), ['missing-blob'])
})
