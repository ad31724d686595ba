// `npm run bench`: authenticated requests per second by cookie and by HTTP Basic, and the time readers wait while others
// guess passwords. Figures are ratios inside one run, rounds interleaved; absolute ones depend on the machine.
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Pool } from 'undici'

const ROUNDS = 7
const ROUND_MS = 1500
const CONNECTIONS = 16
const PASSWORD = 'bench-Password-12'

const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
const program = fileURLToPath(new URL('../bin/stowage.js', import.meta.url))
const settings = {
  'service.http.port': '0',
  'service.data.folder': folder,
  'service.auth.http-basic': 'on',
  'service.auth.temp.lockout.max.attempts': '-1',
  'service.log.level': 'warn',
}
const sets = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`])
const service = spawn(process.execPath, [program, 'serve', ...sets], {
  env: { ...process.env, SERVICE_ADMIN_PASSWORD: PASSWORD },
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const base = await new Promise((resolve, reject) => {
    createInterface(service.stdout).on('line', line => resolve(/serves (\S+)/.exec(line)?.[1]))
    service.once('exit', () => reject(new Error('the service did not start')))
  })
  await measure(base)
} finally {
  service.kill()
  await rm(folder, { recursive: true, force: true })
}

async function measure(base) {
  const pool = new Pool(base, { connections: CONNECTIONS })
  const form = new URLSearchParams({ auth_username: 'admin', auth_password: PASSWORD }).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const login = await pool.request({ method: 'POST', path: '/auth/cookie', headers: type, body: form })
  await login.body.dump()
  const cookie = { cookie: String(login.headers['set-cookie']).split(';')[0] }
  const basic = { authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}` }
  await round(pool, cookie)
  await round(pool, basic)

  const ratios = []
  for (let n = 0; n < ROUNDS; n++) {
    const byCookie = await round(pool, cookie)
    const byBasic = await round(pool, basic)
    ratios.push(byBasic.rate / byCookie.rate)
    console.log(`round ${n + 1}: ${text(byCookie)} by cookie, ${text(byBasic)} by Basic`)
  }
  const quiet = await round(pool, cookie)
  const flood = startFlood(base, type)
  const busy = await round(pool, cookie)
  await flood.stop()
  console.log(
    `GET /auth/user by Basic : by cookie = ${median(ratios).toFixed(2)} (median of ${ROUNDS} rounds, goal 0.60)`,
  )
  console.log(
    `readers during a login flood : without = ${(busy.rate / quiet.rate).toFixed(2)}, p99 ${busy.p99.toFixed(1)} ms : ${quiet.p99.toFixed(1)} ms`,
  )
  await pool.close()
}

/** As many requests as fit into a round over all connections; every answer must be a success. */
async function round(pool, headers) {
  const times = []
  const end = performance.now() + ROUND_MS
  const work = async () => {
    while (performance.now() < end) {
      const begin = performance.now()
      const { statusCode, body } = await pool.request({ path: '/auth/user', method: 'GET', headers })
      await body.dump()
      if (statusCode !== 200) throw new Error(`status ${statusCode}`)
      times.push(performance.now() - begin)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  times.sort((a, b) => a - b)
  return { rate: (times.length / ROUND_MS) * 1000, p99: times[Math.floor(times.length * 0.99)] }
}

/** Wrong passwords without pause, over connections of their own. */
function startFlood(base, headers) {
  const pool = new Pool(base, { connections: 8 })
  const stopped = new AbortController()
  const guess = async () => {
    while (!stopped.signal.aborted) {
      const body = `auth_username=admin&auth_password=wrong${Math.random()}`
      const answer = await pool.request({ method: 'POST', path: '/auth/cookie', headers, body })
      await answer.body.dump()
    }
  }
  const guessing = Promise.all(Array.from({ length: 8 }, guess))
  return {
    async stop() {
      stopped.abort()
      await guessing
      await pool.close()
    },
  }
}

function text({ rate, p99 }) {
  return `${Math.round(rate)}/s (p99 ${p99.toFixed(1)} ms)`
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
