import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { importFolder } from '../support/entrystore.ts'
import { DCT, ES, OldStore, RDF, text, typed } from '../support/old-store.ts'

/**
 * One test for each row of "Which graph may state what" (migration/entrystore/formats.md): a user, who may write anything into the
 * metadata of an entry and into a Graph resource, plants the statement there. It must count as data and nothing else.
 */
const HASH = 'AAAAAAAAAAAAAAAAAAAAAA==$BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB'
const EVIL = 'CCCCCCCCCCCCCCCCCCCCCA==$DDDDDDDDDDDDDDDDDDDDDDDDDDDDDDDD'

/** A victim, an attacker (user 2) and the entries that the attacker may fill with statements. */
function storeWithAttacker(): OldStore {
  return new OldStore()
    .user('1', 'victim', HASH)
    .user('2', 'mallory', HASH)
    .group('3', 'editors', ['1'])
    .context('1', 'shared')
    .context('2', 'private')
    .entry('2', '1')
    .entry('1', '1')
    .entry('1', '2', { graphType: 'Graph' })
    .title('1', '1', 'Harmless')
}

/** Wherever a user writes statements of their own. */
const userGraphs = ['1/metadata/1', '1/resource/2', '1/cached-external-metadata/1', '1/metadata/1?rev=1']

function planted(statements: ReadonlyArray<readonly [string, string, string]>): OldStore {
  const store = storeWithAttacker()
  for (const graph of userGraphs) for (const [s, p, o] of statements) store.say(graph, s, p, o)
  return store
}

test('type, dates, creator and access list count in the own graph of the entry only (D21.2)', async t => {
  const store = planted([
    ['2/entry/1', `${ES}write`, '_principals/resource/2'],
    ['_contexts/entry/2', `${ES}write`, '_principals/resource/2'],
    ['2', `${ES}write`, '_principals/resource/2'],
    ['2/metadata/1', `${ES}read`, '_principals/resource/_guest'],
    ['2/resource/1', `${ES}read`, '_principals/resource/_guest'],
    ['2/entry/1', `${RDF}type`, `${ES}Link`],
    ['2/resource/1', `${RDF}type`, `${ES}List`],
    ['2/entry/1', `${DCT}creator`, '_principals/resource/2'],
    ['2/entry/1', `${DCT}modified`, typed('2030-01-01T00:00:00Z', 'dateTime')],
    ['2/entry/1', `${ES}resource`, 'http://evil.example/'],
    ['1/entry/1', `${ES}write`, '_principals/resource/2'],
  ])
  const { entry } = await importFolder(t, await store.write())
  for (const [context, id] of [
    ['2', '1'],
    ['_contexts', '2'],
    ['1', '1'],
  ] as const) {
    const found = await entry(context, id)
    assert.equal(found?.acl, '{}')
    assert.equal(found?.entry_type, 'Local')
    assert.equal(found?.creator, null)
    assert.equal(found?.modified, Date.parse('2021-01-02T03:04:05.678Z'))
  }
  assert.equal((await entry('2', '1'))?.graph_type, 'None')
})

test('format, extent, label and home context count in the own graph of the entry only', async t => {
  const store = planted([
    ['2/resource/1', `${DCT}format`, text('text/html')],
    ['2/resource/1', 'http://www.w3.org/2000/01/rdf-schema#label', text('evil.html')],
    ['_principals/resource/1', `${ES}homeContext`, '_contexts/entry/1'],
  ])
  const { entry, user } = await importFolder(t, await store.write())
  assert.equal((await entry('2', '1'))?.statements, '{}')
  assert.equal((await user('1'))?.['home_context'], null)
})

