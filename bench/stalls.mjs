// How much one caller can delay others: each input below is sent while a user repeats `GET /auth/user`, over a kept and a
// new connection alternately. The results are the slowest of these responses, the growth of the service's memory, and responses with 5xx.
// BENCH_INPUTS, a regular expression, selects inputs by their names.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from '../scripts/prepare.mjs'
import { ask, isQuick, newContext, signIn, startService } from './support.mjs'

const support = name => import(pathToFileURL(join(root, 'test/support', name)).href)
const { buildResponse, encode, keyNamed, signResponse } = await support('saml-idp.ts')
const { RELYING_PARTY, readProviderForm, samlSettings, startSamlIdp } = await support('saml-service.ts')

const ENTRIES = isQuick ? 60 : 10_000
const REVISIONS = isQuick ? 20 : 3000
const RESPONSES = isQuick ? 10 : 150
const STATEMENTS = isQuick ? 500 : 100_000
const TIMEOUT = isQuick ? 5000 : 30_000
const TITLE = 'http://purl.org/dc/terms/title'
const P = 'http://example.org/p'
const MB = 2 ** 20

export async function measure(say) {
  const chosen = new RegExp(process.env.BENCH_INPUTS ?? '')
  const ends = []
  const idp = await startSamlIdp({ after: end => ends.push(end) })
  const settings = {
    ...samlSettings([idp]),
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/auth/saml',
    'service.auth.saml.default-idp': 'a',
    'service.repository.provenance': 'on',
  }
  const service = await startService(settings)
  try {
    const place = { ...(await prepare(service)), idp }
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
    for (const end of ends) await end()
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
        goal: { most: 250 },
      },
      { what: 'the same : nothing else going on', value: slow[0].slowest / idle.slowest, unit: 'ratio' },
      {
        what: `most memory that one input took (${large[0].name})`,
        value: large[0].memory / MB,
        unit: 'MB',
        goal: { most: 128 },
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
  const [target, pointing, large] = [await own(), await own(), await own()]
  return { writer, user, context, list, subject, target, pointing, large }
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
const put =
  (part, body, type) =>
  ({ service, writer, context, large }) =>
    send(service, writer, 'PUT', `${context}/${part}/${large}`, body(), type)
const get =
  (path, headers, parallel = 1) =>
  input =>
    times(parallel, () => send(input.service, headers ?? input.user, 'GET', path(input)))

/** A response to a request of the service, signed by a key that the provider does not have. */
async function forged(service, idp, n) {
  const away = await fetch(`${service.base}auth/saml`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  const headers = Object.fromEntries(away.headers)
  const sent = readProviderForm({ status: away.status, text: await away.text(), headers }, service.base)
  const about = { issuer: idp.entityId, audience: RELYING_PARTY, acsUrl: sent.acsUrl, requestId: sent.requestId }
  const response = buildResponse({ ...about, name: `user${n}@a.example`, now: Date.now() })
  const SAMLResponse = encode(signResponse(response, 'response', { key: keyNamed('attacker') }))
  const cookie = away.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const body = String(new URLSearchParams({ SAMLResponse, RelayState: sent.relayState }))
  return { path: `auth/saml${new URL(sent.acsUrl).search}`, headers: { cookie, origin: 'https://a.example' }, body }
}

const inputs = {
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
  'SAML responses signed by an unknown key, all at once': async ({ service, idp }) => {
    const all = []
    while (all.length < RESPONSES) all.push(await forged(service, idp, all.length))
    const type = 'application/x-www-form-urlencoded'
    await Promise.all(all.map(({ path, headers, body }) => send(service, headers, 'POST', path, body, type)))
  },
}
