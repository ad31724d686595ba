import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { basename, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { findingCodes, unusableCodes } from '../../migration/entrystore/finding-codes.ts'
import { Unusable } from '../../migration/entrystore/formats/quads.ts'
import { sql } from '../../src/stores/sql.ts'
import { fixtures, importFolder } from '../support/entrystore.ts'
import { DCT, ES, OldStore, RDF, text, typed } from '../support/old-store.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const isUnusable = (code: keyof typeof unusableCodes) => (error: unknown) => {
  assert.ok(error instanceof Unusable, String(error))
  assert.equal(error.code, code, error.message)
  assert.ok(unusableCodes[code].length > 0)
  return true
}

const small = (): OldStore => new OldStore().context('1', 'one').entry('1', '1').title('1', '1', 'Kept')

test('a folder without a backup is refused, and so are a backup without quads and a failed one (D21.3)', async t => {
  const folder = await temporaryFolder()
  await assert.rejects(importFolder(t, folder), isUnusable('no-backup'))
  writeFileSync(join(folder, 'BACKUP_DATE'), '20240101000000')
  await assert.rejects(importFolder(t, folder), isUnusable('no-repository-file'))
  const failed = await small().file('BACKUP_FAILED', '20240101000000 disk full').write()
  await assert.rejects(importFolder(t, failed), isUnusable('backup-failed'))
  const { entry } = await importFolder(t, failed, { accept: new Set(['backup-failed']) })
  assert.ok(await entry('1', '1'))
})

test('of several backups the latest is taken, and "all" before dates; the others are named', async t => {
  const folder = await temporaryFolder()
  for (const [name, title] of [
    ['20230101000000', 'old'],
    ['20240101000000', 'new'],
  ] as const) {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'repository.nq'), new OldStore().context('1', title).nquads)
  }
  const nameOf = async (): Promise<unknown> => {
    const { rows, report } = await importFolder(t, folder)
    return [
      (await rows(sql`SELECT name FROM contexts WHERE id = '1'`))[0]?.['name'],
      report.toJSON().source['other backups, not taken'],
    ]
  }
  assert.deepEqual(await nameOf(), ['new', '20230101000000'])
  mkdirSync(join(folder, 'all'))
  writeFileSync(join(folder, 'all', 'repository.nq'), new OldStore().context('1', 'all').nquads)
  assert.deepEqual(await nameOf(), ['all', '20230101000000, 20240101000000'])
  writeFileSync(join(folder, 'all', 'BACKUP_DATE'), '20230601000000\n')
  assert.deepEqual(await nameOf(), ['new', '20230101000000, all'])
  writeFileSync(join(folder, 'all', 'BACKUP_DATE'), '20240601000000\n')
  assert.deepEqual(await nameOf(), ['all', '20230101000000, 20240101000000'])
})

/** Lets the user lose the right to read the folders with this name. */
function refuse(t: TestContext, name: string): void {
  for (const method of ['readdir', 'opendir'] as const) {
    const real = fs[method] as (path: string, ...rest: unknown[]) => Promise<unknown>
    const refusing = async (path: string, ...rest: unknown[]): Promise<unknown> => {
      if (basename(path) === name) throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' })
      return await real(path, ...rest)
    }
    t.mock.method(fs, method, refusing as never)
  }
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
}

test('folders that cannot be read and are none of the store do not stop an import', async t => {
  const live = await temporaryFolder()
  cpSync(join(fixtures, 'live-memory'), live, { recursive: true })
  mkdirSync(join(live, 'lost+found'))
  const backup = await small().file('1/1', '').file('lost+found/1', '').file('strange/1', '').write()
  await t.test('lost+found', async t => {
    refuse(t, 'lost+found')
    await importFolder(t, live)
    await importFolder(t, backup)
  })
  await t.test('a folder of somebody else', async t => {
    refuse(t, 'strange')
    const { finding } = await importFolder(t, backup)
    assert.ok(finding('file-orphan')?.examples.includes('strange: it cannot be read'))
  })
  await t.test('but the files of a context do', async t => {
    refuse(t, '1')
    await assert.rejects(importFolder(t, backup), /EACCES/)
  })
  await t.test('and so does the only store', async t => {
    const folder = await temporaryFolder()
    mkdirSync(join(folder, 'store'))
    refuse(t, 'store')
    await assert.rejects(importFolder(t, folder), /this user may not read .*store/)
  })
})

