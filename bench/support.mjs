import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { request } from './load.mjs'

/** With --quick everything is small and short, to check that it works, not how fast it is. */
export const isQuick = process.argv.includes('--quick')
export const ROUNDS = isQuick ? 1 : 5
export const ROUND_MS = isQuick ? 150 : 600
/** Rounds before those that count: a service compiles its program during the first fifty thousand responses or so. */
export const WARM_UP = isQuick ? 1 : 12
/** Four sizes of data, each ten times the one before. */
export const sizesUpTo = most =>
  [1000, 100, 10, 1].map(part => Math.max(1, Math.ceil(most / part / (isQuick ? 100 : 1))))

const PASSWORD = 'bench-Password-12'
const here = name => fileURLToPath(new URL(name, import.meta.url))
const serviceProgram = () => process.env.BENCH_PROGRAM ?? here('../bin/stowage.js')

/**
 * The program with a store in `folder`, by default a new folder that `stop` removes. `program` can be another one that takes the same
 * arguments; its messages are available at `process`. The variable BENCH_PROGRAM names another build of the service, for results from
 * before a change.
 */
export async function startService(settings = {}, { folder, program = serviceProgram(), env = {} } = {}) {
  const data = folder ?? (await mkdtemp(join(tmpdir(), 'stowage-bench-')))
  const all = { 'service.http.port': '0', 'service.data.folder': data, 'service.log.level': 'warn', ...settings }
  const sets = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`])
  const begun = performance.now()
  const service = spawn(process.execPath, [...process.execArgv, program, 'serve', ...sets], {
    env: { ...process.env, ...env, SERVICE_ADMIN_PASSWORD: PASSWORD },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  const ended = once(service, 'exit')
  const stop = async () => {
    service.kill()
    await ended
    if (folder === undefined) await rm(data, { recursive: true, force: true })
  }
  try {
    const base = await new Promise((resolve, reject) => {
      createInterface(service.stdout).on('line', line => resolve(/serves (\S+)/.exec(line)?.[1]))
      service.once('exit', () => reject(new Error('the service did not start')))
    })
    return { base, folder: data, pid: service.pid, process: service, begun, password: PASSWORD, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The counterpart that does only the necessary work, in its own process; see `bare.mjs`. */
export async function startBare(what, ...values) {
  const bare = fork(here('./bare.mjs'), [what, ...values.map(String)])
  const [{ port }] = await once(bare, 'message')
  return { base: `http://127.0.0.1:${port}/`, pid: bare.pid, process: bare, stop: async () => void bare.kill() }
}

export const formHeaders = { 'content-type': 'application/x-www-form-urlencoded' }

/** A sign-in as bytes to send. */
export const loginOf = (name, password = PASSWORD) =>
  request(
    'POST',
    '/auth/cookie',
    formHeaders,
    String(new URLSearchParams({ auth_username: name, auth_password: password })),
  )

/** The headers that make a request one of this user. */
export async function signIn({ base }, name = 'admin') {
  const body = new URLSearchParams({ auth_username: name, auth_password: PASSWORD })
  const login = await fetch(`${base}auth/cookie`, { method: 'POST', body })
  if (!login.ok) throw new Error(`signing in: ${login.status} ${await login.text()}`)
  return { cookie: login.headers.getSetCookie()[0].split(';')[0] }
}

/** One request that must succeed; resolves to the text of the response. */
export async function ask({ base }, headers, method, path, body) {
  const json = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(base + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...json,
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`)
  return text
}

export async function newContext(service, headers) {
  return JSON.parse(await ask(service, headers, 'POST', '_contexts?graphtype=context', {})).entryId
}

export function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}

/** Runs these one after the other, repeatedly; resolves to their results by name. The first rounds only warm up. */
export async function interleave(rounds, work, { warmUp = 1 } = {}) {
  const results = Object.fromEntries(Object.keys(work).map(name => [name, []]))
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, run] of Object.entries(work)) {
      const result = await run(round)
      if (round >= 0) results[name].push(result)
    }
  }
  return results
}

/** The median over the rounds of the ratio between two results. */
export const ratioOf = (ones, others, read = ({ rate }) => rate) =>
  median(ones.map((one, round) => read(one) / read(others[round])))

export const medianOf = (results, read = ({ rate }) => rate) => median(results.map(read))

/** Reads the processor time of an answer, where the two above would read the rate. */
export const cpuEach = ({ cpu }) => cpu

/** Resident memory of a process in bytes; `peak` is the maximum so far. */
export async function memoryOf(pid) {
  const { readFile } = await import('node:fs/promises')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const read = name => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) * 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}
