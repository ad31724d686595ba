import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** Test files that run now: an interrupted proof ends them. */
const running = new Set()
process.on('exit', () => running.forEach(end))

/**
 * Runs one test file of the copy in `work` as a process, and ends it and all processes that it has started with its first failure, or
 * after `timeout` milliseconds.
 */
export async function runTestFile(work, file, { env = {}, timeout } = {}) {
  const temporary = mkdtempSync(join(work, 't-'))
  // PostgreSQL runs as a user of its own.
  chmodSync(temporary, 0o755)
  const began = performance.now()
  const args = ['--import=./test/support/fixed-seed.ts', '--test-reporter=tap', file]
  const test = spawn(process.execPath, args, {
    cwd: join(work, 'copy'),
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env, TMPDIR: temporary },
  })
  running.add(test)
  let hasFailed = false
  let hasTimedOut = false
  createInterface(test.stdout).on('line', line => {
    if (!/^\s*not ok /.test(line) || /# (SKIP|TODO)/.test(line)) return
    hasFailed = true
    end(test)
  })
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => {
          hasTimedOut = true
          end(test)
        }, timeout)
  const status = await new Promise(resolve => test.once('exit', resolve))
  clearTimeout(timer)
  end(test)
  running.delete(test)
  // A browser that is being ended may still write; the folder goes with the work.
  try {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    if (error.code !== 'ENOTEMPTY') throw error
  }
  return { isGood: status === 0 && !hasFailed, hasTimedOut, ms: Math.round(performance.now() - began) }
}

function end(test) {
  try {
    process.kill(-test.pid, 'SIGKILL')
  } catch {
    // Nothing of it is left.
  }
}
