// The user whose requests `stalls.mjs` measures: a process of its own, so that the work of the sender delays
// no response.
import { readFileSync } from 'node:fs'
import { cpuOf } from './load.mjs'
import { memoryOf } from './support.mjs'

const PAUSE = 2
const [base, pid, cookie] = process.argv.slice(2)
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
    const result = { slowest: 0, busy: 0, memory: 0, errors: 0, count: 0 }
    while (!state.isOver) {
      const ticks = ticksOfMainThread()
      const begun = performance.now()
      const status = await ask()
      const took = performance.now() - begun
      if (took > result.slowest) Object.assign(result, { slowest: took, busy: (ticksOfMainThread() - ticks) * 10 })
      if (status >= 500) result.errors++
      result.count++
      result.memory = Math.max(result.memory, (await memoryOf(pid)).now - before)
      await new Promise(resolve => setTimeout(resolve, PAUSE))
    }
    process.send({ ...result, cpu: cpuOf(pid) - cpu })
  })()
  return state
}

async function ask() {
  try {
    const answer = await fetch(`${base}auth/user`, { headers: { cookie } })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 599
  }
}

/** The processor time of the thread that responds, in hundredths of a second; Linux. */
function ticksOfMainThread() {
  const fields = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
