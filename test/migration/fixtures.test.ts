import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { digestOf } from '../../src/files/fsck.ts'
import { describeStore, fixtures, importFolder } from '../support/entrystore.ts'

interface Expected {
  readonly base: string
  readonly quads: number
  readonly graphs: number
  readonly contexts: Readonly<Record<string, { readonly deleted: number }>>
  readonly entries: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const expected = JSON.parse(readFileSync(join(fixtures, 'expected.json'), 'utf8')) as Expected

/** The memory store was made by another run of the same program: other salts and dates. */
const withoutPasswords = (entries: ReadonlyArray<Readonly<Record<string, unknown>>>): unknown[] =>
  entries.map(({ password: _password, ...entry }) => entry)

const folders = [
  'backups/xml',
  'backups/trig',
  'backups/nq',
  'backups/nq-gz',
  'backups/brf',
  'live-native',
  'live-memory',
]

for (const folder of folders) {
  test(`${folder} yields what is expected, with every quad accounted for (D21.1, D21.4)`, async t => {
    const { report, database, blobs } = await importFolder(t, join(fixtures, folder))
    const { quads, graphs, entries, contexts, ...rest } = expected
    const found = await describeStore(database, rest.base)
    const json = report.toJSON()
    assert.equal(json.quads.read, quads + (hasProvenance(folder) ? 9 : 0))
    assert.equal(json.counts['graphs'], graphs)
    const { read, imported, derived, duplicate, reported } = json.quads
    assert.equal(read, imported + derived + duplicate + reported)
    const present = contextsWithout(contexts)
    assert.deepEqual({ ...found, entries: [] }, { ...rest, contexts: present, entries: [] })
    const isSameRun = folder !== 'live-memory'
    assert.deepEqual(
      isSameRun ? found.entries : withoutPasswords(found.entries),
      normalised(isSameRun ? entries : (withoutPasswords(entries) as typeof entries)),
    )

    const file = await database.get<{ blob: string }>(
      sql`SELECT blob FROM files WHERE context = '1' AND entry = 'report_1'`,
    )
    const { sha256 } = await digestOf(blobs, file?.blob ?? '')
    assert.equal(sha256, readFileSync(join(fixtures, 'live-native/data/1/report_1.sha256'), 'utf8'))
  })

  test(`${folder} gives the revisions of the metadata, as far as their content is there`, async t => {
    const { database, finding } = await importFolder(t, join(fixtures, folder))
    const rows = await database.all<{ number: number; author: string; metadata: string }>(
      sql`SELECT number, author, metadata FROM metadata_revisions WHERE entry = 'report_1' ORDER BY number`,
    )
    assert.deepEqual(
      rows.map(({ number, author }) => [number, author]),
      [
        [1, '_admin'],
        [2, '_admin'],
        [3, '_admin'],
      ],
    )
    const subjects = rows.map(({ metadata }) =>
      [...metadata.matchAll(/(second|third) rev/g)].map(([found]) => found).sort(),
    )
    if (hasProvenance(folder)) assert.deepEqual(subjects, [[], ['second rev'], ['second rev', 'third rev']])
    else assert.equal(rows[0]?.metadata, '{}')
    assert.equal(finding('revision-without-graph')?.number, hasProvenance(folder) ? undefined : 2)
    const present = await database.get<{ metadata: string }>(sql`SELECT metadata FROM entries WHERE id = 'report_1'`)
    assert.equal(rows[2]?.metadata, present?.metadata)
  })
}

const hasProvenance = (folder: string): boolean => /nq|live/.test(folder)

/** Tombstones are not kept. */
const contextsWithout = (contexts: Expected['contexts']): unknown =>
  Object.fromEntries(Object.entries(contexts).map(([id, { deleted: _deleted, ...context }]) => [id, context]))

/** What is nothing or false is left out on our side. */
const normalised = (entries: Expected['entries']): unknown[] =>
  entries.map(entry =>
    Object.fromEntries(
      Object.entries(entry).filter(
        ([key, value]) =>
          !(key === 'password' && value === null) &&
          !(key === 'disabled' && value === false) &&
          !(key === 'members' && Array.isArray(value) && value.length === 0),
      ),
    ),
  )

test('what differs between formats is the order and the blank nodes only', async t => {
  const texts = []
  for (const folder of folders.slice(0, 6)) {
    const { database } = await importFolder(t, join(fixtures, folder))
    const rows = await database.all<Record<string, string | null>>(
      sql`SELECT statements, metadata, content, acl, CAST(cached AS TEXT) AS cached FROM entries ORDER BY context, id`,
    )
    texts.push(
      rows
        .map(row =>
          Object.values(row)
            .map(value => [...(value ?? '')].sort().join(''))
            .join('|'),
        )
        .join('\n'),
    )
  }
  for (const text of texts) assert.equal(text, texts[0])
})
