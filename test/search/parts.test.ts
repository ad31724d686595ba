import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { guestFrom } from '../../src/accounts/caller.ts'
import type { EntryWriter } from '../../src/content/changes.ts'
import { findEntry } from '../../src/content/entry-records.ts'
import { withStatement } from '../../src/content/info.ts'
import { findTrashedEntry } from '../../src/content/trash-rows.ts'
import { type Graph, graphText, literal, type Term, uri } from '../../src/graph/graph.ts'
import { dct, rdf, rdfs, store } from '../../src/graph/vocabulary.ts'
import { CONTEXTS, type EntryAddress, entryUri, metadataUri } from '../../src/model/addresses.ts'
import { type Entry, newEntry, resourceOf } from '../../src/model/entry.ts'
import { addToIndex, removeFromIndex } from '../../src/search/index-records.ts'
import type { Database } from '../../src/stores/database.ts'
import { sql } from '../../src/stores/sql.ts'
import { changesOf } from '../support/entries.ts'
import { newDatabase, onPostgres } from '../support/store.ts'

const PROFILE = 'http://entrystore.org/terms/profile'
const PROJECT_TYPE = 'http://entryscape.com/terms/projectType'
const P = 'http://example.org/p'
const guest = guestFrom({ address: '', userAgent: '' })

/** One entry of each kind whose fields depend on it: on which graphs it has, whether it is a file, and what other tables name it. */
const kinds: Readonly<Record<string, Parameters<typeof newEntry>[0]>> = Object.fromEntries(
  [
    { id: 'file' },
    { id: 'list', graphType: 'List' } as const,
    { id: 'link', entryType: 'Link', externalResource: 'x:1' } as const,
    { id: 'both', entryType: 'LinkReference', externalResource: 'x:1', externalMetadata: 'x:m' } as const,
    { id: 'copy', entryType: 'Reference', externalResource: 'x:1', externalMetadata: 'x:m' } as const,
    { id: '8', context: CONTEXTS, graphType: 'Context' } as const,
  ].map(kind => [kind.id, { context: '7', by: '_admin', now: 1, ...kind }]),
)

const withMembers = (entry: Entry, members: Partial<Entry>): Entry => ({ ...entry, ...members })

const words = ['red', 'green fields', 'blue']
const text = fc.constantFrom(...words)
const graph = fc
  .record({
    title: fc.option(text),
    type: fc.option(fc.constantFrom('x:A', 'x:B')),
    other: fc.uniqueArray(text, { maxLength: 2 }),
    extent: fc.option(fc.constantFrom('1', '2')),
    // More strings than one statement writes.
    isLarge: fc.nat({ max: 9 }).map(n => n === 0),
  })
  .map(
    ({ title, type, other, extent, isLarge }) =>
      (entry: Entry): Graph => ({
        [resourceOf(entry)]: {
          ...(title !== null && { [dct.title]: [literal(title)] }),
          ...(type !== null && { [rdf.type]: [uri(type)] }),
          ...(extent !== null && { [dct.extent]: [literal(extent, 'http://www.w3.org/2001/XMLSchema#integer')] }),
          ...(other.length > 0 && { [P]: other.map(value => literal(value)) }),
          ...(isLarge && { 'http://example.org/many': many('many') }),
        },
      }),
  )
const many = (name: string): Term[] => Array.from({ length: 2100 }, (_, n) => uri(`x:${name}/${n}/${'x'.repeat(40)}`))

type Change = (entry: Entry) => Entry
const statement = (subject: (entry: Entry) => string, predicate: string, terms: ReadonlyArray<Term | undefined>) =>
  fc.constantFrom(...terms, undefined).map(
    (term): Change =>
      entry =>
        withMembers(entry, { statements: withStatement(entry.statements, subject(entry), predicate, term) }),
  )
