// Entries: reading one and its metadata, compared with a bare `node:http` response of the same bytes; the same
// reads beside writes; creating one, compared with bare commits of a row by the same engine with the same
// settings; and each operation as its context and its list grow.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { newEntry } from '../src/model/entry.ts'
import { insertEntry } from './entries-in-store.mjs'
import { openSqliteDatabase } from '../src/stores/sqlite/sqlite-database.ts'
import { sql } from '../src/stores/sql.ts'
import { cpuOf, load, request, writeBeside } from './load.mjs'
import {
  ask,
  cpuEach,
  interleave,
  isQuick,
  median,
  medianOf,
  newContext,
  ratioOf,
  ROUND_MS,
  ROUNDS,
  signIn,
  sizesUpTo,
  startBare,
  startService,
  WARM_UP,
} from './support.mjs'

const SIZES = sizesUpTo(100_000)
const OPERATIONS = isQuick ? 3 : 40
const TITLE = 'http://purl.org/dc/terms/title'
const JSON_TYPE = { 'content-type': 'application/json' }
/** Writes per second beside which the reads are repeated. */
const WRITES = [5, 50, 200]

export async function measure(say) {
  const service = await startService({ 'service.data.quota': 'off' })
  try {
    const headers = await signIn(service)
    const contexts = []
    for (const size of SIZES) contexts.push(await makeContext(service, headers, size))
    say('contexts filled')
    const rates = await measureRates(service, headers, contexts)
    say('read and created')
    const beside = await measureBeside(service, headers, contexts)
    say('read beside writes')
    const times = await measureSizes(service, headers, contexts)
    return {
      title: 'Entries and lists',
      rows: [...rowsOfRates(rates, say), ...rowsOfBeside(beside, say), ...rowsOfTimes(times)],
      curves: [...curves(rates, times), curveOfBeside(beside)],
    }
  } finally {
    await service.stop()
  }
}

/** Makes a context whose list contains this many entries, written directly to the store. */
async function makeContext(service, headers, size) {
  const id = await newContext(service, headers)
  const list = JSON.parse(await ask(service, headers, 'POST', `${id}?graphtype=list&id=list`, {})).entryId
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

function metadataOf(context, id, base = './', state = '') {
  const title = { type: 'literal', value: `Entry ${id} of context ${context}${state}`, lang: 'en' }
  return { [`${base}${context}/resource/${id}`]: { [TITLE]: [title] } }
}

/** In each context: parallel reads and creations, alternating with their bare counterparts. */
async function measureRates(service, headers, contexts) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const json = await ask(service, headers, 'GET', `${contexts[0].id}/entry/1?includeAll`)
  const bareJson = await startBare('json', json)
  const bareMetadata = await startBare(
    'json',
    await ask(service, headers, 'GET', `${contexts[0].id}/metadata/1?format=application/json`),
  )
  const bareCommit = await startBare('commit', join(folder, 'bare.sqlite'))
  const title = [{ type: 'literal', value: 'New' }]
  const creation = ({ id }) =>
    request(
      'POST',
      `/${id}`,
      { ...JSON_TYPE, ...headers },
      JSON.stringify({
        metadata: { [`${service.base}${id}/resource/_newId`]: { [TITLE]: title } },
      }),
    )
  const plain = request('GET', '/')
  const work = {
    bareRead: () => load(bareJson, () => plain, { ms: ROUND_MS, awake: true }),
    bareMetadata: () => load(bareMetadata, () => plain, { ms: ROUND_MS, awake: true }),
    bareCommit: () => load(bareCommit, () => plain, { ms: ROUND_MS, connections: 16 }),
  }
  for (const context of contexts) {
    const body = creation(context)
    const { entry, metadata } = readsOf(context, headers)
    work[`read ${context.size}`] = () => load(service, entry, { ms: ROUND_MS, awake: true })
    work[`metadata ${context.size}`] = () => load(service, metadata, { ms: ROUND_MS, awake: true })
    work[`create ${context.size}`] = () => load(service, () => body, { ms: ROUND_MS, connections: 16, status: 201 })
  }
  const [smallest] = contexts
  const early = ['read', 'metadata', 'create'].map(name => [name, work[`${name} ${smallest.size}`]])
  await interleave(0, Object.fromEntries(early), { warmUp: WARM_UP })
  const results = await interleave(ROUNDS, work, { warmUp: 3 })
  await bareJson.stop()
  await bareMetadata.stop()
  await bareCommit.stop()
  await rm(folder, { recursive: true, force: true })
  return results
}