test('revisions count in the own graph of the entry only, and their content in the provenance store only', async t => {
  const store = planted([
    ['2/metadata/1?rev=1', 'http://www.w3.org/ns/prov#wasAttributedTo', '_principals/resource/1'],
    ['2/metadata/1?rev=1', 'http://www.w3.org/ns/prov#generatedAtTime', typed('2020-01-01T00:00:00Z', 'dateTime')],
  ])
  store.say('2/metadata/1?rev=1', '2/resource/1', `${DCT}title`, text('not a revision'))
  const { rows, finding } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT * FROM metadata_revisions`), [])
  assert.ok(finding('orphan-graph')?.examples.includes('2/metadata/1?rev=1'))
})

test('password, language, disabled, external id and custom properties count in the graph of the user only', async t => {
  const store = planted([
    ['_principals/resource/1', `${ES}saltedHashedSecret`, text(EVIL)],
    ['_principals/resource/_admin', `${ES}saltedHashedSecret`, text(EVIL)],
    ['_principals/resource/_admin', `${ES}secret`, text('planted-Password-12')],
    ['_principals/resource/1', `${ES}language`, text('xx')],
    ['_principals/resource/1', `${ES}disabled`, typed('true', 'boolean')],
    ['_principals/resource/1', `${ES}externalID`, 'mailto:mallory@evil.example'],
    ['_principals/resource/1', `${ES}customProperty`, '_:c'],
    ['_:c', `${ES}customPropertyKey`, text('role')],
    ['_:c', `${ES}customPropertyValue`, text('boss')],
  ])
  // Nor in the graph of another user.
  store.say('_principals/resource/2', '_principals/resource/1', `${ES}saltedHashedSecret`, text(EVIL))
  const { user, finding } = await importFolder(t, await store.write())
  const victim = await user('1')
  assert.deepEqual(
    [victim?.['password'], victim?.['language'], victim?.['disabled'], victim?.['custom_properties']],
    [HASH, null, 0, '{}'],
  )
  assert.equal((await user('_admin'))?.['password'], null)
  assert.equal((await user('2'))?.['password'], HASH)
  assert.equal(finding('unknown-statement')?.number, 1)
  assert.equal(finding('plain-secret'), undefined)
})

test('a principal is one by its own entry graph in _principals only', async t => {
  const store = planted([
    ['_principals/resource/9', `${RDF}type`, `${ES}User`],
    ['_principals/entry/9', `${ES}resource`, '_principals/resource/9'],
    ['1/resource/1', `${RDF}type`, `${ES}User`],
  ])
  // An entry of a context of theirs that calls itself a user or a context, in its own graph.
  store.entry('1', '7', { graphType: 'User' }).entry('1', '8', { graphType: 'Context' })
  store.say('1/resource/7', '1/resource/7', `${ES}saltedHashedSecret`, text(EVIL))
  const { entry, user, rows, finding } = await importFolder(t, await store.write())
  assert.equal(await user('9'), undefined)
  assert.equal(await user('7'), undefined)
  assert.equal((await entry('1', '7'))?.graph_type, 'None')
  assert.equal((await entry('1', '8'))?.graph_type, 'None')
  assert.equal(finding('misplaced-type')?.number, 2)
  assert.deepEqual(await rows(sql`SELECT id FROM contexts ORDER BY id`), [
    { id: '1' },
    { id: '2' },
    { id: '_contexts' },
    { id: '_principals' },
  ])
})

test('the name of a principal counts in the index of _principals only', async t => {
  const store = planted([
    ['_principals/entry/2', `${ES}alias`, text('admin')],
    ['_principals/entry/1', `${ES}alias`, text('renamed')],
  ])
  store.say('1', '_principals/entry/2', `${ES}alias`, text('admin'))
  store.say('_contexts/resource/_contexts', '_principals/entry/2', `${ES}alias`, text('admin'))
  const { user } = await importFolder(t, await store.write())
  assert.equal((await user('2'))?.['name'], 'mallory')
  assert.equal((await user('1'))?.['name'], 'victim')
  assert.equal((await user('_admin'))?.['name'], 'admin')
})

test('the name of a context counts in the index of _contexts only', async t => {
  const store = planted([['_contexts/entry/2', `${ES}alias`, text('stolen')]])
  store
    .say('_principals', '_contexts/entry/2', `${ES}alias`, text('stolen'))
    .say('1', '_contexts/entry/2', `${ES}alias`, text('stolen'))
  const { rows } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT name FROM contexts WHERE id = '2'`), [{ name: 'private' }])
})

test('counter, quota and tombstones count in the index of their context only', async t => {
  const store = planted([
    ['2', `${ES}hasQuota`, typed('-1', 'long')],
    ['2', `${ES}counter`, typed('999', 'long')],
    ['_principals/entry/1', `${ES}deleted`, typed('2020-01-01T00:00:00Z', 'dateTime')],
  ])
  store.say('2', '2', `${ES}hasQuota`, typed('100', 'long')).say('1', '2', `${ES}hasQuota`, typed('-1', 'long'))
  store.say('1', '_principals/entry/77', `${ES}deleted`, typed('2020-01-01T00:00:00Z', 'dateTime'))
  const { rows } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT quota FROM quota_usage WHERE kind = 'context' AND owner = '2'`), [
    { quota: 100 },
  ])
  assert.deepEqual(await rows(sql`SELECT last_number FROM contexts WHERE id = '2'`), [{ last_number: 1 }])
  assert.deepEqual(await rows(sql`SELECT * FROM retired_ids`), [])
})

test('members of lists and groups count in the graph of the list or group only', async t => {
  const store = planted([
    ['_principals/resource/_admins', `${RDF}_1`, '_principals/entry/2'],
    ['_principals/resource/3', `${RDF}_2`, '_principals/entry/2'],
    ['2/resource/5', `${RDF}_1`, '2/entry/1'],
  ])
  store.entry('2', '5', { graphType: 'List' })
  // Nor in the graph of another group.
  store
    .group('4', 'mine', ['2'])
    .say('_principals/resource/4', '_principals/resource/_admins', `${RDF}_1`, '_principals/entry/2')
  const { rows } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT group_id, user_id FROM group_members ORDER BY group_id`), [
    { group_id: '3', user_id: '1' },
    { group_id: '4', user_id: '2' },
  ])
  assert.deepEqual(await rows(sql`SELECT * FROM list_members`), [])
})

test('a graph of the provenance store never counts as one of the main store', async t => {
  const store = storeWithAttacker()
  const provenance = new OldStore().user('9', 'ghost', EVIL).nquads
  const { user, finding } = await importFolder(t, await store.file('repository_prov.nq', provenance).write())
  assert.equal(await user('9'), undefined)
  assert.ok((finding('orphan-graph')?.number ?? 0) > 5)
})

test('an IRI that is relative in the backup never becomes one of the store', async t => {
  const store = storeWithAttacker()
  store.line(
    `<https://old.example.org/store/1/entry/1> <${ES}write> <./_principals/resource/2> <https://old.example.org/store/1/entry/1> .`,
  )
  const { entry, finding } = await importFolder(t, await store.write())
  assert.equal((await entry('1', '1'))?.acl, '{}')
  assert.equal(finding('bad-iri')?.quads, 1)
})