test('a file that was cut off is refused in every format, or taken as far as it goes', async t => {
  const cases: Array<readonly [string, Buffer]> = [
    ['repository.xml', readFileSync(join(fixtures, 'backups/xml/repository.xml'))],
    ['repository.trig', readFileSync(join(fixtures, 'backups/trig/repository.trig'))],
    ['repository.nq', readFileSync(join(fixtures, 'backups/nq/repository.nq'))],
    ['repository.nq.gz', readFileSync(join(fixtures, 'backups/nq-gz/repository.nq.gz'))],
    ['repository.brf', readFileSync(join(fixtures, 'backups/brf/repository.brf'))],
  ]
  for (const [name, whole] of cases) {
    const folder = await new OldStore().write(whole.subarray(0, whole.length - 9), name)
    await assert.rejects(importFolder(t, folder), isUnusable('truncated'), name)
  }
  // At the end of a line, N-Quads shows nothing; the store does.
  const lines = readFileSync(join(fixtures, 'backups/nq/repository.nq'), 'utf8').split('\n')
  const half = await new OldStore().write(`${lines.slice(0, 100).join('\n')}\n`)
  await assert.rejects(importFolder(t, half), isUnusable('truncated'))
  const { report } = await importFolder(t, half, { accept: new Set(['truncated']) })
  assert.equal(report.quads.read, 100)
  await assert.rejects(importFolder(t, await new OldStore().write('')), isUnusable('truncated'))
})

test('a damaged gzip, a damaged BinaryRDF and what follows an end are refused', async t => {
  const gzip = gzipSync(small().nquads)
  gzip.writeUInt32LE(0, gzip.length - 8)
  await assert.rejects(importFolder(t, await small().write(gzip, 'repository.nq.gz')), isUnusable('damaged-file'))
  const brf = readFileSync(join(fixtures, 'backups/brf/repository.brf'))
  await assert.rejects(
    importFolder(t, await small().write(Buffer.concat([brf, Buffer.from('x')]), 'repository.brf')),
    isUnusable('damaged-file'),
  )
  const wrong = Buffer.from(brf)
  // The kind of the first record, behind the letters, the version and the name of the encoding.
  wrong[14] = 99
  await assert.rejects(importFolder(t, await small().write(wrong, 'repository.brf')), isUnusable('damaged-file'))
  const xml = `${readFileSync(join(fixtures, 'backups/xml/repository.xml'), 'utf8')}<more/>`
  await assert.rejects(importFolder(t, await small().write(xml, 'repository.xml')), isUnusable('damaged-file'))
})

test('formats without graph names are refused', async t => {
  const rdf = '<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>'
  for (const content of [rdf, '[{"@id": "http://example.org/"}]']) {
    await assert.rejects(
      importFolder(t, await small().write(content, 'repository.xml')),
      isUnusable('format-not-quads'),
    )
  }
  const triples = small().nquads.replaceAll(/ <[^>]*> \.$/gm, ' .')
  await assert.rejects(importFolder(t, await small().write(triples)), isUnusable('no-base'))
})

test('two base addresses are refused, and so is another one than expected', async t => {
  const two = small().nquads + new OldStore('http://older.example.org/').nquads
  await assert.rejects(importFolder(t, await small().write(two)), isUnusable('two-bases'))
  const folder = await small().write()
  await assert.rejects(importFolder(t, folder, { base: 'http://other.example.org/' }), isUnusable('base-differs'))
  await importFolder(t, folder, { base: 'https://old.example.org/store/' })
})

