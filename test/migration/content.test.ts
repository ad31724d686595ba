import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../src/stores/sql.ts'
import { importFolder } from '../support/entrystore.ts'
import { DCT, ES, OldStore, RDF, text, typed } from '../support/old-store.ts'

const PROV = 'http://www.w3.org/ns/prov#'

test('users keep language, home context, custom properties and external id; disabled users stay so (D21.5)', async t => {
  const store = new OldStore().context('1', 'home')
  store
    .user('1', 'anna')
    .ofUser('1', 'language', text('sv'))
    .ofUser('1', 'externalID', 'mailto:mailto:anna@example.org')
  store
    .ofUser('1', 'customProperty', '_:a')
    .ofUser('1', 'customProperty', '_:b')
    .ofUser('1', 'disabled', typed('1', 'boolean'))
  for (const [node, key, value] of [
    ['_:a', 'City', 'Lund'],
    ['_:b', 'city', 'Malmö'],
  ] as const) {
    store.say('_principals/resource/1', node, `${ES}customPropertyKey`, text(key))
    store.say('_principals/resource/1', node, `${ES}customPropertyValue`, text(value))
  }
  store.user('2', 'beth').say('_principals/entry/2', '_principals/resource/2', `${ES}homeContext`, '_contexts/entry/1')
  store.user('3', 'carl').ofUser('3', 'homeContext', '_contexts/entry/1')
  store.user('4', 'dora').say('_principals/entry/4', '_principals/resource/4', `${ES}homeContext`, '_contexts/entry/99')
  store.group('5', 'team', ['1', '_principals/resource/2', '99', '5', '_guest'])
  store.say('_principals/entry/5', '_principals/resource/5', `${ES}homeContext`, '_contexts/entry/1')
  const { user, rows, finding, report } = await importFolder(t, await store.write())
  const anna = await user('1')
  assert.deepEqual([anna?.['language'], anna?.['disabled']], ['sv', 1])
  assert.deepEqual(JSON.parse(String(anna?.['custom_properties'])), { city: 'Malmö', externalid: 'anna@example.org' })
  assert.deepEqual(await Promise.all(['2', '3', '4', '5'].map(async id => (await user(id))?.['home_context'])), [
    '1',
    '1',
    null,
    '1',
  ])
  assert.deepEqual(await rows(sql`SELECT user_id FROM group_members ORDER BY position`), [
    { user_id: '1' },
    { user_id: '2' },
  ])
  for (const [code, number] of [
    ['custom-key-collision', 1],
    ['external-id-moved', 1],
    ['home-context-missing', 1],
    ['missing-member', 3],
  ] as const) {
    assert.equal(finding(code)?.number, number, code)
  }
  report.requireBalanced()
})

test('rights of principals that are gone are kept, and their ids are never given again', async t => {
  const store = new OldStore().context('1', 'one').entry('1', '1').user('7', 'gone-soon')
  store.say('1/entry/1', '1/entry/1', `${ES}write`, '_principals/resource/42')
  store.say('1/entry/1', '1/entry/1', `${DCT}creator`, '_principals/resource/43')
  store.say('_principals', '_principals/entry/44', `${ES}deleted`, typed('2020-01-01T00:00:00Z', 'dateTime'))
  store.say('_contexts/resource/_contexts', '_contexts/entry/45', `${ES}deletedBy`, '_principals/resource/_admin')
  store.say('1', '1/entry/46', `${ES}deleted`, typed('2020-01-01T00:00:00Z', 'dateTime'))
  const { entry, rows, finding } = await importFolder(t, await store.write())
  assert.equal((await entry('1', '1'))?.acl, '{"admin":["./_principals/resource/42"]}')
  assert.equal((await entry('1', '1'))?.creator, '43')
  assert.equal((await entry('1', '1'))?.contributors, '[]', 'the creator is no contributor unless the backup says so')
  assert.deepEqual(await rows(sql`SELECT context, id FROM retired_ids ORDER BY context, id`), [
    { context: '_contexts', id: '45' },
    { context: '_principals', id: '42' },
    { context: '_principals', id: '43' },
    { context: '_principals', id: '44' },
  ])
  assert.deepEqual(await rows(sql`SELECT id, last_number FROM contexts ORDER BY id`), [
    { id: '1', last_number: 1 },
    { id: '_contexts', last_number: 50 },
    { id: '_principals', last_number: 44 },
  ])
  assert.equal(finding('unknown-principal')?.number, 1)
  assert.equal(finding('tombstone-dropped')?.number, 1)
})

