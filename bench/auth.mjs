// Requests of signed-in users: the cost of identifying them, and that it is the same with a million live
// tokens.
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { load, request } from './load.mjs'
import {
  ask,
  cpuEach,
  interleave,
  medianOf,
  ratioOf,
  ROUND_MS,
  ROUNDS,
  signIn,
  sizesUpTo,
  startBare,
  startService,
  WARM_UP,
} from './support.mjs'

const SIZES = sizesUpTo(1_000_000)
const MS = { ms: ROUND_MS, awake: true }
const USERS = 4
const program = fileURLToPath(new URL('./serve-tokens.mjs', import.meta.url))

export async function measure(say) {
  process.execArgv.push('--expose-gc')
  const services = await Promise.all(SIZES.map(size => startFilled(size)))
  say(`filled ${SIZES.join(', ')} tokens`)
  const [first] = services
  const answer = await ask(first, { cookie: `auth_token=${first.tokens[0]}` }, 'GET', 'auth/user')
  const bare = await startBare('json', answer)
  const plain = request('GET', '/')
  const admin = `Basic ${Buffer.from(`admin:${first.password}`).toString('base64')}`
  const basic = request('GET', '/auth/user', { authorization: admin })
  const bearer = request('GET', '/auth/user', { authorization: `Bearer ${await accessToken(first)}` })
  const work = {
    bare: () => load(bare, () => plain, MS),
    basic: () => load(first, () => basic, MS),
    bearer: () => load(first, () => bearer, MS),
    ...Object.fromEntries(
      services.map(({ size, ...service }) => [`t${size}`, () => load(service, caller(service), MS)]),
    ),
  }
  const results = await interleave(2 * ROUNDS, work, { warmUp: WARM_UP })
  for (const { stop } of [bare, ...services]) await stop()
  const [, , many, most] = services
  const [small, , of5, of6] = SIZES.map(size => results[`t${size}`])
  return {
    title: 'Requests of people who are signed in',
    rows: [
      {
        what: '`GET /auth/user` with 10⁵ live tokens : bare `node:http` with the same JSON',
        value: ratioOf(of5, results.bare),
        unit: 'ratio',
        goal: { least: 0.7 },
        note: `${say.rate(medianOf(of5))} : ${say.rate(medianOf(results.bare))}`,
      },
      {
        what: 'processor time of a bare answer : of `GET /auth/user` with 10⁵ tokens',
        value: ratioOf(results.bare, of5, cpuEach),
        unit: 'ratio',
        goal: { least: 0.5 },
        note: `${medianOf(results.bare, cpuEach).toFixed(0)} µs : ${medianOf(of5, cpuEach).toFixed(0)} µs`,
      },
      {
        what: 'with 10⁶ tokens : with 10⁵',
        value: ratioOf(of6, of5),
        unit: 'ratio',
        goal: { least: 0.9 },
      },
      { what: 'memory per token, 10⁵ tokens', value: many.bytes, unit: 'B', goal: { most: 600 } },
      { what: 'memory per token, 10⁶ tokens', value: most.bytes, unit: 'B', goal: { most: 600 } },
      {
        what: 'by HTTP Basic : by cookie',
        value: ratioOf(results.basic, small),
        unit: 'ratio',
        goal: { least: 0.6 },
      },
      {
        what: 'by access token : by cookie',
        value: ratioOf(results.bearer, small),
        unit: 'ratio',
        goal: { least: 0.95 },
      },
    ],
    curves: [
      {
        name: 'tokens',
        title: 'GET /auth/user in relation to a bare answer, as live tokens grow',
        x: 'live tokens',
        series: [
          {
            name: 'requests per second : bare',
            points: SIZES.map(size => [size, ratioOf(results[`t${size}`], results.bare)]),
          },
          {
            name: 'processor time of a bare answer : of ours',
            points: SIZES.map(size => [size, ratioOf(results.bare, results[`t${size}`], cpuEach)]),
          },
        ],
      },
      {
        name: 'token-memory',
        title: 'Memory per token in bytes, as live tokens grow',
        x: 'live tokens',
        series: [{ name: 'bytes per token', points: services.map(({ size, bytes }) => [size, bytes]) }],
      },
    ],
  }
}

/** A service with this many live tokens, of which `tokens` belong to existing users. */
async function startFilled(size) {
  const service = await startService(
    { 'service.auth.http-basic': 'on', 'service.auth.token.max-per-user': '1000' },
    { program },
  )
  const headers = await signIn(service)
  for (let n = 0; n < USERS; n++) {
    const resource = { name: `user${n}`, password: service.password }
    await ask(service, headers, 'POST', '_principals?graphtype=user', { resource })
    await signIn(service, `user${n}`)
  }
  service.process.send(size)
  const [filled] = await once(service.process, 'message')
  return { ...service, size, headers, ...filled }
}

async function accessToken({ base, headers }) {
  const expires = new Date(Date.now() + 86_400_000).toISOString()
  const answer = await fetch(`${base}auth/access-tokens`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', expires, scopes: ['read'] }),
  })
  return (await answer.json()).token
}

/** Sends requests of the users with a token, one after another. */
function caller({ tokens }) {
  const requests = tokens.map(token => request('GET', '/auth/user', { cookie: `auth_token=${token}` }))
  let turn = 0
  return () => requests[turn++ % requests.length]
}
