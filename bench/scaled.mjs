// The cost of each kind of request on each machine of a large installation: processor time of the node, of
// PostgreSQL and of Redis for one request, compared with everything in one process. Rates of several servers
// on one small machine would be meaningless, but processor time adds up on any machine. Needs the servers
// that `.ci/install-peers` installs.
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { cephGateway, startCephGateway } from '../test/support/peers/ceph-gateway.ts'
import { administer, ownPostgres, postgres, urlOf } from '../test/support/peers/postgres.ts'
import { redis, startRedis } from '../test/support/peers/redis.ts'
import { Client } from 'pg'
import { cpuOf, load, request } from './load.mjs'
import { ask, isQuick, loginOf, median, newContext, ROUND_MS, ROUNDS, signIn, startService } from './support.mjs'

const TITLE = 'What a request costs on many machines'
const USERS = isQuick ? 4 : 50
const FILLED = isQuick ? 20 : 1000
const JSON_TYPE = { 'content-type': 'application/json' }
const MS = isQuick ? ROUND_MS : 2 * ROUND_MS

export async function measure(say) {
  const missing = [postgres, redis, cephGateway].filter(peer => !peer.available()).map(({ name }) => name)
  if (missing.length > 0) {
    say(`left out: there is no ${missing.join(', no ')} here; see .ci/install-peers`)
    return { title: TITLE, rows: [], curves: [] }
  }
  // The gateway works all the time, on the processors of everything else: only what needs it is measured beside it.
  const withoutBucket = await measureWith(startEngines, say, async ({ services, engines }) => ({
    costs: await costsOf(requests, services, engines),
    curve: await curveOf(services, engines),
    sizes: await sizesOf(services.scaled, engines),
  }))
  const withBucket = await measureWith(startEnginesAndBucket, say, ({ services, engines }) =>
    costsOf(requestsForFiles, services, engines),
  )
  const { costs, curve, sizes } = withoutBucket
  return { title: TITLE, rows: [...[...costs, ...withBucket].flatMap(rowsOfCost), ...sizes], curves: [curve] }
}

/** Measures a node that uses these servers and a service that has everything in one process. */
async function measureWith(start, say, work) {
  const endings = []
  const after = end => void endings.unshift(end)
  try {
    const engines = await start({ after })
    const quota = { 'service.data.quota': 'on' }
    const one = await startService(quota)
    after(one.stop)
    const node = await startService({ ...quota, ...engines.settings }, { env: engines.env })
    after(node.stop)
    const services = { embedded: await prepare(one), scaled: await prepare(node) }
    say(`two services filled, one of them with ${engines.names}`)
    const result = await work({ services, engines })
    say('requests made')
    return result
  } finally {
    for (const end of endings) await end()
  }
}

async function startEnginesAndBucket(t) {
  const engines = await startEngines(t)
  const bucket = await startCephGateway(t)
  return {
    ...engines,
    names: `${engines.names} and a bucket`,
    env: { ...engines.env, ...bucket.env },
    settings: { ...engines.settings, 'service.data.store': `s3://${bucket.bucket}/bench` },
  }
}

async function startEngines(t) {
  const rows = await ownPostgres(t)
  await administer(rows, 'CREATE DATABASE stowage')
  const logins = await startRedis(t)
  const redisPid = Number(/process_id:(\d+)/.exec(await logins.cli('INFO', 'server'))[1])
  return {
    rows,
    logins,
    names: 'PostgreSQL and Redis',
    env: { SERVICE_AUTH_TOKEN_KEY: randomBytes(32).toString('base64') },
    settings: {
      'service.repository.store.url': urlOf(rows, 'stowage'),
      'service.cluster.redis.url': logins.url,
      'service.auth.token.store': 'redis',
    },
    /** The processor time so far, in seconds; every connection to PostgreSQL is a process. */
    async used() {
      const children = await readFile(`/proc/${rows.pid}/task/${rows.pid}/children`, 'utf8')
      const backends = [rows.pid, ...children.trim().split(' ').map(Number)]
      return { postgres: sum(backends.map(pid => tryCpu(pid))), redis: cpuOf(redisPid) }
    },
  }
}

async function prepare(service) {
  const headers = await signIn(service)
  for (let n = 0; n < USERS; n++) {
    const resource = { name: `user${n}`, password: service.password }
    await ask(service, headers, 'POST', '_principals?graphtype=user', { resource })
  }
  const context = await newContext(service, headers)
  const create = title =>
    ask(service, headers, 'POST', context, {
      metadata: {
        [`${service.base}${context}/resource/_newId`]: {
          'http://purl.org/dc/terms/title': [{ type: 'literal', value: title }],
        },
      },
    })
  const ids = []
  for (let n = 0; n < FILLED; n++) ids.push(JSON.parse(await create(`Entry number ${n}`)).entryId)
  return { service, headers, context, ids }
}