/** Requests for one entry after another: each with all that belongs to it, and its metadata as RDF/JSON. */
function readsOf({ id, size }, headers) {
  let turn = 0
  const next = () => 1 + ((turn++ * 7919) % size)
  return {
    entry: () => request('GET', `/${id}/entry/${next()}?includeAll`, headers),
    metadata: () => request('GET', `/${id}/metadata/${next()}`, { accept: 'application/json', ...headers }),
  }
}

/**
 * Measures reads in the smallest context alternately alone and during writes to another context, and 50 writes per second alone for their
 * CPU time. Some thousands of writes warm up the service first; otherwise it would still be compiling their code path.
 */
async function measureBeside(service, headers, [read, written]) {
  const { entry, metadata } = readsOf(read, headers)
  const user = request('GET', '/auth/user', headers)
  const reads = { 'GET /auth/user': () => user, 'GET entry?includeAll': entry, 'GET metadata': metadata }
  let turn = 0
  const write = () => {
    const id = 1 + (turn++ % written.size)
    const body = JSON.stringify(metadataOf(written.id, id, service.base, `, state ${turn}`))
    return request('PUT', `/${written.id}/metadata/${id}`, { ...JSON_TYPE, ...headers }, body)
  }
  const work = {
    writes: async () => {
      const before = cpuOf(service.pid)
      const end = writeBeside(service, write, 50)
      await setTimeout(ROUND_MS)
      const count = await end()
      return { cpu: ((cpuOf(service.pid) - before) * 1e6) / count }
    },
  }
  for (const [name, next] of Object.entries(reads)) {
    for (const perSecond of [0, ...WRITES]) {
      work[`${name} ${perSecond}`] = async () => {
        const end = writeBeside(service, write, perSecond)
        const result = await load(service, next, { ms: ROUND_MS, awake: true })
        return { ...result, writes: await end() }
      }
    }
  }
  const puts = () => load(service, write, { ms: ROUND_MS, connections: 16, status: undefined })
  await interleave(0, { puts }, { warmUp: WARM_UP })
  return { names: Object.keys(reads), results: await interleave(ROUNDS, work, { warmUp: 1 }) }
}

function rowsOfBeside({ names, results }) {
  const ofWrite = medianOf(results.writes, cpuEach)
  /** Of each read, without that of the writes. */
  const net = ({ cpu, count, writes }) => cpu - (writes * ofWrite) / count
  return [
    ...names.flatMap(name => {
      const [alone, beside] = [results[`${name} 0`], results[`${name} 50`]]
      return [
        {
          what: `${name} beside 50 writes per second : without writes`,
          value: ratioOf(beside, alone),
          unit: 'ratio',
          goal: { least: 0.9 },
          note: `${Math.round(medianOf(beside))}/s : ${Math.round(medianOf(alone))}/s`,
        },
        {
          what: `processor time of ${name} without writes : beside 50 per second, less that of the writes`,
          value: ratioOf(alone, beside, net),
          unit: 'ratio',
          note: `${medianOf(alone, net).toFixed(0)} µs : ${medianOf(beside, net).toFixed(0)} µs`,
        },
      ]
    }),
    { what: 'processor time of one of those writes, alone', value: ofWrite / 1000, unit: 'ms' },
  ]
}

const curveOfBeside = ({ names, results }) => ({
  name: 'beside-writes',
  title: 'Rates of reads in relation to those without writes',
  x: 'writes per second',
  series: names.map(name => ({
    name,
    points: WRITES.map(perSecond => [perSecond, ratioOf(results[`${name} ${perSecond}`], results[`${name} 0`])]),
  })),
})