const info: fc.Arbitrary<Change> = fc.oneof(
  statement(entryUri, store.term('status'), [uri('x:new'), uri('x:done')]),
  statement(metadataUri, PROFILE, [uri('x:profile')]),
  statement(resourceOf, PROJECT_TYPE, [uri('x:project'), uri('x:A')]),
  statement(resourceOf, rdf.type, [uri('x:A'), uri('x:C')]),
  statement(resourceOf, rdfs.label, [literal('red'), literal('file.txt')]),
  statement(resourceOf, dct.format, [literal('text/plain'), literal('image/png')]),
  statement(resourceOf, dct.extent, [literal('1'), literal('3')]),
  statement(entryUri, P, [literal('note')]),
  fc.constant<Change>(entry =>
    withMembers(entry, { statements: { ...entry.statements, [resourceOf(entry)]: { [PROJECT_TYPE]: many('type') } } }),
  ),
  fc.constantFrom('x:1', 'x:2').map(
    (externalResource): Change =>
      entry =>
        entry.entryType === 'Local' ? entry : withMembers(entry, { externalResource }),
  ),
  fc.constant<Change>(entry =>
    entry.entryType === 'Link' ? withMembers(entry, { entryType: 'LinkReference' }) : entry,
  ),
  fc.constantFrom('Graph', 'None').map(
    (graphType): Change =>
      entry =>
        entry.entryType === 'Local' ? entry : withMembers(entry, { graphType }),
  ),
  fc.constantFrom('NamedResource', 'InformationResource').map(
    (resourceType): Change =>
      entry =>
        entry.entryType === 'Local' ? entry : withMembers(entry, { resourceType }),
  ),
  fc.constantFrom('x:1', 'x:2', '').map(
    (reader): Change =>
      entry =>
        withMembers(entry, { acl: reader === '' ? {} : { mread: [reader], rread: ['x:3'] } }),
  ),
)

type Step = (writer: EntryWriter, address: EntryAddress) => Promise<void>
const ofPresent =
  (work: (writer: EntryWriter, present: Entry) => Promise<unknown>): Step =>
  async (writer, address) => {
    const present = await findEntry(writer.tx, address)
    if (present) await work(writer, present)
  }
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: info.map(change => ofPresent((writer, present) => writer.update(present, change(present), '_admin'))),
  },
  {
    weight: 3,
    arbitrary: graph.map(of =>
      ofPresent((writer, present) =>
        writer.update(present, withMembers(present, { metadata: graphText(of(present)) }), '_admin'),
      ),
    ),
  },
  {
    weight: 2,
    arbitrary: graph.map(of =>
      ofPresent(async (writer, present) => {
        const cachedExternalMetadata = graphText(of(present))
        if (present.externalMetadata !== undefined)
          await writer.update(present, withMembers(present, { cachedExternalMetadata }), '_admin')
      }),
    ),
  },
  text.map(word =>
    ofPresent((writer, present) => writer.updateHead(present, { ...present, acl: { admin: [`x:${word}`] } })),
  ),
  // A context is renamed, and its entry changes in nothing else.
  text.map(word =>
    ofPresent(async (writer, present) => {
      if (present.context !== CONTEXTS) return
      await writer.tx.run(sql`UPDATE contexts SET name = ${word} WHERE id = ${present.id}`)
      await writer.update(present, present, '_admin')
    }),
  ),
  fc.constant(
    ofPresent(async (writer, present) => {
      if (present.context !== CONTEXTS) await writer.moveToTrash(present, present.id)
    }),
  ),
  fc.constant<Step>(async (writer, address) => {
    const trashed = await findTrashedEntry(writer.tx, address)
    if (trashed) await writer.restore(trashed)
  }),
  fc.constant(ofPresent((writer, present) => writer.delete(present))),
  {
    weight: 4,
    arbitrary: graph.map(
      (of): Step =>
        async (writer, address) => {
          if ((await findEntry(writer.tx, address)) || (await findTrashedEntry(writer.tx, address))) return
          const kind = kinds[address.id]
          if (!kind) return
          const entry = newEntry(kind)
          await writer.insert(withMembers(entry, { metadata: graphText(of(entry)) }))
        },
    ),
  },
)
const transaction = fc.record({
  steps: fc.array(fc.record({ id: fc.constantFrom(...Object.keys(kinds)), step: steps }), {
    minLength: 1,
    maxLength: 6,
  }),
  fails: fc.constantFrom(false, false, false, true),
})

