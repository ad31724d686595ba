// The first page of a search as the store grows, for an administrator, a guest who may read all of it, and a
// user who may read half. Three cases: again (nothing has changed), after a write, and first (nothing of the query is
// in memory).
// Medians; rounds over the stores are interleaved.
import { guestFrom } from '../src/accounts/caller.ts'
import { newEntry } from '../src/model/entry.ts'
import { EntryLoader } from '../src/content/entry-loader.ts'
import { findEntry } from '../src/content/entry-records.ts'
import { deleteEntry, insertEntry, updateEntry } from './entries-in-store.mjs'
import { Search } from '../src/features/search/search.ts'
import { parseQuery } from '../src/features/search/query.ts'
import { migrate } from '../src/stores/migrations.ts'
import { schema } from '../src/assembly/stores.ts'
import { realSystem } from '../src/base/system.ts'
import { DependencyCache } from '../src/stores/dependency-cache.ts'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../src/stores/sql.ts'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, ROUNDS, sizesUpTo } from './support.mjs'

const SIZES = sizesUpTo(100_000)
const WAYS = ['again', 'written', 'first']
const CONTEXTS = 20
const CACHE_BYTES = 8 * 2 ** 20
const TITLE = 'http://purl.org/dc/terms/title'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const DESCRIPTION = 'http://purl.org/dc/terms/description'

const searches = {
  'a word of 20 entries': { query: 'title:quokka' },
  'a word of 20 entries and one of all': { query: 'title:quokka AND title:entry' },
  'two characters of 20 entries': { query: 'title:qu*' },
  'a whole word of 20 entries': { query: 'all:quokka' },
  'a word of 20 entries in a context': { query: 'title:quokka AND context:./0' },
  'either of two words': { query: 'title:quokka OR title:wombat' },
  'a word of every entry': { query: 'title:entry' },
  'a whole word of every entry': { query: 'all:entry' },
  'a word of every entry, by title': { query: 'title:entry', order: [{ field: 'title', descends: false }] },
  'a word of every entry, by creation': { query: 'title:entry', order: [{ field: 'created', descends: true }] },
  'a word of every entry, last page': { query: 'title:entry', isLast: true },
  'a word of every entry or a rare one': { query: 'title:entry OR title:quokka' },
  'a type of every entry': { query: 'rdfType:http\\://example.org/Common' },
  'all but a few': { query: 'graphType:None AND NOT title:quokka' },
  'what everybody may read': { query: 'public:true AND graphType:None' },
  'facets of every entry': { query: 'title:entry', facets: ['graphType', 'rdfType', 'context'] },
}

const guest = guestFrom({ address: '', userAgent: '' })
const callers = {
  admin: { ...guest, user: { ...guest.user, id: '_admin' } },
  guest,
  user: { ...guest, user: { ...guest.user, id: '7' }, groups: new Set(['20']) },
}

export async function measure(say) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const stores = []
  const found = []
  try {
    for (const size of SIZES) stores.push(await open(folder, size))
    say('stores filled')
    for (const [who, readers] of [['admin'], ['guest', () => ['_guest']], ['user', n => (n % 2 ? [] : ['20'])]]) {
      if (readers) for (const { database } of stores) await openContexts(database, readers)
      for (const [name, search] of Object.entries(searches)) {
        found.push({ name: `${name}, ${String(who)}`, who, times: await timesOf(stores, search, who) })
      }
      say(`searched as ${String(who)}`)
    }
  } finally {
    for (const { database } of stores) await database.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { title: 'Search', rows: [...found.map(row), ...firstRows(found)], curves: WAYS.map(way => curve(found, way)) }
}

function row({ name, times }) {
  const large = times.at(-1)
  const told = WAYS.map(way => `${way} ${median(large[way]).toFixed(2)} ms`)
  return {
    what: `${name}: again, 10⁵ entries`,
    value: median(large.again),
    unit: 'ms',
    goal: { most: 30 },
    note: told.join(', '),
  }
}

/** A search that no search has asked since the start: the worst case. */
function firstRows(found) {
  const slowest = found.toSorted((one, other) => median(other.times.at(-1).first) - median(one.times.at(-1).first))[0]
  const value = median(slowest.times.at(-1).first)
  return [
    {
      what: `the slowest of them for the first time (${slowest.name}), 10⁵ entries`,
      value,
      unit: 'ms',
      goal: { most: 300 },
    },
  ]
}

