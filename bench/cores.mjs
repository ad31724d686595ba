// One machine, one and two processes of the service behind the shipped nginx, with PostgreSQL and Redis: responses per second of each
// kind of request, and the processor time that each part takes for one. Needs the servers that `.ci/install-peers` installs.
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nginx, startNginx } from '../test/support/peers/nginx.ts'
import { administer, ownPostgres, postgres, urlOf } from '../test/support/peers/postgres.ts'
import { freePort } from '../test/support/peers/peer-process.ts'
import { redis, startRedis } from '../test/support/peers/redis.ts'
import { cpuOf, load, request } from './load.mjs'
import {
  ask,
  interleave,
  isQuick,
  medianOf,
  newContext,
  ratioOf,
  ROUND_MS,
  ROUNDS,
  signIn,
  startService,
} from './support.mjs'

const TITLE = 'One machine with several processes'
const DCT = 'http://purl.org/dc/terms/title'
const ENTRIES = isQuick ? 20 : 1000
const CONNECTIONS = 32

export async function measure(say) {
  const missing = [postgres, redis, nginx].filter(peer => !peer.available()).map(({ name }) => name)
  if (missing.length > 0) {
    say(`left out: there is no ${missing.join(', no ')} here; see .ci/install-peers`)
    return { title: TITLE, rows: [], curves: [] }
  }
  const endings = []
  const t = { after: end => void endings.unshift(end) }
  try {
    const { places, headers, context, usedBy } = await startMachine(t)
    say('services started')
    const requests = await requestsOf(places['2 processes'], headers, context)
    const work = {}
    for (const [what, { next, ...expected }] of Object.entries(requests)) {
      for (const [name, place] of Object.entries(places))
        work[`${what}, ${name}`] = async () => {
          const before = await usedBy()
          const result = await load(place, next, { ms: 2 * ROUND_MS, connections: CONNECTIONS, ...expected })
          const after = await usedBy()
          const spent = Object.keys(after).map(part => [part, ((after[part] - before[part]) * 1e6) / result.count])
          return { ...result, spent: Object.fromEntries(spent) }
        }
    }
    const results = await interleave(ROUNDS, work, { warmUp: isQuick ? 0 : 4 })
    return { title: TITLE, rows: Object.keys(requests).map(what => rowOf(what, results)), curves: [] }
  } finally {
    for (const end of endings) await end()
  }
}

function rowOf(what, results) {
  const [one, two] = ['1 process', '2 processes'].map(name => results[`${what}, ${name}`])
  const spent = Object.keys(two[0].spent).map(
    part => `${part} ${Math.round(medianOf(two, ({ spent }) => spent[part]))} µs`,
  )
  return {
    what: `${what}: two processes : one`,
    value: ratioOf(two, one),
    unit: 'ratio',
    note: `${Math.round(medianOf(two))}/s : ${Math.round(medianOf(one))}/s; processor time of each with two: ${spent.join(', ')}`,
  }
}

/** Two nodes, and nginx before one and before both. */
async function startMachine(t) {
  const rows = await ownPostgres(t)
  await administer(rows, 'CREATE DATABASE stowage')
  const logins = await startRedis(t)
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const settings = {
    'service.repository.store.url': urlOf(rows, 'stowage'),
    'service.cluster.redis.url': logins.url,
    'service.auth.token.store': 'redis',
    'service.http.trusted-proxies.1': '127.0.0.1/32',
  }
  const env = { SERVICE_AUTH_TOKEN_KEY: randomBytes(32).toString('base64') }
  const nodes = []
  for (let count = 0; count < 2; count++) {
    const node = await startService(settings, { folder, env })
    t.after(node.stop)
    nodes.push(node)
  }
  const [first] = nodes
  const headers = await signIn(first)
  const context = await fill(first, headers)
  const places = {}
  for (const [name, behind] of Object.entries({ '1 process': [first], '2 processes': nodes })) {
    const port = await freePort()
    const ports = behind.map(({ base }) => Number(new URL(base).port))
    // The shipped configuration has three nodes: here the second is also the third, which gets nothing.
    const front = await startNginx(t, { nodes: [ports[0], ports.at(-1), ports.at(-1)], port })
    if (ports.length > 1) await front.withhold(2)
    places[name] = { base: `http://127.0.0.1:${port}/` }
  }
  const redisPid = Number(/process_id:(\d+)/.exec(await logins.cli('INFO', 'server'))[1])
  const usedBy = async () => ({
    nodes: nodes.reduce((sum, { pid }) => sum + cpuOf(pid), 0),
    PostgreSQL: await cpuOfAll(rows.pid),
    Redis: cpuOf(redisPid),
  })
  return { places, headers, context, usedBy }
}

/** Of a process and its children. */
async function cpuOfAll(pid) {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ')
  let sum = cpuOf(pid)
  for (const child of children.filter(Boolean)) {
    try {
      sum += cpuOf(Number(child))
    } catch {
      // It has ended.
    }
  }
  return sum
}

async function fill(service, headers) {
  const context = await newContext(service, headers)
  for (let n = 0; n < ENTRIES; n++) {
    const title = [{ type: 'literal', value: `Entry number ${n} of all` }]
    const metadata = { [`${service.base}${context}/resource/_newId`]: { [DCT]: title } }
    await ask(service, headers, 'POST', `${context}?id=e${n}`, { metadata })
  }
  return context
}

async function requestsOf({ base }, headers, context) {
  let turn = 0
  const id = () => `e${(turn++ * 7919) % ENTRIES}`
  const body = JSON.stringify({
    metadata: { [`${base}${context}/resource/_newId`]: { [DCT]: [{ type: 'literal', value: 'New' }] } },
  })
  const create = request('POST', `/${context}`, { 'content-type': 'application/json', ...headers }, body)
  return {
    'GET /auth/user': { next: () => request('GET', '/auth/user', headers) },
    'GET entry?includeAll': { next: () => request('GET', `/${context}/entry/${id()}?includeAll`, headers) },
    'GET metadata': {
      next: () => request('GET', `/${context}/metadata/${id()}`, { accept: 'application/json', ...headers }),
    },
    'a search of few hits': {
      next: () => request('GET', `/search?type=solr&query=title:${turn++ % ENTRIES}&limit=20`, headers),
    },
    'creating an entry': { next: () => create, status: 201 },
  }
}
