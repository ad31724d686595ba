// A large store, from an import to a restore: `npm run bench -- million --entries 1000000`, by default 20,000 entries. `--postgres` keeps
// the rows in PostgreSQL. Disk: about 40 kB for each entry.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import { load, request } from './load.mjs'
import { searchesOf } from './million/searches.mjs'
import { CONTEXTS, LARGE_FOLDER, MEMBER, USERS, writeSource } from './million/source.mjs'
import { countEntries, countIndexed, emptyIndex, newStore, sizeOf, startEngine, timeOf } from './million/store.mjs'
import {
  ask,
  interleave,
  isQuick,
  median,
  medianOf,
  memoryOf,
  newContext,
  ratioOf,
  signIn,
  startService,
} from './support.mjs'

const { values: options } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: { entries: { type: 'string' }, postgres: { type: 'boolean', default: false } },
})
const ENTRIES = Number(options.entries ?? (isQuick ? 1000 : 20_000))
const TITLE = 'http://purl.org/dc/terms/title'
const JSON_TYPE = { 'content-type': 'application/json' }
const ROUNDS = isQuick ? 1 : 5
const MS = isQuick ? 100 : 1000
/** How long the index is filled beside readers, and at most without them. */
const BESIDE_MS = isQuick ? 200 : 5000
const ALONE_MS = 180_000

export async function measure(say) {
  const parent = await mkdtemp(join(tmpdir(), 'stowage-million-'))
  const endings = [() => rm(parent, { recursive: true, force: true })]
  const after = end => void endings.unshift(end)
  const rows = []
  const note = (what, value, unit, goal, note) => {
    rows.push({ what, value, unit, ...(goal ? { goal } : {}), ...(note === undefined ? {} : { note }) })
    say(`${what}: ${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`)
  }
  try {
    const server = await startEngine(options.postgres, after)
    const at = name => newStore(join(parent, name), server, name)
    const source = join(parent, 'source')
    const { quads } = await writeSource(source, ENTRIES)
    const store = await at('data')
    const run = { store, note, at, after, backup: join(parent, 'backup') }
    await measureImport(run, source, quads)
    await rm(source, { recursive: true })
    await measureService(run)
    await measureFilling(run)
    await measureCopies(run)
  } finally {
    for (const end of endings) await end()
  }
  const engine = options.postgres ? 'PostgreSQL' : 'SQLite'
  return { title: `${ENTRIES.toLocaleString('en')} entries on ${engine}`, rows }
}

async function measureImport({ store, note }, source, quads) {
  const { seconds, memory, cpu } = await timeOf(store, 'import', 'entrystore', source)
  const entries = await countEntries(store)
  const goal = { most: (ENTRIES * 45 * 60) / 1e6 }
  note('import with index', seconds, 's', goal, `${quads} statements, ${cpu.toFixed(0)} s of processor time`)
  note('most memory of the import', memory / 1e6, 'MB', { most: 500 })
  note('part of the entries in the index after it', (await countIndexed(store)) / entries, '', { least: 1 })
  note('database for each entry', (await sizeOf(store)) / entries / 1000, 'kB', { most: 6 })
}

async function measureService({ store, note, at }) {
  const service = await startService(store.settings, { folder: store.folder })
  let empty
  try {
    await ask(service, {}, 'GET', 'auth/user')
    note('start to first response', performance.now() - service.begun, 'ms', { most: 2000 })
    const callers = { guest: {}, admin: await signIn(service), member: await signIn(service, MEMBER) }
    note('memory after the start', (await memoryOf(service.pid)).now / 1e6, 'MB', { most: 200 })
    await shareFolders(service, callers.admin)
    await measureSearches(service, callers, note)
    await measureLists(service, callers.admin, note)
    const other = await at('empty')
    empty = await startService(other.settings, { folder: other.folder })
    await measureOperations(service, empty, note)
    note('memory after all that', (await memoryOf(service.pid)).now / 1e6, 'MB')
  } finally {
    await empty?.stop()
    await service.stop()
  }
}

