// Sign-in through an identity provider: the redirect to it, the signed response, the redirect with the
// cookie; as users grow. And the judgement of responses alone, as they grow.
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { verifyResponse } from '../src/features/saml/response.ts'
import { root } from '../scripts/prepare.mjs'
import { cpuOf } from './load.mjs'
import { interleave, median, ROUND_MS, ROUNDS, sizesUpTo, startService } from './support.mjs'

const support = name => import(pathToFileURL(join(root, 'test/support', name)).href)
const { ACS, buildResponse, encode, IDP, keyNamed, NOW, REQUEST, signResponse, SP } = await support('saml-idp.ts')
const { RELYING_PARTY, readProviderForm, samlSettings, startSamlIdp } = await support('saml-service.ts')

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
    const judged = await measureJudging()
    say('responses judged')
    return {
      title: 'Signing in by SAML',
      rows: [
        { what: 'SAML logins per second, the identity provider on the same machine', value: last.rate, unit: '/s' },
        { what: 'processor time of the service for each', value: last.cpu, unit: 'ms' },
        {
          what: `responses of ${KIBIBYTES.at(-1)} KiB judged per second of processor time`,
          value: judged.at(-1)[1],
          unit: '/s',
          goal: { least: 100 },
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
          title: 'SAML responses judged per second of processor time, as they grow',
          x: 'KiB of the response',
          series: [{ name: 'responses', points: judged }],
        },
      ],
    }
  } finally {
    await service.stop()
    for (const end of ends) await end()
  }
}

/** The processor time of the judgement alone, as the service's thread for it makes it. */
async function measureJudging() {
  const expected = {
    issuer: IDP,
    audience: SP,
    acsUrl: ACS,
    requestId: REQUEST,
    now: NOW,
    clockSkew: 60_000,
    keys: [keyNamed('idp').pem],
    decryptionKeys: [],
    authnContexts: [],
    authenticatedSince: undefined,
  }
  const responses = KIBIBYTES.map(size => encode(signResponse(grown(buildResponse(), size * 1024))))
  const work = responses.map((response, at) => [String(KIBIBYTES[at]), () => judge(response, expected)])
  const results = await interleave(ROUNDS, Object.fromEntries(work), { warmUp: 2 })
  return KIBIBYTES.map(size => [size, median(results[size])])
}

/** Judgements per second of processor time. */
async function judge(response, expected) {
  const begun = performance.now()
  const before = process.cpuUsage()
  let count = 0
  for (; performance.now() < begun + ROUND_MS; count++) await verifyResponse(response, expected)
  const { user, system } = process.cpuUsage(before)
  return (count * 1e6) / (user + system)
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
async function round(service, idp, { size, times = Infinity, ms = Infinity }) {
  const begun = performance.now()
  const cpu = cpuOf(service.pid)
  let done = 0
  const line = async () => {
    while (done < times && performance.now() < begun + ms) {
      await signIn(service, idp, `user${done++ % size}@a.example`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, line))
  return { rate: (done * 1000) / (performance.now() - begun), cpu: ((cpuOf(service.pid) - cpu) * 1000) / done }
}

async function signIn({ base }, idp, name) {
  const away = await fetch(`${base}auth/saml`, { headers: { accept: 'text/html' }, redirect: 'manual' })
  const headers = Object.fromEntries(away.headers)
  const sent = readProviderForm({ status: away.status, text: await away.text(), headers }, base)
  const about = { issuer: idp.entityId, audience: RELYING_PARTY, acsUrl: sent.acsUrl, requestId: sent.requestId, name }
  const ids = { responseId: '_response', assertionId: `_assertion${++count}` }
  const response = signResponse(buildResponse({ ...about, ...ids, now: Date.now() }))
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
