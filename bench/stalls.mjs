// How much one caller can delay others: each input below is sent while a user repeats `GET /auth/user`, over a kept and a
// new connection in turns. The results are the slowest of these responses, the growth of the service's memory, and responses with 5xx.
// BENCH_PROGRAM names another build of the service, for results from before a change; BENCH_INPUTS, a regular
// expression, selects inputs by their names.
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { ask, isQuick, newContext, signIn, startService } from './support.mjs'

const ENTRIES = isQuick ? 60 : 3000
const REVISIONS = isQuick ? 20 : 1000
const STATEMENTS = isQuick ? 500 : 100_000
const TIMEOUT = isQuick ? 5000 : 30_000
const TITLE = 'http://purl.org/dc/terms/title'
const P = 'http://example.org/p'
const MB = 2 ** 20

export async function measure(say) {
  const program = process.env.BENCH_PROGRAM
  const chosen = new RegExp(process.env.BENCH_INPUTS ?? '')
  const settings = { 'service.repository.provenance': 'on' }
  const service = await startService(settings, program === undefined ? {} : { program })
  try {
    const place = await prepare(service)
    const { cookie } = place.user
    const probe = fork(fileURLToPath(new URL('./probe.mjs', import.meta.url)), [service.base, service.pid, cookie])
    const idle = await underProbe(probe, () => new Promise(resolve => setTimeout(resolve, TIMEOUT / 10)))
    say(`idle: ${described(idle)}`)
    const results = []
    for (const [name, input] of Object.entries(inputs).filter(([name]) => chosen.test(name))) {
      const result = await underProbe(probe, () => input({ service, ...place }))
      say(`${name}: ${described(result)}`)
      results.push({ name, ...result })
    }
    probe.disconnect()
    return report(idle, results)
  } finally {
    await service.stop()
  }
}

const described = ({ slowest, isNew, busy, memory, errors, count, cpu, statuses }) =>
  `${slowest.toFixed(0)} ms${overNew(isNew)}, of which the thread that answers worked ${busy} ms; ${(memory / MB).toFixed(0)} MB; ` +
  `${errors} × 5xx of ${count}; ${cpu.toFixed(1)} s of processor time; statuses ${JSON.stringify(statuses)}`

const overNew = isNew => (isNew ? ' over a new connection' : '')

function report(idle, results) {
  const by = read => [...results].sort((a, b) => read(b) - read(a))
  const slow = by(({ slowest }) => slowest)
  const large = by(({ memory }) => memory)
  const row = ({ name, slowest, isNew, busy, memory, errors }) => ({
    what: name,
    value: slowest,
    unit: 'ms',
    note: `${isNew ? 'over a new connection; ' : ''}the thread that answers worked ${busy} ms of that; ${(memory / MB).toFixed(0)} MB more; ${errors} × 5xx`,
  })
  return {
    title: 'What one caller can do to the others',
    rows: [
      { what: 'slowest `GET /auth/user`, nothing else going on', value: idle.slowest, unit: 'ms' },
      {
        what: `slowest beside ${results.length} inputs (${slow[0].name})`,
        value: slow[0].slowest,
        unit: 'ms',
        goal: { most: 100 },
      },
      { what: 'the same : nothing else going on', value: slow[0].slowest / idle.slowest, unit: 'ratio' },
      {
        what: `most memory that one input took (${large[0].name})`,
        value: large[0].memory / MB,
        unit: 'MB',
        goal: { most: 64 },
      },
      {
        what: 'answers with 5xx to the others',
        value: results.reduce((sum, { errors }) => sum + errors, 0),
        unit: '',
        goal: { most: 0 },
      },
      ...slow.map(row),
    ],
    curves: [],
  }
}

/** Sends the input while a user repeats `GET /auth/user`. */
async function underProbe(probe, input) {
  statuses = {}
  probe.send('begin')
  await Promise.race([input(), new Promise(resolve => setTimeout(resolve, TIMEOUT).unref())])
  const ended = once(probe, 'message')
  probe.send('end')
  const [result] = await ended
  return { ...result, statuses }
}

/** How often each status was returned for the current input; 0 means no response. */
let statuses = {}

async function drained(answer) {
  statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
  await answer.arrayBuffer()
}

