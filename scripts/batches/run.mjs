// Runs test files one after the other in this process: the next one is loaded when the tests and hooks of the previous one have ended.
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** What a test may replace for a while. */
const REPLACEABLE = [
  [globalThis, ['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'Date', 'fetch']],
  [Date, ['now']],
  [Math, ['random']],
  [performance, ['now']],
]
/** Listeners to these events decide how the process ends. */
const ENDINGS = ['uncaughtException', 'unhandledRejection', 'SIGHUP', 'SIGINT', 'SIGTERM']
/** What keeps a process running, and could disturb the tests of the next file. */
const ACTIVE = ['Timeout', 'TCPServerWrap', 'PipeServerWrap', 'UDPWrap']
/** Maximum wait for a stopped server to release its port. Loaded machines are slow. */
const MAX_WAIT_MS = 60_000
const PAUSE_MS = 10
/** Maximum run time of one process. The longest takes three minutes; one beyond this limit hangs. */
const MAX_RUN_MS = 900_000

/** @param tests the folder of the tests; names of files are relative to it */
export async function runFiles({ tests, files, maxWaitMs = MAX_WAIT_MS, maxRunMs = MAX_RUN_MS }) {
  const names = files.map(file => relative(tests, file))
  const unfinished = new Set(names)
  setTimeout(() => {
    process.stderr.write(
      `The process has not ended after ${maxRunMs / 1000} s. It waits for:\n${awaited().join('\n')}\n`,
    )
    process.exit(1)
  }, maxRunMs).unref()
  process.on('exit', code => {
    if (unfinished.size > 0) {
      process.stderr.write(`Ended before the tests of ${[...unfinished].join(', ')} had.\n`)
      process.exitCode = 1
    } else if (code === 0 && process.env.STOWAGE_PASSED_BATCHES) {
      appendFileSync(process.env.STOWAGE_PASSED_BATCHES, `${process.argv[1]}\n`)
    }
  })
  // The test runner reports these errors too, but cannot say which file they belong to.
  process.on('uncaughtExceptionMonitor', () => {
    process.stderr.write(`An error outside of all tests, while ${[...unfinished][0] ?? names.at(-1)} ran.\n`)
  })
  const { loadFile, shareProcess } = await import(pathToFileURL(join(tests, 'support/after.ts')).href)
  if (files.length > 1) shareProcess()

  let used = { cpu: 0, wall: 0 }
  // The runner ends the run when no test is left, so a test waits while the next file is loaded.
  let loading = waitingTest(`tests of ${names[0]} are loaded`)
  for (const [index, file] of files.entries()) {
    await loading.begun
    const before = state()
    let runHooks = async () => {}
    try {
      runHooks = await loadFile(pathToFileURL(file).href)
    } catch (error) {
      test(`${names[index]} is loaded`, () => {
        throw error
      })
    }
    const next = waitingTest(`${names[index]} leaves the process as it was`, async () => {
      try {
        await runHooks()
        if (files.length > 1) await requireSame(before, maxWaitMs)
      } finally {
        unfinished.delete(names[index])
        if (process.env.STOWAGE_TEST_TIMES) used = noteTime(file, used)
      }
    })
    loading.end()
    loading = next
  }
  await loading.begun
  loading.end()
}

/** A test that does its `work` and then waits for `end()`. `begun` resolves when the work is done, also if that fails. */
function waitingTest(name, work = async () => {}) {
  let begin
  let end
  const begun = new Promise(resolve => (begin = resolve))
  const ended = new Promise(resolve => (end = resolve))
  test(name, async () => {
    try {
      await work()
    } finally {
      begin()
      await ended
    }
  })
  return { begun, end }
}

const state = () => ({
  cwd: process.cwd(),
  env: { ...process.env },
  listeners: Object.fromEntries(ENDINGS.map(name => [name, process.listenerCount(name)])),
  replaceable: REPLACEABLE.map(([object, names]) => names.map(name => object[name])),
  active: active(),
})

const active = () => {
  const all = process.getActiveResourcesInfo()
  return Object.fromEntries(ACTIVE.map(kind => [kind, all.filter(name => name === kind).length]))
}

async function requireSame(before, maxWaitMs) {
  const after = state()
  for (const part of ['cwd', 'listeners', 'replaceable']) assert.deepEqual(after[part], before[part], part)
  // Names only: a value may be a secret.
  const variables = Object.keys({ ...before.env, ...after.env }).filter(name => after.env[name] !== before.env[name])
  assert.deepEqual(variables, [], 'environment')
  const more = () => {
    const now = active()
    return ACTIVE.filter(kind => now[kind] > before.active[kind])
  }
  for (let waited = 0; more().length > 0 && waited < maxWaitMs; waited += PAUSE_MS) await pause(PAUSE_MS)
  assert.deepEqual(more(), [], 'still active')
}

/** What keeps the process running: sockets with their addresses, child processes, timers, threads. */
function awaited() {
  const { libuv, workers } = process.report.getReport()
  const place = endpoint => (endpoint ? `${endpoint.host ?? endpoint.ip4 ?? ''}:${endpoint.port}` : '')
  const handles = libuv.filter(handle => handle.is_active && handle.is_referenced)
  return [
    ...handles.map(({ type, localEndpoint, remoteEndpoint, pid, firesInMsFromNow, writeQueueSize }) =>
      [type, place(localEndpoint), place(remoteEndpoint), pid, firesInMsFromNow, writeQueueSize]
        .filter(Boolean)
        .join(' '),
    ),
    ...workers.map(({ javascriptStack }) => `a thread: ${javascriptStack.stack?.slice(0, 5).join(' ')}`),
  ]
}

/** For `--times`. The first file of a process also pays for what all of them load. @returns what all files have used until now */
function noteTime(file, before) {
  const now = { cpu: processorTime(), wall: performance.now() }
  const own = { file, cpu: now.cpu - before.cpu, wall: now.wall - before.wall }
  appendFileSync(process.env.STOWAGE_TEST_TIMES, `${JSON.stringify(own)}\n`)
  return now
}

/** Milliseconds that this process and those that it started, as far as they have ended, have used. */
function processorTime() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + ofChildren()
}

/** 0 where the system does not say. Clock ticks are 10 ms. */
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