test('a store that runs, or whose upgrade broke off, is refused', async t => {
  for (const [mark, content, code] of [
    ['lock/locked', '', 'running'],
    ['txn-status', 'ACTIVE', 'running'],
    ['backup/values.dat', '', 'broken-upgrade'],
  ] as const) {
    const store = new OldStore()
    for (const name of ['values.id', 'values.dat', 'triples-cspo.dat', 'txn-status']) {
      store.file(name, readFileSync(join(fixtures, 'live-native/store', name)))
    }
    const folder = await store.file(mark, content).write('', 'unused')
    writeFileSync(join(folder, 'BACKUP_DATE'), '')
    const own = await temporaryFolder()
    await assert.rejects(importFolder(t, await moved(folder, own)), isUnusable(code), mark)
  }
})

/** Without the mark of a backup. */
async function moved(from: string, to: string): Promise<string> {
  const { cpSync, rmSync } = await import('node:fs')
  cpSync(from, to, { recursive: true })
  rmSync(join(to, 'BACKUP_DATE'))
  return to
}

test('a damaged native store is refused', async t => {
  for (const [name, size] of [
    ['values.dat', 2000],
    ['values.id', 100],
    ['triples-cspo.dat', 5000],
  ] as const) {
    const folder = await temporaryFolder()
    for (const file of ['values.id', 'values.dat', 'triples-cspo.dat']) {
      const bytes = readFileSync(join(fixtures, 'live-native/store', file))
      writeFileSync(join(folder, file), file === name ? bytes.subarray(0, size) : bytes)
    }
    await assert.rejects(importFolder(t, folder), isUnusable('damaged-file'), name)
  }
})

test('a bad statement costs only itself, in each text format', async t => {
  const good = small().nquads
  const quads = `${good}<http://example.org/s> <http://example.org/p> "not closed <https://old.example.org/store/1/metadata/1> .\n${good.split('\n').at(-2)?.replace('Kept', 'Kept too')}\n`
  const lines = await importFolder(t, await small().write(quads))
  assert.equal(lines.finding('unreadable-statement')?.number, 1)
  assert.match((await lines.entry('1', '1'))?.metadata ?? '', /Kept too/)

  const triples = good.replaceAll(/^(.*) (<[^>]*>) \.$/gm, '$2 { $1 . }')
  const trig = `${triples}<https://old.example.org/store/1/metadata/1> { <http://example.org/s> <http://example.org/p> ; ; ] "x" . <http://example.org/s> <http://example.org/p> "after" . }\n`
  const blocks = await importFolder(t, await small().write(trig, 'repository.trig'))
  assert.equal(blocks.finding('unreadable-statement')?.number, 1)
  assert.match((await blocks.entry('1', '1'))?.metadata ?? '', /after/)
})

test('in TriG a malformed language tag costs no statement of its subject, as in the other formats', async t => {
  const m = 'https://old.example.org/store/1/metadata/1'
  const r = 'https://old.example.org/store/1/resource/1'
  const triples = small().nquads.replaceAll(/^(.*) (<[^>]*>) \.$/gm, '$2 { $1 . }')
  const properties = [
    `<${DCT}title> "under"@sv_SE, "score"@123, "right"@en, "an address: a@sv_SE"`,
    `<${DCT}relation> <http://example.org/a b>`,
    `<${DCT}description> """long "text"""@de_AT`,
  ]
  const trig = `${triples}<${m}> { <${r}> ${properties.join(' ;\n')} . <${r}> ; ; ] "x" . }\n`
  const { entry, finding } = await importFolder(t, await small().write(trig, 'repository.trig'))
  const metadata = (await entry('1', '1'))?.metadata ?? ''
  assert.match(metadata, /"value":"under","lang":"sv-SE"/)
  assert.match(metadata, /\{"type":"literal","value":"score"\}/)
  assert.match(metadata, /"value":"right","lang":"en"/)
  assert.match(metadata, /\{"type":"literal","value":"an address: a@sv_SE"\}/)
  assert.match(metadata, /"lang":"de-AT"/)
  assert.match(metadata, /http:\/\/example\.org\/a%20b/)
  assert.equal(finding('bad-language-tag')?.number, 3)
  assert.match(JSON.stringify(finding('unreadable-statement')), /line \d+: <https:\/\/old\.example\.org/)
})