const addressOf = (id: string): EntryAddress => ({ context: kinds[id]?.context ?? '7', id })

async function openIndex(t: { after(work: () => Promise<void>): void }): Promise<Database> {
  const database = await newDatabase(t)
  for (const id of [CONTEXTS, '7', '8']) await database.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
  return database
}

/** All that a search can find, by entries and names of fields. */
async function contentOf(database: Database): Promise<object[]> {
  if (database.engine === 'postgres') {
    return await database.all<object>(sql`SELECT e.context, e.id, e.created, e.modified, e.own_acl, e.open_to, r.part, r.field, r.value FROM (
        SELECT doc, 's' AS part, field, value FROM search_strings UNION ALL
        SELECT doc, 'd', field, CAST(value AS TEXT) FROM search_numbers UNION ALL
        SELECT doc, 'n', field, value || CAST(grams AS TEXT) FROM search_ngrams UNION ALL
        SELECT doc, 't', field, CAST(words AS TEXT) FROM search_texts
      ) r JOIN search_entries e ON e.doc = r.doc ORDER BY 1, 2, 7, 8, 9`)
  }
  // In a transaction, because the tables of words belong to one connection.
  return await database.transaction(async tx => {
    await tx.run(
      sql`CREATE VIRTUAL TABLE IF NOT EXISTS temp.ngram_words USING fts5vocab (main, search_ngrams, instance)`,
    )
    await tx.run(sql`CREATE VIRTUAL TABLE IF NOT EXISTS temp.text_words USING fts5vocab (main, search_texts, instance)`)
    const rows =
      await tx.all<object>(sql`SELECT e.context, e.id, e.created, e.modified, e.own_acl, e.open_to, r.part, f.name, r.value FROM (
        SELECT doc, field, 's' AS part, value FROM search_strings UNION ALL
        SELECT doc, field, 'd', value FROM search_numbers UNION ALL
        SELECT doc % 4294967296, doc / 4294967296, 'n', term || ' ' || offset FROM ngram_words UNION ALL
        SELECT doc % 4294967296, doc / 4294967296, 't', term || ' ' || offset FROM text_words
      ) r JOIN search_entries e ON e.doc = r.doc JOIN search_fields f ON f.number = r.field ORDER BY 1, 2, 7, 8, 9`)
    return rows.map(row => ({ ...row }))
  })
}

test('whatever parts of entries are written, in whatever order, the index is that of entries that are indexed as a whole and together', async t => {
  const database = await openIndex(t)
  const changes = changesOf(database)
  await fc.assert(
    fc.asyncProperty(fc.array(transaction, { maxLength: 10 }), async transactions => {
      const run = ({ steps, fails }: (typeof transactions)[number]): Promise<void> =>
        changes.run(guest, async writer => {
          for (const { id, step } of steps) await step(writer, addressOf(id))
          if (fails) throw new Error('planned')
        })
      // On PostgreSQL they would conflict.
      const ends = onPostgres ? [] : await Promise.allSettled(transactions.map(run))
      if (onPostgres) for (const one of transactions) ends.push(...(await Promise.allSettled([run(one)])))
      for (const [at, end] of ends.entries()) {
        if (end.status === 'rejected') assert.equal(String(end.reason), 'Error: planned')
        assert.equal(end.status, transactions[at]?.fails ? 'rejected' : 'fulfilled')
      }
      const found = await contentOf(database)
      await database.transaction(async tx => {
        const entries: Entry[] = []
        for (const id of Object.keys(kinds)) {
          await removeFromIndex(tx, addressOf(id))
          const entry = await findEntry(tx, addressOf(id))
          if (entry) entries.push(entry)
        }
        await addToIndex(tx, entries)
      })
      assert.deepEqual(found, await contentOf(database))
    }),
    { numRuns: 80 },
  )
})
