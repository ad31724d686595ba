// `npm run bench`: reading an entry with `includeAll` against a bare `node:http` JSON answer of the same bytes, creating one
// against commits of a single row with the same engine and settings, and each operation on an entry in a context of 100 000
// entries (all in one list) against one of 100. Figures are ratios inside one run, rounds interleaved.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Pool } from 'undici'
import { newEntry } from '../dist/content/entry.js'
import { insertEntry } from '../dist/content/entry-records.js'
import { openSqliteDatabase } from '../dist/stores/sqlite-database.js'
import { sql } from '../dist/stores/sql.js'
import { median, signIn, startService } from './support.mjs'

const ROUNDS = 2
const ROUND_MS = 1000
const CONNECTIONS = 16
const OPERATIONS = 20
const SIZES = [100, 2000]
const TITLE = 'http://purl.org/dc/terms/title'

const service = await startService({ 'service.data.quota': 'off' })
try {
  const headers = await signIn(service)
  const pool = new Pool(service.base, { connections: CONNECTIONS })
  const client = { pool, headers: { ...headers, 'content-type': 'application/json' } }
  const contexts = []
  for (const size of SIZES) contexts.push(await makeContext(client, size))
  await measureReading(client, contexts[0])
  await measureCreating(client, contexts[0])
  await measureSizes(client, contexts)
  await pool.close()
} finally {
  await service.stop()
}

async function ask({ pool, headers }, method, path, body) {
  const request = { method, path: `/${path}`, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
  const answer = await pool.request(request)
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 300)}`)
  return text
}

/** A context whose list holds so many entries, which are written to the store directly. */
async function makeContext(client, size) {
  const id = JSON.parse(await ask(client, 'POST', '_contexts?graphtype=context', {})).entryId
  const list = JSON.parse(await ask(client, 'POST', `${id}?graphtype=list&id=list`, {})).entryId
  const database = await openSqliteDatabase(join(service.folder, 'store.sqlite'))
  for (let from = 1; from <= size; from += 1000) {
    await database.transaction(async tx => {
      for (let n = from; n < from + 1000 && n <= size; n++) {
        const metadata = metadataOf(id, n)
        await insertEntry(tx, newEntry({ context: id, id: String(n), by: '_admin', now: n, metadata }))
        await tx.run(
          sql`INSERT INTO list_members (context, member, list, position) VALUES (${id}, ${String(n)}, ${list}, ${n})`,
        )
      }
    })
  }
  await database.run(sql`UPDATE contexts SET last_number = ${size} WHERE id = ${id}`)
  await database.close()
  return { id, list, size }
}

function metadataOf(context, id) {
  const title = { type: 'literal', value: `Entry ${id} of context ${context}`, lang: 'en' }
  return { [`./${context}/resource/${id}`]: { [TITLE]: [title] } }
}

/** As many of these as fit into a round, one after another on each connection; per second. */
async function rate(work) {
  let done = 0
  const end = performance.now() + ROUND_MS
  const line = async () => {
    for (; performance.now() < end; done++) await work()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, line))
  return (done * 1000) / ROUND_MS
}

async function compare(what, goal, ours, bare) {
  const ratios = []
  await rate(ours)
  await rate(bare)
  for (let n = 1; n <= ROUNDS; n++) {
    const [own, other] = [await rate(ours), await rate(bare)]
    ratios.push(own / other)
    console.log(`round ${n}: ${Math.round(own)}/s against ${Math.round(other)}/s`)
  }
  console.log(`${what} = ${median(ratios).toFixed(2)} (median of ${ROUNDS} rounds, goal ${goal})`)
}

async function measureReading(client, { id }) {
  const path = `${id}/entry/1?includeAll`
  const json = await ask(client, 'GET', path)
  const program = `
    const value = ${json}
    require('node:http').createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(value))
    }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`
  const bare = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const port = await new Promise(resolve => createInterface(bare.stdout).once('line', resolve))
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS })
    const read = () => ask(client, 'GET', path)
    await compare('reading with includeAll : bare JSON', '0.10', read, () => ask({ pool, headers: {} }, 'GET', ''))
    await pool.close()
  } finally {
    bare.kill()
  }
}

async function measureCreating(client, { id }) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const database = await openSqliteDatabase(join(folder, 'bare.sqlite'))
  try {
    await database.run(sql`CREATE TABLE bare (id INTEGER PRIMARY KEY, value TEXT NOT NULL)`)
    const value = JSON.stringify(metadataOf(id, 1))
    const commit = () => database.run(sql`INSERT INTO bare (value) VALUES (${value})`)
    const body = {
      metadata: { [`${service.base}${id}/resource/_newId`]: { [TITLE]: [{ type: 'literal', value: 'New' }] } },
    }
    await compare('creating : bare commits', '0.30', () => ask(client, 'POST', id, body), commit)
  } finally {
    await database.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** The time of each operation, in the large context against the small one. */
async function measureSizes(client, contexts) {
  const times = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, { id, list }] of contexts.entries()) {
      const made = []
      const added = []
      const all = `${service.base}${id}/resource/${list}`
      const operations = {
        read: n => ask(client, 'GET', `${id}/entry/${n + 1}?includeAll`),
        create: async () => made.push(JSON.parse(await ask(client, 'POST', id, {})).entryId),
        'put metadata': n => ask(client, 'PUT', `${id}/metadata/${n + 1}`, {}),
        'list add': async () => added.push(JSON.parse(await ask(client, 'POST', `${id}?list=${all}`, {})).entryId),
        delete: n => ask(client, 'DELETE', `${id}/entry/${made[n]}`),
        'delete from list': n => ask(client, 'DELETE', `${id}/entry/${added[n]}`),
        'list page': n => ask(client, 'GET', `${id}/entry/${list}?includeAll&limit=20&offset=${n}`),
      }
      for (const [name, work] of Object.entries(operations)) {
        const begun = performance.now()
        for (let n = 0; n < OPERATIONS; n++) await work(n)
        times[name] ??= contexts.map(() => [])
        times[name][at].push((performance.now() - begun) / OPERATIONS)
      }
    }
  }
  for (const [name, [small, large]] of Object.entries(times)) {
    const ratio = median(large.map((time, round) => time / small[round]))
    const each = [small, large].map(taken => `${median(taken).toFixed(2)} ms`)
    console.log(`${name}, ${SIZES[1]} entries : ${SIZES[0]} = ${ratio.toFixed(2)} (${each[1]} : ${each[0]}, goal 1.5)`)
  }
}
