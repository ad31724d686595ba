import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { type Caller, guestFrom } from '../../src/accounts/caller.ts'
import { type Acl, type Entry, newEntry } from '../../src/model/entry.ts'
import { deleteEntryRow, insertEntryRow, updateHeadRow } from '../../src/content/entry-rows.ts'
import { deleteEntriesOf, deleteEntry, insertEntry, updateEntry } from '../support/entries.ts'
import { indexEntry, indexHead, removeFromIndex } from '../../src/search/index-records.ts'
import { may } from '../../src/model/rights.ts'
import type { Found, Search } from '../../src/features/search/search.ts'
import type { Order } from '../../src/features/search/request.ts'
import { parseQuery } from '../../src/features/search/query.ts'
import { literal, uri } from '../../src/graph/graph.ts'
import type { Database, Queries } from '../../src/stores/database.ts'
import { migrate } from '../../src/stores/migrations.ts'
import { schema } from '../../src/assembly/stores.ts'
import { sql } from '../../src/stores/sql.ts'
import { twoConnections } from '../support/store.ts'
import { newSearch } from '../support/search-engine.ts'

const TITLE = 'http://purl.org/dc/terms/title'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const contexts = ['1', '2']
const guest = guestFrom({ address: '', userAgent: '' })
const user = (id: string, ...groups: string[]): Caller => ({
  ...guest,
  user: { ...guest.user, id },
  groups: new Set(groups),
})

interface Row {
  readonly entry: Entry
  readonly words: readonly string[]
  readonly type: string
  readonly number: number
}

type Fits = (row: Row, model: Model) => boolean

const has =
  (word: string): Fits =>
  row =>
    row.words.includes(word)
const isPublic: Fits = (row, model) => model.mayRead(guest, row)

const isBeta = ({ words }: Row): boolean => words.includes('beta') && !words.includes('alpha')

/** With a query, who fits, and how well where some fit better. */
const queries: ReadonlyArray<readonly [query: string, fits: Fits, score?: (row: Row) => number]> = [
  ['title:alpha', has('alpha')],
  ['all:alpha', has('alpha')],
  ['title:be*', has('beta')],
  ['title:"alpha beta"', row => row.words.join(' ').includes('alpha beta')],
  ['title:(alpha AND beta)', row => ['alpha', 'beta'].every(word => row.words.includes(word))],
  ['title:alpha AND rdfType:x\\:one', row => row.words.includes('alpha') && row.type === 'x:one'],
  ['rdfType:x\\:*', () => true],
  ['rdfType:(x\\:one OR x\\:two)', () => true],
  ['graphType:None AND NOT title:gamma', row => !row.words.includes('gamma')],
  [
    'context:.\\/1 AND (rdfType:x\\:two OR (all:beta AND NOT all:alpha))',
    row => row.entry.context === '1' && (row.type === 'x:two' || isBeta(row)),
    row => Number(row.type === 'x:two') + Number(isBeta(row)),
  ],
  ['public:true AND graphType:None', isPublic],
  ['public:false AND graphType:None', (row, model) => !isPublic(row, model)],
]

/** What there is, without an index: each question goes through all of it. */
class Model {
  readonly rows = new Map<string, Row>()
  readonly trashed = new Map<string, Row>()
  readonly acls = new Map<string, Acl>()
  now = 1000
  last = 0

  mayRead(caller: Caller, { entry }: Row): boolean {
    return may(caller, 'readmetadata', {
      entry,
      contextEntry: contextEntry(entry.context, this.acls.get(entry.context)),
    })
  }

  found({ query: [, fits, score = () => 0], caller, order: [order] }: Question): Row[] {
    const title = ({ words }: Row): string => words.join(' ')
    const compare = (a: Row, b: Row): number => {
      const byTitle = title(a) < title(b) ? -1 : title(a) > title(b) ? 1 : 0
      const byField =
        order?.field === 'title' ? byTitle : order ? a.entry.modified - b.entry.modified : score(a) - score(b)
      return (
        (order?.descends === false ? byField : -byField) || b.entry.modified - a.entry.modified || b.number - a.number
      )
    }
    return [...this.rows.values()].filter(row => fits(row, this) && this.mayRead(caller, row)).sort(compare)
  }
}

const contextEntry = (id: string, acl: Acl = {}): Entry =>
  newEntry({ context: '_contexts', id, graphType: 'Context', by: undefined, now: 1, acl })

const addressOf = ({ context, id }: { context: string; id: string }): string => `${context}/${id}`

type Change = (tx: Queries, model: Model) => Promise<unknown>

const someone = fc.subarray(
  ['_guest', '_users', '7', '20'].map(id => `./_principals/resource/${id}`),
  { maxLength: 2 },
)
const place = { context: fc.constantFrom(...contexts), id: fc.constantFrom(...'abcdefgh') }
const acl = fc.record({ admin: someone, mread: someone, rread: someone }, { requiredKeys: [] })
const put = fc
  .record({
    ...place,
    words: fc.subarray(['alpha', 'beta', 'gamma'], { minLength: 1 }),
    type: fc.constantFrom('x:one', 'x:two'),
    acl: fc.oneof(fc.constant({}), acl),
    later: fc.constantFrom(0, 1),
  })
  .map(
    ({ context, id, words, type, acl, later }): Change =>
      async (tx, model) => {
        // Its id is not free.
        if (model.trashed.has(addressOf({ context, id }))) return
        model.now += later
        const before = model.rows.get(addressOf({ context, id }))
        const metadata = {
          [`./${context}/resource/${id}`]: { [TITLE]: [literal(words.join(' '))], [TYPE]: [uri(type)] },
        }
        const entry = newEntry({ context, id, by: undefined, now: model.now, acl, metadata })
        await (before ? updateEntry(tx, entry) : insertEntry(tx, entry))
        model.rows.set(addressOf(entry), { entry, words, type, number: before?.number ?? ++model.last })
      },
  )
