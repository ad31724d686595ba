// The user whose requests `stalls.mjs` measures: a process of its own, so that the work of the sender delays
// no response.
import { readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { cpuOf } from './load.mjs'
import { memoryOf } from './support.mjs'

const PAUSE = 2
const [base, pid, cookie] = process.argv.slice(2)
const kept = new Agent({ keepAlive: true, maxSockets: 1 })
let run

process.on('message', message => {
  if (message === 'begin') run = probe()
  else run.isOver = true
})
process.on('disconnect', () => process.exit())

/** Sends `GET /auth/user` until `isOver`. Times in milliseconds, memory in bytes. */
function probe() {
  const state = { isOver: false }
  void (async () => {
    const before = (await memoryOf(pid)).now
    const cpu = cpuOf(pid)
    const result = { slowest: 0, isNew: false, busy: 0, memory: 0, errors: 0, count: 0 }
    while (!state.isOver) {
      const ticks = ticksOfMainThread()
      const begun = performance.now()
      // As browsers do, now over a connection that is open, now over a new one.
      const isNew = result.count % 2 === 1
      const status = await ask(isNew ? false : kept)
      const took = performance.now() - begun
      if (took > result.slowest) {
        Object.assign(result, { slowest: took, isNew, busy: (ticksOfMainThread() - ticks) * 10 })
      }
      if (status >= 500) result.errors++
      result.count++
      result.memory = Math.max(result.memory, (await memoryOf(pid)).now - before)
      await new Promise(resolve => setTimeout(resolve, PAUSE))
    }
    process.send({ ...result, cpu: cpuOf(pid) - cpu })
  })()
  return state
}

/** Resolves with the status, or with 599 if there is no response. */
function ask(agent) {
  return new Promise(resolve => {
    const fail = () => resolve(599)
    const request = get(`${base}auth/user`, { agent, headers: { cookie } }, response => {
      response
        .resume()
        .once('end', () => resolve(response.statusCode))
        .once('error', fail)
    })
    request.once('error', fail)
  })
}

/** The processor time of the thread that responds, in hundredths of a second; Linux. */
function ticksOfMainThread() {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
