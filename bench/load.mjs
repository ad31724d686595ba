// A client that costs less than any measured server. undici or `fetch` would be slower than a bare server,
// and would make every ratio to it look better than it is.
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const TICKS_PER_SECOND = 100

/** @param headers in addition to the address; @param body text or bytes */
export function request(method, path, headers = {}, body = '') {
  const length = method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) }
  const lines = Object.entries({ host: '127.0.0.1', ...length, ...headers }).map(([name, value]) => `${name}: ${value}`)
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`), Buffer.from(body)])
}

/**
 * Sends requests without pause on each connection for this long; every response must have the status. `next`
 * returns the bytes of each request; with `status: undefined` any success is accepted. Resolves to responses
 * per second, their number, the median and the 99th percentile of their times in milliseconds, and with `pid`
 * to the processor time that the server used for each, in microseconds. With `awake` the client never sleeps:
 * on a virtual machine, waking a sleeping client costs the server more than the rest of a simple response,
 * and a fast server, which keeps its client busy, would not pay that cost. Do not use it with several server
 * threads, which need the other processor.
 */
export async function load({ base, pid }, next, { connections = 32, ms = 1000, awake = false, ...expected } = {}) {
  const times = []
  const status = 'status' in expected ? expected.status : 200
  const cpu = pid && cpuOf(pid)
  const begun = performance.now()
  const end = begun + ms
  if (awake) stayAwake(end)
  await Promise.all(Array.from({ length: connections }, () => line(base, next, { end, status, times })))
  const seconds = (performance.now() - begun) / 1000
  times.sort((a, b) => a - b)
  const at = share => times[Math.min(times.length - 1, Math.floor(times.length * share))]
  const cpuEach = pid && ((cpuOf(pid) - cpu) * 1e6) / times.length
  return { rate: times.length / seconds, count: times.length, p50: at(0.5), p99: at(0.99), cpu: cpuEach }
}

function stayAwake(end) {
  if (performance.now() < end) setImmediate(stayAwake, end)
}

function line(base, next, { end, status, times }) {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.setNoDelay(true)
    let [begun, text] = [0, '']
    let isLast = false
    const ask = () => {
      begun = performance.now()
      if (begun >= end) return void socket.end(resolve)
      text = ''
      socket.write(next())
    }
    socket.on('connect', ask)
    socket.on('error', reject)
    socket.on('close', () => {
      // A busy thread asks some of its clients to reconnect.
      if (isLast) line(base, next, { end, status, times }).then(resolve, reject)
      else reject(new Error('the server closed the connection'))
    })
    socket.on('data', chunk => {
      text += chunk.latin1Slice()
      const head = headOfWhole(text)
      if (head === undefined) return
      if (status === undefined ? text[9] !== '2' : Number(text.slice(9, 12)) !== status) {
        reject(new Error(text.slice(0, 600)))
        return void socket.destroy()
      }
      times.push(performance.now() - begun)
      isLast = /\r\nconnection: close/i.test(head)
      if (isLast) socket.end()
      else ask()
    })
  })
}

/** The head of a response once all of the response is there. */
function headOfWhole(text) {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0)
  return text.length < end + 4 + length ? undefined : head
}

/** Whether `wrk` is installed: its client takes far less processor time than ours. */
export const hasWrk = spawnSync('wrk', ['--version']).error === undefined

/**
 * Like {@link load}, with `wrk` on one thread. Every response must be a success.
 * @param paths requested one after the other, in rotation
 */
export async function loadByWrk({ base, pid }, { paths, headers }, { connections, ms }) {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-bench-'))
  const script = join(folder, 'requests.lua')
  const texts = paths.map(path => JSON.stringify(request('GET', path, headers).toString()))
  await writeFile(
    script,
    `local requests, turn = { ${texts.join(', ')} }, 0\nfunction request()\n  turn = turn % #requests + 1\n  return requests[turn]\nend\n`,
  )
  const cpu = cpuOf(pid)
  const seconds = Math.max(1, Math.round(ms / 1000))
  try {
    const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script]
    const { stdout } = await promisify(execFile)('wrk', [...options, base])
    const [count, rate] = [/(\d+) requests in/, /Requests\/sec: +([\d.]+)/].map(part => Number(part.exec(stdout)?.[1]))
    if (!(count >= 0) || /Non-2xx|Socket errors/.test(stdout)) throw new Error(stdout)
    return { rate, count, cpu: ((cpuOf(pid) - cpu) * 1e6) / count }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Sends a request at the same intervals, this many per second, one after the other on one connection: a client that costs the
 * readers beside it next to nothing. Returns a function that waits for those that are due and resolves to their number.
 */
export function writeBeside({ base }, next, perSecond) {
  if (perSecond === 0) return async () => 0
  const { hostname, port } = new URL(base)
  const begun = performance.now()
  let [sent, answered, due, text] = [0, 0, Number.POSITIVE_INFINITY, '']
  let [resolve, reject] = []
  const ended = new Promise((...both) => ([resolve, reject] = both))
  const socket = connect(Number(port), hostname)
  socket.setNoDelay(true)
  socket.on('error', reject)
  const send = () => {
    if (answered >= due) return void socket.end(() => resolve(answered))
    if (sent > answered || sent >= due || performance.now() < begun + (sent * 1000) / perSecond) return
    sent++
    text = ''
    socket.write(next())
  }
  socket.on('data', chunk => {
    text += chunk.latin1Slice()
    if (headOfWhole(text) === undefined) return
    if (text[9] !== '2') return void reject(new Error(text.slice(0, 600)))
    answered++
    send()
  })
  const timer = setInterval(send, 1)
  return async () => {
    due = sent
    try {
      return await ended
    } finally {
      clearInterval(timer)
      socket.destroy()
    }
  }
}

/** The processor time of a process in seconds, all threads included; Linux. */
export function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
