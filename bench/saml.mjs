// Sign-in through an identity provider: the redirect to it, the signed response, the redirect with the
// cookie; as users grow, and as responses grow.
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { root } from '../scripts/prepare.mjs'
import { cpuOf } from './load.mjs'
import { median, ROUND_MS, ROUNDS, sizesUpTo, startService } from './support.mjs'

const support = name => import(pathToFileURL(join(root, 'build/test/support', name)).href)
const { buildResponse, encode, signResponse } = await support('saml-idp.js')
const { RELYING_PARTY, readDeparture, samlSettings, startSamlIdp } = await support('saml-service.js')

const USERS = sizesUpTo(1000)
const CONNECTIONS = 4
/** The longest is like that of a provider that sends a thousand groups. */
const KIBIBYTES = [8, 16, 32, 58]

export async function measure(say) {
  const ends = []
  const idp = await startSamlIdp({ after: end => ends.push(end) })
  const service = await startService({
    ...samlSettings([idp]),
    'service.auth.saml.assertion-consumer-service.url': 'https://store.example/auth/saml',
    'service.auth.saml.default-idp': 'a',
  })
  try {
    const points = []
    let last
    for (const size of USERS) {
      await round(service, idp, { size, times: Math.min(size, 200) })
      const rounds = []
      for (let n = 0; n < ROUNDS; n++) rounds.push(await round(service, idp, { size, ms: 2 * ROUND_MS }))
      last = { rate: median(rounds.map(({ rate }) => rate)), cpu: median(rounds.map(({ cpu }) => cpu)) }
      points.push([size, last.rate])
      say(`${say.rate(last.rate)} among ${size} names`)
    }
    const bySize = []
    for (const kibibytes of KIBIBYTES) {
      await round(service, idp, { size: 1, times: CONNECTIONS, kibibytes })
      const rounds = []
      for (let n = 0; n < ROUNDS; n++) rounds.push(await round(service, idp, { size: 1, ms: 2 * ROUND_MS, kibibytes }))
      bySize.push([kibibytes, 1000 / median(rounds.map(({ cpu }) => cpu))])
      say(`${say.rate(bySize.at(-1)[1])} and core with responses of ${kibibytes} KiB`)
    }
    return {
      title: 'Signing in by SAML',
      rows: [
        { what: 'SAML logins per second, the identity provider on the same machine', value: last.rate, unit: '/s' },
        { what: 'processor time of the service for each', value: last.cpu, unit: 'ms' },
        {
          what: `logins per second of processor time with responses of ${KIBIBYTES.at(-1)} KiB`,
          value: bySize.at(-1)[1],
          unit: '/s',
          goal: { least: 100 },
          note: 'the whole login: redirect, response, session',
        },
      ],
      curves: [
        {
          name: 'saml',
          title: 'SAML logins per second, as users grow',
          x: 'users',
          series: [{ name: 'logins', points }],
        },
        {
          name: 'saml-sizes',
          title: 'SAML logins per second of processor time, as responses grow',
          x: 'KiB of the response',
          series: [{ name: 'logins', points: bySize }],
        },
      ],
    }
  } finally {
    await service.stop()
    for (const end of ends) await end()
  }
}

/** The response with as many groups as make it this long. */
function grown(response, bytes) {
  const groups = []
  for (let length = response.length; length < bytes; length += groups.at(-1).length)
    groups.push(`<saml:AttributeValue>group-${groups.length}</saml:AttributeValue>\n`)
  if (groups.length === 0) return response
  const attribute = `<saml:Attribute Name="groups">${groups.join('')}</saml:Attribute>`
  return response.replace('</saml:AttributeStatement>', `${attribute}</saml:AttributeStatement>`)
}

let count = 0

/** Logins on a few connections, for a number of times or for a duration. */
async function round(service, idp, { size, times = Infinity, ms = Infinity, kibibytes = 0 }) {
  const begun = performance.now()
  const cpu = cpuOf(service.pid)
  let done = 0
  const line = async () => {
    while (done < times && performance.now() < begun + ms) {
      await signIn(service, idp, `user${done++ % size}@a.example`, kibibytes)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, line))
  return { rate: (done * 1000) / (performance.now() - begun), cpu: ((cpuOf(service.pid) - cpu) * 1000) / done }
}

async function signIn({ base }, idp, name, kibibytes) {
  const away = await fetch(`${base}auth/saml`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  const headers = Object.fromEntries(away.headers)
  const sent = readDeparture({ status: away.status, text: await away.text(), headers }, base)
  const about = { issuer: idp.entityId, audience: RELYING_PARTY, acsUrl: sent.acsUrl, requestId: sent.requestId, name }
  const ids = { responseId: '_response', assertionId: `_assertion${++count}` }
  const response = signResponse(grown(buildResponse({ ...about, ...ids, now: Date.now() }), kibibytes * 1024))
  const cookie = away.headers
    .getSetCookie()
    .map(line => line.split(';')[0])
    .join('; ')
  const back = await fetch(`${base}auth/saml${new URL(sent.acsUrl).search}`, {
    method: 'POST',
    headers: { accept: 'text/html', origin: 'https://a.example', cookie },
    body: new URLSearchParams({ SAMLResponse: encode(response), RelayState: sent.relayState }),
    redirect: 'manual',
  })
  const isIn = back.headers.getSetCookie().some(line => /^auth_token=[^;]/.test(line))
  await back.text()
  if (!isIn) throw new Error(`no login by SAML: ${back.status}`)
}
