// One thread compared with two: responses per second, and the processor time of each response. Two threads on
// two cores share them with the client, so the rates grow by less than with a core for each; the processor
// time shows what more cores would achieve. The client is `wrk` where it is installed, which takes less of them.
import { hasWrk, load, loadByWrk, request } from './load.mjs'
import {
  ask,
  cpuEach,
  interleave,
  isQuick,
  medianOf,
  memoryOf,
  newContext,
  ROUND_MS,
  ROUNDS,
  ratioOf,
  signIn,
  startService,
} from './support.mjs'

const COUNTS = [1, 2, 4]
const ENTRIES = isQuick ? 20 : 500
const TITLE = 'http://purl.org/dc/terms/title'
const CONNECTIONS = 16
/** More than one round can send. */
const NEW_WORDS = isQuick ? 200 : 6000
const NEW = 'search for another word each time'
/** Each thread compiles the program for itself, which takes some thousand responses. */
const WARM_UP = isQuick ? 1 : 15

export async function measure(say) {
  const services = []
  try {
    for (const count of COUNTS) services.push(await open(count))
    const idle = await Promise.all(services.map(({ service }) => memoryOf(service.pid)))
    say('started and filled')
    const work = {}
    for (const one of services)
      for (const [name, paths] of Object.entries(one.requests))
        work[`${name} ${one.count}`] = measured(one.service, { paths, headers: one.headers })
    const results = await interleave(ROUNDS, work, { warmUp: WARM_UP })
    const busy = await Promise.all(services.map(({ service }) => memoryOf(service.pid)))
    say('measured')
    const names = Object.keys(services[0].requests)
    return {
      title: 'Threads',
      rows: [
        ...names.flatMap(name => rowsOf(name, results)),
        ...memoryRows(idle, 'before the first requests'),
        ...memoryRows(busy, 'after the load'),
      ],
      curves: [curve(names, results)],
    }
  } finally {
    for (const { service } of services) await service.stop()
  }
}

/** @param paths those of a round */
function measured(service, { paths, headers }) {
  const options = { ms: ROUND_MS, connections: CONNECTIONS }
  if (hasWrk) return () => loadByWrk(service, { paths: paths(), headers }, options)
  return () => {
    const requests = paths().map(path => request('GET', path, headers))
    let turn = 0
    return load(service, () => requests[turn++ % requests.length], options)
  }
}

async function open(count) {
  const service = await startService({ 'service.http.threads': String(count) })
  const headers = await signIn(service)
  const context = await newContext(service, headers)
  for (let n = 1; n <= ENTRIES; n++) {
    const title = [{ type: 'literal', value: `Entry ${n} ${n % 25 === 0 ? 'quokka' : 'wombat'}` }]
    await ask(service, headers, 'POST', `${context}?id=${n}`, {
      metadata: { [`${service.base}${context}/resource/${n}`]: { [TITLE]: title } },
    })
  }
  const entries = Array.from({ length: ENTRIES }, (_, n) => `/${context}/entry/${1 + ((n * 7) % ENTRIES)}?includeAll`)
  let words = 0
  const search = '/search?type=solr&limit=10&query=title:quokka'
  return {
    count,
    service,
    headers,
    requests: {
      'GET /auth/user': () => ['/auth/user'],
      'GET entry?includeAll': () => entries,
      search: () => [search],
      // No cache has the answer, nor what the new word matches.
      [NEW]: () => Array.from({ length: NEW_WORDS }, () => `${search}+OR+title:new${++words}`),
    },
  }
}

function rowsOf(name, results) {
  const [one, two] = [results[`${name} 1`], results[`${name} 2`]]
  const cpu = ratioOf(one, two, cpuEach)
  // The threads that search use both cores already.
  const goalOf = goal => (name === NEW ? {} : { goal })
  return [
    {
      what: `${name}: rate with two threads : one, ${CONNECTIONS} connections`,
      value: ratioOf(two, one),
      unit: 'ratio',
      ...(name === 'GET /auth/user' ? {} : goalOf({ least: 1.6 })),
      note: `${Math.round(medianOf(one))}/s and ${Math.round(medianOf(two))}/s`,
    },
    {
      what: `${name}: processor time of an answer, one thread : two`,
      value: cpu,
      unit: 'ratio',
      ...goalOf({ least: 7 / 8 }),
      note: `${Math.round(medianOf(one, cpuEach))} µs and ${Math.round(medianOf(two, cpuEach))} µs; eight cores would give ${(8 * cpu).toFixed(1)} times the answers of one`,
    },
  ]
}

const memoryRows = (found, when) => [
  {
    what: `Memory of each further thread, ${when}`,
    value: (found.at(-1).now - found[0].now) / (COUNTS.at(-1) - 1) / 2 ** 20,
    unit: 'MiB',
    goal: { most: 40 },
    note: `${COUNTS.at(-1)} threads against one; one takes ${Math.round(found[0].now / 2 ** 20)} MiB`,
  },
]

const curve = (names, results) => ({
  name: 'threads',
  title: 'Answers per second by threads',
  x: 'threads',
  series: names.map(name => ({
    name,
    points: COUNTS.map(count => [count, medianOf(results[`${name} ${count}`])]),
  })),
})