test('a language tag with blanks is repaired alike in TriG, N-Quads and TriX (D21.8)', async t => {
  const [m, r] = ['metadata/1', 'resource/1'].map(path => `https://old.example.org/store/1/${path}`)
  const tags = ['en us', ' sv', 'de ', 'en_GB  oed', 'fr\tCA', 'x y 9', '', ' ', 'no such tag at all, or']
  const inTrig = (tag: string, index: number): string => `"of ${index}"@${tag}`
  const statements = tags.map((tag, index) => `<${r}> <${DCT}title> ${inTrig(tag, index)} <${m}> .`)
  const quads = small()
  for (const line of statements) quads.line(line)
  const triples = small().nquads.replaceAll(/^(.*) (<[^>]*>) \.$/gm, '$2 { $1 . }')
  const some = tags.slice(0, -1)
  const block = `<${m}> { <${r}> <${DCT}title> ${some.map(inTrig).join(' , ')} ; <${DCT}source> [ <${DCT}title> "inner"@en us ] . }\n`
  const trix = quads.nquads
    .replaceAll(/^(<.*>) (<.*>) (.*) (<.*>) \.$/gm, '<graph>$4<triple>$1$2$3</triple></graph>')
    .replaceAll(/<(https?:[^>]*)>/g, '<uri>$1</uri>')
    .replaceAll(/"(.*)"\^\^<uri>(.*)<\/uri>/g, '<typedLiteral datatype="$2">$1</typedLiteral>')
    .replaceAll(/"(.*)"@(.*)<\/triple>/g, '<plainLiteral xml:lang="$2">$1</plainLiteral></triple>')
    .replaceAll(/"(.*)"(?=<\/triple>)/g, '<plainLiteral>$1</plainLiteral>')
  const files = [
    await small().write(`<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/">${trix}</TriX>`, 'repository.xml'),
    await quads.write(),
    await small().write(triples + block, 'repository.trig'),
    await small().write(triples + block.replaceAll(' , ', ','), 'repository.trig'),
  ]
  for (const file of files) {
    const { entry, finding } = await importFolder(t, file)
    const metadata = (await entry('1', '1'))?.metadata ?? ''
    for (const [index, lang] of ['en-us', 'sv', 'de', 'en-GB-oed', 'fr-CA', 'x-y-9', undefined, undefined].entries()) {
      const term = { type: 'literal', value: `of ${index}`, ...(lang === undefined ? {} : { lang }) }
      assert.ok(metadata.includes(JSON.stringify(term)), `${file} ${tags[index]}`)
    }
    assert.equal(finding('unreadable-statement'), undefined)
    if (files.indexOf(file) > 1) assert.match(metadata, /"value":"inner","lang":"en-us"/)
  }
})

test('characters that are illegal in XML are kept and counted', async t => {
  const { finding, entry } = await importFolder(t, join(fixtures, 'backups/xml'))
  assert.equal(finding('illegal-xml-character')?.number, 1)
  assert.equal((await entry('1', '7'))?.content, 'a <b> & "c"\u0001\r\n\tå end')
})