const remove = fc.record(place).map(
  (address): Change =>
    async (tx, model) => {
      await deleteEntry(tx, address)
      model.rows.delete(addressOf(address))
    },
)
/** Another access list, and nothing else. */
const share = fc.record({ ...place, acl }).map(
  ({ context, id, acl }): Change =>
    async (tx, model) => {
      const row = model.rows.get(addressOf({ context, id }))
      if (!row) return
      const entry = { ...row.entry, acl, modified: ++model.now }
      await updateHeadRow(tx, entry)
      await indexHead(tx, entry)
      model.rows.set(addressOf(entry), { ...row, entry })
    },
)
/** To the trash, or back from there. */
const trash = fc.record(place).map(
  (address): Change =>
    async (tx, model) => {
      const [present, trashed] = [model.rows, model.trashed].map(rows => rows.get(addressOf(address)))
      if (present) {
        await deleteEntryRow(tx, address)
        await removeFromIndex(tx, address)
        model.trashed.set(addressOf(address), present)
        model.rows.delete(addressOf(address))
      } else if (trashed) {
        await insertEntryRow(tx, trashed.entry)
        await indexEntry(tx, trashed.entry)
        model.rows.set(addressOf(address), { ...trashed, number: ++model.last })
        model.trashed.delete(addressOf(address))
      }
    },
)
const clear = place.context.map(
  (context): Change =>
    async (tx, model) => {
      await deleteEntriesOf(tx, context)
      for (const rows of [model.rows, model.trashed]) {
        for (const [address, { entry }] of rows) if (entry.context === context) rows.delete(address)
      }
    },
)
const allow = fc.record({ context: place.context, acl }).map(
  ({ context, acl }): Change =>
    async (tx, model) => {
      await updateEntry(tx, contextEntry(context, acl))
      model.acls.set(context, acl)
    },
)
const question = fc.record({
  query: fc.constantFrom(...queries),
  caller: fc.constantFrom(user('_admin'), guest, user('7'), user('8', '20')),
  order: fc.constantFrom<readonly Order[]>(
    [],
    [{ field: 'title', descends: false }],
    [{ field: 'title', descends: true }],
    [{ field: 'modified', descends: false }],
  ),
  offset: fc.constantFrom(0, 0, 1, 3),
})
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never

const ask = async (search: Search, { query: [query], caller, order, offset }: Question): Promise<Found> =>
  await search.find(caller, {
    query: parseQuery(query),
    filters: [],
    limit: 3,
    offset,
    order,
    facets: { fields: ['rdfType'], minCount: 1, limit: 10, missing: true, matches: undefined },
    toRelative: iri => iri,
    toAbsolute: iri => iri,
    now: 0,
  })

/** What an answer says, as far as the model can say it too. */
const said = ({ total, hits, facets }: Found) => ({
  total,
  hits: hits.map(({ entry }) => addressOf(entry)),
  types: Object.fromEntries((facets[0]?.values ?? []).map(({ value, count }) => [value ?? '', count])),
})

function expected(model: Model, question: Question): ReturnType<typeof said> {
  const rows = model.found(question)
  const { offset } = question
  const types: Record<string, number> = {}
  const count = (type: string): number => rows.filter(row => row.type === type).length
  for (const type of ['x:one', 'x:two']) if (count(type) > 0) types[type] = count(type)
  return {
    total: rows.length,
    hits: rows.slice(offset, offset + 3).map(({ entry }) => addressOf(entry)),
    types: { ...types, '': 0 },
  }
}

async function openStores(t: { after(work: () => Promise<void>): void }): Promise<readonly [Database, Database]> {
  const [one, other] = await twoConnections(t)
  await migrate(one, schema)
  await one.transaction(async tx => {
    for (const id of ['_contexts', ...contexts]) await tx.run(sql`INSERT INTO contexts (id) VALUES (${id})`)
    for (const id of contexts) await insertEntry(tx, contextEntry(id))
  })
  return [one, other]
}

test('whatever has been written, by this process or another, and whoever asks: number, page and facets are those of now (W3.10.2, W3.10.5)', async t => {
  const [one, other] = await openStores(t)
  const searches = [newSearch(one), newSearch(other)]
  const change = fc.oneof(
    { arbitrary: put, weight: 8 },
    { arbitrary: share, weight: 4 },
    { arbitrary: trash, weight: 4 },
    { arbitrary: remove, weight: 3 },
    { arbitrary: allow, weight: 3 },
    clear,
  )
  const step = fc.record({
    change,
    writer: fc.constantFrom(one, other),
    questions: fc.array(question, { maxLength: 3 }),
  })
  const model = new Model()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async steps => {
      for (const { change, writer, questions } of steps) {
        const before = questions.map(question => expected(model, question))
        const meanwhile = questions.map(async question => said(await ask(searches[0] as Search, question)))
        await writer.transaction(tx => change(tx, model), { durability: 'relaxed' })
        const after = questions.map(question => expected(model, question))
        for (const [at, { total, types }] of (await Promise.all(meanwhile)).entries()) {
          // An answer is of one time, before the change or after it.
          const isOf = (answer = after[at]): boolean =>
            isDeepStrictEqual([total, types], [answer?.total, answer?.types])
          assert.ok(isOf(before[at]) || isOf(after[at]))
        }
        for (const [at, question] of questions.entries()) {
          for (const search of searches) assert.deepEqual(said(await ask(search, question)), after[at])
        }
      }
    }),
    { numRuns: 25, endOnFailure: true },
  )
})