const unanswered = () => {
  statuses[0] = (statuses[0] ?? 0) + 1
}

/** Entries that guests may read, in one list; a user who may write to their context, and one without rights. */
async function prepare(service) {
  const admin = await signIn(service)
  const context = await newContext(service, admin)
  const account = async name =>
    JSON.parse(
      await ask(service, admin, 'POST', '_principals?graphtype=user', {
        resource: { name, password: service.password },
      }),
    ).entryId
  const writerId = await account('writer')
  await account('user')
  const principal = id => ({ type: 'uri', value: `${service.base}_principals/resource/${id}` })
  const terms = 'http://entrystore.org/terms/'
  await ask(service, admin, 'PUT', `_contexts/entry/${context}`, {
    [`${service.base}${context}`]: {
      [`${terms}read`]: [principal('_guest')],
      [`${terms}write`]: [principal(writerId)],
    },
  })
  const writer = await signIn(service, 'writer')
  const user = await signIn(service, 'user')
  const subject = id => `${service.base}${context}/resource/${id}`
  const ids = Array.from({ length: ENTRIES }, (_, n) => `e${n}`)
  let next = 0
  const lines = Array.from({ length: 16 }, async () => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      const metadata = {
        [subject(id)]: {
          [TITLE]: [{ type: 'literal', value: `entry ${id} about many things` }],
          [P]: [{ type: 'uri', value: `http://example.org/house/Number/${id}` }],
          'http://example.org/part': [{ type: 'uri', value: subject('e0') }],
          'http://example.org/next': [{ type: 'uri', value: subject(`e${(Number(id.slice(1)) + 1) % ENTRIES}`) }],
        },
      }
      await ask(service, writer, 'POST', `${context}?id=${id}`, { metadata })
    }
  })
  await Promise.all(lines)
  const list = JSON.parse(await ask(service, writer, 'POST', `${context}?graphtype=list`, { resource: ids })).entryId
  const own = async () => JSON.parse(await ask(service, writer, 'POST', context, {})).entryId
  const file = await own()
  const bytes = { method: 'PUT', headers: { ...writer, 'content-type': 'text/plain' }, body: 'hello' }
  await fetch(`${service.base}${context}/resource/${file}`, bytes)
  const [target, pointing, large] = [await own(), await own(), await own()]
  return { admin, writer, user, context, list, ids, subject, file, target, pointing, large }
}

const send = (service, headers, method, path, body, type = 'application/json') =>
  fetch(service.base + path, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': type }) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.timeout(TIMEOUT),
  })
    .then(drained)
    .catch(unanswered)

const guest = {}
const times = (count, work) => Promise.all(Array.from({ length: count }, (_, n) => work(n)))
const searchPath = (query, more = '') => `search?type=solr&query=${encodeURIComponent(query)}${more}`
const search =
  (query, more, parallel = 1) =>
  ({ service }) =>
    times(parallel, () => send(service, guest, 'GET', searchPath(query, more)))
const facets = (pattern, fields) => `&facetFields=${fields.join(',')}&facetMatches=${encodeURIComponent(pattern)}`
const someFields = ['graphType', 'rdfType', 'context', 'uri', 'resource', 'metadata.object.uri', 'creator', 'public']
const manyFields = [...someFields, ...Array.from({ length: 12 }, (_, n) => `metadata.predicate.literal_s.${n}0000000`)]
const clauses = (count, clause, operator = ' ') => Array.from({ length: count }, (_, n) => clause(n)).join(operator)
const validate =
  (text, type, parallel = 1) =>
  ({ service, user }) =>
    times(parallel, () => send(service, user, 'POST', 'validator', text, type))
const turtle = (count, of = n => `<http://example.org/o/${n}>`) => `<urn:a> <urn:p> ${clauses(count, of, ', ')} .`
const statements = (count, object = n => ({ type: 'uri', value: `http://example.org/${n}` })) =>
  JSON.stringify({ 'urn:a': { [P]: Array.from({ length: count }, (_, n) => object(n)) } })
const put =
  (part, body, type) =>
  ({ service, writer, context, large }) =>
    send(service, writer, 'PUT', `${context}/${part}/${large}`, body(), type)
