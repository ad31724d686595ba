// `node bench/search.mjs` after `npm run build`: the first page of a search over 1 000 and over 100 000 entries, each
// query for an administrator and for a user, medians in milliseconds. The ratio counts; absolute times depend on the machine.
import { guestFrom } from '../dist/accounts/caller.js'
import { newEntry } from '../dist/content/entry.js'
import { insertEntry } from '../dist/content/entry-records.js'
import { Search } from '../dist/content/search.js'
import { parseQuery } from '../dist/content/search-query.js'
import { migrate } from '../dist/stores/migrations.js'
import { schema } from '../dist/stores/schema.js'
import { openSqliteDatabase } from '../dist/stores/sqlite-database.js'
import { sql } from '../dist/stores/sql.js'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const SIZES = [1000, 100_000]
const ROUNDS = 21
const CONTEXTS = 20
const TITLE = 'http://purl.org/dc/terms/title'
const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'
const DESCRIPTION = 'http://purl.org/dc/terms/description'

const queries = {
  'one word, 20 hits': 'title:quokka',
  'two characters, 20 hits': 'title:qu*',
  'whole word, 20 hits': 'all:quokka',
  'word and common type': 'title:quokka AND rdfType:http\\://example.org/Common',
  'word in a context': 'title:quokka AND context:./0',
  'two words with OR': 'title:quokka OR title:wombat',
  'common type: every entry': 'rdfType:http\\://example.org/Common',
  'common word: every entry': 'title:entry',
  public: 'public:true AND graphType:None',
}

const admin = { ...guestFrom({ address: '', userAgent: '' }) }
admin.user = { ...admin.user, id: '_admin' }
const user = { ...admin, user: { ...admin.user, id: '7' }, groups: new Set(['20']) }

const results = []
for (const size of SIZES) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  try {
    results.push(await measure(join(folder, 'store.sqlite'), size))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
for (const [name, small] of Object.entries(results[0])) {
  const large = results[1][name]
  console.log(`${name.padEnd(40)} ${small.toFixed(2)} ms  ${large.toFixed(2)} ms  x ${(large / small).toFixed(1)}`)
}

async function measure(file, size) {
  const database = await openSqliteDatabase(file)
  await migrate(database, schema)
  await fill(database, size)
  const search = new Search(database)
  const times = {}
  for (const [name, text] of Object.entries(queries)) {
    for (const [who, caller] of Object.entries({ admin, user })) {
      const facets = { fields: [], minCount: 1, limit: 100, missing: false, matches: undefined }
      const request = { filters: [], limit: 50, offset: 0, order: [], facets, inside: iri => iri }
      const taken = []
      let total = 0
      for (let round = 0; round < ROUNDS; round++) {
        const begun = performance.now()
        total = (await search.find(caller, { ...request, query: parseQuery(text) })).total
        taken.push(performance.now() - begun)
      }
      taken.sort((a, b) => a - b)
      times[`${name}, ${who}`] = taken[ROUNDS >> 1]
      console.error(`${size}: ${name}, ${who}: ${total} hits, ${taken[ROUNDS >> 1].toFixed(2)} ms`)
    }
  }
  await database.close()
  return times
}

async function fill(database, size) {
  const by = '_admin'
  const begun = performance.now()
  await database.transaction(async tx => {
    for (let n = 0; n < CONTEXTS; n++) {
      const acl = n % 2 === 0 ? { rread: ['./_principals/resource/20'] } : { rread: ['./_principals/resource/_guest'] }
      await tx.run(sql`INSERT INTO contexts (id, name) VALUES (${String(n)}, NULL)`)
      if (n === 0) await tx.run(sql`INSERT INTO contexts (id, name) VALUES ('_contexts', NULL)`)
      await insertEntry(tx, newEntry({ context: '_contexts', id: String(n), graphType: 'Context', by, now: n, acl }))
    }
  })
  for (let from = 0; from < size; from += 1000) {
    await database.transaction(async tx => {
      for (let n = from; n < from + 1000; n++) {
        const word = n % (size / 20) === 0 ? 'quokka' : n % (size / 20) === 1 ? 'wombat' : `word${n % 997}`
        const [context, id] = [String(n % CONTEXTS), String(n)]
        const metadata = {
          [`./${context}/resource/${id}`]: {
            [TITLE]: [{ type: 'literal', value: `Entry about ${word} number ${n}`, lang: 'en' }],
            [DESCRIPTION]: [
              { type: 'literal', value: `What there is to say of ${word}, in some more words: ${n * 7919}.` },
            ],
            [TYPE]: [{ type: 'uri', value: 'http://example.org/Common' }],
          },
        }
        const acl = n % 5 === 0 ? { mread: ['./_principals/resource/7'] } : {}
        await insertEntry(tx, newEntry({ context, id, by, now: n, acl, metadata }))
      }
    })
  }
  console.error(`${size} entries written in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
}