/** The requests, each as bytes to send and the expected status. */
const requests = {
  'signing in': () => {
    let turn = 0
    return { next: () => loginOf(`user${turn++ % USERS}`), status: 200 }
  },
  'who am I': ({ headers }) => always(request('GET', '/auth/user', headers)),
  'an entry with its metadata': ({ headers, context, ids }) => {
    const all = ids.map(id => request('GET', `/${context}/entry/${id}?includeAll`, headers))
    let turn = 0
    return { next: () => all[turn++ % all.length], status: 200 }
  },
  'a search for one of many words': ({ headers }) =>
    always(request('GET', '/search?type=solr&query=title%3Anumber&limit=20', headers)),
  'creating an entry': ({ service, headers, context }) => {
    const resource = `${service.base}${context}/resource/_newId`
    const metadata = { [resource]: { 'http://purl.org/dc/terms/title': [{ type: 'literal', value: 'New' }] } }
    return always(request('POST', `/${context}`, { ...JSON_TYPE, ...headers }, JSON.stringify({ metadata })), 201)
  },
}

const requestsForFiles = {
  'a file of 1 KiB': ({ headers, context, ids }) => {
    const type = { 'content-type': 'application/octet-stream' }
    const all = ids.map(id => request('PUT', `/${context}/resource/${id}`, { ...type, ...headers }, randomBytes(1024)))
    let turn = 0
    return { next: () => all[turn++ % all.length], status: undefined }
  },
}

/** These are cached on a node; requests at the same time share the question whether that is still valid. */
const READS = ['who am I', 'an entry with its metadata']
const CONNECTIONS = isQuick ? [1, 8] : [1, 4, 16, 64]

async function curveOf(services, engines) {
  const series = []
  for (const name of READS) {
    const points = []
    for (const connections of CONNECTIONS) {
      const { node, embedded } = await costOf(name, requests[name], services, engines, connections)
      points.push([connections, node / embedded])
    }
    series.push({ name, points })
  }
  const title = 'Processor time of a read on a node : in one process, as connections grow'
  return { name: 'scaled', title, x: 'connections', series }
}

const always = (bytes, status = 200) => ({ next: () => bytes, status })

async function costsOf(requests, services, engines) {
  const costs = []
  for (const [what, make] of Object.entries(requests)) costs.push(await costOf(what, make, services, engines))
  return costs
}

async function costOf(what, make, { embedded, scaled }, engines, connections = 16) {
  const ways = { embedded: make(embedded), scaled: make(scaled) }
  const rounds = []
  for (let round = 0; round <= ROUNDS; round++) {
    const one = await load(embedded.service, ways.embedded.next, {
      ms: MS,
      connections,
      status: ways.embedded.status,
    })
    const before = await engines.used()
    const many = await load(scaled.service, ways.scaled.next, { ms: MS, connections, status: ways.scaled.status })
    const after = await engines.used()
    const each = engine => ((after[engine] - before[engine]) * 1e6) / many.count
    if (round > 0) rounds.push({ embedded: one.cpu, node: many.cpu, postgres: each('postgres'), redis: each('redis') })
  }
  const of = machine => median(rounds.map(round => round[machine]))
  return { what, embedded: of('embedded'), node: of('node'), postgres: of('postgres'), redis: of('redis') }
}

const rowsOfCost = ({ what, embedded, node, postgres, redis }) => [
  {
    what: `${what}: processor time on a node : in one process`,
    value: node / embedded,
    unit: 'ratio',
    ...(READS.includes(what) ? { goal: { most: 1.5 } } : {}),
    note: `node ${us(node)}, PostgreSQL ${us(postgres)}, Redis ${us(redis)}; in one process ${us(embedded)}`,
  },
]

const us = value => (value >= 1000 ? `${(value / 1000).toFixed(1)} ms` : `${Math.round(value)} µs`)

/** The stored size of each. */
async function sizesOf({ service, headers, context }, { rows, logins }) {
  const database = new Client({ connectionString: urlOf(rows, 'stowage') })
  await database.connect()
  const stored = async () => {
    await database.query('VACUUM')
    return Number((await database.query("SELECT pg_database_size('stowage') AS size")).rows[0].size)
  }
  const memory = async () => Number(/used_memory:(\d+)/.exec(await logins.cli('INFO', 'memory'))[1])
  const body = JSON.stringify({
    metadata: {
      [`${service.base}${context}/resource/_newId`]: {
        'http://purl.org/dc/terms/title': [
          { type: 'literal', value: 'An entry as large as most, with a title of its own' },
        ],
        'http://purl.org/dc/terms/description': [{ type: 'literal', value: 'Some more words about it. '.repeat(8) }],
      },
    },
  })
  const create = request('POST', `/${context}`, { ...JSON_TYPE, ...headers }, body)
  const before = await stored()
  const made = await load(service, () => create, { ms: isQuick ? 500 : 10_000, connections: 16, status: 201 })
  const entry = ((await stored()) - before) / made.count
  await database.end()
  const empty = await memory()
  let turn = 0
  const signedIn = await load(service, () => loginOf(`user${turn++ % USERS}`), {
    ms: isQuick ? 500 : 5000,
    connections: 8,
  })
  const login = ((await memory()) - empty) / signedIn.count
  return [
    {
      what: 'rows and indexes of an entry with 250 characters of metadata, in PostgreSQL',
      value: entry / 1024,
      unit: 'KiB',
    },
    { what: 'a login in Redis', value: login, unit: 'B' },
  ]
}

const sum = numbers => numbers.reduce((all, one) => all + one, 0)

/** A process that has ended counts as zero. */
function tryCpu(pid) {
  try {
    return cpuOf(pid)
  } catch {
    return 0
  }
}