function rowsOfRates(rates, say) {
  const row = (what, own, bare, least) => ({
    what,
    value: ratioOf(rates[own], rates[bare]),
    unit: 'ratio',
    goal: { least },
    note: `${say.rate(medianOf(rates[own]))} : ${say.rate(medianOf(rates[bare]))}`,
  })
  const cpuRow = (what, own, bare, least) => ({
    what,
    value: ratioOf(rates[bare], rates[own], cpuEach),
    unit: 'ratio',
    goal: { least },
    note: `${medianOf(rates[bare], cpuEach).toFixed(0)} µs : ${medianOf(rates[own], cpuEach).toFixed(0)} µs`,
  })
  const [smallest, largest] = [SIZES[0], SIZES.at(-1)]
  return [
    cpuRow('processor time of a bare answer : of reading with `includeAll`', `read ${smallest}`, 'bareRead', 0.4),
    cpuRow('processor time of a bare answer : of metadata as RDF/JSON', `metadata ${smallest}`, 'bareMetadata', 0.45),
    row('reading with `includeAll` : bare `node:http` with the same JSON', `read ${smallest}`, 'bareRead', 0.1),
    row('creating : bare commits of one row', `create ${smallest}`, 'bareCommit', 0.5),
    row('reading among 10⁵ entries : among 100', `read ${largest}`, `read ${smallest}`, 0.67),
    row('creating among 10⁵ entries : among 100', `create ${largest}`, `create ${smallest}`, 0.67),
  ]
}

/** The time of single operations in each context. */
async function measureSizes(service, headers, contexts) {
  const times = {}
  for (let round = 0; round < Math.min(3, ROUNDS); round++) {
    for (const { id, list, size } of contexts) {
      for (const [name, work] of Object.entries(operations(service, headers, { id, list }))) {
        const begun = performance.now()
        for (let n = 0; n < OPERATIONS; n++) await work(n)
        times[name] ??= Object.fromEntries(contexts.map(({ size }) => [size, []]))
        times[name][size].push((performance.now() - begun) / OPERATIONS)
      }
    }
  }
  return times
}

function operations(service, headers, { id, list }) {
  const [made, added] = [[], []]
  const act = (method, path, body) => ask(service, headers, method, path, body)
  const all = `${service.base}${id}/resource/${list}`
  return {
    'putting metadata': n => act('PUT', `${id}/metadata/${n + 1}`, {}),
    creating: async () => made.push(JSON.parse(await act('POST', id, {})).entryId),
    deleting: n => act('DELETE', `${id}/entry/${String(made[n])}`),
    'adding to a list': async () => added.push(JSON.parse(await act('POST', `${id}?list=${all}`, {})).entryId),
    'deleting from a list': n => act('DELETE', `${id}/entry/${String(added[n])}`),
    'page of a list': n => act('GET', `${id}/entry/${list}?includeAll&limit=20&offset=${n}`),
  }
}

function rowsOfTimes(times) {
  return Object.entries(times).map(([name, bySize]) => {
    const [small, large] = [bySize[SIZES[0]], bySize[SIZES.at(-1)]]
    return {
      what: `time of ${name}, 10⁵ entries : 100`,
      value: median(large.map((time, round) => time / small[round])),
      unit: 'ratio',
      goal: { most: 1.5 },
      note: `${median(large).toFixed(2)} ms : ${median(small).toFixed(2)} ms`,
    }
  })
}

const curves = (rates, times) => [
  {
    name: 'entries',
    title: 'Entries in relation to bare counterparts, as their context grows',
    x: 'entries in the context and its list',
    series: [
      { name: 'read : bare JSON', points: SIZES.map(size => [size, ratioOf(rates[`read ${size}`], rates.bareRead)]) },
      {
        name: 'metadata : bare JSON',
        points: SIZES.map(size => [size, ratioOf(rates[`metadata ${size}`], rates.bareMetadata)]),
      },
      {
        name: 'created : bare commits',
        points: SIZES.map(size => [size, ratioOf(rates[`create ${size}`], rates.bareCommit)]),
      },
    ],
  },
  {
    name: 'operations',
    title: 'Milliseconds of each operation, as its context grows',
    x: 'entries in the context and its list',
    series: Object.entries(times).map(([name, bySize]) => ({
      name,
      points: SIZES.map(size => [size, median(bySize[size])]),
    })),
  },
]