const get =
  (path, headers, parallel = 1) =>
  input =>
    times(parallel, () => send(input.service, headers ?? input.user, 'GET', path(input)))

/** Connections that send this and read nothing, for a second. */
async function unread(service, count, text) {
  const { hostname, port } = new URL(service.base)
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname).on('error', () => {}))
  for (const socket of sockets) socket.pause().write(text)
  await new Promise(resolve => setTimeout(resolve, isQuick ? 100 : 1000))
  for (const socket of sockets) socket.destroy()
}
/** The same, and the time after they have left. */
async function abandoned(service, count, text) {
  await unread(service, isQuick ? 20 : count, text)
  await new Promise(resolve => setTimeout(resolve, isQuick ? 100 : 1000))
}
/** A request of which only a part comes. */
const halfSent = (line, { cookie = '' }, type, length, part) =>
  `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: ${cookie}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${part}`
const rawGet = (path, times = 1) => `GET /${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`.repeat(times)
const formStart = '--b\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\n'
/** A request whose body comes in HTTP chunks of one byte, after a first one. */
function inSmallChunks(line, { cookie = '' }, type, first = 'x', count = 1_000_000) {
  const head = `${line} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: ${cookie}\r\ncontent-type: ${type}\r\n`
  const start = `transfer-encoding: chunked\r\n\r\n${first.length.toString(16)}\r\n${first}\r\n`
  return `${head}${start}${'1\r\nx\r\n'.repeat(isQuick ? 1000 : count)}0\r\n\r\n`
}
const emptyObjects = `[${'{},'.repeat(isQuick ? 100 : 2.7 * MB)}{}]`