test('malformed IRIs, language tags, dates and texts are repaired or dropped, and named (D21.8)', async t => {
  const m = 'https://old.example.org/store/1/metadata/1'
  const r = 'https://old.example.org/store/1/resource/1'
  const store = small()
    .line(`<${r}> <${DCT}relation> <http://example.org/a b> <${m}> .`)
    .line(`<${r}> <${DCT}source> <nowhere> <${m}> .`)
    .line(`<${r}> <${DCT}title> "under"@sv_SE <${m}> .`)
    .line(`<${r}> <${DCT}title> "score"@123 <${m}> .`)
    .line(`<${r}> <${DCT}title> "a\\u0000b\\uD800" <${m}> .`)
    .line(`<${r}> <${DCT}issued> "soon"^^<http://www.w3.org/2001/XMLSchema#date> <${m}> .`)
    .line(`<${r}> <${DCT}title> "no graph" .`)
    .say('1/entry/1', '1/entry/1', `${DCT}modified`, typed('yesterday', 'dateTime'))
  const { entry, finding, report } = await importFolder(t, await store.write())
  const metadata = (await entry('1', '1'))?.metadata ?? ''
  assert.match(metadata, /http:\/\/example\.org\/a%20b/)
  assert.doesNotMatch(metadata, /nowhere|no graph/)
  assert.match(metadata, /"value":"under","lang":"sv-SE"/)
  assert.match(metadata, /\{"type":"literal","value":"score"\}/)
  assert.match(metadata, /a\ufffdb\ufffd/)
  assert.match(metadata, /"soon","datatype"/)
  for (const [code, number] of [
    ['bad-iri', 2],
    ['bad-language-tag', 2],
    ['illegal-character', 1],
    ['bad-date', 1],
    ['default-graph-statements', 1],
  ] as const) {
    assert.equal(finding(code)?.number, number, code)
  }
  report.requireBalanced()
})

test('dates without a zone are those of the zone that is named', async t => {
  const store = small()
    .entry('1', '2', { created: '2024-07-01T12:00:00' })
    .entry('1', '3', { created: '2024-01-01T12:00:00+01:00' })
  const folder = await store.write()
  const utc = await importFolder(t, folder)
  assert.equal((await utc.entry('1', '2'))?.created, Date.parse('2024-07-01T12:00:00Z'))
  assert.equal(utc.finding('date-without-zone')?.number, 1)
  const { zoneNamed } = await import('../../migration/entrystore/dates.ts')
  const stockholm = await importFolder(t, folder, { zone: zoneNamed('Europe/Stockholm') })
  assert.equal((await stockholm.entry('1', '2'))?.created, Date.parse('2024-07-01T10:00:00Z'))
  assert.equal((await stockholm.entry('1', '3'))?.created, Date.parse('2024-01-01T11:00:00Z'))
  assert.equal(stockholm.finding('date-without-zone'), undefined)
  assert.equal(zoneNamed('Atlantis/Capital'), undefined)
})

test('names that collide after normalisation stay with the older one; names that cannot be are dropped', async t => {
  const store = small()
    .user('2', 'Anna')
    .user('10', '\u212bnna')
    .user('3', 'ÅNNA\u200b')
    .user('4', 'ａｎｎａ')
    .group('5', 'anna', [])
    .user('6', 'ad\u00admin')
    .user('7', '\u0007')
    .context('2', 'one')
    .context('3', 'search')
    .context('4', '1')
    .context('5', 'a/b')
    .context('6', '_own')
  const { user, rows, finding } = await importFolder(t, await store.write())
  assert.deepEqual(
    await Promise.all(['2', '3', '10', '4', '5', '6', '7', '_admin'].map(async id => (await user(id))?.['name'])),
    ['anna', 'ånna', null, null, null, null, null, 'admin'],
  )
  assert.equal(finding('name-collision')?.number, 5)
  assert.equal(finding('name-refused')?.number, 1)
  assert.equal(finding('reserved-context-name')?.number, 3)
  const contexts = await rows(sql`SELECT id, name FROM contexts WHERE name IS NOT NULL ORDER BY id`)
  assert.deepEqual(
    contexts.map(({ id }) => id),
    ['1', '5', '_contexts', '_principals'],
  )
})