/** Some folders give access to what is in them: alone, to users and to a group. */
async function shareFolders(service, headers) {
  const ES = 'http://entrystore.org/terms/'
  const named = id => ({ type: 'uri', value: `${service.base}_principals/resource/${id}` })
  for (const [id, reader] of [
    ['1', '_guest'],
    ['2', '_users'],
    ['3', '1'],
  ]) {
    const resource = { [`${ES}read`]: ['_folder', reader].map(named) }
    await ask(service, headers, 'PUT', `2/entry/${id}`, { [`${service.base}2/resource/${id}`]: resource })
  }
}

/** Each search for the first time, and the median of three again; with the slowest ten. */
async function measureSearches(service, callers, note) {
  const timed = async ({ path, who }) => {
    const begun = performance.now()
    const { results } = JSON.parse(await ask(service, callers[who], 'GET', path))
    return { ms: performance.now() - begun, results }
  }
  // The first requests wait for the threads that search, and for the compiler.
  for (const who of Object.keys(callers)) {
    for (let n = 0; n < 20; n++) await timed({ path: `search?type=solr&query=title:unheard${n}`, who })
  }
  const found = []
  for (const search of searchesOf(service.base)) {
    const first = await timed(search)
    const again = []
    for (let n = 0; n < 3; n++) again.push((await timed(search)).ms)
    found.push({ ...search, results: first.results, first: first.ms, again: median(again) })
  }
  found.sort((a, b) => b.first - a.first)
  const [slowest] = found
  note(`slowest of ${found.length} kinds of search, first use`, slowest.first, 'ms', { most: 400 }, slowest.what)
  const again = Math.max(...found.map(({ again }) => again))
  note('slowest of the same searches again', again, 'ms', { most: 30 }, found.find(one => one.again === again).what)
  for (const { what, first, again, results } of found.slice(0, 10))
    note(`search: ${what}`, first, 'ms', { most: 400 }, `${results} hits; again ${again.toFixed(1)} ms`)
}

/** Medians of five. */
async function measureLists(service, headers, note) {
  const { context, id } = LARGE_FOLDER
  const folder = offset => `${context}/entry/${id}?includeAll&limit=50&offset=${offset}`
  const members = Math.ceil(ENTRIES / 20)
  const paths = {
    [`folder with ${members} members, first page`]: folder(0),
    'folder, last page': folder(Math.max(0, members - 50)),
    'folder by title, first page': `${folder(0)}&sort=title`,
    'folder by title, last page': `${folder(Math.max(0, members - 50))}&sort=title`,
    'folder by change, last page': `${folder(Math.max(0, members - 50))}&sort=modified`,
    [`list of ${CONTEXTS} contexts`]: '_contexts/entry/_contexts?includeAll&limit=50',
    [`list of ${USERS} users`]: '_contexts/entry/_principals?includeAll&limit=50',
    'contexts that a user can write to': 'auth/user/contexts?limit=50',
  }
  for (const [what, path] of Object.entries(paths)) {
    const times = []
    for (let n = 0; n < 6; n++) {
      const begun = performance.now()
      await ask(service, headers, 'GET', path)
      if (n > 0) times.push(performance.now() - begun)
    }
    note(what, median(times), 'ms', { most: 50 })
  }
}

/** The same requests to this store and to an empty one, in turn. */
async function measureOperations(service, empty, note) {
  const work = {}
  const services = { large: service, empty }
  for (const [name, one] of Object.entries(services)) {
    for (const [what, { next, ...expected }] of Object.entries(await operationsOf(one)))
      work[`${what} ${name}`] = () => load(one, next, { ms: MS, connections: 16, ...expected })
  }
  const results = await interleave(ROUNDS, work, { warmUp: isQuick ? 0 : 3 })
  for (const what of ['entry', 'metadata', 'creation', 'upload']) {
    const [large, small] = ['large', 'empty'].map(name => results[`${what} ${name}`])
    const rates = `${Math.round(medianOf(large))}/s : ${Math.round(medianOf(small))}/s`
    note(`${what} : the same in an empty store`, ratioOf(large, small), 'ratio', { least: 1 / 1.2 }, rates)
  }
}