test('links, references, graphs, pipelines and cached metadata are what they were', async t => {
  const store = new OldStore().context('1', 'one')
  store.entry('1', '1', { entryType: 'Link', resource: 'http://example.org/page' })
  store.say('1/metadata/1', 'http://example.org/page', `${DCT}title`, text('A page'))
  store.entry('1', '2', { entryType: 'LinkReference', resource: 'http://example.org/lr' })
  store.say('1/cached-external-metadata/2', 'http://example.org/lr', `${DCT}title`, text('Cached'))
  store.say('1/entry/2', '1/cached-external-metadata/2', `${ES}cached`, typed('2022-01-01T00:00:00Z', 'dateTime'))
  store.entry('1', '3', { entryType: 'Reference', resource: '_principals/resource/_admin', graphType: 'User' })
  store
    .entry('1', '4', { graphType: 'Graph' })
    .say('1/resource/4', 'http://example.org/s', `${DCT}relation`, '1/entry/1')
  store.entry('1', '5', { graphType: 'Pipeline' }).say('1/resource/5', '1/resource/5', `${DCT}title`, text('Steps'))
  store.entry('1', '6', { graphType: 'String' }).say('1/resource/6', '1/resource/6', `${RDF}value`, text('Words'))
  store.say('1/entry/6', '1/entry/6', `${ES}status`, `${ES}Succeeded`)
  const { entry, finding, report } = await importFolder(t, await store.write())
  const [link, both, reference, graph, pipeline, string] = await Promise.all(
    ['1', '2', '3', '4', '5', '6'].map(id => entry('1', id)),
  )
  assert.deepEqual([link?.entry_type, link?.resource_uri], ['Link', 'http://example.org/page'])
  assert.match(link?.metadata ?? '', /A page/)
  assert.match(both?.cached_external_metadata ?? '', /Cached/)
  assert.deepEqual(
    [reference?.entry_type, reference?.graph_type, reference?.resource_uri],
    ['Reference', 'User', './_principals/resource/_admin'],
  )
  assert.match(graph?.content ?? '', /"\.\/1\/entry\/1"/)
  assert.match(pipeline?.content ?? '', /Steps/)
  assert.equal(string?.content, 'Words')
  assert.match(string?.statements ?? '', /terms\/status/)
  assert.equal(finding('pipeline-not-run')?.number, 1)
  report.requireBalanced()
})

