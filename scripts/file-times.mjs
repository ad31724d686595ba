// Loaded into each test file by `node scripts/test.mjs --times`: at the end the file notes how long it ran, and the processor time that
// it and the processes that it started have used.
import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const [, file] = process.argv
if (isMainThread && file?.endsWith('.test.js')) {
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    const cpu = (user + system) / 1000 + ofChildren()
    appendFileSync(process.env.STOWAGE_TEST_TIMES, `${JSON.stringify({ file, cpu, wall: performance.now() })}\n`)
  })
}

/** Milliseconds of processor time of the processes that have ended; 0 where the system does not say. Clock ticks are 10 ms. */
function ofChildren() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    // The name of the program, in brackets, may contain anything.
    const [user, system] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
    return (Number(user) + Number(system)) * 10
  } catch {
    return 0
  }
}