async function operationsOf(service) {
  const headers = await signIn(service)
  const context = await newContext(service, headers)
  const describe = title =>
    JSON.stringify({
      metadata: { [`${service.base}${context}/resource/_newId`]: { [TITLE]: [{ type: 'literal', value: title }] } },
    })
  const ids = []
  for (let n = 0; n < 100; n++) {
    const answer = await ask(service, headers, 'POST', context, JSON.parse(describe(`Entry ${n}`)))
    ids.push(JSON.parse(answer).entryId)
  }
  let turn = 0
  const each = make => () => make(ids[turn++ % ids.length])
  const create = request('POST', `/${context}`, { ...JSON_TYPE, ...headers }, describe('New'))
  const bytes = { 'content-type': 'application/octet-stream' }
  return {
    entry: { next: each(id => request('GET', `/${context}/entry/${id}?includeAll`, headers)) },
    metadata: {
      next: each(id => request('GET', `/${context}/metadata/${id}`, { accept: 'application/json', ...headers })),
    },
    creation: { next: () => create, status: 201 },
    upload: {
      next: each(id =>
        request('PUT', `/${context}/resource/${id}`, { ...bytes, ...headers }, Buffer.alloc(1024, turn)),
      ),
      status: undefined,
    },
  }
}

/** Changes the metadata of one entry in a hundred. */
async function change(service, headers) {
  const { results, resource } = JSON.parse(
    await ask(service, headers, 'GET', 'search?type=solr&query=graphType:None&sort=created+asc&limit=100'),
  )
  const places = resource.children.map(({ contextId, entryId }) => [contextId, entryId])
  const wanted = Math.ceil(ENTRIES / 100)
  for (let offset = 100; places.length < Math.min(wanted, results); offset += 100) {
    const path = `search?type=solr&query=graphType:None&sort=created+asc&limit=100&offset=${offset}`
    const more = JSON.parse(await ask(service, headers, 'GET', path))
    if (more.resource.children.length === 0) break
    for (const { contextId, entryId } of more.resource.children) places.push([contextId, entryId])
  }
  for (const [context, id] of places.slice(0, wanted)) {
    const about = `${service.base}${context}/resource/${id}`
    await ask(service, headers, 'PUT', `${context}/metadata/${id}`, {
      [about]: { [TITLE]: [{ type: 'literal', value: `Changed ${id}` }] },
    })
  }
}

/** The service fills the index of a store without one: beside readers first, then alone. */
async function measureFilling({ store, note }) {
  const entries = await countEntries(store)
  const quiet = await startService(store.settings, { folder: store.folder })
  const read = async service => {
    const next = () => request('GET', '/1/entry/2?includeAll', headers)
    const headers = await signIn(service)
    return await load(service, next, { ms: BESIDE_MS, connections: 4 })
  }
  await read(quiet)
  const before = await read(quiet)
  await quiet.stop()
  await emptyIndex(store)
  const service = await startService(store.settings, { folder: store.folder })
  try {
    // As before: the first reads wait for the threads that read, and for the compiler.
    await read(service)
    const beside = await read(service)
    note(
      '99th percentile of reads beside filling the index : without',
      beside.p99 / before.p99,
      'ratio',
      { most: 2 },
      `${beside.p99.toFixed(1)} ms : ${before.p99.toFixed(1)} ms`,
    )
    const from = await countIndexed(store)
    const begun = performance.now()
    let now = from
    while (now < entries && performance.now() < begun + ALONE_MS) {
      await delay(200)
      now = await countIndexed(store)
    }
    if (now > from)
      note(
        'filling the index of a store without one, alone',
        ((now - from) * 1000) / (performance.now() - begun),
        '/s',
        { least: 1500 },
        `${now - from} entries`,
      )
  } finally {
    await service.stop()
  }
}

async function measureCopies({ store, note, at, backup }) {
  const seconds = async (what, ...args) => note(what, (await timeOf(...args)).seconds, 's')
  await seconds('backup', store, 'backup', backup)
  const service = await startService(store.settings, { folder: store.folder })
  try {
    await change(service, await signIn(service))
  } finally {
    await service.stop()
  }
  await seconds('backup again with 1 % of the entries changed', store, 'backup', backup)
  const restored = await at('restored')
  await seconds('restore', restored, 'restore', backup)
  await seconds('fsck', restored, 'fsck')
}