test('names of users and contexts that are not there, or were not imported, are reported', async t => {
  const store = small().context('_backup', 'backup', 'SystemContext')
  store.say('_principals', '_principals/entry/99', `${ES}alias`, text('gone'))
  store.say('_contexts/resource/_contexts', '_contexts/entry/99', `${ES}alias`, text('gone'))
  const { finding, report } = await importFolder(t, await store.write())
  assert.deepEqual(finding('unknown-statement')?.examples, [
    '_principals/entry/99: the name of nothing',
    '_contexts/entry/99: the name of nothing',
  ])
  assert.ok(finding('system-context-dropped')?.examples.includes('_contexts/entry/_backup: its name'))
  report.requireBalanced()
})

test('members of two lists stay in the oldest; missing, doubled and circular members are named', async t => {
  const store = small()
    .entry('1', '2', { graphType: 'List', created: '2020-05-01T00:00:00Z' })
    .entry('1', '3', { graphType: 'List', created: '2019-05-01T00:00:00Z' })
    .members('1', '2', ['1', '99', '3'])
    .members('1', '3', ['1', '1', '2', '_contexts/entry/1'])
  const { rows, finding, report } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT list, member, position FROM list_members ORDER BY list, position`), [
    { list: '3', member: '1', position: 1 },
    { list: '3', member: '2', position: 2 },
  ])
  for (const [code, number] of [
    ['second-list', 1],
    ['missing-member', 2],
    ['duplicate-member', 1],
    ['list-circle', 1],
  ] as const) {
    assert.equal(finding(code)?.number, number, code)
  }
  report.requireBalanced()
})

test('missing files, files without entries, wrong sizes and wrong digests are named; bytes are kept', async t => {
  const store = small()
  for (const id of ['2', '3', '4']) {
    store.entry('1', id).say(`1/entry/${id}`, `1/resource/${id}`, `${DCT}extent`, typed('5', 'long'))
  }
  store.file('1/2', 'hello').file('1/2.sha256', '0'.repeat(64)).file('1/3', 'longer than five')
  store.file('1/77', 'orphan').file('1/78.sha256', 'x').file('1/what is this', '').file('9/1', 'orphan')
  const { rows, finding, entry } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT entry, size FROM files ORDER BY entry`), [
    { entry: '2', size: 5 },
    { entry: '3', size: 16 },
  ])
  assert.match((await entry('1', '3'))?.statements ?? '', /"16"/)
  for (const [code, examples] of [
    ['file-missing', ['1/4']],
    ['digest-differs', ['1/2']],
    ['size-differs', ['1/3: 16 bytes instead of 5']],
    ['file-orphan', ['1/what is this', '1/77', '1/78.sha256', '9/1']],
  ] as const)
    assert.deepEqual(finding(code)?.examples, examples, code)
})

test('entries that no one can open are refused one by one', async t => {
  const store = small()
    .entry('1', '2')
    .entry('1', '3')
    .entry('1', 'x'.repeat(129))
    .context('auth', 'auth')
    .entry('auth', '1')
  store.context('_backup', 'backup', 'SystemContext').entry('_backup', '1')
  store.without('<https://old.example.org/store/1/resource/2> <https://old.example.org/store/1/entry/2>')
  store.say('1/entry/3', '1/entry/3', `${ES}resource`, 'http://example.org/second').entry('1', '4', { isHidden: true })
  store.say('1/metadata/99', '1/resource/99', `${DCT}title`, text('orphan'))
  const { entry, finding, report } = await importFolder(t, await store.write())
  assert.equal(await entry('1', '2'), undefined)
  assert.equal(await entry('1', '3'), undefined)
  assert.ok(await entry('1', '4'))
  for (const code of [
    'entry-without-resource',
    'several-resources',
    'id-refused',
    'system-context-dropped',
    'not-in-index',
    'orphan-graph',
  ] as const) {
    assert.ok((finding(code)?.number ?? 0) > 0, code)
  }
  report.requireBalanced()
})