const curve = (found, way) => ({
  name: `search-${way}`,
  title: `Milliseconds of a search by admin: ${{ again: 'again', written: 'after a write', first: 'for the first time' }[way]}`,
  x: 'entries',
  series: found
    .filter(
      ({ name, who }) =>
        who === 'admin' && /^(a word of 20 entries|a word of every entry|facets of every entry),/.test(name),
    )
    .map(({ name, times }) => ({ name, points: SIZES.map((size, at) => [size, median(times[at][way])]) })),
})

async function open(folder, size) {
  const database = await openSqliteDatabase(join(folder, `${size}.sqlite`))
  await migrate(database, schema)
  await fill(database, size)
  return { size, database, search: newSearch(database) }
}

function newSearch(database) {
  const cache = new DependencyCache(database, CACHE_BYTES, realSystem)
  return new Search(database, new EntryLoader({ database, cache }))
}

/** The times of each case, for each store. */
async function timesOf(stores, search, who) {
  const times = stores.map(() => ({ again: [], written: [], first: [] }))
  for (let round = 0; round < Math.min(3, ROUNDS); round++) {
    for (const [at, store] of stores.entries()) {
      const engine = newSearch(store.database)
      times[at].first.push(await timed(store, engine, search, who))
      await timed(store, store.search, search, who)
      times[at].again.push(await timed(store, store.search, search, who))
      await write(store.database, round)
      times[at].written.push(await timed(store, store.search, search, who))
    }
  }
  return times
}

async function timed({ size }, search, { query, order = [], facets: fields = [], isLast = false }, who) {
  const facets = { fields, minCount: 1, limit: 100, missing: false, matches: undefined }
  const offset = isLast ? Math.max(0, size / 2 - 50) : 0
  const names = { toRelative: iri => iri, toAbsolute: iri => iri }
  const request = { ...names, filters: [], limit: 50, offset, order, facets, query: parseQuery(query) }
  const begun = performance.now()
  await search.find(callers[who], request)
  return performance.now() - begun
}

/** Lets these principals read the entries without their own ACL in each context. */
async function openContexts(database, readers) {
  await database.transaction(async tx => {
    for (let n = 0; n < CONTEXTS; n++) {
      const entry = await findEntry(tx, { context: '_contexts', id: String(n) })
      await updateEntry(tx, { ...entry, acl: { rread: readers(n).map(id => `./_principals/resource/${id}`) } })
    }
  })
}

/** Adds one entry and deletes one. */
async function write(database, round) {
  const entry = newEntry({
    context: '0',
    id: 'w',
    by: '_admin',
    now: 1e12 + round,
    metadata: metadataOf('0', 'w', 'new'),
  })
  await database.transaction(async tx => {
    await deleteEntry(tx, entry)
    await insertEntry(tx, entry)
  })
}

async function fill(database, size) {
  const by = '_admin'
  await database.transaction(async tx => {
    for (let n = 0; n < CONTEXTS; n++) {
      await tx.run(sql`INSERT INTO contexts (id, name) VALUES (${String(n)}, NULL)`)
      if (n === 0) await tx.run(sql`INSERT INTO contexts (id, name) VALUES ('_contexts', NULL)`)
      await insertEntry(tx, newEntry({ context: '_contexts', id: String(n), graphType: 'Context', by, now: n }))
    }
  })
  for (let from = 0; from < size; from += 1000) {
    await database.transaction(async tx => {
      for (let n = from; n < from + 1000 && n < size; n++) {
        const word =
          n % Math.ceil(size / 20) === 0 ? 'quokka' : n % Math.ceil(size / 20) === 1 ? 'wombat' : `word${n % 997}`
        const [context, id] = [String(n % CONTEXTS), String(n)]
        const metadata = metadataOf(context, id, `about ${word} number ${n}`)
        await insertEntry(tx, newEntry({ context, id, by, now: n, metadata }))
      }
    })
  }
}

function metadataOf(context, id, title) {
  return {
    [`./${context}/resource/${id}`]: {
      [TITLE]: [{ type: 'literal', value: `Entry ${title}`, lang: 'en' }],
      [DESCRIPTION]: [{ type: 'literal', value: `What there is to say of it, in some more words: ${title}.` }],
      [TYPE]: [{ type: 'uri', value: 'http://example.org/Common' }],
    },
  }
}