test('nested lists keep their order; revisions come from the provenance store (D21.6, D21.7)', async t => {
  const store = new OldStore().context('1', 'one').entry('1', '1').title('1', '1', 'Third')
  store.entry('1', '2', { graphType: 'List' }).entry('1', '3', { graphType: 'List' }).entry('1', '4')
  store.members('1', '2', ['4', '3']).members('1', '3', ['1'])
  for (const n of [1, 2, 3]) {
    store.say(
      '1/entry/1',
      `1/metadata/1?rev=${n}`,
      `${PROV}generatedAtTime`,
      typed(`2020-0${n}-01T00:00:00Z`, 'dateTime'),
    )
    store.say('1/entry/1', `1/metadata/1?rev=${n}`, `${PROV}wasAttributedTo`, '_principals/resource/_admin')
  }
  store.say('1/entry/1', '1/metadata/1?rev=3', 'http://www.w3.org/2002/07/owl#sameAs', '1/metadata/1')
  const line = `<${store.base}1/resource/1> <${DCT}title> "Second" <${store.base}1/metadata/1?rev=2> .\n`
  store.file('repository_prov.nq', line)
  const { rows, finding, report } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT list, member FROM list_members ORDER BY list, position`), [
    { list: '2', member: '4' },
    { list: '2', member: '3' },
    { list: '3', member: '1' },
  ])
  const revisions = await rows(sql`SELECT number, time, metadata FROM metadata_revisions ORDER BY number`)
  assert.deepEqual(
    revisions.map(({ number, time }) => [number, time]),
    [1, 2, 3].map(n => [n, Date.parse(`2020-0${n}-01T00:00:00Z`)]),
  )
  assert.deepEqual(
    revisions.map(({ metadata }) => /Second|Third/.exec(String(metadata))?.[0]),
    [undefined, 'Second', 'Third'],
  )
  assert.equal(finding('revision-without-graph')?.number, 1)
  report.requireBalanced()
})

test('quotas are imported, usage is recounted, and contexts above their quota are listed', async t => {
  const store = new OldStore().context('1', 'full').context('2', 'free').entry('1', '1').entry('2', '1')
  store.say('1', '1', `${ES}hasQuota`, typed('5', 'long')).say('1', '1', `${ES}hasQuotaFillLevel`, typed('-2', 'long'))
  store.say('2', '2', `${ES}hasQuota`, typed('-1', 'long')).file('1/1', '1234567890').file('2/1', 'x')
  const { rows, finding } = await importFolder(t, await store.write(), { defaultQuota: 1 })
  assert.deepEqual(
    await rows(
      sql`SELECT owner AS context, quota, used FROM quota_usage WHERE kind = 'context' AND owner IN ('1', '2') ORDER BY owner`,
    ),
    [
      { context: '1', quota: 5, used: 10 },
      { context: '2', quota: -1, used: 1 },
    ],
  )
  assert.deepEqual(finding('over-quota')?.examples, ['1 (full): 10 of 5 bytes'])
})

test('IRIs of another base address become those of the store when it is named', async t => {
  const store = new OldStore().context('1', 'one').entry('1', '1')
  store.say('1/metadata/1', '1/resource/1', `${DCT}relation`, 'http://before.example.org/1/resource/2')
  const folder = await store.write()
  assert.match((await (await importFolder(t, folder)).entry('1', '1'))?.metadata ?? '', /before\.example\.org/)
  const { entry, report } = await importFolder(t, folder, { alsoBase: 'http://before.example.org/' })
  assert.match((await entry('1', '1'))?.metadata ?? '', /"\.\/1\/resource\/2"/)
  assert.equal(report.toJSON().counts['IRIs of the other base address'], 1)
})

test('the same statement twice is kept once, and a damaged store with several dates takes the latest', async t => {
  const store = new OldStore().context('1', 'one').entry('1', '1').title('1', '1', 'Once').title('1', '1', 'Once')
  store.say('1/entry/1', '1/entry/1', `${DCT}modified`, typed('2023-01-01T00:00:00+02:00', 'dateTime'))
  const { entry, finding, report } = await importFolder(t, await store.write())
  assert.equal(report.quads.duplicate, 1)
  assert.equal((await entry('1', '1'))?.modified, Date.parse('2022-12-31T22:00:00Z'))
  assert.equal(finding('several-values')?.number, 1)
})

test('a thousand users, whose hashes end at the same time, each get one account', async t => {
  const store = new OldStore()
  const ids = Array.from({ length: 1000 }, (_, index) => String(index + 1))
  for (const id of ids) store.user(id, `user-${id}`).ofUser(id, 'customProperty', `_:c${id}`)
  for (const id of ids) {
    store.say(`_principals/resource/${id}`, `_:c${id}`, `${ES}customPropertyKey`, text('note'))
    store.say(`_principals/resource/${id}`, `_:c${id}`, `${ES}customPropertyValue`, text(id.padStart(3000, 'é')))
  }
  const { rows } = await importFolder(t, await store.write())
  const users = await rows(sql`SELECT id, name, custom_properties FROM principals WHERE name LIKE 'user-%'`)
  assert.equal(users.length, ids.length)
  for (const { id, name, custom_properties } of users) {
    assert.deepEqual(
      [name, custom_properties],
      [`user-${id}`, JSON.stringify({ note: String(id).padStart(3000, 'é') })],
    )
  }
})

test('the provenance store of a whole backup that is named is its provenance file', async t => {
  const revision = new OldStore().say('1/metadata/1?rev=1', '1/resource/1', `${DCT}title`, text('Before')).nquads
  const other = await new OldStore().file('repository_prov.nq', revision).write()
  const store = new OldStore().context('1', 'one').entry('1', '1')
  store.say('1/entry/1', '1/metadata/1?rev=1', `${PROV}generatedAtTime`, typed('2020-01-01T00:00:00Z', 'dateTime'))
  const { rows, finding } = await importFolder(t, await store.write(), { provenance: other })
  assert.match(String((await rows(sql`SELECT * FROM metadata_revisions`))[0]?.['metadata']), /Before/)
  assert.equal(finding('revision-without-graph'), undefined)
})