const inputs = {
  'addresses of 6,000 parameters, 64 at once, refused': get(() => `auth/user?${'a&'.repeat(6000)}`, guest, 64),
  'forms of 16,000 fields, 64 at once, refused': ({ service }) =>
    times(64, () =>
      send(service, guest, 'POST', 'auth/cookie', 'a&'.repeat(16_000), 'application/x-www-form-urlencoded'),
    ),
  // The inputs that stalled the service when this was first measured.
  // Unescaped, because a longer address is refused before anybody reads it.
  'facets: pattern of 9 KB, refused': search(
    'graphType:*',
    `&facetFields=graphType&facetMatches=(${'a?h?t?t?p?'.repeat(900)}b)`,
  ),
  'facets: pattern of 250 characters, 20 fields, refused': search(
    'graphType:*',
    facets(`(${'a?h?t?t?p?'.repeat(24)}b)`, manyFields),
  ),
  'facets: pattern of 250 characters, five fields, all entries, refused': search(
    'uri:*',
    facets(`(${'h?t?t?p?'.repeat(30)}b)`, someFields.slice(0, 5)),
  ),
  'facets: pattern at its limits, values of few entries, accepted': search(
    'uri:*e1*',
    facets(`(${'h?t?t?p?'.repeat(30)}.*)`, ['graphType', 'rdfType', 'context']),
    4,
  ),
  'facets: work of a pattern almost at its limit, all entries, accepted': search(
    'uri:*',
    facets(`(${'h?t?t?p?'.repeat(6)}.*)`, ['uri']),
    4,
  ),
  '250 terms with wildcards, refused': search(clauses(250, n => `metadata.object.uri:h*N*${n}`)),
  '8 MB of _newId, refused': async ({ service, writer, context }) => {
    const metadata = { 'urn:a': { [P]: [{ type: 'literal', value: '_newId'.repeat(isQuick ? 9000 : 1_380_000) }] } }
    await send(service, writer, 'POST', `${context}?id=${'x'.repeat(120)}`, JSON.stringify({ metadata }))
    await send(service, guest, 'GET', searchPath('graphType:None'))
  },
  '400 KB of _newId that stand for 7.8 MB': async ({ service, writer, context }) => {
    const metadata = { 'urn:a': { [P]: [{ type: 'literal', value: '_newId'.repeat(isQuick ? 900 : 65_000) }] } }
    await send(service, writer, 'POST', `${context}?id=${'y'.repeat(120)}`, JSON.stringify({ metadata }))
    await send(service, guest, 'GET', searchPath('graphType:None'))
  },
  'statements that all point at one entry': async ({ service, writer, context, pointing, target, subject }) => {
    const object = { type: 'uri', value: subject(target) }
    const count = Math.min(STATEMENTS, 24_000)
    const graph = {
      [subject(pointing)]: Object.fromEntries(Array.from({ length: count }, (_, n) => [P + n, [object]])),
    }
    await send(service, writer, 'PUT', `${context}/metadata/${pointing}`, JSON.stringify(graph))
  },
  'relations of that entry': get(({ context, target }) => `${context}/relations/${target}`, guest, 4),
  'that entry, all of it': get(({ context, target }) => `${context}/entry/${target}?includeAll`, guest, 4),
  'an entry at which all others point': get(({ context }) => `${context}/entry/e0?includeAll`, guest, 8),
  '2 MB of Turtle that stand for 300,000 statements': async input => {
    const body = turtle(isQuick ? 3000 : 300_000, n => `<${n.toString(36)}>`)
    await put('metadata', () => body, 'text/turtle')(input)
    await search(`title:entry OR uri:"${input.service.base}${input.context}/entry/${input.large}"`)(input)
  },
  'a list without limit': get(({ context, list }) => `${context}/entry/${list}?includeAll`, guest, 4),
  'a list, sorted': get(({ context, list }) => `${context}/entry/${list}?includeAll&sort=title&limit=50`, guest, 4),
  'revisions of one entry': async input => {
    const { service, writer, context, target } = input
    for (let n = 0; n < REVISIONS; n++) {
      const graph = { 'urn:a': { [P]: [{ type: 'literal', value: String(n) }] } }
      await send(service, writer, 'PUT', `${context}/metadata/${target}`, JSON.stringify(graph))
    }
    await get(({ context, target }) => `${context}/entry/${target}`, guest, 8)(input)
  },
  '60 documents of 67 KB at the validator': validate(turtle(2200), 'text/turtle', 60),
  // Further inputs of the same kinds.
  'facets: pattern at its limits, all entries': search('uri:*', facets('.*(a?){40}.*[0-9]{1,40}', someFields)),
  'facets: 20 fields, no pattern': search('uri:*', `&facetFields=${manyFields.join(',')}&facetLimit=1000`, 4),
  'search: 32 words': search(clauses(32, n => `all:word${n}`)),
  'search: 32 parts of words, each in all entries': search(
    clauses(32, n => `title:ent*y${'?'.repeat(n % 2)}`),
    '',
    4,
  ),
  'search: 32 wildcards': search(
    clauses(32, n => `metadata.object.uri:h*N*${n}`),
    '',
    4,
  ),
  'search: 32 ranges': search(
    clauses(32, n => `uri:[a TO z${n}]`),
    '',
    4,
  ),
  'search: 256 exact terms': search(clauses(128, n => `(rdfType:urn\\:${n} OR graphType:None)`, ' AND ')),
  'search: one hundred at once': search('title:entry about', '&limit=100', 100),
  'search: deep brackets': search(`${'('.repeat(32)}title:entry${')'.repeat(32)}`),
  'search: brackets without end': search('('.repeat(16_000)),
  'search: 31 filters': search(
    'title:entry',
    `&filterQuery=${encodeURIComponent(clauses(31, () => 'title:entry', ','))}`,
  ),
  'search: far page, 20 sort keys': search(
    'uri:*',
    `&offset=2900&limit=100&sort=${clauses(20, n => `title.x${n}+asc`, ',')}`,
  ),
  'search: scores of 30 alternatives': search(
    clauses(30, n => `title:e${n}^${n + 1}`, ' OR '),
    '&limit=100',
    4,
  ),
  'search: JSON-LD': search('title:entry', '&limit=100&rdfFormat=application/ld%2Bjson', 8),
  'a graph of 24,000 statements, written': put('metadata', () => statements(Math.min(STATEMENTS, 24_000))),
  'the same, read as Turtle': get(({ context, large }) => `${context}/metadata/${large}?format=text/turtle`, guest, 8),
  'the same, read as RDF/XML': get(
    ({ context, large }) => `${context}/metadata/${large}?format=application/rdf%2Bxml`,
    guest,
    8,
  ),
  'the same, read as JSON-LD': get(
    ({ context, large }) => `${context}/metadata/${large}?format=application/ld%2Bjson`,
    guest,
    8,
  ),
  'the same, all of the entry': get(({ context, large }) => `${context}/entry/${large}?includeAll`, guest, 8),
  'the same, found': search('graphType:None', '&limit=100', 8),
  'the same, what is indexed': ({ service, admin, context, large }) =>
    times(4, () => send(service, admin, 'GET', `${context}/entry/${large}/index`)),
  'one literal of 7 MB, written': put('metadata', () =>
    statements(1, () => ({ type: 'literal', value: 'x y'.repeat(isQuick ? 1000 : 2_400_000) })),
  ),
  'info of 24,000 statements, written': put('entry', () => statements(Math.min(STATEMENTS, 24_000))),
  'an access list of 20,000, refused': async ({ service, writer, context, large }) => {
    const object = n => ({ type: 'uri', value: `${service.base}_principals/resource/${n}` })
    const acl = {
      [`${service.base}${context}/entry/${large}`]: {
        'http://entrystore.org/terms/write': Array.from({ length: 20_000 }, (_, n) => object(n)),
      },
    }
    await send(service, writer, 'PUT', `${context}/entry/${large}`, JSON.stringify(acl))
  },
  'linked metadata, ten levels': get(
    ({ context }) => `${context}/metadata/e0?recursive=${encodeURIComponent('http://example.org/next')}&depth=10`,
    guest,
    8,
  ),
  statistics: get(({ context }) => `${context}/statistics/property`, guest, 8),
  'look-ups': get(({ service }) => `lookup?uri=${encodeURIComponent(`${service.base}nothing`)}`, guest, 100),
  'entries of a context': ({ service, admin, context }) => times(50, () => send(service, admin, 'GET', context)),
  export: ({ service, admin, context }) => send(service, admin, 'GET', `${context}/export`),
  'import of noise': ({ service, admin, context }) =>
    send(service, admin, 'POST', `${context}/import`, randomBytes(4 * MB), 'application/zip'),
  'validator: 8 MB of RDF/JSON, too many statements': validate(
    statements(isQuick ? 100 : 100_000),
    'application/rdf+json',
    4,
  ),
  'validator: 24,000 statements of RDF/JSON, 7 MB': validate(
    statements(Math.min(STATEMENTS, 24_000), n => ({
      type: 'uri',
      value: `http://example.org/${n}/${'x'.repeat(80)}`,
    })),
    'application/rdf+json',
    4,
  ),
  'validator: 8 MB of brackets': validate('['.repeat(isQuick ? 1000 : 8 * MB - 1), 'application/rdf+json', 4),
  'validator: nested Turtle': validate(`<urn:a> <urn:p> ${'['.repeat(50_000)}`, 'text/turtle', 8),
  'validator: RDF/XML with entities': validate(
    `<!DOCTYPE r [<!ENTITY a "${'x'.repeat(10_000)}">]><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">${'&a;'.repeat(5000)}</rdf:RDF>`,
    'application/rdf+xml',
    8,
  ),
  'validator: JSON-LD with a large context': validate(
    JSON.stringify({
      '@context': Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`t${n}`, `http://example.org/${n}`])),
      t1: 'x',
    }),
    'application/ld+json',
    8,
  ),
  'validator: N3 with long prefixes': validate(
    `@prefix p: <http://${'x'.repeat(500_000)}/> . <urn:a> <urn:p> ${clauses(2000, n => `p:${n}`, ', ')} .`,
    'text/n3',
    8,
  ),
  'a creation with 8 MB of brackets': ({ service, writer, context }) =>
    send(service, writer, 'POST', context, `{"metadata":${'['.repeat(isQuick ? 1000 : 8 * MB - 100)}`),
  'echo of 9 MB': ({ service, user }) => {
    const form = new FormData()
    form.set('file', new Blob(['<&>'.repeat(isQuick ? 100 : 3 * MB)]), 'a.txt')
    return fetch(`${service.base}echo`, { method: 'POST', headers: user, body: form }).then(drained).catch(unanswered)
  },
  'Accept of 12 KB': ({ service, user, context }) =>
    times(50, () =>
      send(service, { ...user, accept: clauses(800, n => `text/x${n};q=0.1`, ',') }, 'GET', `${context}/metadata/e1`),
    ),
  'a query of 12 KB of parameters': get(
    ({ context }) => `${context}/entry/e1?${clauses(2000, n => `p${n}=`, '&')}`,
    undefined,
    50,
  ),
  'cookies of 12 KB': ({ service }) =>
    times(50, () => send(service, { cookie: clauses(750, n => `auth_token=x${n}`, '; ') }, 'GET', 'auth/user')),
  'a range of 15 KB of blanks, 20 at once': ({ service, context, file }) =>
    times(20, () => send(service, { range: `bytes=0-${' '.repeat(14_000)}x` }, 'GET', `${context}/resource/${file}`)),
  '8 MB of empty objects for a small body': ({ service, user }) =>
    times(2, () => send(service, user, 'DELETE', 'auth/tokens', emptyObjects)),
  '8 MB of empty objects for a list': ({ service, writer, context, list }) =>
    send(service, writer, 'PUT', `${context}/resource/${list}`, emptyObjects),
  '150,000 ids for a list, none of which exists': ({ service, writer, context, list }) =>
    send(
      service,
      writer,
      'PUT',
      `${context}/resource/${list}`,
      JSON.stringify(Array.from({ length: 149_999 }, (_, n) => `x${n}`)),
    ),
  'a creation with 8 MB of empty objects': ({ service, writer, context }) =>
    send(service, writer, 'POST', context, `{"junk":${emptyObjects}}`),
  'a creation with 24,000 statements': ({ service, writer, context }) =>
    send(service, writer, 'POST', context, `{"metadata":${statements(Math.min(STATEMENTS, 24_000))}}`),
  'the same, from a template': ({ service, writer, context, large }) =>
    send(
      service,
      writer,
      'POST',
      `${context}?template=${encodeURIComponent(`${service.base}${context}/entry/${large}`)}`,
      '{}',
    ),
  'info of that entry, written empty': put('entry', () => '{}'),
  'that entry, to the trash and back': async ({ service, writer, context, large }) => {
    await send(service, writer, 'POST', `${context}/trash/${large}`)
    await send(service, writer, 'POST', `${context}/trash/${large}/restore`)
  },
  'a form of 120,000 parts': ({ service, user }) => {
    const part = '--b\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\nx\r\n'
    const body = `${part.repeat(isQuick ? 100 : 120_000)}--b--\r\n`
    return send(service, user, 'POST', 'echo', body, 'multipart/form-data; boundary=b')
  },
  'a list, reversed': ({ service, writer, context, list, ids }) =>
    send(service, writer, 'PUT', `${context}/resource/${list}`, JSON.stringify(ids.toReversed())),
  'access to all members of a list': ({ service, writer, context, list }) =>
    send(service, writer, 'PUT', `${context}/entry/${list}?applyACLtoChildren`, '{}'),
  'a list as a zip, four at once': get(({ context, list }) => `${context}/zip?entries=${list}`, guest, 4),
  'a list with its members, to the trash': ({ service, writer, context, list }) =>
    send(service, writer, 'POST', `${context}/trash/${list}`),
  'the trash, 16 at once': ({ service, writer, context }) =>
    times(16, () => send(service, writer, 'GET', `${context}/trash`)),
  'a list with its members, restored': ({ service, writer, context, list }) =>
    send(service, writer, 'POST', `${context}/trash/${list}/restore`),
  'a list of 30 entries with 10,000 statements, written': async ({ service, writer, context, subject }) => {
    await send(service, writer, 'POST', `${context}?id=long&graphtype=list`, '{}')
    const graph = JSON.parse(
      statements(Math.min(STATEMENTS, 10_000), n => ({ type: 'uri', value: `http://example.org/long/${n}` })),
    )
    for (let n = 0; n < 30; n++) {
      const body = JSON.stringify({
        metadata: { ...graph, [subject(`long${n}`)]: { [TITLE]: [{ type: 'literal', value: `long ${n}` }] } },
      })
      await send(service, writer, 'POST', `${context}?id=long${n}&list=${encodeURIComponent(subject('long'))}`, body)
    }
  },
  'access to its members': ({ service, writer, context }) =>
    send(service, writer, 'PUT', `${context}/entry/long?applyACLtoChildren`, '{}'),
  'that list, to the trash and back': async ({ service, writer, context }) => {
    await send(service, writer, 'POST', `${context}/trash/long`)
    await send(service, writer, 'POST', `${context}/trash/long/restore`)
  },
  'that list, to another context': async ({ service, admin, context }) => {
    const other = await newContext(service, admin)
    await ask(service, admin, 'POST', `${other}?id=to&graphtype=list`, {})
    await send(service, admin, 'POST', `${other}/resource/to?moveEntry=${context}/entry/long&removeAll`)
    await send(service, admin, 'DELETE', `${other}/entry/to?recursive`)
  },
  '60 clients that ask for 7 MB and read nothing': ({ service, context, large }) =>
    unread(service, 60, rawGet(`${context}/metadata/${large}`)),
  '20 clients that ask for it 50 times and read nothing': ({ service, context, large }) =>
    unread(service, 20, rawGet(`${context}/metadata/${large}`, 50)),
  'two pipelines of 20,000 requests': ({ service }) => unread(service, 2, rawGet('auth/user', isQuick ? 100 : 20_000)),
  'ten pipelines of 20,000 requests': ({ service }) => unread(service, 10, rawGet('auth/user', isQuick ? 100 : 20_000)),
  'a file in chunks of one byte, four at once': ({ service, writer, context, file }) =>
    unread(service, 4, inSmallChunks(`PUT /${context}/resource/${file}`, writer, 'text/plain')),
  'a JSON body in chunks of one byte, four at once': ({ service, writer, context, large }) =>
    unread(service, 4, inSmallChunks(`PUT /${context}/metadata/${large}`, writer, 'application/json')),
  'a form in chunks of one byte, four at once': ({ service }) =>
    unread(service, 4, inSmallChunks('POST /auth/cookie', guest, 'application/x-www-form-urlencoded')),
  'an echo in chunks of one byte, four at once': ({ service, user }) =>
    unread(service, 4, inSmallChunks('POST /echo', user, 'multipart/form-data; boundary=b', formStart)),
  '200 connections that each send 1,500 requests at once': ({ service }) =>
    unread(service, 200, rawGet('none', isQuick ? 100 : 1500)),
  '200 connections that each send 10,000 chunks of one byte at once': ({ service }) =>
    unread(service, 200, inSmallChunks('PUT /none', guest, 'text/plain', 'x', 10_000)),
  '1,000 clients that leave in the middle of a form': ({ service }) =>
    abandoned(
      service,
      1000,
      halfSent('POST /auth/cookie', guest, 'application/x-www-form-urlencoded', 30_000, 'auth_username='),
    ),
  '1,000 clients that leave in the middle of an upload': ({ service, writer, context, file }) =>
    abandoned(service, 1000, halfSent(`PUT /${context}/resource/${file}`, writer, 'text/plain', 64_000, 'x')),
  '1,000 uploads of which 200 KB come': ({ service, writer, context, file }) =>
    abandoned(
      service,
      1000,
      halfSent(`PUT /${context}/resource/${file}`, writer, 'text/plain', 3_000_000, 'x'.repeat(200_000)),
    ),
  '1,000 clients that ask for a file of 8 MB and leave': async ({ service, writer, context, file }) => {
    await send(service, writer, 'PUT', `${context}/resource/${file}`, 'x'.repeat(8 * MB), 'text/plain')
    await abandoned(service, 1000, rawGet(`${context}/resource/${file}`))
  },
  'a file of 64 MiB, 1,000 clients that read nothing': async ({ service, writer, context, file }) => {
    const body = new Uint8Array(isQuick ? MB : 64 * MB)
    await send(service, writer, 'PUT', `${context}/resource/${file}`, body, 'application/octet-stream')
    await unread(service, isQuick ? 50 : 1000, rawGet(`${context}/resource/${file}`))
  },
  'that file as a zip, 1,000 clients that read nothing': ({ service, context, file }) =>
    unread(service, isQuick ? 50 : 1000, rawGet(`${context}/zip?entries=${file}`)),
}