test('system users and groups that are missing are made anew', async t => {
  const store = small().without('/_principals/entry/_guest>').without('/_principals/entry/_users>')
  const folder = await store.write()
  await assert.rejects(importFolder(t, folder), isUnusable('truncated'))
  const { finding, user, entry } = await importFolder(t, folder, { accept: new Set(['truncated']) })
  assert.deepEqual(finding('system-entry-missing')?.examples, ['_principals/entry/_guest', '_principals/entry/_users'])
  assert.deepEqual([(await user('_guest'))?.['name'], (await user('_users'))?.['kind']], ['guest', 'group'])
  assert.equal((await entry('_principals', '_guest'))?.graph_type, 'User')
})

test('revisions with gaps are numbered anew, and values that cannot be are dropped, each for itself', async t => {
  const prov = 'http://www.w3.org/ns/prov#'
  const store = small().entry('1', '2', { resource: 'http://example.org/elsewhere' })
  for (const [n, time] of [
    [1, '2020-01-01T00:00:00Z'],
    [3, '2020-03-01T00:00:00Z'],
  ] as const) {
    store.say('1/entry/1', `1/metadata/1?rev=${n}`, `${prov}generatedAtTime`, typed(time, 'dateTime'))
  }
  store.say('1/entry/1', '1/metadata/1?rev=3', 'http://www.w3.org/2002/07/owl#sameAs', '1/metadata/1')
  store.say('1/entry/1', '1/metadata/1', `${ES}read`, text('everybody'))
  store.say('1/entry/1', '1/entry/1', `${DCT}creator`, 'http://example.org/anna')
  store.say('1/entry/1', '1/metadata/1?rev=3', `${prov}wasAttributedTo`, 'http://example.org/anna')
  const { finding, rows, entry, report } = await importFolder(t, await store.write())
  assert.deepEqual(await rows(sql`SELECT number, time FROM metadata_revisions ORDER BY number`), [
    { number: 1, time: Date.parse('2020-01-01T00:00:00Z') },
    { number: 2, time: Date.parse('2020-03-01T00:00:00Z') },
  ])
  assert.deepEqual([(await entry('1', '1'))?.acl, (await entry('1', '1'))?.creator], ['{}', null])
  assert.equal((await entry('1', '2'))?.resource_uri, null)
  for (const [code, number] of [
    ['revision-gap', 1],
    ['bad-value', 3],
    ['foreign-resource', 1],
  ] as const) {
    assert.equal(finding(code)?.number, number, code)
  }
  assert.equal(finding('bad-value')?.quads, 2)
  report.requireBalanced()
})

test('every code has a sentence and advice, and no report shows a secret', async t => {
  for (const { text, advice } of Object.values(findingCodes)) assert.ok(text.endsWith('.') && advice.length > 10)
  for (const advice of Object.values(unusableCodes)) assert.ok(advice.endsWith('.') && advice.length > 10)
  const store = small()
    .user('2', 'anna', 'not-a-hash$secret')
    .user('3', 'beth')
    .ofUser('3', 'secret', text('plain-Secret-99'))
  store.line(`<https://old.example.org/store/_principals/resource/4> <${ES}secret> "broken-Secret-99 <${RDF}type> .`)
  const { report, user, finding } = await importFolder(t, await store.write())
  assert.equal(finding('unknown-hash')?.examples[0], 'user 2 (anna)')
  assert.equal(finding('plain-secret')?.number, 1)
  assert.equal((await user('3'))?.['password'], 'hashed:15')
  assert.doesNotMatch(JSON.stringify(report) + report.toText(), /[Ss]ecret-99|not-a-hash/)
})
